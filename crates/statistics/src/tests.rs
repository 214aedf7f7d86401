//! Tests of estimates against a literal Algorithm 1, and of refusals.
#![allow(clippy::float_cmp)]

use super::*;
use crate::threshold_choice::Trials;
use misdeal_core::{
    ClosedSet, OrInfinite, Purpose, STREAM_NAME, ScoreStore, Setting, StoreKind, Stream, World, score_grid,
};
use proptest::{prelude::*, test_runner::RngSeed};

/// Tries every score and infinity as threshold and counts every error.
fn literal_maximum(scores_in: &[f64], scores_out: &[f64], estimator: &dyn ErrorEstimator, delta: f64) -> f64 {
    let thresholds = scores_in.iter().chain(scores_out).copied().chain([f64::INFINITY]);
    let epsilon = |threshold: f64| {
        let counts = ErrorCounts {
            false_positives: scores_out.iter().filter(|&&score| score >= threshold).count() as u64,
            false_negatives: scores_in.iter().filter(|&&score| score < threshold).count() as u64,
            observations_in: scores_in.len() as u64,
            observations_out: scores_out.len() as u64,
        };
        estimator.epsilon(&counts, delta, 0.05)
    };
    thresholds.map(epsilon).fold(0.0, f64::max)
}

/// Scores with many ties. Many scores share a bin of the grid (`fine` is the distance between them).
fn scores(shift: f64) -> impl Strategy<Value = Vec<f64>> {
    let fine = prop_oneof![Just(1.0), Just(1e-6), Just(1e-12), Just(0.0)];
    (fine, prop::collection::vec((0_i32..12, 0_i32..12), 4..150)).prop_map(move |(fine, draws)| {
        draws.into_iter().map(|(a, b)| f64::from(a + b) * fine * shift - 3.0 * fine).collect()
    })
}

fn every_second(scores: &[f64], offset: usize) -> Vec<f64> {
    scores.iter().skip(offset).step_by(2).copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(26),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn max_is_algorithm_1(scores_in in scores(1.5), scores_out in scores(1.0), delta in 0.0..0.1_f64) {
        for errors in ERROR_ESTIMATORS {
            // The slower estimators use the same search. The recursive one has no strict law.
            if ["joint-bayesian", "one-run", "one-run-fdp"].contains(&errors.name()) {
                continue;
            }
            let estimator = estimator(errors.name()).unwrap();
            let estimate = from_scores(&scores_in, &scores_out, ThresholdChoice::Max, estimator, delta, 0.05).unwrap();
            prop_assert_eq!(estimate.empirical_epsilon, literal_maximum(&scores_in, &scores_out, errors, delta));
            let threshold = *estimate.threshold;
            prop_assert!(threshold == f64::INFINITY || scores_in.iter().chain(&scores_out).any(|&s| s == threshold));
            prop_assert_eq!(estimate.false_positives, scores_out.iter().filter(|&&s| s >= threshold).count() as u64);
            prop_assert!(!estimate.valid);
        }
    }

    #[test]
    fn hold_out_chooses_on_even_and_counts_odd(scores_in in scores(1.5), scores_out in scores(1.0)) {
        let choice = ThresholdChoice::HoldOut;
        let estimate = from_scores(&scores_in, &scores_out, choice, &ClopperPearson, 1e-5, 0.05).unwrap();
        let [even_in, odd_in] = [0, 1].map(|offset| every_second(&scores_in, offset));
        let [even_out, odd_out] = [0, 1].map(|offset| every_second(&scores_out, offset));
        let chosen = from_scores(&even_in, &even_out, ThresholdChoice::Max, &ClopperPearson, 1e-5, 0.05).unwrap();
        prop_assert_eq!(estimate.threshold, chosen.threshold);
        let reaching = |scores: &[f64]| scores.iter().filter(|&&score| score >= *estimate.threshold).count() as u64;
        prop_assert_eq!(estimate.false_positives, reaching(&odd_out));
        prop_assert_eq!(estimate.false_negatives, odd_in.len() as u64 - reaching(&odd_in));
        prop_assert_eq!((estimate.observations_in, estimate.observations_out), (odd_in.len() as u64, odd_out.len() as u64));
        prop_assert!(estimate.valid);
    }

    /// The result does not depend on how trials were split and merged. Counts give the same as scores rounded to the
    /// grid.
    #[test]
    fn stores_give_what_their_scores_give(
        scores_in in scores(1.5), scores_out in scores(1.0), start in 0_u64..2, cut in any::<prop::sample::Index>(),
    ) {
        let length = scores_in.len().min(scores_out.len());
        let (scores_in, scores_out) = (&scores_in[..length], &scores_out[..length]);
        let on_grid = |scores: &[f64]| -> Vec<f64> {
            scores.iter().map(|&score| score_grid::lower_edge(score_grid::bin(score))).collect()
        };
        let (grid_in, grid_out) = (on_grid(scores_in), on_grid(scores_out));
        let cut = cut.index(length);
        let middle = start + cut as u64;
        for kind in [StoreKind::Counts, StoreKind::Exact] {
            let mut store = ScoreStore::new(Setting::default(), "cpu", STREAM_NAME, kind).unwrap();
            let mut worker = store.empty_like();
            store.insert(middle..start + length as u64, &scores_in[cut..], &scores_out[cut..]).unwrap();
            worker.insert(start..middle, &scores_in[..cut], &scores_out[..cut]).unwrap();
            store.merge(worker).unwrap();
            for choice in [ThresholdChoice::HoldOut, ThresholdChoice::Max, ThresholdChoice::Band] {
                // Files begin with an even trial. So a store that begins with an odd one is not compared by halves.
                if choice != ThresholdChoice::HoldOut || start == 0 {
                    let (a, b) = if kind == StoreKind::Exact { (scores_in, scores_out) } else { (&grid_in[..], &grid_out[..]) };
                    let ours = estimate(&store, choice, &ClopperPearson, 1e-5, 0.05).unwrap();
                    let theirs = from_scores(a, b, choice, &ClopperPearson, 1e-5, 0.05).unwrap();
                    // For a given rank, any threshold between two scores is correct.
                    let threshold = if choice == ThresholdChoice::Band { ours.threshold } else { theirs.threshold };
                    prop_assert_eq!(ours, EpsilonEstimate { threshold, ..theirs });
                } else {
                    let (even, odd) = (every_second(scores_in, 1), every_second(scores_in, 0));
                    let estimate = estimate(&store, choice, &ClopperPearson, 1e-5, 0.05);
                    prop_assert_eq!(estimate.is_ok(), even.len() >= 2 && odd.len() >= 2);
                    prop_assert_eq!(estimate.map_or(odd.len() as u64, |e| e.observations_in), odd.len() as u64);
                }
            }
        }
    }
}

