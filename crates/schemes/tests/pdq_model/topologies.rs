//! Which flows pass which links, and the paper's terms for flows (PDQ 2012, Appendix B).

pub const MOST_FLOWS: usize = 4;
pub const MOST_LINKS: usize = 3;

/// The links that each flow passes, in this order; flows are sorted by criticality.
pub type Paths = Vec<Vec<usize>>;

/// "Competing with another flow if and only if they share at least one common link".
pub fn compete(a: &[usize], b: &[usize]) -> bool {
    a.iter().any(|link| b.contains(link))
}

/// "A driver if and only if (i) flow F is more critical than any other competing flow, or (ii)
/// all the competing flows of flow F that are more critical than flow F are non-drivers."
pub fn drivers(paths: &Paths, active: &[bool]) -> Vec<bool> {
    let mut drivers = vec![false; paths.len()];
    for flow in (0..paths.len()).filter(|flow| active[*flow]) {
        let is_free = |other: usize| !drivers[other] || !compete(&paths[other], &paths[flow]);
        drivers[flow] = (0..flow).all(is_free);
    }
    drivers
}

/// "The maximal number of precedential flows of any flow".
pub fn most_precedential(paths: &Paths, active: &[bool]) -> usize {
    let precedential = |flow: usize| {
        (0..flow).filter(|other| active[*other] && compete(&paths[*other], &paths[flow])).count()
    };
    (0..paths.len()).filter(|flow| active[*flow]).map(precedential).max().unwrap_or(0)
}

/// All paths over one or more of this many links, in any order.
fn paths_over(links: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    let mut from = 0;
    while from < all.len() {
        for link in 0..links {
            if !all[from].contains(&link) {
                let longer = [all[from].as_slice(), &[link]].concat();
                all.push(longer);
            }
        }
        from += 1;
    }
    all.split_off(1)
}

/// Whether each flow competes with all others, directly or by way of some of them.
fn is_connected(paths: &Paths) -> bool {
    let mut reached = vec![0];
    let mut from = 0;
    while from < reached.len() {
        let is_new =
            |flow: &usize| !reached.contains(flow) && compete(&paths[*flow], &paths[reached[from]]);
        let new: Vec<usize> = (0..paths.len()).filter(is_new).collect();
        reached.extend(new);
        from += 1;
    }
    reached.len() == paths.len()
}

/// All sets of this many flows over up to three links. Sets that differ only in the links' names
/// count once. Sets in which some flows do not compete with the others, directly or by way of some
/// of them, are left out. They are sets of fewer flows side by side, whose numbers of states
/// multiply.
pub fn topologies(flows: usize) -> Vec<Paths> {
    let mut all: Vec<Paths> = vec![vec![]];
    for _ in 0..flows {
        let one_more = |paths: &Paths| {
            let paths = paths.clone();
            paths_over(MOST_LINKS).into_iter().map(move |path| [paths.as_slice(), &[path]].concat())
        };
        all = all.iter().flat_map(one_more).collect();
    }
    // The links are numbered in the order in which they appear.
    all.retain(|paths| {
        let mut known = 0;
        paths.iter().flatten().all(|link| {
            let is_next = *link <= known;
            known = known.max(link + 1);
            is_next
        })
    });
    all.retain(is_connected);
    all
}

pub fn total_length(paths: &Paths) -> usize {
    paths.iter().map(Vec::len).sum()
}
