//! Which paths of a pair of hosts are parallel ones; the paths are in `parallel_paths`.

/// Which paths of a pair are parallel ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Parallel {
    /// The shortest.
    #[default]
    Shortest,
    /// This many paths, the shortest first.
    KShortest(usize),
    /// The disjoint ones of a BCube.
    Bcube { n: u32, k: u32 },
}
