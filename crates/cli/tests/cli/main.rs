//! The program as its users meet it.

mod bad_input;
mod captures;
mod common;
mod diff;
mod digests;
mod flows;
mod interrupted;
#[cfg(all(feature = "agent", feature = "lab"))]
mod lab;
mod manual;
mod reproduce;
mod run;
mod search;
mod size;
mod store;
mod switch;
mod thresholds;
mod traffic;
