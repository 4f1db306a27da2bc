//! Tests of whole engines for what no caller can choose, such as whether windows or single events
//! bring packets through a network.

mod agreement;

use super::*;
