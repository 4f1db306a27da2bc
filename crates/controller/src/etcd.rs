//! Announcements and states in etcd, and the lease that elects one of several controllers.
//!
//! Every write is a transaction that also checks who leads. A controller that has lost its lease
//! without noticing therefore changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use etcd_client::{Client, Compare, CompareOp, GetOptions, PutOptions, Txn, TxnOp};
use flowsched_fleet::follow::{Identity, connect_etcd, group_key};
use tokio::task::JoinHandle;

use crate::rollout::State;

/// The key that holds the name of the leading controller.
const LEADER: &str = "/flowsched/leader";
const STATES: &str = "/flowsched/state/";
/// After this many seconds of silence, another controller may take the lead.
const LEASE_SECONDS: i64 = 10;

/// A controller's connection to etcd.
pub struct Etcd {
    endpoints: Vec<String>,
    identity: Identity,
    /// Identifies this process among all controllers.
    name: String,
    leading: Option<Leading>,
}

struct Leading {
    client: Client,
    is_alive: Arc<AtomicBool>,
    keeper: JoinHandle<()>,
}

impl Drop for Leading {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Etcd {
    /// A client of these endpoints. [`Etcd::campaign`] connects.
    pub fn new(endpoints: &[String], identity: &Identity) -> Etcd {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let started = since.unwrap_or_default().as_nanos();
        let name = format!("{}-{started}", std::process::id());
        Etcd { endpoints: endpoints.to_vec(), identity: identity.clone(), name, leading: None }
    }

    /// Whether this controller leads, as far as it knows.
    pub fn leads(&self) -> bool {
        self.leading.as_ref().is_some_and(|leading| leading.is_alive.load(Ordering::Relaxed))
    }

    /// Takes the lead if no other controller has it. Returns whether this controller now leads.
    ///
    /// # Errors
    /// If etcd cannot be reached or refuses.
    pub async fn campaign(&mut self) -> Result<bool, String> {
        self.leading = None;
        let mut client = connect_etcd(&self.endpoints, &self.identity).await?;
        let lease = client.lease_grant(LEASE_SECONDS, None).await.map_err(text)?.id();
        let options = PutOptions::new().with_lease(lease);
        let free = Compare::create_revision(LEADER, CompareOp::Equal, 0);
        let take = TxnOp::put(LEADER, self.name.as_str(), Some(options));
        let taken = client.txn(Txn::new().when([free]).and_then([take])).await.map_err(text)?;
        if !taken.succeeded() {
            let _ = client.lease_revoke(lease).await;
            return Ok(false);
        }
        let is_alive = Arc::new(AtomicBool::new(true));
        let keeper = tokio::spawn(keep(client.clone(), lease, is_alive.clone()));
        self.leading = Some(Leading { client, is_alive, keeper });
        Ok(true)
    }

    /// Gives up the lead. The lease expires after 10 s.
    pub fn resign(&mut self) {
        self.leading = None;
    }

    /// The states of all groups.
    ///
    /// # Errors
    /// If etcd cannot be reached or refuses, or if a stored state is invalid.
    pub async fn states(&mut self) -> Result<Vec<(String, State)>, String> {
        let leading = self.leading.as_mut().ok_or("this controller does not lead")?;
        let options = GetOptions::new().with_prefix();
        let found = leading.client.get(STATES, Some(options)).await.map_err(text)?;
        let state = |pair: &etcd_client::KeyValue| {
            let key = pair.key_str().map_err(text)?;
            let state = serde_json::from_slice(pair.value()).map_err(|e| format!("{key}: {e}"))?;
            Ok((key.strip_prefix(STATES).unwrap_or(key).to_owned(), state))
        };
        found.kvs().iter().map(state).collect()
    }

    /// Writes the state of a group and its announcement in one transaction.
    ///
    /// # Errors
    /// If etcd cannot be reached or refuses, or if another controller leads.
    pub async fn publish(&mut self, group: &str, state: &State) -> Result<(), String> {
        let leading = self.leading.as_mut().ok_or("this controller does not lead")?;
        let own = Compare::value(LEADER, CompareOp::Equal, self.name.as_str());
        let json = serde_json::to_string(state).map_err(|e| e.to_string())?;
        let mut writes = vec![TxnOp::put(format!("{STATES}{group}"), json, None)];
        if let Some(announced) = &state.announced {
            writes.push(TxnOp::put(group_key(group), announced.to_json(), None));
        }
        let written = leading.client.txn(Txn::new().when([own]).and_then(writes)).await;
        match written.map_err(text) {
            Ok(written) if written.succeeded() => Ok(()),
            Ok(_) => {
                self.leading = None;
                Err("another controller leads now".into())
            }
            Err(error) => {
                self.leading = None;
                Err(error)
            }
        }
    }
}

/// Keeps the lease alive until etcd does not confirm it in time. Then clears `is_alive`.
async fn keep(mut client: Client, lease: i64, is_alive: Arc<AtomicBool>) {
    if let Ok((mut keeper, mut answers)) = client.lease_keep_alive(lease).await {
        loop {
            let patience = Duration::from_secs(LEASE_SECONDS as u64 / 2);
            let kept = async {
                keeper.keep_alive().await.ok()?;
                answers.message().await.ok()?.filter(|answer| answer.ttl() > 0)
            };
            if !matches!(tokio::time::timeout(patience, kept).await, Ok(Some(_))) {
                break;
            }
            tokio::time::sleep(patience / 2).await;
        }
    }
    is_alive.store(false, Ordering::Relaxed);
}

fn text(error: impl std::fmt::Display) -> String {
    format!("etcd: {error}")
}
