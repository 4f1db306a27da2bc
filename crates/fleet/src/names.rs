//! Names of groups and hosts, which are parts of etcd keys, URLs and file names.

use crate::refused::Refused;

/// The longest name in bytes.
const LONGEST: usize = 64;

/// Checks that a name is safe in etcd keys, URLs and file names. `key` is for the error.
///
/// # Errors
/// If the name is empty, too long, begins with a dot or contains another character.
pub fn check(key: &str, name: &str) -> Result<(), Refused> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = !name.is_empty()
        && name.len() <= LONGEST
        && name.chars().all(is_plain)
        && !name.starts_with('.');
    if is_name {
        return Ok(());
    }
    let allowed = format!(
        "1 to {LONGEST} letters, digits, dots, hyphens and underscores that do not begin with a dot"
    );
    Err(Refused::new(key, format!("\"{}\"", name.escape_debug()), allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_elsewhere() {
        for name in ["rack-1", "a", "host_7.example"] {
            assert!(check("group", name).is_ok(), "{name}");
        }
        let long = "x".repeat(65);
        for name in ["", ".", "..", "../a", "a/b", "a b", "a?b", "ä", "a\n", long.as_str()] {
            assert!(check("group", name).is_err(), "{name}");
        }
    }
}
