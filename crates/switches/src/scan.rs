//! Reading numbers out of lines.

/// The number that follows `before` in a line, if there is one.
pub(crate) fn number_after(line: &str, before: &str) -> Option<u64> {
    let rest = &line[line.find(before)? + before.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