/// Many scores in few bins. This needs several rounds of collecting, and one bin holds half of all scores.
#[test]
fn clustered_scores_are_refined_exactly() {
    let noise = |i: u64, salt: u64| {
        let mixed = (i * 2 + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 24)
    };
    let draw = |salt: u64, shift: f64| -> Vec<f64> {
        (0..3000).map(|i| 1.0 + 1e-5 * (noise(i, salt) + shift * noise(i, salt + 7))).collect()
    };
    let (scores_in, scores_out) = (draw(0, 1.0), draw(1, 0.2));
    let estimate =
        from_scores(&scores_in, &scores_out, ThresholdChoice::Max, &ClopperPearson, 1e-5, 0.05).unwrap();
    assert_eq!(estimate.empirical_epsilon, literal_maximum(&scores_in, &scores_out, &ClopperPearson, 1e-5));
    assert!(estimate.empirical_epsilon > 1.0);
}

/// Randomised response with epsilon 1. A valid bound exceeds it in at most 5 % of runs.
///
/// If 5 % of runs exceed it, more than 87 of 1000 do so with probability below 1e-6. The seed is fixed.
#[test]
fn hold_out_keeps_its_significance() {
    let truth = 1.0 / (1.0 + libm::exp(-1.0));
    let exceeding = (0..1000).filter(|&seed| {
        let stream = Stream::new(&Setting { seed, ..Setting::default() }.hash());
        let [scores_in, scores_out] = World::BOTH.map(|world| {
            let says_in = if world == World::In { truth } else { 1.0 - truth };
            let uniform = |trial| stream.uniform(Purpose::Position, world, trial, 0) as f64 / 2_f64.powi(64);
            (0..1000).map(|trial| f64::from(uniform(trial) < says_in)).collect::<Vec<_>>()
        });
        let choice = ThresholdChoice::HoldOut;
        let estimate = from_scores(&scores_in, &scores_out, choice, &ClopperPearson, 0.0, 0.05).unwrap();
        assert!(estimate.empirical_epsilon > 0.3);
        estimate.empirical_epsilon > 1.0
    });
    assert!(exceeding.count() <= 87);
}

#[test]
fn infinities_are_null_in_json() {
    let estimate = from_scores(&[1.0, 2.0, 4.0], &[1.0, 2.0], ThresholdChoice::Max, &Raw, 0.0, 0.05).unwrap();
    let json =
        serde_json::to_value(EpsilonEstimate { threshold: OrInfinite::default(), ..estimate }).unwrap();
    assert!(json["threshold"].is_null() && json["observations_per_world"].is_null());
    assert_eq!((json["threshold_choice"].as_str(), json["estimator"].as_str()), (Some("max"), Some("raw")));
    // The highest score is In, so no score Out reaches it.
    assert!(json["raw_epsilon"].is_null() && json["empirical_epsilon"].is_null());
}

