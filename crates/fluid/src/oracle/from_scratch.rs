//! Rates recomputed from scratch, for tests: plain code that shares nothing with the incremental
//! computation.

/// A flow over some links; the lower its class, the earlier it is served.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) path: Vec<u32>,
    pub(crate) class: u32,
}

/// The rates of flows, class after class, max-min fair in what the classes before leave (Bertsekas
/// and Gallager, *Data Networks*, 6.5.2: all rates rise together until a link is full, and its
/// flows stay there).
pub(crate) fn max_min(capacities: &[f64], flows: &[Demand]) -> Vec<f64> {
    let mut left = capacities.to_vec();
    let mut rates = vec![0.0; flows.len()];
    let mut classes: Vec<u32> = flows.iter().map(|flow| flow.class).collect();
    classes.sort_unstable();
    classes.dedup();
    for class in classes {
        let mut rising: Vec<usize> =
            (0..flows.len()).filter(|flow| flows[*flow].class == class).collect();
        while !rising.is_empty() {
            let on = |link: usize| {
                rising.iter().filter(|flow| flows[**flow].path.contains(&(link as u32))).count()
            };
            let room = |link: usize| left[link].max(0.0) / on(link) as f64;
            let fullest = (0..left.len())
                .filter(|link| on(*link) > 0)
                .min_by(|one, other| room(*one).total_cmp(&room(*other)))
                .expect("a flow crosses a link");
            let rise = room(fullest);
            let (stay, go_on): (Vec<usize>, Vec<usize>) =
                rising.iter().partition(|flow| flows[**flow].path.contains(&(fullest as u32)));
            for flow in stay {
                rates[flow] = rise;
                flows[flow].path.iter().for_each(|link| left[*link as usize] -= rise);
            }
            rising = go_on;
        }
    }
    rates
}

/// The rates of flows, one after the other in the order of the list. Each gets what is left, up to
/// what it asks for.
pub(crate) fn waterfill(capacities: &[f64], flows: &[(Vec<u32>, f64)]) -> Vec<f64> {
    let mut left = capacities.to_vec();
    let mut share = |(path, asked): &(Vec<u32>, f64)| {
        let room = path.iter().map(|link| left[*link as usize]).fold(*asked, f64::min).max(0.0);
        path.iter().for_each(|link| left[*link as usize] -= room);
        room
    };
    flows.iter().map(&mut share).collect()
}
