//! Shortens texts that a user wrote, for messages.

use std::borrow::Cow;

/// Texts of up to this many characters are shown whole.
const LONGEST: usize = 240;
/// How many characters of a longer text are shown, of its beginning and of its end.
const ENDS: (usize, usize) = (120, 60);

/// `text`, or its beginning and its end if it is too long for a message: a file may be one line of
/// a gigabyte. The end stays, since a message often says there what is wrong.
pub fn shortened(text: &str) -> Cow<'_, str> {
    if text.chars().nth(LONGEST).is_none() {
        return Cow::Borrowed(text);
    }
    let at = |place: Option<(usize, char)>| place.map_or(0, |(at, _)| at);
    let beginning = &text[..at(text.char_indices().nth(ENDS.0))];
    let end = &text[at(text.char_indices().nth_back(ENDS.1 - 1))..];
    let left_out = text.len() - beginning.len() - end.len();
    Cow::Owned(format!("{beginning}… ({left_out} bytes) …{end}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_of_a_long_text_stay() {
        let text = format!("\"{}\", as another scheme is called", "x".repeat(1000));
        let short = shortened(&text);
        assert!(short.starts_with("\"xxx") && short.ends_with("as another scheme is called"));
        assert!(short.contains("x… (851 bytes) …x"), "{short}");
        assert_eq!(shortened("short"), "short");
    }

    proptest! {
        #[test]
        fn no_text_is_longer_than_a_few_lines(text in ".{0,600}|é{0,600}") {
            prop_assert!(shortened(&text).chars().count() <= LONGEST);
        }
    }
}
