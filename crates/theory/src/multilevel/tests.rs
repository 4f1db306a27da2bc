use flowsched_units::Bytes;
use flowsched_workload::sizes::{SizeDistribution, by_name};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} for {expected}");
}

#[test]
fn one_level_is_the_discipline_inside_it() {
    let sizes = by_name("web-search-bytes").unwrap();
    let queue = Mg1::new(&sizes, 0.8);
    close(MultilevelFcfs::new(queue, &[]).mean(), queue.fcfs_mean(), 1e-6);
    close(MultilevelPs::new(queue, &[]).mean(), queue.ps_mean(), 1e-6);
}

#[test]
fn exponential_sizes_take_the_same_mean_time_whatever_the_levels() {
    // No discipline that does not know the sizes can be better or worse.
    let sizes = SizeDistribution::exponential(Bytes::new(1_000_000));
    let queue = Mg1::new(&sizes, 0.8);
    let thresholds = [2e5, 7e5, 2e6];
    close(MultilevelFcfs::new(queue, &thresholds).mean(), 5e6, 1e-6);
    close(MultilevelPs::new(queue, &thresholds).mean(), 5e6, 1e-4);
}

#[test]
fn ever_finer_levels_tend_to_foreground_background() {
    let sizes = by_name("web-search-bytes").unwrap();
    let queue = Mg1::new(&sizes, 0.8);
    let error = |levels: i32| {
        let step = sizes.max() / f64::from(levels);
        let thresholds: Vec<f64> = (1..levels).map(|i| f64::from(i) * step).collect();
        (MultilevelFcfs::new(queue, &thresholds).mean() / queue.fb_mean() - 1.0).abs()
    };
    let errors = [error(100), error(1_000), error(10_000)];
    assert!(errors[2] < errors[1] && errors[1] < errors[0] && errors[2] < 2e-3, "{errors:?}");
}

/// The mean work in the system does not depend on the discipline. It is the sum, over all attained
/// services, of the number of flows that have it times what they have left (Kleinrock).
#[test]
fn shared_levels_conserve_work() {
    for (name, load, thresholds) in [
        ("web-search-bytes", 0.8, vec![1.2e6]),
        ("web-search-bytes", 0.5, vec![5e4, 1e6, 4e6]),
        ("pareto 1.2 1KB 100MB", 0.7, vec![1e4, 1e6]),
    ] {
        let sizes = by_name(name).unwrap();
        let queue = Mg1::new(&sizes, load);
        let shared = MultilevelPs::new(queue, &thresholds);
        let (mut from, mut work, mut before) = (0.0, 0.0, 0.0);
        while from < sizes.max() {
            let mut to = (from * 1.001).max(from + 100.0);
            for cut in thresholds.iter().chain(&[sizes.max()]) {
                to = if from < *cut { to.min(*cut) } else { to };
            }
            let attained = shared.response(to);
            let left = sizes.mean() - sizes.partial_mean((from + to) / 2.0);
            work += queue.arrival_rate() * (attained - before) * left;
            before = attained;
            // Beyond a threshold the time jumps to when the level is first served.
            from = to;
        }
        close(work, queue.work_truncated_at(f64::INFINITY), 5e-3);
    }
}

/// A flow in the small simulation below.
struct Flow {
    start: f64,
    size: f64,
    served: f64,
}

/// Simulates a multilevel queue flow by flow, without packets. Returns (size, response).
fn simulate(
    sizes: &SizeDistribution,
    load: f64,
    thresholds: &[f64],
    share: bool,
) -> Vec<(f64, f64)> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut uniform = || random.random::<f64>();
    let gap = sizes.mean() / load;
    let level = |served: f64| thresholds.partition_point(|threshold| *threshold <= served + 1e-6);
    let mut active: Vec<Flow> = Vec::new();
    let (mut now, mut next, mut done) = (0.0, 0.0, Vec::new());
    while done.len() < 400_000 {
        let top = active.iter().map(|flow| level(flow.served)).min();
        // Flows go in the order of arrival: the one that has been served here, then the earliest.
        let chosen: Vec<usize> = match top {
            None => Vec::new(),
            Some(top) => {
                let here = (0..active.len()).filter(|i| level(active[*i].served) == top);
                if share { here.collect() } else { here.take(1).collect() }
            }
        };
        let rate = 1.0 / chosen.len().max(1) as f64;
        let until = |flow: &Flow| {
            let end = thresholds.get(level(flow.served)).map_or(flow.size, |t| t.min(flow.size));
            (end - flow.served) / rate
        };
        let step = chosen.iter().map(|i| until(&active[*i])).fold(next - now, f64::min);
        for i in &chosen {
            active[*i].served += step * rate;
        }
        now += step;
        active.retain(|flow| {
            let ended = flow.served >= flow.size - 1e-6;
            if ended {
                done.push((flow.size, now - flow.start));
            }
            !ended
        });
        if now >= next {
            let size = sizes.sample(uniform()).get() as f64;
            active.push(Flow { start: now, size, served: 0.0 });
            next = now - gap * (1.0 - uniform()).ln();
        }
    }
    done
}

#[test]
fn both_agree_with_a_simulation_flow_by_flow() {
    let sizes = by_name("uniform 2KB 198KB").unwrap();
    let (load, thresholds) = (0.7, [40e3, 100e3]);
    let queue = Mg1::new(&sizes, load);
    let fcfs = MultilevelFcfs::new(queue, &thresholds);
    let ps = MultilevelPs::new(queue, &thresholds);
    for share in [false, true] {
        let flows = simulate(&sizes, load, &thresholds, share);
        for (from, to) in [(0.0, 40e3), (40e3, 70e3), (70e3, 100e3), (100e3, 130e3), (130e3, 2e5)] {
            let within = || flows.iter().filter(|(size, _)| from < *size && *size <= to);
            let count = within().count() as f64;
            let found = within().map(|(_, response)| response).sum::<f64>() / count;
            let expected = within()
                .map(|(size, _)| if share { ps.response(*size) } else { fcfs.response(*size) })
                .sum::<f64>()
                / count;
            let error = found / expected - 1.0;
            assert!(error.abs() < 0.025, "share {share}, {from}..{to}: {found} for {expected}");
        }
    }
}