#[test]
fn refuses_what_makes_no_sense() {
    let scores = [0.0, 1.0, 2.0, 3.0];
    let refused = |scores_in: &[f64], choice, delta, significance| {
        from_scores(scores_in, &scores, choice, &ClopperPearson, delta, significance).unwrap_err().to_string()
    };
    let hold_out = ThresholdChoice::HoldOut;
    for delta in [-1e-9, 1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&scores, hold_out, delta, 0.05).starts_with("delta is "), "{delta}");
    }
    for significance in [0.0, 1.0, -0.05, f64::NAN] {
        assert!(
            refused(&scores, hold_out, 0.0, significance).starts_with("significance is "),
            "{significance}"
        );
    }
    assert!(refused(&scores[..3], hold_out, 0.0, 0.05).starts_with("observations_per_world is 1"));
    assert!(refused(&[], ThresholdChoice::Max, 0.0, 0.05).starts_with("observations_per_world is 0"));
    assert!(refused(&[0.0, 1.0, f64::NAN], hold_out, 0.0, 0.05).contains("NaN in trial 2"));
    assert!(estimator("gauss").is_err_and(|error| error.to_string().contains("clopper-pearson, jeffreys")));
    assert_eq!(ThresholdChoice::from_name("hold-out").unwrap(), hold_out);
    assert!(ThresholdChoice::from_name("best").is_err());
}

