//! The digest that every table carries, so that nobody changes a measured figure by hand unnoticed.
//!
//! It covers everything that the file holds except itself: the head and all rows, with the fields that they had
//! when they were written. It does not depend on the order of fields, on white space, or on how a number is spelt.
//! Whoever has the source code can compute a digest. It finds edits, and the tests that measure again find forgeries.

use std::fmt::Write;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;
use twox_hash::XxHash3_128;

/// The field that has the digest.
const FIELD: &str = "digest";

/// Why a table is refused.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file is not such a table.
    #[error("The file is no table of `flowsched reproduce --format json`: {0}.")]
    Syntax(#[from] serde_json::Error),
    /// The table has no digest.
    #[error(
        "The table has no `digest`, so that nothing shows whether its figures were measured.{}",
        again(command)
    )]
    NoDigest {
        /// The command that measured it; empty if the table does not say.
        command: String,
    },
    /// The table's digest is not that of its content.
    #[error(
        "The table has the digest {stated}, but its content has {found}: it was changed after `flowsched reproduce` \
         wrote it.{}",
        again(command)
    )]
    OtherDigest {
        /// The digest in the table.
        stated: String,
        /// The digest of the table's content.
        found: String,
        /// The command that measured it; empty if the table does not say.
        command: String,
    },
}

/// The advice for a table that is not as it was written.
fn again(command: &str) -> String {
    match command {
        "" => " Measure again with `flowsched reproduce ... --format json`.".to_owned(),
        command => format!(" Measure again: `{command}`."),
    }
}

/// A table as JSON text with its digest, ending with a line break.
pub(crate) fn to_json(table: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Stamped<'a, T> {
        digest: String,
        #[serde(flatten)]
        table: &'a T,
    }
    let of = |value| digest(&value);
    let json = serde_json::to_value(table)
        .map(of)
        .and_then(|digest| serde_json::to_string_pretty(&Stamped { digest, table }));
    json.expect("texts and numbers can be written as JSON") + "\n"
}

/// Reads a table, whose digest must be that of its content.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, TableError> {
    let table: Value = serde_json::from_str(text)?;
    let command = || {
        let command = table.pointer("/program/command").and_then(Value::as_str);
        command.unwrap_or_default().to_owned()
    };
    let found = digest(&table);
    match table.get(FIELD).and_then(Value::as_str) {
        None => Err(TableError::NoDigest { command: command() }),
        Some(stated) if stated != found => {
            let stated = stated.to_owned();
            Err(TableError::OtherDigest { stated, found, command: command() })
        }
        Some(_) => Ok(serde_json::from_value(table)?),
    }
}

/// The digest of all fields of a table except `digest`.
fn digest(table: &Value) -> String {
    let mut text = String::new();
    match table {
        Value::Object(fields) => {
            write_fields(&mut text, fields.iter().filter(|(name, _)| *name != FIELD));
        }
        other => write_value(&mut text, other),
    }
    format!("xxh3-128:{:032x}", XxHash3_128::oneshot(text.as_bytes()))
}

/// Writes a value in one form, however it is spelt.
fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => write_fields(text, fields.iter()),
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write_value(text, value);
                text.push(',');
            }
            text.push(']');
        }
        // 1 and 1.0 are the same number.
        Value::Number(number) => drop(write!(text, "{}", number.as_f64().unwrap_or(f64::NAN))),
        other => drop(write!(text, "{other}")),
    }
}

/// Writes fields in the order of their names.
fn write_fields<'a>(text: &mut String, fields: impl Iterator<Item = (&'a String, &'a Value)>) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    text.push('{');
    for (name, value) in fields {
        let _ = write!(text, "{}:", Value::String(name.clone()));
        write_value(text, value);
        text.push(',');
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Table {
        program: Value,
        claims: Vec<Value>,
        #[serde(default)]
        newer: u64,
    }

    fn table() -> Table {
        let program =
            json!({ "version": "0.1.0", "command": "flowsched reproduce pdq --format json" });
        let claims = vec![json!({ "id": "a.b", "measured": 0.082, "interval": [0.08, 0.1] })];
        Table { program, claims, newer: 0 }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let text = to_json(&table());
        assert_eq!(from_json::<Table>(&text).unwrap(), table());
        assert!(text.find("digest") < text.find("program"), "the head comes first: {text}");
    }

    #[test]
    fn a_changed_figure_is_refused_with_the_command_that_measures_it() {
        let refused = |text: &str| from_json::<Table>(text).unwrap_err().to_string();
        let text = to_json(&table());
        for (is, was) in [("0.083", "0.082"), ("0.11", "0.1"), ("a.c", "a.b"), ("0.1.1", "0.1.0")] {
            let said = refused(&text.replace(was, is));
            assert!(said.contains("it was changed after `flowsched reproduce` wrote it"), "{said}");
            let again = "Measure again: `flowsched reproduce pdq --format json`.";
            assert!(said.ends_with(again), "{said}");
        }
        let bare = serde_json::to_string(&table()).unwrap();
        assert!(refused(&bare).starts_with("The table has no `digest`"), "{}", refused(&bare));
        assert!(refused("{").starts_with("The file is no table"), "{}", refused("{"));
    }

    #[test]
    fn order_white_space_and_spelling_do_not_count() {
        let stamped: Value = serde_json::from_str(&to_json(&table())).unwrap();
        let text = format!(
            "{{\"newer\":0.0,\"claims\":[{{\"interval\":[8e-2,0.10],\"measured\":0.0820,\"id\":\"a.b\"}}],\
             \"program\":{},\"digest\":{}}}",
            stamped["program"], stamped["digest"]
        );
        let read: Value = from_json(&text).unwrap();
        assert_eq!(read["digest"], stamped["digest"]);
    }

    /// A field that only later versions have is not in the digest of an older table.
    #[test]
    fn fields_that_a_table_lacks_are_not_in_its_digest() {
        let mut old = json!({ "program": table().program, "claims": table().claims });
        old["digest"] = digest(&old).into();
        assert_eq!(from_json::<Table>(&old.to_string()).unwrap(), table());
    }
}
