//! Experiment files: good ones, bad ones, and any text at all.

mod any_text;
mod bad_input;
mod common;
mod contradictions;
mod round_trip;
