//! Which part of a workload each flow belongs to.

use flowsched_units::{Bytes, PacketMeaning, SettingError, Settings};

use crate::flow::Flow;
use crate::parameters::SIZE_PARTS;

/// The parts by name, and the part of each flow. Empty if the workload has no parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowParts {
    names: Vec<String>,
    /// The place of the name of each flow's part.
    of: Vec<u32>,
}

impl FlowParts {
    /// The names of the parts in the order of the file. Empty if the workload has no parts.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The place in [`FlowParts::names`] of the part of flow number `flow`.
    pub fn part_of(&self, flow: usize) -> Option<usize> {
        self.of.get(flow).map(|part| *part as usize)
    }

    /// The name of the part of flow number `flow`. Empty if the workload has no parts.
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

    /// Adds the part of the next flow.
    pub(crate) fn push(&mut self, place: u32) {
        self.of.push(place);
    }
}

impl FlowParts {
    /// The parts that `size_parts` divides the flows into, or these parts if it is not given.
    ///
    /// # Errors
    /// If there are such parts already, or `size_parts` does not divide anything.
    pub(crate) fn by_size(
        self,
        settings: &Settings,
        flows: &[Flow],
    ) -> Result<FlowParts, SettingError> {
        let Some(text) = settings.get(&SIZE_PARTS).map(ToString::to_string) else {
            return Ok(self);
        };
        if !self.names.is_empty() {
            let problem = "`size_parts` conflicts with the parts of the workload: a flow belongs to one \
                           part. Remove `size_parts`, or the parts.";
            return Err(SettingError::sentence(&SIZE_PARTS, problem));
        }
        let parts = SizeParts::parse(&text)?;
        Ok(FlowParts {
            of: flows.iter().map(|flow| parts.part_of(flow.size)).collect(),
            names: parts.names,
        })
    }
}

/// Parts by size.
struct SizeParts {
    names: Vec<String>,
    /// The smallest size of every part but the first.
    bounds: Vec<Bytes>,
}

impl SizeParts {
    /// Reads names with sizes between them: `"short 40KB long"`.
    fn parse(text: &str) -> Result<SizeParts, SettingError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let names: Vec<String> = words.iter().step_by(2).map(|name| (*name).to_owned()).collect();
        let bounds = words.iter().skip(1).step_by(2);
        let bounds = bounds.map(|size| Bytes::parse(size, PacketMeaning::Payload));
        let bounds: Vec<Bytes> = bounds.collect::<Result<_, _>>().unwrap_or_default();
        let is_rising = bounds.is_sorted_by(|one, next| one < next);
        let is_twice = |(index, name)| names[..index].contains(name);
        let has_all = !bounds.is_empty() && names.len() == bounds.len() + 1;
        if has_all && is_rising && !names.iter().enumerate().any(is_twice) {
            Ok(SizeParts { names, bounds })
        } else {
            let allowed =
                "different names with rising sizes between them, such as \"short 40KB long\"";
            Err(SettingError::new(&SIZE_PARTS, format!("\"{text}\""), allowed))
        }
    }

    fn part_of(&self, size: Bytes) -> u32 {
        self.bounds.partition_point(|bound| *bound <= size) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_parts_begin_at_their_sizes() {
        let parts = SizeParts::parse("short 40KB middle  1MB long").unwrap();
        assert_eq!(parts.names, ["short", "middle", "long"]);
        let of =
            [1, 39_999, 40_000, 999_999, 1_000_000].map(|size| parts.part_of(Bytes::new(size)));
        assert_eq!(of, [0, 0, 1, 1, 2]);
        for text in [
            "",
            "all",
            "short 40KB",
            "40KB long",
            "short forty long",
            "short 40KB short",
            "short 40KB middle 40KB long",
        ] {
            let error = SizeParts::parse(text).err().unwrap();
            assert!(error.problem.contains("such as \"short 40KB long\""), "{error}");
        }
    }
}
