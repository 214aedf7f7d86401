//! How often each estimate is above the truth, and how large it is: the program behind `bench/coverage.py`.
//!
//! usage: coverage AUDITS SLOW_AUDITS OTHER_AUDITS TIGHT_AUDITS MOST_OBSERVATIONS SEED FILE, e.g. 10000 1000 1000 100 1e6 0 rows.jsonl;
//! appends a line to the file for each cell that is not in it yet, so that a run can be broken off and continued.

#[path = "../tests/coverage_cells/mod.rs"]
mod coverage_cells;

use coverage_cells::{Cells, MECHANISMS, Mechanism, Shown, audit, is_valid_for};
use misdeal_core::ClosedSet;
use misdeal_statistics::{ESTIMATORS, Estimator, ThresholdChoice};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

/// How many audits of a cell are made: `audits` of what is marked valid, `other_audits` of what is not, and `slow_audits` of a
/// confidence sequence above 10^5 observations, which looks at a band tens of times in each.
fn audits(plan: &Plan, valid: bool, choice: ThresholdChoice, observations: u64) -> u64 {
    match (valid, choice) {
        (_, ThresholdChoice::Sequential) if observations > 100_000 => plan.slow_audits,
        (true, _) => plan.audits,
        (false, _) => plan.other_audits,
    }
}

/// Whether a threshold choice is measured at all: bands and looks make sense only for what holds at each threshold.
fn is_measured(name: &str, choice: ThresholdChoice) -> bool {
    match (name, choice) {
        // A function instead of a threshold: no choice changes anything, but looks do.
        ("divergence", _) => [ThresholdChoice::Band, ThresholdChoice::Sequential].contains(&choice),
        ("clopper-pearson", _) => true,
        (_, ThresholdChoice::Sequential) => false,
        ("one-run" | "one-run-fdp" | "gdp", _) => true,
        (_, choice) => choice != ThresholdChoice::Band,
    }
}

struct Plan {
    audits: u64,
    slow_audits: u64,
    other_audits: u64,
    seed: u64,
}

/// One cell of a table.
#[derive(Clone, Copy)]
struct Cell {
    table: &'static str,
    mechanism: Mechanism,
    delta: f64,
    observations: u64,
    estimator: &'static str,
    choice: ThresholdChoice,
}

impl Cell {
    /// What tells it from all others.
    fn key(&self) -> Value {
        json!({
            "table": self.table, "mechanism": self.mechanism.name, "delta": self.delta,
            "observations": self.observations, "estimator": self.estimator, "threshold_choice": self.choice.name(),
        })
    }

    fn is_in(&self, rows: &[Value]) -> bool {
        let key = self.key();
        let fields = key.as_object().expect("an object");
        rows.iter().any(|row| fields.iter().all(|(name, value)| row.get(name) == Some(value)))
    }

    fn measure(&self, plan: &Plan) -> Value {
        let valid = is_valid_for(&self.mechanism, self.estimator, self.choice);
        let audits = audits(plan, valid, self.choice, self.observations);
        let cells = Cells::new(&self.mechanism);
        let truth = self.mechanism.epsilon(self.delta);
        let what = (self.estimator, self.choice);
        let start = Instant::now();
        // Collected in order, so that the mean does not depend on the number of threads.
        let shown: Vec<Shown> = (0..audits)
            .into_par_iter()
            .map(|number| audit(&cells, what, self.observations, (self.delta, truth), (plan.seed, number)))
            .collect();
        let above = shown.iter().filter(|shown| shown.above_the_truth).count();
        let mean = shown.iter().map(|shown| shown.epsilon).sum::<f64>() / audits as f64;
        let mut row = self.key();
        row["valid"] = json!(valid);
        row["true_epsilon"] = json!(truth);
        row["audits"] = json!(audits);
        row["above_the_truth"] = json!(above);
        row["mean_epsilon"] = if mean.is_finite() { json!(mean) } else { Value::Null };
        row["seconds"] = json!(start.elapsed().as_secs_f64());
        row
    }
}

/// All mechanisms, deltas, sizes, estimators and threshold choices, small runs first.
fn coverage_cells(most_observations: f64) -> Vec<Cell> {
    let mut cells = Vec::new();
    for observations in [1000, 10_000, 100_000, 1_000_000] {
        if observations as f64 > most_observations {
            continue;
        }
        for mechanism in MECHANISMS {
            for delta in [1e-5, 0.01] {
                for estimator in ESTIMATORS.map(Estimator::name) {
                    let measured = ThresholdChoice::all()
                        .iter()
                        .copied()
                        .filter(|&choice| is_measured(estimator, choice));
                    cells.extend(measured.map(|choice| Cell {
                        table: "coverage",
                        mechanism,
                        delta,
                        observations,
                        estimator,
                        choice,
                    }));
                }
            }
        }
    }
    cells
}

/// What holds for any mechanism, on N(1, 1) against N(0, 1).
fn tightness_cells() -> Vec<Cell> {
    let valid = [
        ("clopper-pearson", ThresholdChoice::HoldOut),
        ("clopper-pearson", ThresholdChoice::Band),
        ("clopper-pearson", ThresholdChoice::Sequential),
        ("divergence", ThresholdChoice::Band),
    ];
    let sizes = [100_000, 1_000_000, 10_000_000];
    let cell = |observations, (estimator, choice)| Cell {
        table: "tightness",
        mechanism: MECHANISMS[2],
        delta: 1e-5,
        observations,
        estimator,
        choice,
    };
    sizes.into_iter().flat_map(|observations| valid.map(|what| cell(observations, what))).collect()
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.pop().expect("a file for the rows");
    let numbers: Vec<f64> = arguments.iter().map(|text| text.parse().expect("a number")).collect();
    let &[audits, slow_audits, other_audits, tight_audits, most_observations, seed] = &numbers[..] else {
        panic!("AUDITS SLOW_AUDITS OTHER_AUDITS TIGHT_AUDITS MOST_OBSERVATIONS SEED FILE");
    };
    let [audits, slow_audits, other_audits, tight_audits, seed] =
        [audits, slow_audits, other_audits, tight_audits, seed].map(|number| number as u64);
    let plan = Plan { audits, slow_audits, other_audits, seed };
    let tight =
        Plan { audits: tight_audits, slow_audits: tight_audits, other_audits: tight_audits, seed: seed + 1 };
    let mut file =
        OpenOptions::new().create(true).append(true).open(&path).expect("a file that can be written");
    let text = std::fs::read_to_string(&path).expect("rows");
    let kept: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of_coverage = coverage_cells(most_observations).into_iter().map(|cell| (cell, &plan));
    let of_tightness = tightness_cells().into_iter().map(|cell| (cell, &tight));
    let left: Vec<_> = of_tightness.chain(of_coverage).filter(|(cell, _)| !cell.is_in(&kept)).collect();
    for (number, (cell, plan)) in left.iter().enumerate() {
        let row = cell.measure(plan);
        writeln!(file, "{row}").expect("room for a row");
        eprintln!("{} of {}: {row}", number + 1, left.len());
    }
}
