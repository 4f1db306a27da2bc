use flowsched_schemes::flow_level::{Sharing, Tagged};
use flowsched_schemes::on_linux::HostTags;
use flowsched_schemes::tagger::TaggerPart;
use flowsched_schemes::{Part, Role};

#[derive(Clone, Debug)]
struct Mine;

impl TaggerPart for Mine {
    const PART: Part =
        Part { role: Role::Tagger, name: "mine", about: "", source: "", parameters: &[] };

    fn fluid(&self) -> Tagged {
        Tagged::by_rank(Sharing::MaxMin)
    }

    fn on_linux(&self) -> Option<HostTags> {
        Some(HostTags::None)
    }
}

fn main() {}
