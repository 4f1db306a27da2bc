//! Orders of schemes that a paper states, and whether the runs confirm them.

use serde::{Deserialize, Serialize};

use super::{Change, Point, SizeClass};

/// A stated order: the FCT increases from each of these schemes to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The size class of the flows; `None` for all flows.
    pub class: Option<SizeClass>,
    /// The figure of the FCTs.
    pub figure: Figure,
    /// The schemes' names, the lowest first.
    pub schemes: Vec<String>,
}

/// A figure of the FCTs of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// The mean.
    Mean,
    /// The 99th percentile.
    P99,
}

/// The form of orders in an experiment, for errors.
pub(crate) const FORM: &str =
    "orders such as \"small mean: pias < dctcp; all p99: pias < l2dct < dctcp\"";

impl Order {
    /// Parses orders that are separated by semicolons.
    ///
    /// # Errors
    /// Returns the first part that is not an order.
    pub fn parse_all(text: &str) -> Result<Vec<Order>, String> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| Order::parse(part).ok_or_else(|| part.to_owned())).collect()
    }

    fn parse(text: &str) -> Option<Order> {
        let (of, schemes) = text.split_once(':')?;
        let (class, figure) = of.trim().split_once(' ')?;
        let class = match class {
            "all" => None,
            name => Some(SizeClass::ALL.into_iter().find(|class| class.name() == name)?),
        };
        let figure = match figure.trim() {
            "mean" => Figure::Mean,
            "p99" => Figure::P99,
            _ => return None,
        };
        let schemes: Vec<String> = schemes.split('<').map(|name| name.trim().to_owned()).collect();
        let is_order = schemes.len() > 1 && schemes.iter().all(|name| !name.is_empty());
        is_order.then_some(Order { class, figure, schemes })
    }
}

/// Whether two schemes are in the stated order, at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderFound {
    /// The point of the sweep.
    pub point: Point,
    /// `"all"` or the class.
    pub class: String,
    /// The figure.
    pub figure: Figure,
    /// The scheme with the lower FCT, as stated.
    pub lower: String,
    /// The scheme with the higher FCT, as stated.
    pub higher: String,
    /// The relative excess of `higher` over `lower`, paired by flow and seed.
    pub change: Change,
    /// Whether the order holds.
    pub verdict: OrderVerdict,
}

/// The result of comparing an order with runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderVerdict {
    /// The whole interval is on the stated side. If nothing is random, the change itself decides.
    Holds,
    /// The whole interval is on the other side. If nothing is random, the change itself decides.
    Reversed,
    /// The interval reaches to both sides, or there is neither an interval nor an exact change.
    Undecided,
}

impl OrderVerdict {
    /// The verdict on the relative excess of the scheme with the higher FCT, as stated. A change
    /// without an interval decides only if `nothing_is_random`.
    pub fn from_change(excess: &Change, nothing_is_random: bool) -> OrderVerdict {
        let exact = excess.change.filter(|_| nothing_is_random);
        match (excess.low.or(exact), excess.high.or(exact)) {
            (Some(low), _) if low > 0.0 => OrderVerdict::Holds,
            (_, Some(high)) if high < 0.0 => OrderVerdict::Reversed,
            _ => OrderVerdict::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_or_named() {
        let orders = Order::parse_all("small mean: pias < dctcp; all p99: a b < c < d;").unwrap();
        assert_eq!(orders[0].class, Some(SizeClass::Small));
        assert_eq!(orders[1].schemes, ["a b", "c", "d"]);
        assert_eq!((orders[1].class, orders[1].figure), (None, Figure::P99));
        for text in
            ["pias < dctcp", "tiny mean: a < b", "all p50: a < b", "all mean: a", "all mean: a <"]
        {
            assert_eq!(Order::parse_all(text), Err(text.to_owned()));
        }
    }

    #[test]
    fn an_interval_on_one_side_decides() {
        let change = |low, high| Change { change: Some(0.1), low, high };
        let verdict = |low, high| OrderVerdict::from_change(&change(low, high), false);
        assert_eq!(verdict(Some(0.05), Some(0.15)), OrderVerdict::Holds);
        assert_eq!(verdict(Some(-0.3), Some(-0.1)), OrderVerdict::Reversed);
        assert_eq!(verdict(Some(-0.1), Some(0.1)), OrderVerdict::Undecided);
        assert_eq!(verdict(None, None), OrderVerdict::Undecided);
    }

    #[test]
    fn an_exact_change_decides() {
        let verdict = |change| {
            let change = Change { change: Some(change), low: None, high: None };
            OrderVerdict::from_change(&change, true)
        };
        assert_eq!(
            [0.1, -0.1, 0.0].map(verdict),
            [OrderVerdict::Holds, OrderVerdict::Reversed, OrderVerdict::Undecided]
        );
    }
}
