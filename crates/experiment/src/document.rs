//! An experiment file as tables of keys and texts, each with its place. The meaning of keys is
//! decided elsewhere.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use flowsched_schemes::combination::{NAME, PRESET};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::mistake::{Mistake, Mistakes, Place, Source};

/// The tables of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The keys before the first table.
    pub top: Table,
    /// `[topology]`.
    pub topology: Table,
    /// `[workload]`.
    pub workload: Table,
    /// Each `[[workload.part]]`.
    pub parts: Vec<Table>,
    /// Each `[[workload.flow]]`.
    pub listed: Vec<Table>,
    /// Each `[[scheme]]`.
    pub schemes: Vec<Table>,
    /// `[probe]`, if there is one.
    pub probe: Option<Table>,
    /// `[vary]`, nested keys joined with dots.
    pub vary: Table,
    /// `[quick]`, nested keys joined with dots, if there is one.
    pub quick: Option<Table>,
}

/// A table of keys and their values.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The canonical spelling of the table's path, such as `workload` or `scheme.0`.
    pub path: String,
    /// The prefix of its keys in messages, such as `workload` or `scheme.pias`. A table of a list
    /// has its number instead of its name if the name is missing or not unique.
    pub label: String,
    /// The place of its header.
    pub place: Place,
    /// The values by key.
    pub entries: BTreeMap<String, Entry>,
}

/// The value of a key as it is written, without quotation marks.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The value's text.
    pub text: String,
    /// The place of the key.
    pub key_place: Place,
    /// The place of the value.
    pub value_place: Place,
}

impl Entry {
    /// A value given on the command line.
    pub fn argument(text: &str, place: &Place) -> Entry {
        Entry { text: text.to_owned(), key_place: place.clone(), value_place: place.clone() }
    }
}

impl Table {
    /// A table without keys.
    pub fn empty(path: &str, place: &Place) -> Table {
        Table::new(path, place.clone(), BTreeMap::new())
    }

    fn new(path: &str, place: Place, entries: BTreeMap<String, Entry>) -> Table {
        Table { path: path.to_owned(), label: path.to_owned(), place, entries }
    }

    /// The canonical spelling of `key`, as in variations.
    pub fn path_of(&self, key: &str) -> String {
        dotted(&self.path, key)
    }

    /// The name of `key` in a message.
    pub fn label_of(&self, key: &str) -> String {
        dotted(&self.label, key)
    }

    /// The text of `key`, if it is given.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|entry| entry.text.as_str())
    }

    /// The name of a table of a list; a scheme without a name has the name of its preset.
    pub fn name(&self) -> Option<&str> {
        self.text(NAME.name).or(self.text(PRESET.name))
    }

    /// The place of `key`'s value; if there is no value, the place of the table.
    pub fn place_of(&self, key: &str) -> &Place {
        self.entries.get(key).map_or(&self.place, |entry| &entry.value_place)
    }
}

