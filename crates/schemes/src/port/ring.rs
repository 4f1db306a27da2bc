//! A first-in first-out queue in one block of memory that is used again from its start.

/// First in, first out.
///
/// Unlike a ring that cycles, an emptied queue begins again at the start of its block, and one
/// that reaches the end moves its contents to the start when half of the block is free: short
/// queues stay in the few cache lines that they used last.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    items: Vec<T>,
    head: usize,
}

/// Free items at the start that are not worth closing.
const LONGEST_GAP: usize = 16;

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { items: Vec::new(), head: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len() - self.head
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.len() == self.head
    }

    /// The one that came first.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.items.get(self.head)
    }

    /// Adds one at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.head >= LONGEST_GAP && self.head * 2 >= self.items.len() {
            self.close_gap();
        }
        self.items.push(item);
    }

    fn close_gap(&mut self) {
        self.items.copy_within(self.head.., 0);
        self.items.truncate(self.items.len() - self.head);
        self.head = 0;
    }

    /// Removes the one that came first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let item = *self.items.get(self.head)?;
        self.head += 1;
        if self.head == self.items.len() {
            self.items.clear();
            self.head = 0;
        }
        Some(item)
    }

    /// Those that wait, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items[self.head..].iter()
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
            prop_assert!(ring.items.capacity() <= 4 * length + 32, "{}", ring.items.capacity());
        }
    }
}
