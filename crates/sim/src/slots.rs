//! Stores a value for every flow under way, by the flow's number.

/// Values of flows that are under way. Memory grows with the number of flows under way, plus four bytes for every
/// flow.
#[derive(Debug)]
pub(crate) struct Slots<V> {
    /// The place of each flow in `values`, or [`ABSENT`].
    place_of: Vec<u32>,
    values: Vec<V>,
    /// Places in `values` that are free.
    free: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl<V> Slots<V> {
    /// Slots for flows with numbers below `flows`.
    pub(crate) fn new(flows: usize) -> Slots<V> {
        Slots { place_of: vec![ABSENT; flows], values: Vec::new(), free: Vec::new() }
    }

    /// Gives the flow a value.
    pub(crate) fn insert(&mut self, flow: u32, value: V) {
        let place = match self.free.pop() {
            Some(place) => {
                self.values[place as usize] = value;
                place
            }
            None => {
                self.values.push(value);
                self.values.len() as u32 - 1
            }
        };
        self.place_of[flow as usize] = place;
    }

    /// The flow's value, if it has one.
    #[inline]
    pub(crate) fn get(&self, flow: u32) -> Option<&V> {
        let place = *self.place_of.get(flow as usize)?;
        self.values.get(place as usize)
    }

    /// The flow's value as a mutable reference, if it has one.
    #[inline]
    pub(crate) fn get_mut(&mut self, flow: u32) -> Option<&mut V> {
        // `ABSENT` is larger than any place.
        let place = self.place_of[flow as usize];
        self.values.get_mut(place as usize)
    }

    /// Removes the flow's value and returns it.
    pub(crate) fn remove(&mut self, flow: u32) -> Option<&V> {
        let place = std::mem::replace(&mut self.place_of[flow as usize], ABSENT);
        let value = self.values.get(place as usize)?;
        self.free.push(place);
        Some(value)
    }

    /// Whether no flow has a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.values.len()
    }

    /// All flows that have values, with these values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &V)> {
        (0..self.place_of.len() as u32).filter_map(|flow| Some((flow, self.get(flow)?)))
    }
}
