//! A fault planted into the generator, the likelihood, Clopper-Pearson or merging is found by the check that is made for it.
//!
//! One test, since a fault is planted for the whole process. Only with the feature `planted-faults`:
//! `cargo test -p misdeal --features planted-faults --test planted_faults`.

use misdeal::run_check;
use misdeal_core::planted::{Fault, plant};

#[test]
fn each_fault_is_found() {
    let cases = [
        (Fault::Generator, "generator"),
        (Fault::Likelihood, "likelihood"),
        (Fault::ClopperPearson, "clopper-pearson"),
        (Fault::StoreMerge, "merged shards"),
    ];
    for (_, name) in cases {
        let sound = run_check(name);
        assert!(sound.passed, "{name}: {}", sound.detail);
    }
    for (fault, matching) in cases {
        plant(Some(fault));
        let found: Vec<_> = cases.iter().map(|&(_, name)| run_check(name)).collect();
        plant(None);
        for check in found {
            assert_eq!(check.passed, check.name != matching, "{fault:?}: {}: {}", check.name, check.detail);
        }
    }
    // A wrong likelihood is also seen from the outside: fused engines no longer agree with the reference.
    plant(Some(Fault::Likelihood));
    let engines = run_check("engines");
    plant(None);
    assert!(!engines.passed, "{}", engines.detail);
}
