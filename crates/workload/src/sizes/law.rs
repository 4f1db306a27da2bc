//! What every law of sizes can say about itself, whichever form it has.

use super::integral;
use super::packets::Packets;
use super::parametric::Parametric;
use super::table::Table;

/// A law of sizes in one of its forms.
#[derive(Clone, Debug)]
pub(super) enum Law {
    Table(Table),
    Packets(Packets),
    Parametric(Parametric),
}

impl Law {
    pub(super) fn min(&self) -> f64 {
        match self {
            Law::Table(table) => table.min(),
            Law::Packets(packets) => packets.table().min(),
            Law::Parametric(law) => law.min(),
        }
    }

    pub(super) fn max(&self) -> f64 {
        match self {
            Law::Table(table) => table.max(),
            Law::Packets(packets) => packets.table().max(),
            Law::Parametric(law) => law.max(),
        }
    }

    pub(super) fn cdf(&self, size: f64) -> f64 {
        match self {
            Law::Table(table) => table.cdf(size),
            Law::Packets(packets) => packets.cdf(size),
            Law::Parametric(law) => 1.0 - law.above(size),
        }
    }

    pub(super) fn below(&self, size: f64) -> f64 {
        match self {
            Law::Table(table) => table.below(size),
            Law::Packets(packets) => packets.below(size),
            Law::Parametric(law) => 1.0 - law.above(size),
        }
    }

    pub(super) fn quantile(&self, p: f64) -> f64 {
        match self {
            Law::Table(table) => table.quantile(p),
            Law::Packets(packets) => packets.quantile(p),
            Law::Parametric(law) => law.quantile(p),
        }
    }

    pub(super) fn partial_mean(&self, size: f64) -> f64 {
        match self {
            Law::Table(table) => {
                let up_to = table.moments_up_to(size);
                up_to.first + rest(size, 1.0 - up_to.mass)
            }
            Law::Packets(packets) => packets.partial_mean(size),
            Law::Parametric(law) => law.moments_up_to(size).first + rest(size, law.above(size)),
        }
    }

    pub(super) fn partial_second_moment(&self, size: f64) -> f64 {
        match self {
            Law::Table(table) => {
                let up_to = table.moments_up_to(size);
                up_to.second + rest(size * size, 1.0 - up_to.mass)
            }
            Law::Packets(packets) => packets.partial_second_moment(size),
            Law::Parametric(law) => {
                law.moments_up_to(size).second + rest(size * size, law.above(size))
            }
        }
    }

    pub(super) fn mean_packets(&self, payload: f64) -> f64 {
        match self {
            Law::Table(table) => table.mean_packets(payload),
            Law::Packets(packets) => packets.partial_mean(f64::INFINITY) / payload,
            Law::Parametric(law) => integral::mean_packets(law, payload),
        }
    }

    pub(super) fn expectations<const N: usize>(
        &self,
        from: f64,
        to: f64,
        values: impl Fn(f64) -> [f64; N],
    ) -> [f64; N] {
        match self {
            Law::Table(table) => integral::over_table(table, from, to, values),
            Law::Packets(packets) => packets.expectations(from, to, values),
            Law::Parametric(law) => integral::over_density(law, from, to, values),
        }
    }

    pub(super) fn scaled(&self, factor: f64) -> Law {
        match self {
            Law::Table(table) => Law::Table(table.scaled(factor)),
            Law::Packets(packets) => Law::Table(packets.table().scaled(factor)),
            Law::Parametric(law) => Law::Parametric(law.scaled(factor)),
        }
    }
}

/// `value` times the mass above it. Zero if nothing is above, even if the value is infinite.
fn rest(value: f64, above: f64) -> f64 {
    if above > 0.0 { value * above } else { 0.0 }
}
