//! Tables as files: the rows, and when, how and where they were measured.

use std::collections::BTreeMap;

use flowsched_experiment::results::Program;
use serde::{Deserialize, Serialize};

use crate::claim::{Claim, ClaimedValue, Claims};
use crate::digest::{self, TableError};
use crate::row::Row;
use crate::scale::Scale;
use crate::verdict::Verdict;

/// What `flowsched reproduce --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The day, `"2026-11-23"`.
    pub date: String,
    /// The program that measured the rows.
    pub program: Program,
    /// The machine: processor, cores, operating system.
    pub machine: String,
    /// The rows, in the order of the claims.
    pub claims: Vec<Row>,
}

impl Recorded {
    /// The table with verdicts that follow from its figures and from the claims. Recorded verdicts do not count.
    /// Values that the claims no longer have are left out.
    pub fn judged(self, claims: &Claims) -> Recorded {
        let rows = self.claims.into_iter().filter_map(|row| row.judged(claims));
        Recorded { claims: rows.collect(), ..self }
    }

    /// The table as JSON text with its digest, ending with a line break.
    pub fn to_json(&self) -> String {
        digest::to_json(self)
    }

    /// Reads what [`to_json`](Recorded::to_json) wrote.
    ///
    /// # Errors
    /// If the text is not a table, or its digest is missing or not that of its content.
    pub fn from_json(text: &str) -> Result<Recorded, TableError> {
        digest::from_json(text)
    }
}

/// Several recorded tables, of different values or scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables(Vec<Recorded>);

impl Tables {
    /// The tables, given with the names of their files. If several measured a value at the same scale, the one of
    /// the latest day counts, and the others lose the row.
    ///
    /// # Errors
    /// If two tables measured a value at the same scale on the same day. The error names both and says what to do.
    pub fn new(mut named: Vec<(String, Recorded)>) -> Result<Tables, String> {
        let latest = latest(&named)?;
        for (_, table) in &mut named {
            let date = table.date.as_str();
            let counts = |row: &Row| !row.is_measured() || latest[&row.key()] == date;
            table.claims.retain(counts);
        }
        Ok(Tables(named.into_iter().map(|(_, table)| table).collect()))
    }

    /// The tables.
    pub fn all(&self) -> &[Recorded] {
        &self.0
    }

    /// The row of a claim's value: one that was measured at paper scale, otherwise at quick scale, otherwise with real
    /// packets. If none was measured, a row that says why; `None` if no table has the value.
    pub fn row(&self, id: &str, value: &str) -> Option<&Row> {
        self.rows_of(id, value).rev().max_by_key(|row| row.weight())
    }

    /// The row of a claim's value. If nothing is recorded, the row has what the claim says of the value. A share,
    /// which needs no run, is computed.
    pub fn row_of(&self, claim: &Claim, value: &ClaimedValue) -> Row {
        let recorded = self.row(&claim.id, &value.name).filter(|row| row.is_measured());
        let recorded = recorded.filter(|_| value.share.is_none()).cloned();
        recorded.unwrap_or_else(|| Row::new(claim, value, &BTreeMap::new(), ""))
    }

    /// The row of a claim's value with real packets.
    pub fn in_lab(&self, id: &str, value: &str) -> Option<&Row> {
        self.rows_of(id, value).find(|row| row.is_in_lab() && row.is_measured())
    }

    /// The row of a claim's value in simulations at a scale, if it was measured.
    pub fn at_scale(&self, id: &str, value: &str, scale: Scale) -> Option<&Row> {
        let scale = scale.to_string();
        self.rows_of(id, value).find(|row| row.scale == scale && row.is_measured())
    }

    /// The cost of each seed of a claim's value at a scale, in seconds of one processor.
    pub fn cost_of_seed(&self, id: &str, value: &str, scale: &str) -> Option<f64> {
        let each = |row: &Row| Some(row.cpu_s? / row.seeds? as f64);
        self.rows_of(id, value).filter(|row| row.scale == scale).find_map(each)
    }

    /// The place of the table that measured a row; `None` if none did.
    pub fn place_of(&self, row: &Row) -> Option<usize> {
        let is_source = |one: &Row| one.is_measured() && one.key() == row.key();
        self.0.iter().position(|table| table.claims.iter().any(is_source))
    }

    fn rows_of(&self, id: &str, value: &str) -> impl DoubleEndedIterator<Item = &Row> {
        let all = self.0.iter().flat_map(|table| &table.claims);
        all.filter(move |row| row.id == id && row.value == value)
    }
}

/// The names of a claim, of one of its values, and of a scale.
type Key = (String, String, String);

/// The last day on which each value was measured at each scale.
fn latest(named: &[(String, Recorded)]) -> Result<BTreeMap<Key, String>, String> {
    let mut found: BTreeMap<Key, (&str, &str)> = BTreeMap::new();
    for (file, table) in named {
        for row in table.claims.iter().filter(|row| row.is_measured()) {
            match found.get(&row.key()) {
                Some((date, first)) if *date == table.date => {
                    let (name, scale) = (row.name(), row.scale_in_words());
                    return Err(format!(
                        "{first} and {file} both measured `{name}` {scale} on the same day. Remove one of these \
                         files, or make one again without this claim."
                    ));
                }
                Some((date, _)) if *date > table.date.as_str() => {}
                _ => drop(found.insert(row.key(), (&table.date, file))),
            }
        }
    }
    Ok(found.into_iter().map(|(key, (date, _))| (key, date.to_owned())).collect())
}

