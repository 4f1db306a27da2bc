//! Simulates two days of changing traffic with frozen thresholds, with an oracle's and with the
//! controller's. Prints a page with what each costs in FCT; `make drift` writes it to
//! `benches/drift.md`.
//!
//! The controller is the production one: the same bins, windows, optimiser and guard rails. Each
//! hour it decides on the hours before, and the simulator then runs that hour's flows. A trial on
//! canaries, which would take ten minutes of an hour, is left out.

mod days;
mod page;
mod simulate;
mod traffic;

use std::error::Error;

use days::replay;
use simulate::Simulator;
use traffic::Laws;

fn main() -> Result<(), Box<dyn Error>> {
    let laws = Laws::new()?;
    page::print_settings();
    for queues in [8, 2] {
        page::print(queues, &replay(&laws, &mut Simulator::new(&laws), queues)?);
    }
    Ok(())
}
