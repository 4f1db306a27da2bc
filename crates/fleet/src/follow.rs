//! Following announcements: by long polling of the controller's HTTPS endpoint, or by a watch in etcd,
//! both with mutual TLS.
//!
//! Every failure is reported and retried without end. This module does not check announcements.

mod causes;
mod etcd;
mod https;
mod source;
mod tls;

use std::time::Duration;

pub use causes::causes;
pub use etcd::{connect as connect_etcd, group_key};
pub use source::{Event, PATIENCE, POLL, Place, Source};
pub use tls::{Identity, roots};

use crate::membership;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Follows `source`. Never returns. Reports [`Event::Trouble`] once for each failed attempt.
pub async fn follow(source: &Source, mut report: impl FnMut(Event)) {
    let mut failures = 0;
    loop {
        let mut reached = false;
        let mut forward = |event: Event| {
            reached = true;
            report(event);
        };
        let trouble = match &source.place {
            Place::Controller(url) => https::follow(source, url, &mut forward).await,
            Place::Etcd(endpoints) => etcd::follow(source, endpoints, &mut forward).await,
        };
        failures = if reached { 0 } else { failures + 1 };
        report(Event::Trouble(trouble));
        tokio::time::sleep(pause(source, failures)).await;
    }
}

/// The pause before the next attempt. It grows with the number of failures, and differs between hosts
/// so that they do not all reconnect at once.
fn pause(source: &Source, failures: u32) -> Duration {
    let longest = Duration::from_millis(500 << failures.min(6)).min(LONGEST_PAUSE);
    let place = membership::place(&source.group, &source.host).rotate_left(failures);
    longest.mul_f64(0.5 + 0.5 * f64::from(place) / f64::from(u32::MAX))
}
