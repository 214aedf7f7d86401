//! Agreement with another implementation at given thresholds, on shared scores (`testdata/scripts/canary_auditor.py`).

use misdeal_statistics::{ClopperPearson, ErrorCounts, ErrorEstimator, OneRun, OneRunFdp};
use misdeal_testkit::golden;

#[derive(serde::Deserialize)]
struct Golden {
    sample: Vec<Sample>,
}

#[derive(serde::Deserialize)]
struct Sample {
    /// In units of 1/64.
    scores_in: Vec<i32>,
    scores_out: Vec<i32>,
    /// Threshold, significance, delta, and the epsilons of clopper-pearson, one-run and one-run-fdp.
    cases: Vec<[f64; 6]>,
}

#[test]
fn agrees_to_a_millionth() {
    let golden: Golden = golden("canary_auditor.toml");
    let (mut compared, mut positive) = (0, 0);
    for sample in &golden.sample {
        for &[threshold, significance, delta, clopper_pearson, one_run, one_run_fdp] in &sample.cases {
            let threshold = (64.0 * threshold) as i32;
            let counts = ErrorCounts {
                false_positives: sample.scores_out.iter().filter(|&&score| score >= threshold).count() as u64,
                false_negatives: sample.scores_in.iter().filter(|&&score| score < threshold).count() as u64,
                observations_in: sample.scores_in.len() as u64,
                observations_out: sample.scores_out.len() as u64,
            };
            let theirs = [clopper_pearson, one_run, one_run_fdp];
            let estimators: [&dyn ErrorEstimator; 3] = [&ClopperPearson, &OneRun, &OneRunFdp];
            for (estimator, theirs) in estimators.into_iter().zip(theirs) {
                let ours = estimator.epsilon(&counts, delta, significance);
                let name = estimator.name();
                assert!(
                    (ours - theirs).abs() < 1e-6,
                    "{name} {threshold} {significance} {delta}: {ours} for {theirs}"
                );
                compared += 1;
                positive += u32::from(theirs > 0.0);
            }
        }
    }
    assert!(compared >= 108 && positive >= 80, "{compared} {positive}");
}
