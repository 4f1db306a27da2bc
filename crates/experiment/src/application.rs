//! Checks that schemes and engines work with `application_rate`.

use flowsched_workload::parameters::{APPLICATION_RATE, TRACE};

use crate::document::Document;
use crate::mistake::{Mistake, Mistakes};
use crate::scheme::SchemeOfScene;

/// Refuses `application_rate` together with schemes whose senders do not wait for applications.
pub(crate) fn check(document: &Document, schemes: &[SchemeOfScene], mistakes: &mut Mistakes) {
    if document.workload.entries.contains_key(TRACE.name) {
        return;
    }
    let Some(scheme) = schemes.iter().find(|scheme| !scheme.level.waits_for_applications()) else {
        return;
    };
    let tables = std::iter::once(&document.workload).chain(&document.parts).chain(&document.listed);
    for table in tables {
        if let Some(entry) = table.entries.get(APPLICATION_RATE.name) {
            let problem = format!(
                "`application_rate` needs senders that are TCP, in `engine = \"packet\"`. Those of the \
                 scheme \"{}\" do not wait for applications. Remove one of them.",
                scheme.name
            );
            let path = table.label_of(APPLICATION_RATE.name);
            mistakes.add(Mistake::new(&entry.key_place, path, problem));
        }
    }
}
