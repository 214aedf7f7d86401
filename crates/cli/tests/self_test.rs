//! The self-test passes here, and says what it did.

use crate::program::{json, misdeal, refusal};

#[test]
fn a_sound_machine_passes() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), "self-test --device cpu --quiet");
    assert_eq!((report["schema_version"].as_u64(), report["command"].as_str()), (Some(2), Some("self-test")));
    assert_eq!(report["passed"], true);
    let checks = report["checks"].as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["generator", "engines", "known epsilon", "training", "dealt batches"]);
    for check in checks {
        assert_eq!(check["passed"], true, "{check}");
        assert!(!check["detail"].as_str().unwrap().is_empty(), "{check}");
    }
    assert!(report["cuda_missing"].as_str().unwrap().contains("the device is cpu"), "{report}");
}

#[test]
fn devices_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refusal(folder.path(), "self-test --device tpu").contains("--device"));
    if misdeal(folder.path(), "devices").stdout.contains("not to be had") {
        let run = misdeal(folder.path(), "self-test --device cuda");
        assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
}
