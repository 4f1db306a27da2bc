use flowsched_schemes::on_linux::KernelControl;
use flowsched_schemes::transport::tcp::congestion::{Algorithm, CongestionControl};
use flowsched_schemes::{Part, Role};
use flowsched_units::Settings;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Mine;

impl CongestionControl for Mine {}

impl Algorithm for Mine {
    const PART: Part =
        Part { role: Role::Transport, name: "mine", about: "", source: "", parameters: &[] };
    const HEEDS_MARKS: bool = true;

    fn from_settings(_settings: &Settings) -> Mine {
        Mine
    }

    fn on_linux(&self) -> Option<KernelControl> {
        None
    }
}

fn main() {}
