//! A watch on the group's key in etcd.
//!
//! The key holds the whole announcement, and each watch begins with a read: nothing is lost between two
//! watches. After a minute of silence the key is read again: an etcd that was restored from a snapshot
//! has lower revisions, and a watch that waits for higher ones would stay silent.

use std::time::Duration;

use etcd_client::{
    Certificate, Client, ConnectOptions, Identity as Certified, TlsOptions, WatchOptions,
};
use tokio::time::timeout;

use super::causes::causes;
use super::source::{Event, PATIENCE, Source};
use super::tls::Identity;

/// The key is read again after this much silence.
const QUIET: Duration = Duration::from_secs(60);

/// The key of a group's announcement.
pub fn group_key(group: &str) -> String {
    format!("/flowsched/groups/{group}")
}

/// Connects to etcd with mutual TLS.
///
/// # Errors
/// If a certificate file cannot be read or etcd cannot be reached.
pub async fn connect(endpoints: &[String], identity: &Identity) -> Result<Client, String> {
    let tls = TlsOptions::new()
        .ca_certificate(Certificate::from_pem(Identity::read(&identity.ca)?))
        .identity(Certified::from_pem(
            Identity::read(&identity.certificate)?,
            Identity::read(&identity.key)?,
        ));
    let options = ConnectOptions::new()
        .with_tls(tls)
        .with_connect_timeout(PATIENCE)
        .with_timeout(PATIENCE)
        .with_keep_alive(Duration::from_secs(20), PATIENCE);
    match timeout(PATIENCE, Client::connect(endpoints, Some(options))).await {
        Ok(connected) => connected.map_err(|e| causes(&e)),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

/// Follows until something fails. Returns the error.
pub(super) async fn follow(
    source: &Source,
    endpoints: &[String],
    report: &mut impl FnMut(Event),
) -> String {
    let error = attempt(source, endpoints, report).await.err().unwrap_or_default();
    format!("etcd at {}: {error}", endpoints.join(", "))
}

async fn attempt(
    source: &Source,
    endpoints: &[String],
    report: &mut impl FnMut(Event),
) -> Result<(), String> {
    let mut client = connect(endpoints, &source.identity).await?;
    let key = group_key(&source.group);
    let mut revision = read(&mut client, &key, report).await?;
    loop {
        let options = WatchOptions::new().with_start_revision(revision + 1);
        let watch = client.watch(key.as_str(), Some(options)).await;
        let mut stream = watch.map_err(|e| causes(&e))?;
        loop {
            let Ok(message) = timeout(QUIET, stream.message()).await else {
                let now = read(&mut client, &key, report).await?;
                let is_restored = now < revision;
                revision = now;
                if is_restored {
                    break;
                }
                continue;
            };
            let message = message.map_err(|e| causes(&e))?.ok_or("the watch has ended")?;
            if message.canceled() {
                revision = read(&mut client, &key, report).await?;
                break;
            }
            revision = revision.max(message.header().map_or(0, |header| header.revision()));
            for event in message.events() {
                let value = event.kv().map(|pair| pair.value().to_vec()).unwrap_or_default();
                if !value.is_empty() {
                    report(Event::Announced(value));
                }
            }
        }
    }
}

/// Reads the key and reports its value. Returns the revision of the read.
async fn read(
    client: &mut Client,
    key: &str,
    report: &mut impl FnMut(Event),
) -> Result<i64, String> {
    let response = client.get(key, None).await.map_err(|e| causes(&e))?;
    report(Event::InTouch);
    if let Some(pair) = response.kvs().first() {
        report(Event::Announced(pair.value().to_vec()));
    }
    Ok(response.header().map_or(0, |header| header.revision()))
}
