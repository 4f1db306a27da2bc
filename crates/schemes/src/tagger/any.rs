//! Any of the taggers that know nothing of headers, as one type: the catalogue of taggers.

use flowsched_units::{SettingError, Settings};

use super::bytes_sent::BytesSent;
use super::mlfq::Mlfq;
use super::none::NoTagger;
use super::remaining::Remaining;
use super::size_known::SizeKnown;
use super::{Departure, PlainTagger, Tag, TaggerFamily, TaggerPart, Work};
use crate::flow_level::Tagged;
use crate::on_linux::HostTags;
use crate::packet::Header;
use crate::part::{self, Part, Role};

/// Defines a type that stands for any of several plain taggers, so that these share one compiled
/// engine.
///
/// A lint refuses the type if it does not forward a method of [`PlainTagger`].
macro_rules! any_tagger {
    ($($Name:ident: $memory:ident),*) => {
        /// Any of the taggers that know nothing of headers.
        // With the discriminant in a byte of its own, each packet finds its tagger in fewer steps.
        #[derive(Clone, Debug, PartialEq)]
        #[repr(u8)]
        pub enum AnyTagger {
            $(#[allow(missing_docs, reason = "the type says it")] $Name($Name)),*
        }

        /// What any of them remembers of one connection, from flow to flow.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct AnyMemory {
            $($memory: <$Name as PlainTagger>::Memory),*
        }

        #[deny(clippy::missing_trait_methods)]
        impl PlainTagger for AnyTagger {
            type Memory = AnyMemory;

            fn start_flow(&self, memory: &mut AnyMemory) {
                match self {
                    $(AnyTagger::$Name(tagger) => {
                        PlainTagger::start_flow(tagger, &mut memory.$memory);
                    })*
                }
            }

            #[inline]
            fn tag(&self, memory: &mut AnyMemory, departure: &Departure, work: &Work) -> Tag {
                match self {
                    $(AnyTagger::$Name(tagger) => {
                        PlainTagger::tag(tagger, &mut memory.$memory, departure, work)
                    })*
                }
            }

            #[inline]
            fn ack_priority(&self, acknowledged: u8) -> u8 {
                match self {
                    $(AnyTagger::$Name(tagger) => PlainTagger::ack_priority(tagger, acknowledged)),*
                }
            }
        }

        impl<H: Header> TaggerFamily<H> for AnyTagger {
            const PARTS: &[Part] = &[$($Name::PART),*];

            fn from_settings(settings: &Settings, queues: usize) -> Result<AnyTagger, SettingError> {
                $(if $Name::PART.is_named_by(settings) {
                    return $Name::build(settings, queues).map(AnyTagger::$Name);
                })*
                Err(part::does_not_fit(Role::Tagger, &[Role::Transport, Role::Controller], settings, <AnyTagger as TaggerFamily<H>>::PARTS))
            }

            fn fluid(&self) -> Tagged {
                match self { $(AnyTagger::$Name(tagger) => TaggerPart::fluid(tagger)),* }
            }

            fn on_linux(&self) -> Option<HostTags> {
                match self { $(AnyTagger::$Name(tagger) => TaggerPart::on_linux(tagger)),* }
            }
        }
    };
}

any_tagger!(NoTagger: none, Mlfq: mlfq, SizeKnown: size_known, BytesSent: bytes_sent, Remaining: remaining);
