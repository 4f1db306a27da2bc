//! Which part of a workload each flow belongs to.

/// The parts by name, and the part of each flow; nothing where the workload is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowParts {
    names: Vec<String>,
    /// By flow: the place of its part's name.
    of: Vec<u32>,
}

impl FlowParts {
    /// The names of the parts in the order of the file; none where the workload is one.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The place in [`FlowParts::names`] of the part of flow number `flow`.
    pub fn part_of(&self, flow: usize) -> Option<usize> {
        self.of.get(flow).map(|part| *part as usize)
    }

    /// The name of the part of flow number `flow`, empty where the workload is one.
    pub fn name_of(&self, flow: usize) -> &str {
        self.part_of(flow).and_then(|part| self.names.get(part)).map_or("", String::as_str)
    }

    /// The flows' parts by name, in the order of the flows.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> FlowParts {
        let mut parts = FlowParts::default();
        for name in names {
            let place = parts.place_of(name);
            parts.of.push(place);
        }
        match parts.names.as_slice() {
            [only] if only.is_empty() => FlowParts::default(),
            _ => parts,
        }
    }

    /// The place of `name`, which is added if it is not there.
    pub(crate) fn place_of(&mut self, name: &str) -> u32 {
        let place = self.names.iter().position(|known| known == name);
        place.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }) as u32
    }

    /// The part of the next flow.
    pub(crate) fn push(&mut self, place: u32) {
        self.of.push(place);
    }
}
