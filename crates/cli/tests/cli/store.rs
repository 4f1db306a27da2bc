//! What a store has, and removing what is old in it.

use std::fs;

use crate::common::Place;

#[test]
fn what_another_version_wrote_is_old_and_goes() {
    let place = Place::new();
    for name in ["a-0123456789abcdef", "b-0123456789abcdef"] {
        let out = format!("store/{name}");
        assert_eq!(place.flowsched(&["run", "small.toml", "--out", &out]).status, Some(0));
    }
    let summary = place.path("store/a-0123456789abcdef/summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    fs::write(&summary, text.replace("\"version\": \"", "\"version\": \"0.0.1-")).unwrap();
    let listed = place.flowsched(&["store", "list", "store"]).output;
    let states: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(states, ["old", "complete"], "{listed}");
    let removed = place.flowsched(&["store", "remove", "store"]).output;
    assert!(removed.starts_with("removed 1 results folders"), "{removed}");
    assert!(!summary.exists() && place.path("store/b-0123456789abcdef").exists());
    // An experiment that was killed or is under way has no summary yet, and a stranger's folder has none
    // either.
    for name in ["c-0123456789abcdef/runs", "d-0123456789abcdef.removed"] {
        fs::create_dir_all(place.path(&format!("store/{name}"))).unwrap();
    }
    let listed = place.flowsched(&["store", "list", "store"]).output;
    assert!(listed.contains("unreadable") && !listed.contains(".removed"), "{listed}");
    let removed = place.flowsched(&["store", "remove", "store", "--older-than", "0h"]).output;
    assert!(removed.starts_with("removed 1 results folders"), "{removed}");
    assert!(place.path("store/c-0123456789abcdef").exists());
    assert!(!place.path("store/d-0123456789abcdef.removed").exists(), "what a kill left behind");
    let wrong = place.flowsched(&["store", "remove", "store", "--older-than", "30"]);
    assert_eq!(wrong.status, Some(2));
    let nowhere = place.flowsched(&["store", "list", "nowhere"]);
    assert_eq!(nowhere.status, Some(1));
    assert!(nowhere.errors.contains("cannot read nowhere"), "{}", nowhere.errors);
}
