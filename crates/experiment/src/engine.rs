//! The engines that an experiment file can name.

/// The engine that runs a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Simulates every packet.
    Packet,
    /// Simulates the rates of flows.
    Fluid,
}

impl Engine {
    /// The words for the engines in an experiment file.
    pub(crate) const WORDS: &[&str] = &["packet", "fluid"];

    /// The engine that the word stands for; the first one if there is no such engine.
    pub(crate) fn from_word(word: &str) -> Engine {
        if word == Engine::WORDS[1] { Engine::Fluid } else { Engine::Packet }
    }
}
