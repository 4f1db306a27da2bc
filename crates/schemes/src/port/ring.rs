//! A first-in first-out queue in one block of memory.

/// A first-in first-out queue.
///
/// Unlike other rings, an emptied one begins again at the start of its block, so that short queues
/// stay in the few cache lines that they used last.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// The places. Their number is a power of two, or 0.
    items: Box<[T]>,
    head: u32,
    len: u32,
}

/// The fewest places of a ring that holds something.
const FEWEST_PLACES: usize = 8;

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { items: Box::default(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// The number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is no item.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first item.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.items.get(self.head as usize) }
    }

    /// Adds an item at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        *self.add_place() = item;
    }

    /// Adds a place at the end, for the caller to fill.
    #[inline]
    pub fn add_place(&mut self) -> &mut T {
        if self.len() == self.items.len() {
            self.grow();
        }
        let place = (self.head + self.len) as usize & (self.items.len() - 1);
        self.len += 1;
        &mut self.items[place]
    }

    /// Doubles the number of places, and moves the items to the first ones.
    #[cold]
    fn grow(&mut self) {
        let mut items = std::mem::take(&mut self.items).into_vec();
        items.rotate_left(self.head as usize);
        items.resize((2 * items.len()).max(FEWEST_PLACES), T::default());
        self.items = items.into_boxed_slice();
        self.head = 0;
    }

    /// Removes and returns the first item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.remove_front();
        Some(item)
    }

    /// Removes the first item. There must be one.
    #[inline]
    pub fn remove_front(&mut self) {
        self.len -= 1;
        let next = (self.head + 1) & (self.items.len() as u32 - 1);
        // A multiplication rather than a branch, which could not be predicted.
        self.head = next * u32::from(self.len > 0);
    }

    /// The items, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.items.len().wrapping_sub(1);
        (self.head..self.head + self.len).map(move |place| &self.items[place as usize & mask])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_queue(pushes in prop::collection::vec(prop::option::weighted(0.55, 0u32..100), 0..500)) {
            let mut ring = Ring::default();
            let mut queue = VecDeque::new();
            for push in pushes {
                match push {
                    Some(item) => {
                        ring.push(item);
                        queue.push_back(item);
                    }
                    None => prop_assert_eq!(ring.pop(), queue.pop_front()),
                }
                prop_assert_eq!(ring.len(), queue.len());
                prop_assert_eq!(ring.is_empty(), queue.is_empty());
                prop_assert_eq!(ring.front(), queue.front());
                prop_assert!(ring.iter().eq(queue.iter()));
            }
        }

        #[test]
        fn memory_does_not_grow_with_what_passed(length in 1usize..50) {
            let mut ring = Ring::default();
            for item in 0..length {
                ring.push(item);
            }
            for item in 0..10_000 {
                ring.push(item);
                ring.pop();
            }
            prop_assert!(ring.items.len() <= 2 * length + FEWEST_PLACES, "{}", ring.items.len());
        }
    }
}
