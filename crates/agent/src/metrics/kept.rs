//! Caches the metrics page for a moment. Reading all maps takes a while on a host with many flows,
//! and frequent requests must not occupy the agent.

use std::time::{Duration, Instant};

use crate::error::AgentError;

/// How long a page is reused.
pub(super) const LIFETIME: Duration = Duration::from_secs(1);

/// Makes pages with `make`, and reuses each page for `lifetime`. Errors are not kept.
pub(super) fn kept(
    mut make: impl FnMut() -> Result<String, AgentError>,
    lifetime: Duration,
) -> impl FnMut() -> Result<String, AgentError> {
    let mut last: Option<(Instant, String)> = None;
    move || {
        if let Some((made, page)) = &last
            && made.elapsed() < lifetime
        {
            return Ok(page.clone());
        }
        // The page is as old as the first value that was read for it.
        let now = Instant::now();
        let page = make()?;
        last = Some((now, page.clone()));
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of two requests in a row. `first`: whether making the first page succeeds.
    fn two_pages(lifetime: Duration, first: bool) -> [Result<String, AgentError>; 2] {
        let mut count = 0;
        let mut page = kept(
            move || {
                count += 1;
                match count {
                    1 if !first => Err(AgentError::Missing("nothing".into())),
                    count => Ok(count.to_string()),
                }
            },
            lifetime,
        );
        [page(), page()]
    }

    #[test]
    fn a_page_is_made_once_in_its_lifetime() {
        let [first, second] = two_pages(Duration::from_secs(3600), true).map(Result::unwrap);
        assert_eq!((first.as_str(), second.as_str()), ("1", "1"));
        let [first, second] = two_pages(Duration::ZERO, true).map(Result::unwrap);
        assert_eq!((first.as_str(), second.as_str()), ("1", "2"));
    }

    #[test]
    fn an_error_is_not_kept() {
        let [first, second] = two_pages(Duration::from_secs(3600), false);
        assert!(first.is_err());
        assert_eq!(second.unwrap(), "2");
    }
}