fn dotted(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

impl Document {
    /// The tables that a file may have at its top level.
    pub const TABLES: [&str; 6] = ["topology", "workload", "probe", "scheme", "vary", "quick"];

    /// Parses TOML.
    ///
    /// # Errors
    /// All syntax errors. If there are none, all values and tables that are misplaced.
    pub fn parse(source: &Arc<Source>) -> Result<Document, Mistakes> {
        let (table, errors) = DeTable::parse_recoverable(&source.text);
        let mut reader = Reader { source, mistakes: Mistakes::new() };
        for error in errors {
            let place = reader.place(error.span().unwrap_or(0..0));
            reader.mistakes.add(Mistake::new(&place, "", format!("not TOML: {}", error.message())));
        }
        reader.mistakes = std::mem::take(&mut reader.mistakes).or(Mistakes::new())?;
        let mut document = reader.document(table.get_ref());
        document.label_lists();
        reader.mistakes.or(document)
    }

    /// Labels the tables of lists by their names. Call it again whenever names may have changed.
    pub fn label_lists(&mut self) {
        label(&mut self.schemes, "scheme");
        label(&mut self.parts, "workload.part");
    }
}

fn label(tables: &mut [Table], path: &str) {
    let names: Vec<Option<&str>> = tables.iter().map(Table::name).collect();
    let labels = labels(path, &names);
    tables.iter_mut().zip(labels).for_each(|(table, label)| table.label = label);
}

/// Makes labels for the tables of a list with these names. The label is the name, or the number if
/// the name is missing or not unique.
fn labels(path: &str, names: &[Option<&str>]) -> Vec<String> {
    let label = |(index, name): (usize, &Option<&str>)| {
        let is_unique = names.iter().filter(|other| *other == name).count() == 1;
        match name.filter(|name| is_unique && !name.trim().is_empty()) {
            Some(name) => format!("{path}.{name}"),
            None => format!("{path}.{index}"),
        }
    };
    names.iter().enumerate().map(label).collect()
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    mistakes: Mistakes,
}

impl Reader<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        Place::File { source: self.source.clone(), span }
    }

    fn document(&mut self, root: &DeTable<'_>) -> Document {
        let start = self.place(0..0);
        let mut document = Document {
            top: Table::empty("", &start),
            topology: Table::empty("topology", &start),
            workload: Table::empty("workload", &start),
            parts: Vec::new(),
            listed: Vec::new(),
            schemes: Vec::new(),
            probe: None,
            vary: Table::empty("vary", &start),
            quick: None,
        };
        for (key, value) in root {
            let name: &str = key.get_ref();
            let at = self.place(key.span());
            match (name, value.get_ref()) {
                ("topology", DeValue::Table(table)) => {
                    document.topology = self.table("topology", at, table);
                }
                ("workload", DeValue::Table(table)) => {
                    let (mut parts, mut listed) = (Vec::new(), Vec::new());
                    let lists = [("part", &mut parts), ("flow", &mut listed)];
                    document.workload = self.table_with_lists("workload", at, table, lists);
                    (document.parts, document.listed) = (parts, listed);
                }
                ("probe", DeValue::Table(table)) => {
                    document.probe = Some(self.table("probe", at, table));
                }
                ("vary", DeValue::Table(table)) => {
                    document.vary.place = at;
                    self.flatten("vary", &mut document.vary.entries, "", table);
                }
                ("quick", DeValue::Table(table)) => {
                    let mut quick = Table::empty("quick", &at);
                    self.flatten("quick", &mut quick.entries, "", table);
                    document.quick = Some(quick);
                }
                ("scheme", list) => document.schemes = self.list("scheme", &at, list),
                (name, other) if Document::TABLES.contains(&name) => {
                    let allowed = format!("a table, [{name}]");
                    self.mistakes.add(Mistake::found(&at, name, described(other), allowed));
                }
                (_, other) if is_table(other) => {
                    // Kept as an unknown key, so that it is refused with the others.
                    let entry = Entry::argument("", &at);
                    document.top.entries.insert(name.to_owned(), entry);
                }
                _ => self.entry(&mut document.top.entries, "", key, value),
            }
        }
        document
    }

    /// Reads the tables of `[[path]]`.
    fn list(&mut self, path: &str, at: &Place, list: &DeValue<'_>) -> Vec<Table> {
        let DeValue::Array(array) = list else {
            let mistake = Mistake::found(at, path, described(list), format!("[[{path}]] tables"));
            self.mistakes.add(mistake.with_help(format!("write [[{path}]] with two brackets")));
            return Vec::new();
        };
        let names: Vec<Option<&str>> = array.iter().map(|value| name_of(value.get_ref())).collect();
        let labels = labels(path, &names);
        let mut tables = Vec::new();
        for (index, (value, label)) in array.iter().zip(labels).enumerate() {
            let at = self.place(value.span());
            match value.get_ref() {
                DeValue::Table(table) => {
                    let path = format!("{path}.{index}");
                    tables.push(Table { path, ..self.table(&label, at, table) });
                }
                other => {
                    let allowed = format!("a [[{path}]] table");
                    self.mistakes.add(Mistake::found(&at, label, described(other), allowed));
                }
            }
        }
        tables
    }

    /// Reads the keys of a table, some of which are lists of tables.
    fn table_with_lists<const N: usize>(
        &mut self,
        path: &str,
        place: Place,
        table: &DeTable<'_>,
        mut lists: [(&str, &mut Vec<Table>); N],
    ) -> Table {
        let mut entries = BTreeMap::new();
        for (key, value) in table {
            let name: &str = key.get_ref();
            match lists.iter_mut().find(|(list, _)| *list == name) {
                Some((_, tables)) => {
                    let at = self.place(key.span());
                    **tables = self.list(&format!("{path}.{name}"), &at, value.get_ref());
                }
                None => self.entry(&mut entries, path, key, value),
            }
        }
        Table::new(path, place, entries)
    }

    fn table(&mut self, path: &str, place: Place, table: &DeTable<'_>) -> Table {
        self.table_with_lists(path, place, table, [])
    }

    /// Reads nested tables as dotted keys, so that `workload.load` and `"workload.load"` mean the
    /// same.
    fn flatten(
        &mut self,
        of: &str,
        into: &mut BTreeMap<String, Entry>,
        path: &str,
        table: &DeTable<'_>,
    ) {
        for (key, value) in table {
            let name = if path.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{path}.{}", key.get_ref())
            };
            match value.get_ref() {
                DeValue::Table(inner) => self.flatten(of, into, &name, inner),
                _ => {
                    let key = Spanned::new(key.span(), name.into());
                    self.entry(into, of, &key, value);
                }
            }
        }
    }

    fn entry(
        &mut self,
        into: &mut BTreeMap<String, Entry>,
        path: &str,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) {
        let name: &str = key.get_ref();
        let value_place = self.place(value.span());
        match text_of(value.get_ref()) {
            Some(text) => {
                let entry = Entry { text, key_place: self.place(key.span()), value_place };
                if into.insert(name.to_owned(), entry).is_some() {
                    let twice = format!("\"{name}\" a second time");
                    let at = self.place(key.span());
                    self.mistakes.add(Mistake::found(&at, path, twice, "each key once"));
                }
            }
            None => {
                let found = described(value.get_ref());
                let path = if path.is_empty() { name.into() } else { format!("{path}.{name}") };
                let allowed = "a text in quotation marks, a number, true or false";
                self.mistakes.add(Mistake::found(&value_place, path, found, allowed));
            }
        }
    }
}

