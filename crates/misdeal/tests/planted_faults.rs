//! Each planted fault fails the self-test's checks that are made for it, and no other.
//!
//! This is one test, because a fault is planted for the whole process. It needs the feature `planted-faults`:
//! `cargo test -p misdeal --features planted-faults --test suite planted_faults`.

use misdeal::run_check;
use misdeal_core::planted::{Fault, plant};

const CHECKS: [&str; 3] = ["generator", "engines", "known epsilon"];

#[test]
fn each_fault_is_found() {
    let cases: [(Option<Fault>, &[&str]); 4] = [
        (None, &[]),
        // Engines have a generator of their own, so they differ from the reference then.
        (Some(Fault::Generator), &["generator", "engines"]),
        (Some(Fault::Likelihood), &["engines"]),
        (Some(Fault::ClopperPearson), &["known epsilon"]),
    ];
    for (fault, failing) in cases {
        plant(fault);
        let reports = CHECKS.map(run_check);
        plant(None);
        for report in reports {
            let fails = failing.contains(&report.name.as_str());
            assert_eq!(!report.passed, fails, "{fault:?}: {}: {}", report.name, report.detail);
        }
    }
}
