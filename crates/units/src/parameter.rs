//! Parameters that describe themselves, and the values given to them.
//!
//! Every part of a scheme, every topology and every workload lists its [`Parameter`]s: name,
//! kind, default, meaning, source. The experiment file is checked against these lists, and the
//! reference pages are printed from them, so that the three never disagree.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::{Bytes, PacketMeaning, Rate, Time, shortened};

/// What a parameter's value is, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A length of time, `"85.2us"`.
    Time,
    /// A rate, `"10Gbps"`.
    Rate,
    /// A size, `"360KB"`, `"65pkt"` or `"unlimited"`.
    Size(PacketMeaning),
    /// Sizes with blanks between them, `"909pkt 1329pkt"`, maybe none, or one of some words that
    /// stand for sizes worked out later (a [`Value::Text`] until then).
    Sizes {
        /// What a `pkt` is.
        packet: PacketMeaning,
        /// The words.
        words: &'static [&'static str],
    },
    /// A whole number between two bounds, both allowed.
    Count {
        /// The smallest allowed.
        from: u64,
        /// The largest allowed.
        to: u64,
    },
    /// A number between two bounds, both allowed.
    Number {
        /// The smallest allowed.
        from: f64,
        /// The largest allowed.
        to: f64,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text; whoever owns the parameter says what it means.
    Text,
}