/// The name of a table of a list, as [`Table::name`] returns it once the table is read.
fn name_of<'a>(value: &'a DeValue<'_>) -> Option<&'a str> {
    let DeValue::Table(table) = value else { return None };
    let text = |key| match table.get(key).map(Spanned::get_ref) {
        Some(DeValue::String(text)) => Some(text.as_ref()),
        _ => None,
    };
    text(NAME.name).or(text(PRESET.name))
}

/// Whether the value is a table or a list of tables, as `[name]` or `[[name]]` make it.
fn is_table(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Table(_) => true,
        DeValue::Array(array) => {
            array.first().is_some_and(|first| matches!(first.get_ref(), DeValue::Table(_)))
        }
        _ => false,
    }
}

/// A single value as it is written, without quotation marks; `None` for other values.
fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(integer) => Some(decimal(integer)),
        DeValue::Float(float) => Some(float.as_str().replace('_', "")),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// The integer in decimal. An integer above the range of `i128` stays as it is written.
fn decimal(integer: &DeInteger<'_>) -> String {
    let digits = integer.as_str().replace('_', "");
    i128::from_str_radix(&digits, integer.radix()).map_or(digits, |number| number.to_string())
}

fn described(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, String> {
        Document::parse(&Source::new("a.toml", text)).map_err(|mistakes| mistakes.to_string())
    }

    #[test]
    fn values_are_texts_whatever_their_type() {
        let document = parse("a = 1_000\nb = 0x10\nc = 1e3\nd = true\ne = \"0.5\"").unwrap();
        let texts: Vec<&str> =
            document.top.entries.values().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["1000", "16", "1e3", "true", "0.5"]);
    }

    #[test]
    fn tables_carry_their_places() {
        let document = parse("[workload]\nload = 0.8\n\n[[scheme]]\npreset = \"tcp\"").unwrap();
        assert_eq!(document.workload.place_of("load").to_string(), "a.toml:2:8");
        assert_eq!(document.workload.place_of("flows").to_string(), "a.toml:1:2");
        assert_eq!(document.schemes[0].place.to_string(), "a.toml:4:1");
    }

    #[test]
    fn varied_keys_may_be_nested_or_quoted() {
        let document = parse("[vary]\nworkload.load = \"0.5,0.6\"\n\"seeds\" = \"1,2\"").unwrap();
        let keys: Vec<&String> = document.vary.entries.keys().collect();
        assert_eq!(keys, ["seeds", "workload.load"]);
        let twice = parse("[vary]\nworkload.load = \"0.5\"\n\"workload.load\" = \"0.6\"");
        assert!(twice.unwrap_err().contains("a second time"));
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_line() {
        let error = parse("name = \"a\"\nload = = 2\n").unwrap_err();
        assert!(error.starts_with("a.toml:2:"), "{error}");
    }

    #[test]
    fn what_is_in_the_wrong_place_is_refused() {
        insta::assert_snapshot!(parse(
            "workload = 3\nvary = true\n[scheme]\npreset = \"tcp\"\n[topology]\nleaves = [1, 2]\n\
             spines = 1979-05-27\n"
        ).unwrap_err(), @"
        a.toml:1:1: workload: found a number, expected a table, [workload]
        a.toml:2:1: vary: found true or false, expected a table, [vary]
        a.toml:3:2: scheme: found a table, expected [[scheme]] tables; write [[scheme]] with two brackets
        a.toml:6:10: topology.leaves: found an array, expected a text in quotation marks, a number, true or false
        a.toml:7:10: topology.spines: found a date or time, expected a text in quotation marks, a number, true or false
        ");
    }
}
