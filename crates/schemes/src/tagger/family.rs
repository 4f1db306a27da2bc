//! The taggers that a controller works with, one of which the settings name.

use flowsched_units::{SettingError, Settings};

use super::{TaggerPart, Tagging};
use crate::flow_level::Tagged;
use crate::on_linux::HostTags;
use crate::packet::Header;
use crate::part::{self, Part, Role};

/// One of the taggers for hosts whose packets carry `H`.
pub trait TaggerFamily<H: Header>: Tagging<H> + Clone + std::fmt::Debug + 'static {
    /// What experiment files and catalogues say of them.
    const PARTS: &[Part];

    /// The tagger that the settings name, for ports with this many queues.
    ///
    /// # Errors
    /// If it is not one of the family, or its values do not fit.
    fn from_settings(settings: &Settings, queues: usize) -> Result<Self, SettingError>;

    /// The fluid forms of its tags.
    fn fluid(&self) -> Tagged;

    /// What [`TaggerPart::on_linux`] returns.
    fn on_linux(&self) -> Option<HostTags>;
}

/// A family with one tagger.
impl<H: Header, G: TaggerPart + Tagging<H>> TaggerFamily<H> for G {
    const PARTS: &[Part] = &[G::PART];

    fn from_settings(settings: &Settings, queues: usize) -> Result<G, SettingError> {
        if !G::PART.is_named_by(settings) {
            return Err(part::does_not_fit(
                Role::Tagger,
                &[Role::Transport, Role::Controller],
                settings,
                &[G::PART],
            ));
        }
        G::build(settings, queues)
    }

    fn fluid(&self) -> Tagged {
        TaggerPart::fluid(self)
    }

    fn on_linux(&self) -> Option<HostTags> {
        TaggerPart::on_linux(self)
    }
}