/// One thing that a user may set.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in the experiment file.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// The default, as it would be written in the file; `None` where it must be given.
    pub default: Option<&'static str>,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Where the default comes from: a paper's section, an RFC, the authors' simulator.
    pub source: &'static str,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Time`].
    Time(Time),
    /// Of [`Kind::Rate`].
    Rate(Rate),
    /// Of [`Kind::Size`]; [`Bytes::MAX`] is `"unlimited"`.
    Size(Bytes),
    /// Of [`Kind::Sizes`].
    Sizes(Vec<Bytes>),
    /// Of [`Kind::Count`].
    Count(u64),
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::Choice`] or [`Kind::Text`], or a word in place of [`Kind::Sizes`].
    Text(String),
}

/// A value that a parameter cannot take.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {problem}")]
pub struct SettingError {
    /// The parameter's name.
    pub key: String,
    /// What is wrong and what to do, as a sentence.
    pub problem: String,
}

impl SettingError {
    /// Says that `key` was given as `found` where only `allowed` makes sense.
    pub fn new(
        key: impl Into<String>,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> SettingError {
        let (found, allowed) = (found.into(), allowed.into());
        SettingError::sentence(key, format!("found {}, expected {allowed}", shortened(&found)))
    }

    /// Says what is wrong with `key` where no single value is to blame, and what to do.
    pub fn sentence(key: impl Into<String>, problem: impl Into<String>) -> SettingError {
        SettingError { key: key.into(), problem: problem.into() }
    }
}

impl From<&Parameter> for String {
    /// The name.
    fn from(parameter: &Parameter) -> String {
        parameter.name.to_owned()
    }
}

impl Kind {
    /// Reads a value of this kind from how it is written in a file, a default or `--set`.
    ///
    /// # Errors
    /// A sentence that says what was found and what is allowed.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let refuse = || format!("found \"{}\", expected {}", shortened(text), self.allowed());
        match self {
            Kind::Time => text.parse().map(Value::Time).map_err(|e| e.to_string()),
            Kind::Rate => text.parse().map(Value::Rate).map_err(|e| e.to_string()),
            Kind::Size(_) if text == "unlimited" => Ok(Value::Size(Bytes::MAX)),
            Kind::Size(packet) => {
                Bytes::parse(text, packet).map(Value::Size).map_err(|e| e.to_string())
            }
            Kind::Sizes { words, .. } if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Sizes { packet, .. } => text
                .split_whitespace()
                .map(|size| Bytes::parse(size, packet).map_err(|e| e.to_string()))
                .collect::<Result<_, _>>()
                .map(Value::Sizes),
            Kind::Count { from, to } => match text.parse() {
                Ok(count) if (from..=to).contains(&count) => Ok(Value::Count(count)),
                _ => Err(refuse()),
            },
            Kind::Number { from, to } => match text.parse() {
                Ok(number) if (from..=to).contains(&number) => Ok(Value::Number(number)),
                _ => Err(refuse()),
            },
            Kind::Flag => text.parse().map(Value::Flag).map_err(|_| refuse()),
            Kind::Choice(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Choice(_) => Err(refuse()),
            Kind::Text => Ok(Value::Text(text.to_owned())),
        }
    }

    /// What may be written, for an error or the reference.
    pub fn allowed(self) -> String {
        match self {
            Kind::Time => "a time such as \"85.2us\"".into(),
            Kind::Rate => "a rate such as \"10Gbps\"".into(),
            Kind::Size(PacketMeaning::Payload) => {
                "a size such as \"100KB\" or \"65pkt\" (1 pkt = 1460 B), or \"unlimited\"".into()
            }
            Kind::Size(PacketMeaning::Wire) => {
                "a size such as \"360KB\" or \"65pkt\" (1 pkt = 1500 B), or \"unlimited\"".into()
            }
            Kind::Sizes { words, .. } => {
                let mut allowed = String::from("sizes with blanks between, such as \"100KB 1MB\"");
                for word in words {
                    allowed.push_str(&format!(", or \"{word}\""));
                }
                allowed
            }
            Kind::Count { from, to: u64::MAX } => format!("a whole number from {from}"),
            Kind::Count { from, to } => format!("a whole number from {from} to {to}"),
            Kind::Number { from, to } if to.is_infinite() => format!("a number from {from}"),
            Kind::Number { from, to } => format!("a number from {from} to {to}"),
            Kind::Flag => "true or false".into(),
            Kind::Choice(words) => words.join(", "),
            Kind::Text => "text".into(),
        }
    }
}

impl fmt::Display for Value {
    /// As it is written in a file, without quotation marks; [`Kind::parse`] reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Time(time) => time.fmt(f),
            Value::Rate(rate) => rate.fmt(f),
            Value::Size(Bytes::MAX) => f.write_str("unlimited"),
            Value::Size(size) => size.fmt(f),
            Value::Sizes(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(Bytes::to_string).collect();
                f.write_str(&sizes.join(" "))
            }
            Value::Count(count) => count.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// Values by parameter name, checked and complete: each value that is read is there and of its
/// kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// No values.
    pub fn new() -> Settings {
        Settings::default()
    }

    /// The defaults of `parameters`; those without one are left out.
    ///
    /// # Panics
    /// If a default is not of its own parameter's kind (a test of each list checks that).
    pub fn defaults<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Settings {
        let mut settings = Settings::new();
        for parameter in parameters {
            if let Some(default) = parameter.default {
                let value = parameter.kind.parse(default);
                settings.set(parameter.name, value.expect("a default is of its own kind"));
            }
        }
        settings
    }

    /// Sets a parameter, given itself or by its name, and replaces its value.
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        self.0.insert(name.into(), value);
    }

    /// The value of `parameter`, if it has one.
    pub fn get(&self, parameter: &Parameter) -> Option<&Value> {
        self.named(parameter.name)
    }

    /// The value of the parameter called `name`, if it has one: for names that a user wrote.
    pub fn named(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Whether `parameter` has a word or text as its value, and this is `word`.
    pub fn is(&self, parameter: &Parameter, word: &str) -> bool {
        matches!(self.get(parameter), Some(Value::Text(text)) if text == word)
    }

    /// All values in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident => $type:ty;)*) => {
        impl Settings {
            $(
                $(#[$doc])*
                ///
                /// # Panics
                /// If the settings were not checked against a list that has the parameter with this
                /// kind.
                pub fn $name(&self, parameter: &Parameter) -> $type {
                    match self.get(parameter) {
                        Some(Value::$variant(value)) => value.clone(),
                        other => panic!("{} was not checked: {other:?}", parameter.name),
                    }
                }
            )*
        }
    };
}

getters! {
    /// The time that `parameter` has.
    time: Time => Time;
    /// The rate that `parameter` has.
    rate: Rate => Rate;
    /// The size that `parameter` has.
    size: Size => Bytes;
    /// The sizes that `parameter` has.
    sizes: Sizes => Vec<Bytes>;
    /// The whole number that `parameter` has.
    count: Count => u64;
    /// The number that `parameter` has.
    number: Number => f64;
    /// The flag that `parameter` has.
    flag: Flag => bool;
    /// The word or text that `parameter` has.
    text: Text => String;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_they_are_written() {
        let cases = [
            (Kind::Time, "85.2us"),
            (Kind::Rate, "10Gbps"),
            (Kind::Size(PacketMeaning::Wire), "97.5KB"),
            (Kind::Size(PacketMeaning::Wire), "unlimited"),
            (Kind::Sizes { packet: PacketMeaning::Payload, words: &[] }, "100KB 1MB"),
            (Kind::Sizes { packet: PacketMeaning::Payload, words: &["optimal"] }, "optimal"),
            (Kind::Count { from: 1, to: 64 }, "8"),
            (Kind::Number { from: 0.0, to: 1.0 }, "0.0625"),
            (Kind::Flag, "true"),
            (Kind::Choice(&["spray", "ecmp"]), "ecmp"),
        ];
        for (kind, text) in cases {
            assert_eq!(kind.parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_with_the_bounds() {
        let error = Kind::Number { from: 0.0, to: 1.0 }.parse("1.5").unwrap_err();
        assert_eq!(error, "found \"1.5\", expected a number from 0 to 1");
        assert!(Kind::Number { from: 0.0, to: 1.0 }.parse("NaN").is_err());
        assert!(Kind::Count { from: 1, to: 64 }.parse("65").is_err());
        assert!(Kind::Choice(&["spray", "ecmp"]).parse("random").is_err());
    }
}