impl Row {
    fn key(&self) -> Key {
        (self.id.clone(), self.value.clone(), self.scale.clone())
    }

    fn is_measured(&self) -> bool {
        !matches!(self.verdict, Verdict::NotRun | Verdict::NeedsTheLab)
    }

    /// How much the row says about its value, compared with other rows of the value.
    fn weight(&self) -> u32 {
        match (self.is_measured(), self.is_in_lab(), self.scale.as_str()) {
            (false, ..) => 0,
            (true, true, _) => 1,
            (true, false, "paper") => 3,
            (true, false, _) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    /// A row that took 7 s if it was measured.
    fn row(value: &str, scale: &str, verdict: Verdict) -> Row {
        let empty = Row::without_figures(Kind::Value, verdict);
        let (id, value, scale) = ("a.b".to_owned(), value.to_owned(), scale.to_owned());
        let cpu_s = empty.is_measured().then_some(7.0);
        Row { id, value, scale, cpu_s, seeds: Some(5), ..empty }
    }

    fn tables(all: &[&[Row]]) -> Result<Tables, String> {
        of_days(&all.iter().map(|rows| ("", *rows)).collect::<Vec<_>>())
    }

    /// Tables, each with its day.
    fn of_days(all: &[(&str, &[Row])]) -> Result<Tables, String> {
        let recorded = |(place, (date, rows)): (usize, &(&str, &[Row]))| {
            let table = Recorded {
                date: (*date).to_owned(),
                program: Program::default(),
                machine: String::new(),
                claims: rows.to_vec(),
            };
            (format!("{place}.json"), table)
        };
        Tables::new(all.iter().enumerate().map(recorded).collect())
    }

    #[test]
    fn the_row_that_says_most_counts() {
        let lab = |value| row(value, "lab, quick", Verdict::Undecided);
        let quick = |value| row(value, "quick", Verdict::Reproduced);
        let (needs, idle) =
            (row("x", "quick", Verdict::NeedsTheLab), row("z", "paper", Verdict::NotRun));
        let paper = row("y", "paper", Verdict::NotReproduced);
        let one = [lab("x"), lab("w"), paper.clone(), idle.clone()];
        let other = [needs, quick("y"), row("z", "quick", Verdict::NotRun), quick("w")];
        let all = tables(&[&one, &other]).unwrap();
        let says_most = [("x", lab("x")), ("y", paper), ("z", idle), ("w", quick("w"))];
        for (value, expected) in says_most {
            assert_eq!(all.row("a.b", value), Some(&expected));
        }
        assert_eq!(all.row("a.b", "v"), None);
        assert_eq!(all.in_lab("a.b", "w"), Some(&lab("w")));
        assert_eq!(all.in_lab("a.b", "y"), None);
        let places = ["x", "y", "z"].map(|value| all.place_of(all.row("a.b", value).unwrap()));
        assert_eq!(places, [Some(0), Some(0), None]);
    }

    #[test]
    fn a_cost_is_of_the_table_that_measured_the_value() {
        let idle = row("x", "paper", Verdict::NotRun);
        let all = tables(&[&[idle], &[row("x", "paper", Verdict::Undecided)]]).unwrap();
        assert_eq!(all.cost_of_seed("a.b", "x", "paper"), Some(1.4));
        assert_eq!(all.cost_of_seed("a.b", "x", "quick"), None);
    }

    #[test]
    fn a_value_is_measured_once_a_day_at_a_scale() {
        let one = row("x", "paper", Verdict::Reproduced);
        let twice = tables(&[std::slice::from_ref(&one), std::slice::from_ref(&one)]).unwrap_err();
        assert!(
            twice.starts_with(
                "0.json and 1.json both measured `a.b: x` at paper scale on the same day."
            ),
            "{twice}"
        );
        let idle = row("x", "paper", Verdict::NotRun);
        assert!(tables(&[&[one, idle.clone()], &[idle]]).is_ok());
    }

    #[test]
    fn the_measurement_of_the_latest_day_counts() {
        let measured =
            |verdict| [row("x", "paper", verdict), row("y", "paper", Verdict::Undecided)];
        let (old, new) =
            (measured(Verdict::Reproduced), [row("x", "paper", Verdict::NotReproduced)]);
        for days in [
            [("2026-11-02", &old[..]), ("2026-11-10", &[]), ("2026-11-03", &new[..])],
            [("2026-11-03", &new[..]), ("2026-11-10", &[]), ("2026-11-02", &old[..])],
        ] {
            let all = of_days(&days).unwrap();
            assert_eq!(all.row("a.b", "x"), Some(&new[0]));
            assert_eq!(all.row("a.b", "y"), Some(&old[1]));
        }
    }

    #[test]
    fn what_is_not_measured_is_as_the_claims_have_it() {
        let text = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\nwords = \"\"\n\
                    setting = \"\"\nmetric = \"\"\nkind = \"value\"\n\
                    [[claim.value]]\nname = \"x\"\npublished = 1\nnot_run = \"so\"\n";
        let claims = Claims::parse(text).unwrap();
        let claim = &claims.all[0];
        let stale =
            Row { reason: Some("as before".to_owned()), ..row("x", "quick", Verdict::NotRun) };
        let said = tables(&[&[stale]]).unwrap().row_of(claim, &claim.values[0]);
        assert_eq!((said.verdict, said.reason.as_deref()), (Verdict::NotRun, Some("so")));
        let measured = row("x", "quick", Verdict::Reproduced);
        let said = tables(&[std::slice::from_ref(&measured)]).unwrap();
        assert_eq!(said.row_of(claim, &claim.values[0]), measured);
    }
}
