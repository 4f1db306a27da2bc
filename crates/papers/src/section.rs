//! The place of a claim in a paper, such as `"V-C.1, Fig 15a, 16a"`.

/// Whether the section names the figure: `"15a"`, or `"15"` for all of its parts.
pub(crate) fn has_figure(section: &str, figure: &str) -> bool {
    let Some((_, figures)) = section.split_once("Fig ") else { return false };
    figures.split(", ").any(|one| match one.split_once('-') {
        Some((first, last)) => is_between(first, figure, last),
        None => one == figure || one.trim_end_matches(char::is_alphabetic) == figure,
    })
}

fn is_between(first: &str, figure: &str, last: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    match (number(first), number(figure), number(last)) {
        (Some(first), Some(figure), Some(last)) => (first..=last).contains(&figure),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_their_parts_are_found() {
        let section = "V-C.1, Fig 15a, 16a";
        for figure in ["15", "15a", "16", "16a"] {
            assert!(has_figure(section, figure), "{figure}");
        }
        for figure in ["1", "5", "15b", "a", "", "V-C.1"] {
            assert!(!has_figure(section, figure), "{figure}");
        }
        assert!(has_figure("V-A, Fig 8-9", "8") && has_figure("V-A, Fig 8-9", "9"));
        assert!(!has_figure("V-A, Fig 8-9", "10") && !has_figure("III-B, Table I", "1"));
    }
}
