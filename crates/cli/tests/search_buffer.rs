//! Blind audits: the adversary guesses the buffer.

use crate::program::{json, misdeal, refusal};
use serde_json::Value;

const SMALL: &str = "audit mechanism --scheme partial-shuffle --buffer-size 200 --steps-per-epoch 100 --batch-size 10 \
                     --noise-multiplier 0.7 --observations 2e5";

fn guesses(report: &Value) -> &Vec<Value> {
    report["buffer_search"]["guesses"].as_array().unwrap()
}

#[test]
fn the_guesses_are_listed_and_levels_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), &format!("{SMALL} --search-buffer --threshold-choice band"));
    let search = &report["buffer_search"];
    assert_eq!(search["correction"], "bonferroni");
    let of_paper = guesses(&report).iter().filter(|guess| guess["is_from_the_paper"] == true);
    let batches: Vec<u64> = of_paper.map(|guess| guess["batches"].as_u64().unwrap()).collect();
    assert_eq!(batches, [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    let spent: f64 = guesses(&report).iter().map(|guess| guess["significance"].as_f64().unwrap()).sum();
    assert!(spent <= 0.05 && guesses(&report).len() > 11, "{search:#}");
    let bounds = guesses(&report).iter().map(|guess| guess["empirical_epsilon"].as_f64().unwrap());
    let largest = bounds.fold(0.0, f64::max);
    assert_eq!(report["empirical_epsilon"].as_f64(), Some(largest));
    assert_eq!((report["valid"].as_bool(), report["significance"].as_f64()), (Some(true), Some(0.05)));
    assert!(report["guarantee"].as_str().unwrap().contains("guesses"), "{report:#}");
    // The true buffer fills 20 batches; the winner is near it, and below what theory allows.
    let winner = search["buffer_size"].as_u64().unwrap();
    assert!((100..=400).contains(&winner), "{search:#}");
    assert!(largest < report["theory"]["partial-shuffle"]["epsilon_upper_bound"].as_f64().unwrap());
}

/// The right guess sees what an adversary sees that knows the buffer, bit by bit: the observations are the same.
#[test]
fn all_guesses_score_the_same_observations() {
    let folder = tempfile::tempdir().unwrap();
    let blind = json(folder.path(), &format!("{SMALL} --search-buffer --uncorrected --threshold-choice max"));
    let knowing = json(folder.path(), &format!("{SMALL} --threshold-choice max"));
    let right = guesses(&blind).iter().find(|guess| guess["buffer_size"] == 200).unwrap();
    for field in ["empirical_epsilon", "raw_epsilon", "threshold"] {
        assert_eq!(right[field], knowing[field], "{field}");
    }
    assert_eq!(
        (blind["valid"].as_bool(), &blind["buffer_search"]["correction"]),
        (Some(false), &"none".into())
    );
    assert_eq!(guesses(&blind).len(), 11);
}

/// The best guess was picked by the scores that curves are tested on: its tests have its share of the significance, or none are made.
#[test]
fn curves_are_tested_at_the_guess_s_share_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    // A buffer of one batch: the first guess is the best.
    let weak =
        SMALL.replace("--buffer-size 200", "--buffer-size 10").replace("0.7", "2").replace("2e5", "2e4");
    let p_value = |report: &Value| report["trade_off"]["promised"][0]["test"]["p_value"].as_f64();
    let blind = json(folder.path(), &format!("{weak} --search-buffer --trade-off"));
    let winner = &blind["buffer_search"]["buffer_size"];
    let guess = guesses(&blind).iter().find(|guess| guess["buffer_size"] == *winner).unwrap();
    let level = guess["significance"].as_f64().unwrap();
    let drawn_at = blind["trade_off"]["observed"]["significance"].as_f64().unwrap();
    assert!((drawn_at / level - 1.0).abs() < 1e-12 && level < 0.01, "{drawn_at} {level}");
    // An adversary that knows the buffer tests the same scores once.
    let knowing = json(folder.path(), &format!("{weak} --trade-off"));
    let expected = (p_value(&knowing).unwrap() * 0.05 / level).min(1.0);
    assert_eq!(*winner, 10);
    assert!((p_value(&blind).unwrap() / expected - 1.0).abs() < 1e-9, "{expected}: {:#}", blind["trade_off"]);
    let uncorrected = json(folder.path(), &format!("{weak} --search-buffer --uncorrected --trade-off"));
    assert_eq!(p_value(&uncorrected), None);
    let reason = uncorrected["trade_off"]["not_tested"].as_str().unwrap();
    assert!(reason.contains("largest of 11 guesses"), "{reason}");
    let text = misdeal(folder.path(), &format!("{weak} --search-buffer --uncorrected --trade-off")).stdout;
    assert!(text.contains("not tested: the largest of 11 guesses") && !text.contains("p-value"), "{text}");
}

#[test]
fn trainings_are_searched_too_and_trained_once() {
    let folder = tempfile::tempdir().unwrap();
    let training = "audit training --dataset-size 200 --batch-size 10 --threat-model partially-informed --canary null-space \
                    --noise-multiplier 0.5 --observations 200 --threshold-choice max";
    let scheme = "--scheme partial-shuffle --buffer-size 100";
    let blind = json(folder.path(), &format!("{training} {scheme} --search-buffer --uncorrected"));
    let knowing = json(folder.path(), &format!("{training} {scheme}"));
    let right = guesses(&blind).iter().find(|guess| guess["buffer_size"] == 100).unwrap();
    // Stores of counts round thresholds to their grid; the search keeps exact scores.
    let exact = json(folder.path(), &format!("{training} {scheme} --scores exact"));
    assert_eq!(right["empirical_epsilon"], exact["empirical_epsilon"], "{blind:#}");
    assert_eq!(blind["train_accuracy"], knowing["train_accuracy"]);
    let corrected = json(folder.path(), &format!("{training} {scheme} --search-buffer"));
    assert!(corrected["empirical_epsilon"].as_f64() <= blind["empirical_epsilon"].as_f64());
}

#[test]
fn what_a_search_cannot_do_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("--search-buffer --store a.store", "--store"),
        ("--search-buffer --shard 1/2", "--shard"),
        ("--search-buffer --threshold-choice sequential", "--threshold-choice sequential"),
        ("--search-buffer --adversary-scheme poisson", "--adversary-scheme poisson"),
        (
            "--search-buffer --adversary-scheme partial-shuffle --adversary-buffer-size 10",
            "--adversary-buffer-size",
        ),
        ("--uncorrected", "--search-buffer"),
    ];
    for (flags, words) in cases {
        let line = refusal(folder.path(), &format!("{SMALL} {flags}"));
        assert!(line.contains(words), "{flags}: {line}");
    }
    let run = misdeal(folder.path(), &format!("{SMALL} --search-buffer"));
    assert!(run.stdout.contains("best guess of the buffer"), "{}", run.stdout);
}

/// Whichever guess wins, at whichever level, the search could have shown the same at most.
#[test]
fn what_a_search_can_show_does_not_depend_on_who_wins() {
    let folder = tempfile::tempdir().unwrap();
    let largest = |seed: u64| {
        let line = format!(
            "audit mechanism --scheme partial-shuffle --buffer-size 1000 --search-buffer --observations 2000 --seed {seed}"
        );
        json(folder.path(), &line)["largest_epsilon"].as_f64().unwrap()
    };
    let first = largest(1);
    assert!(first > 0.0 && (2..7).all(|seed| largest(seed) == first));
}
