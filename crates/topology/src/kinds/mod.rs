//! The topologies, one a file.

pub(crate) mod bcube;
pub(crate) mod custom;
pub(crate) mod dumbbell;
pub(crate) mod fat_tree;
pub(crate) mod jellyfish;
pub(crate) mod leaf_spine;
pub(crate) mod single_rooted_tree;
pub(crate) mod star;