/// The errors at the threshold of a rank, found by sorting scores with many ties.
fn literal_thresholds(scores_in: &[f64], scores_out: &[f64], side: Side, rank: u64) -> [u64; 2] {
    let thresholds = scores_in.iter().chain(scores_out).copied().chain([f64::INFINITY]);
    let mut all: Vec<_> = thresholds.collect();
    all.sort_by(f64::total_cmp);
    let below = |threshold: f64| scores_in.iter().filter(|&&score| score < threshold).count() as u64;
    let reaching = |threshold: f64| scores_out.iter().filter(|&&score| score >= threshold).count() as u64;
    let total = |threshold: f64| scores_in.len() as u64 - below(threshold) + reaching(threshold);
    let found = match side {
        Side::Upper => all.iter().find(|&&threshold| reaching(threshold) < rank),
        Side::Lower => all.iter().rev().find(|&&threshold| below(threshold) < rank),
        Side::Together => all.iter().find(|&&threshold| total(threshold) <= rank),
    };
    found.map(|&threshold| [below(threshold), reaching(threshold)]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(27),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn thresholds_of_ranks_are_those_of_the_sorted_scores(scores_in in scores(1.5), scores_out in scores(1.0)) {
        let evidence = Evidence::of_scores(&scores_in, &scores_out);
        let ranks: Vec<_> = [Side::Upper, Side::Lower, Side::Together]
            .into_iter()
            .flat_map(|side| [1, 2, 3, 4, 8, 16, 32].map(|rank| (side, rank)))
            .collect();
        for (&(side, rank), (threshold, counts)) in ranks.iter().zip(evidence.thresholds_of_ranks(&ranks)) {
            let literal = literal_thresholds(&scores_in, &scores_out, side, rank);
            prop_assert_eq!([counts.false_negatives, counts.false_positives], literal, "{:?} {}", side, rank);
            prop_assert_eq!(evidence.errors(Trials::All, threshold), counts);
        }
    }
}

/// Normal scores of each trial, from a separate stream.
fn gaussian_scores(seed: u64, mu: f64, trials: u64) -> [Vec<f64>; 2] {
    let stream = Stream::new(&Setting { seed, ..Setting::default() }.hash());
    World::BOTH.map(|world| {
        let shift = if world == World::In { 0.5 * mu } else { -0.5 * mu };
        (0..trials).map(|trial| mu * (stream.gaussian(world, trial, 0) + shift)).collect()
    })
}

/// N(1, 1) against N(0, 1). Valid bounds are below the truth, and bounds from all the data show more than hold-out.
///
/// The test compares means over 20 runs. Their standard error is about 0.03, and the margins are at least six times
/// that.
#[test]
fn a_band_is_tighter_than_hold_out() {
    let mean = |choice, name| {
        let runs = (0..20).map(|seed| {
            let [scores_in, scores_out] = gaussian_scores(seed, 1.0, 50_000);
            let estimator = estimator(name).unwrap();
            *from_scores(&scores_in, &scores_out, choice, estimator, 1e-5, 0.05).unwrap().empirical_epsilon
        });
        runs.sum::<f64>() / 20.0
    };
    let [hold_out, band, sequential] =
        [ThresholdChoice::HoldOut, ThresholdChoice::Band, ThresholdChoice::Sequential]
            .map(|choice| mean(choice, "clopper-pearson"));
    let [gdp, divergence] = ["gdp", "divergence"].map(|name| mean(ThresholdChoice::Band, name));
    println!("hold-out {hold_out}, band {band}, sequential {sequential}, gdp {gdp}, divergence {divergence}");
    assert!(band > hold_out + 0.1 && band < 3.2, "{band} {hold_out}");
    assert!(sequential > 1.8 && sequential < band, "{sequential}");
    assert!(gdp > 4.0 && gdp < 4.377, "{gdp}");
    assert!(divergence > 1.0 && divergence < band, "{divergence}");
}

/// A confidence sequence looks only at fixed numbers of trials. More scores change nothing until the next look.
#[test]
fn a_confidence_sequence_stands_between_looks() {
    let [scores_in, scores_out] = gaussian_scores(3, 2.0, 1300);
    let at = |trials: usize| {
        let choice = ThresholdChoice::Sequential;
        from_scores(&scores_in[..trials], &scores_out[..trials], choice, &ClopperPearson, 1e-5, 0.05)
    };
    let look = at(1000).unwrap();
    assert_eq!((look.observations_in, look.valid), (1000, true));
    assert_eq!(at(1249).unwrap(), look);
    assert_eq!(at(1250).unwrap().observations_in, 1250);
    assert!(at(499).unwrap_err().to_string().contains("at least 500 trials"));
    for (trials, ok) in [(1000, true), (1100, false)] {
        let mut store = ScoreStore::new(Setting::default(), "cpu", STREAM_NAME, StoreKind::Counts).unwrap();
        store.insert(0..trials, &scores_in[..trials as usize], &scores_out[..trials as usize]).unwrap();
        let estimate = estimate(&store, ThresholdChoice::Sequential, &ClopperPearson, 1e-5, 0.05);
        assert_eq!(estimate.is_ok(), ok, "{trials}");
        if let Err(error) = estimate {
            assert!(error.to_string().contains("1000 or 1250 trials"), "{error}");
        }
    }
}

#[test]
fn every_estimator_says_what_it_guarantees() {
    let [scores_in, scores_out] = gaussian_scores(5, 1.0, 1000);
    for one in ESTIMATORS {
        for choice in ThresholdChoice::all().iter().copied() {
            let estimate = from_scores(&scores_in, &scores_out, choice, one, 1e-5, 0.05).unwrap();
            let name = one.name();
            let any_mechanism = match choice {
                ThresholdChoice::HoldOut | ThresholdChoice::Sequential => {
                    ["clopper-pearson", "divergence"].contains(&name)
                }
                ThresholdChoice::Max => name == "divergence",
                ThresholdChoice::Band => ["clopper-pearson", "divergence"].contains(&name),
            };
            assert_eq!(estimate.valid, any_mechanism, "{name} {choice:?}");
            assert!(
                !estimate.valid || estimate.guarantee.contains("95 % confidence"),
                "{}",
                estimate.guarantee
            );
            assert!(estimate.empirical_epsilon >= 0.0);
        }
    }
    for one in ESTIMATORS {
        for choice in ThresholdChoice::all().iter().copied() {
            let of = |coins: bool| {
                let estimate = if coins { from_coin_scores } else { from_scores };
                estimate(&scores_in, &scores_out, choice, one, 1e-5, 0.05).unwrap()
            };
            // Fair coins make only the estimators that rely on them valid, because one training has no independent
            // runs. They change no number.
            let rests_on_coins = one.name() == "one-run" && choice == ThresholdChoice::Band;
            assert_eq!(of(true).valid, rests_on_coins, "{} {choice:?}", one.name());
            assert_eq!(of(true).empirical_epsilon, of(false).empirical_epsilon);
        }
    }
    let mut store = ScoreStore::new(Setting::default(), "cpu", STREAM_NAME, StoreKind::Exact).unwrap();
    store.insert(0..1000, &scores_in, &scores_out).unwrap();
    assert!(!estimate(&store, ThresholdChoice::Band, &OneRun, 1e-5, 0.05).unwrap().valid);
}

#[test]
fn coins_that_cannot_have_been_fair_are_refused() {
    let scores: Vec<f64> = (0..2000).map(f64::from).collect();
    let estimate = |included: usize, left_out: usize| {
        from_coin_scores(&scores[..included], &scores[..left_out], ThresholdChoice::Band, &OneRun, 1e-5, 0.05)
    };
    assert!(estimate(2000, 100).unwrap_err().to_string().contains("fair_coins"));
    // 1,100 or more heads in 2,000 fair coins are 4.5 standard deviations away, which can happen.
    assert!(estimate(1100, 900).is_ok() && estimate(1000, 1000).is_ok() && estimate(2, 20).is_ok());
}
