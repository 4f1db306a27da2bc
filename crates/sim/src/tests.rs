//! Tests of whole engines from within: what no caller can choose, such as how a network is gone
//! through.

mod agreement;

use super::*;
