use flowsched_schemes::on_linux::HostTags;
use flowsched_schemes::tagger::TaggerPart;
use flowsched_schemes::{Part, Role};
use flowsched_units::{SettingError, Settings};

#[derive(Clone, Debug)]
struct Mine;

impl TaggerPart for Mine {
    const PART: Part =
        Part { role: Role::Tagger, name: "mine", about: "", source: "", parameters: &[] };

    fn build(_settings: &Settings, _queues: usize) -> Result<Mine, SettingError> {
        Ok(Mine)
    }

    fn on_linux(&self) -> Option<HostTags> {
        Some(HostTags::None)
    }
}

fn main() {}
