//! No tagging: every packet has the highest priority.

use flowsched_units::{SettingError, Settings};

use super::{Departure, PlainTagger, Tag, TaggerPart, Work};
use crate::flow_level::{Sharing, Tagged};
use crate::on_linux::HostTags;
use crate::part::{Part, Role};

/// Every packet has the highest priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTagger;

impl TaggerPart for NoTagger {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "none",
        about: "Every packet has the highest priority.",
        source: "RFC 9293",
        parameters: &[],
    };

    fn build(_settings: &Settings, _queues: usize) -> Result<NoTagger, SettingError> {
        Ok(NoTagger)
    }

    fn fluid(&self) -> Tagged {
        Tagged::without_ranks(Sharing::MaxMin)
    }

    fn on_linux(&self) -> Option<HostTags> {
        Some(HostTags::None)
    }
}

impl PlainTagger for NoTagger {
    type Memory = ();

    #[inline]
    fn tag(&self, (): &mut (), _departure: &Departure, _work: &Work) -> Tag {
        Tag::default()
    }
}
