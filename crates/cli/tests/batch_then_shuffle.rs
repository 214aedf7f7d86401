//! Batches that are made before they are shuffled, against the paper's crafted records: +1 in the first batch, -1 elsewhere.

use crate::program::json;

/// The records of the target's batch give it away, so that the adversary faces the Gaussian mechanism with mu = 1 / noise, whose area
/// under the curve is Phi(mu / sqrt 2) = 0.6813 at noise 1.5; a full shuffle hides it, at 0.578 in a million scores. With 2,000 scores a world the area
/// has a standard deviation of 0.009: 0.045 off is five of them, probability 6e-7.
#[test]
fn the_mechanism_and_training_leak_as_the_gaussian_mechanism() {
    let folder = tempfile::tempdir().unwrap();
    let area = |arguments: &str| {
        let report = json(
            folder.path(),
            &format!("{arguments} --noise-multiplier 1.5 --batch-size 10 --observations 4000"),
        );
        report["descriptive"]["auroc"]["value"].as_f64().unwrap()
    };
    let mechanism = "audit mechanism --steps-per-epoch 20";
    let training =
        "audit training --dataset-size 200 --model mlp --canary null-space --threat-model worst-case";
    for audit in [mechanism, training] {
        let crafted = area(&format!("{audit} --scheme batch-then-shuffle"));
        assert!((crafted - 0.6813).abs() < 0.045, "{audit}: {crafted}");
        let hidden = area(&format!("{audit} --scheme shuffle"));
        assert!(hidden < 0.63, "{audit}: {hidden}");
    }
}
