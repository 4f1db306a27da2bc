//! The program as its users meet it.

mod bad_input;
mod common;
mod digests;
mod flows;
mod interrupted;
mod manual;
mod reproduce;
mod run;
mod search;
mod size;
mod thresholds;
