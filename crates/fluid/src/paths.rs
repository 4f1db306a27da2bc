//! Which links each active flow crosses.

/// The links that each flow crosses, by slot. A flow has a slot while it is active. All rows are as
/// long as the longest path so far, and next to each other, so that one memory access finds a
/// flow's links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    row: usize,
    links: Vec<u32>,
    lengths: Vec<u8>,
}

impl Paths {
    /// Sets the links that the flow in `slot` crosses.
    pub(crate) fn set(&mut self, slot: u32, path: &[u32]) {
        if path.len() > self.row {
            self.widen(path.len());
        }
        let slot = slot as usize;
        if slot >= self.lengths.len() {
            self.lengths.resize(slot + 1, 0);
            self.links.resize((slot + 1) * self.row, 0);
        }
        self.lengths[slot] = path.len() as u8;
        self.links[slot * self.row..][..path.len()].copy_from_slice(path);
    }

    /// The links that the flow in `slot` crosses, in their order.
    #[inline]
    pub(crate) fn path(&self, slot: u32) -> &[u32] {
        let slot = slot as usize;
        &self.links[slot * self.row..][..usize::from(self.lengths[slot])]
    }

    /// The links that the flow in `slot` crosses, to be changed in place.
    #[inline]
    pub(crate) fn of_mut(&mut self, slot: u32) -> &mut [u32] {
        let slot = slot as usize;
        &mut self.links[slot * self.row..][..usize::from(self.lengths[slot])]
    }

    fn widen(&mut self, row: usize) {
        let mut links = vec![0; self.lengths.len() * row];
        for slot in 0..self.lengths.len() {
            let old = self.path(slot as u32);
            links[slot * row..][..old.len()].copy_from_slice(old);
        }
        self.row = row;
        self.links = links;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_paths_leave_shorter_ones_as_they_were() {
        let mut paths = Paths::default();
        paths.set(0, &[1, 2]);
        paths.set(2, &[3]);
        paths.set(1, &[4, 5, 6, 7]);
        assert_eq!(
            [paths.path(0), paths.path(1), paths.path(2)],
            [&[1, 2][..], &[4, 5, 6, 7], &[3]]
        );
        paths.set(1, &[8]);
        assert_eq!(paths.path(1), [8]);
    }
}
