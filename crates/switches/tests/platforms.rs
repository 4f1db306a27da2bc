//! Tests the configuration of each platform, and that the check accepts it.

use flowsched_fleet::Levels;
use flowsched_switches::{PLATFORMS, Platform, Request, compare};
use flowsched_units::{Bytes, Rate};

fn request() -> Request {
    Request {
        levels: Levels::parse("20KB 100KB 1MB", None).unwrap(),
        ports: vec!["Ethernet0".into(), "Ethernet4".into()],
        rate: Rate::from_gbps(10),
        mark_at: Bytes::new(97_500),
        buffer: Bytes::new(360_000),
    }
}

#[test]
fn each_platform_prints_its_configuration() {
    for (name, platform) in PLATFORMS {
        insta::assert_snapshot!(*name, platform.print(&request()).text);
    }
}

#[test]
fn all_platforms_but_linux_are_marked_as_untested() {
    for (name, platform) in PLATFORMS {
        let notes = platform.print(&request()).notes.join("\n");
        assert_eq!(
            notes.contains("untested on hardware"),
            *platform != Platform::LinuxTc,
            "{name}"
        );
        assert_eq!(notes.contains("IV-A.2"), *platform != Platform::LinuxTc, "{name}");
    }
}

#[test]
fn a_switch_that_does_as_printed_has_no_fault() {
    for (name, platform) in PLATFORMS {
        let text = platform.print(&request()).text;
        for finding in compare(&request(), *platform, &text) {
            assert_eq!(finding.error, None, "{name}: {}", finding.text);
        }
    }
}

#[test]
fn what_differs_is_found_on_every_platform() {
    for (name, platform) in PLATFORMS {
        let text = platform.print(&request()).text;
        let levels = Levels { dscp: vec![32, 48, 16, 0], ..request().levels };
        let swapped = compare(&Request { levels, ..request() }, *platform, &text);
        assert!(swapped[1].text.contains("32 goes to queue"), "{name}: {swapped:?}");
        let marks =
            compare(&Request { mark_at: Bytes::new(30_000), ..request() }, *platform, &text);
        assert!(marks[2].error.is_some(), "{name}: {marks:?}");
        let empty = compare(&request(), *platform, "");
        assert!(empty[1].error.is_some() && empty[2].error.is_some(), "{name}");
        if *platform != Platform::Sonic {
            let levels = Levels::parse("30KB 100KB 1MB", None).unwrap();
            let other = compare(&Request { levels, ..request() }, *platform, &text);
            assert!(other[0].error.is_some(), "{name}: {other:?}");
        }
    }
}
