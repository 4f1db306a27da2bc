//! A list of slots that has each slot only once.

/// Slots in the order in which they were noted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    slots: Vec<u32>,
    /// By slot.
    is_noted: Vec<bool>,
}

impl Noted {
    /// Puts the slot on the list unless it is there.
    #[inline]
    pub(crate) fn note(&mut self, slot: u32) {
        if slot as usize >= self.is_noted.len() {
            self.is_noted.resize(slot as usize + 1, false);
        }
        if !std::mem::replace(&mut self.is_noted[slot as usize], true) {
            self.slots.push(slot);
        }
    }

    /// The slot at this place of the list.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<u32> {
        self.slots.get(place).copied()
    }

    /// All slots on the list.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().copied()
    }

    /// Takes the last slot off the list.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let slot = self.slots.pop()?;
        self.is_noted[slot as usize] = false;
        Some(slot)
    }

    /// Takes all slots off the list, the first one first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = u32> + '_ {
        let is_noted = &mut self.is_noted;
        self.slots.drain(..).inspect(|slot| is_noted[*slot as usize] = false)
    }
}
