//! The keys before the first table.

use flowsched_experiment::PARAMETERS;
use flowsched_units::{Parameter, Time};

use super::table::Table;
use super::value;
use crate::draw::Draw;

/// The keys that other tables depend on.
pub struct Top {
    /// Whether `engine` is "fluid".
    pub is_fluid: bool,
    /// How many seeds there are.
    pub seeds: u64,
}

impl Top {
    pub fn draw(draw: &mut Draw) -> Top {
        Top { is_fluid: draw.chance(0.3), seeds: draw.pick(&[1, 1, 1, 2, 3]) }
    }

    /// Draws the keys for an experiment with these schemes.
    pub fn table(&self, draw: &mut Draw, schemes: &[Table]) -> Table {
        let mut table = Table::new("", "");
        for parameter in PARAMETERS {
            if let Some(value) = self.value(draw, parameter, schemes) {
                table.set(parameter, value);
            }
        }
        table
    }

    fn value(&self, draw: &mut Draw, parameter: &Parameter, schemes: &[Table]) -> Option<String> {
        match parameter.name {
            "name" => draw.chance(0.1).then(|| "a random case".into()),
            "seeds" => Some(self.seeds.to_string()),
            "seed" => {
                draw.chance(0.5).then(|| draw.pick(&["0", "1", "77", "9007199254740992"]).into())
            }
            "engine" => Some(if self.is_fluid { "fluid" } else { "packet" }.into()),
            "orders" => (schemes.len() > 1 && draw.chance(0.2)).then(|| order(schemes)),
            "links" => draw.chance(0.1).then(|| "a: host 0 to host 1; b: leaf 0 to host 0".into()),
            "sample_interval" => sample_interval(draw),
            "until" => draw.chance(0.5).then(|| until(draw)),
            _ => draw.chance(0.2).then(|| value::draw_value(draw, parameter)).flatten(),
        }
    }
}

/// An order of all schemes, as they follow each other in the file.
fn order(schemes: &[Table]) -> String {
    let names: Vec<&str> = schemes.iter().map(|scheme| scheme.entries[1].value.as_str()).collect();
    format!("all mean: {}", names.join(" < "))
}

/// In most cases a sample at the end only, or the default, because every sample costs memory and
/// disk.
fn sample_interval(draw: &mut Draw) -> Option<String> {
    match draw.count(0, 19) {
        0..10 => Some("0us".into()),
        10..13 => Some(Time::from_us(draw.magnitude(10, 100_000)).to_string()),
        13 => Some(value::time(draw)),
        _ => None,
    }
}

fn until(draw: &mut Draw) -> String {
    Time::from_us(draw.magnitude(1, 10_000_000)).to_string()
}
