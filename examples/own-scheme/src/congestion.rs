//! TCP that ignores marks in the last window of a flow: the flow is about to leave anyway.

use flowsched_schemes::transport::tcp::congestion::{Ahead, CongestionControl};

/// Marks halve the window, unless all that a flow has left fits into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastWindow;

impl CongestionControl for LastWindow {
    fn mark_factor(&self, ahead: &Ahead) -> f64 {
        if ahead.segments <= ahead.window { 1.0 } else { 0.5 }
    }
}
