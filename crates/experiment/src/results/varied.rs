//! The columns of varied keys. They have numbers if every value is a number, so that readers need
//! not parse text.

use std::collections::BTreeMap;

use parquet::basic::Type as Physical;

use super::Point;

/// A varied key, with the type of its column in the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariedKey {
    /// The key, `workload.load`.
    pub name: String,
    kind: Kind,
}

/// The type of a key's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Count,
    Number,
    Text,
}

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Count(i64),
    Number(f64),
    Text(String),
}

impl VariedKey {
    /// The key `name`, which has these `values` in the study.
    pub fn new<'a>(name: &str, values: impl Iterator<Item = &'a str> + Clone) -> VariedKey {
        let fits = |kind: &Kind| kind.tells_apart(values.clone());
        let kind = [Kind::Count, Kind::Number].into_iter().find(fits);
        VariedKey { name: name.to_owned(), kind: kind.unwrap_or(Kind::Text) }
    }

    /// The type of the column.
    pub(super) fn physical(&self) -> Physical {
        match self.kind {
            Kind::Count => Physical::INT64,
            Kind::Number => Physical::DOUBLE,
            Kind::Text => Physical::BYTE_ARRAY,
        }
    }

    /// The cell for a value of the key; a text if the value is not of the key's type.
    pub(super) fn cell(&self, value: &str) -> Cell {
        self.kind.read(value).unwrap_or_else(|| Cell::Text(value.to_owned()))
    }
}

impl Kind {
    /// Whether all values are of this kind, and different texts are different values.
    fn tells_apart<'a>(self, values: impl Iterator<Item = &'a str>) -> bool {
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        values.into_iter().all(|value| {
            let cell = self.read(value).map(Cell::into_text);
            cell.is_some_and(|cell| *known.entry(cell).or_insert(value) == value)
        })
    }

    fn read(self, value: &str) -> Option<Cell> {
        match self {
            Kind::Count => value.parse().ok().map(Cell::Count),
            Kind::Number => {
                let number = value.parse::<f64>().ok()?;
                number.is_finite().then_some(Cell::Number(number))
            }
            Kind::Text => Some(Cell::Text(value.to_owned())),
        }
    }
}

impl Cell {
    /// Whether the text stands for this value.
    fn is(&self, text: &str) -> bool {
        match self {
            Cell::Count(count) => text.parse() == Ok(*count),
            Cell::Number(number) => text.parse() == Ok(*number),
            Cell::Text(known) => known == text,
        }
    }

    fn into_text(self) -> String {
        match self {
            Cell::Count(count) => count.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) => text,
        }
    }
}

/// The point with these cells. Its values are texts as in the equal point among `known`, if there
/// is one.
pub(super) fn point(cells: Vec<(String, Cell)>, known: &[Point]) -> Point {
    let is_same = |point: &&Point| {
        point.0.len() == cells.len()
            && point
                .0
                .iter()
                .zip(&cells)
                .all(|((key, text), (name, cell))| key == name && cell.is(text))
    };
    match known.iter().find(is_same) {
        Some(point) => point.clone(),
        None => Point(cells.into_iter().map(|(name, cell)| (name, cell.into_text())).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn physical(values: &[&str]) -> Physical {
        VariedKey::new("key", values.iter().copied()).physical()
    }

    #[test]
    fn numbers_are_numbers_where_all_values_are() {
        assert_eq!(physical(&["2", "8"]), Physical::INT64);
        assert_eq!(physical(&["0.5", "1"]), Physical::DOUBLE);
        assert_eq!(physical(&["1e3", "0.50"]), Physical::DOUBLE);
        assert_eq!(physical(&["10us", "1"]), Physical::BYTE_ARRAY);
        assert_eq!(physical(&["nan", "1"]), Physical::BYTE_ARRAY);
        assert_eq!(physical(&["0.5", "0.50"]), Physical::BYTE_ARRAY, "two points");
        assert_eq!(physical(&["0.5", "0.5"]), Physical::DOUBLE);
        assert_eq!(physical(&["spray", "ecmp"]), Physical::BYTE_ARRAY);
    }

    #[test]
    fn a_point_read_back_has_the_words_of_the_file() {
        let point_of = |text: &str| Point(vec![("load".to_owned(), text.to_owned())]);
        let known = [point_of("0.50"), point_of("0.7")];
        let cells = |number| vec![("load".to_owned(), Cell::Number(number))];
        assert_eq!(point(cells(0.5), &known), known[0]);
        assert_eq!(point(cells(0.7), &known), known[1]);
        assert_eq!(point(cells(0.9), &known), point_of("0.9"));
    }
}
