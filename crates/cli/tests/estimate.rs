//! Scores from files to epsilon.

use crate::program::{json, misdeal, refusal};
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn write_csv(folder: &Path, name: &str, scores: &[f64]) {
    let mut text = String::from("score\n");
    for score in scores {
        writeln!(text, "{score}").unwrap();
    }
    fs::write(folder.join(name), text).unwrap();
}

fn write_npy(folder: &Path, name: &str, scores: &[f64]) {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}\n", scores.len());
    let length = (header.len() as u16).to_le_bytes();
    let data: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    fs::write(
        folder.join(name),
        [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), &data].concat(),
    )
    .unwrap();
}

/// Scores that overlap, without order: multiples of the golden ratio, shifted by `shift`.
fn overlapping(count: u32, shift: f64) -> Vec<f64> {
    (0..count).map(|i| (f64::from(i) * 0.618_033_988_749_894_9).fract() + shift).collect()
}

#[test]
fn npy_and_csv_give_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    for (world, shift) in [("in", 0.4), ("out", 0.0)] {
        let scores = overlapping(3001, shift);
        write_csv(folder.path(), &format!("{world}.csv"), &scores);
        write_npy(folder.path(), &format!("{world}.npy"), &scores);
    }
    for rest in
        ["", "--threshold-choice max", "--estimator all", "--estimator raw --delta 0.1 --significance 0.3"]
    {
        let run = |one: &str, other: &str| {
            let arguments = format!("estimate --scores-in in.{one} --scores-out out.{other} {rest}");
            let mut document = json(folder.path(), &arguments);
            for own in ["seconds", "scores_in", "scores_out", "request"] {
                assert!(document.as_object_mut().unwrap().remove(own).is_some(), "{own}");
            }
            document
        };
        let npy = run("npy", "npy");
        assert_eq!(npy["command"], "estimate");
        assert_eq!(run("csv", "csv"), npy, "{rest}");
        assert_eq!(run("csv", "npy"), npy, "{rest}");
    }
}

/// The 0.975 quantile of Beta(k + 1, n - k): Beta(1, n) has 1 - 0.025^(1/n), and Beta(2, 9) solves
/// (1 - p)^10 + 10 p (1 - p)^9 = 0.025, which gives 0.445016117028195.
#[test]
fn agrees_with_clopper_and_pearson_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let none_of = |n: f64| 1.0 - 0.025_f64.powf(1.0 / n);
    let one_of_ten = 0.445_016_117_028_195_f64;
    assert!(((1.0 - one_of_ten).powi(9) * (1.0 + 9.0 * one_of_ten) - 0.025).abs() < 1e-12);
    // One score Out lies above all scores In: no threshold is better than one false positive.
    let mut outlier = vec![0.0; 10];
    outlier[3] = 2.0;
    let perfect = |n: f64, delta: f64| ((1.0 - none_of(n) - delta) / none_of(n)).ln();
    let cases = [
        (vec![1.0; 1000], vec![0.0; 1000], "max", "0", perfect(1000.0, 0.0), 0, 1000),
        (vec![1.0; 1000], vec![0.0; 1000], "max", "0.01", perfect(1000.0, 0.01), 0, 1000),
        (vec![1.0; 1000], vec![0.0; 1000], "hold-out", "1e-5", perfect(500.0, 1e-5), 0, 500),
        (vec![1.0; 10], outlier, "max", "0", ((1.0 - one_of_ten) / none_of(10.0)).ln(), 1, 10),
        (vec![1.0; 10], vec![1.0; 10], "max", "0", 0.0, 10, 10),
    ];
    for (scores_in, scores_out, choice, delta, epsilon, false_positives, observations) in cases {
        write_csv(folder.path(), "in.csv", &scores_in);
        write_csv(folder.path(), "out.csv", &scores_out);
        let document = json(
            folder.path(),
            &format!(
                "estimate --scores-in in.csv --scores-out out.csv --threshold-choice {choice} --delta {delta}"
            ),
        );
        let found = document["empirical_epsilon"].as_f64().unwrap();
        assert!((found - epsilon).abs() < 1e-9, "{choice}, {delta}: {found} for {epsilon}");
        assert_eq!(document["observations_per_world"], observations);
        assert_eq!(document["valid"], choice == "hold-out");
        if epsilon > 0.0 {
            assert_eq!(
                (&document["false_positives"], &document["false_negatives"]),
                (&false_positives.into(), &0.into())
            );
            assert_eq!(document["threshold"], 1.0);
        }
        assert_eq!(
            document["raw_epsilon"].is_null(),
            epsilon > 0.0,
            "no false negative: the raw ratio is infinite"
        );
    }
}

#[test]
fn what_holds_under_an_assumption_is_told_from_what_does_not_hold() {
    let folder = tempfile::tempdir().unwrap();
    write_csv(folder.path(), "in.csv", &overlapping(1000, 0.4));
    write_csv(folder.path(), "out.csv", &overlapping(1000, 0.0));
    for (flags, worth, meaning, on_page) in [
        (
            "--estimator gdp",
            "holds only under an assumption (see guarantee), delta 1e-5",
            "is a bound only under an assumption",
            "holds only under an assumption, delta",
        ),
        (
            "--threshold-choice max",
            "NOT a valid bound, delta 1e-5",
            "is an estimate without a guarantee",
            "not a valid bound, delta",
        ),
    ] {
        let estimate = format!("estimate --scores-in in.csv --scores-out out.csv {flags}");
        let text = misdeal(folder.path(), &estimate).stdout;
        assert!(text.contains(worth) && text.contains(meaning), "{text}");
        fs::write(folder.path().join("result.json"), json(folder.path(), &estimate).to_string()).unwrap();
        let page = misdeal(folder.path(), "report result.json").stdout;
        assert!(page.contains(on_page), "{flags}");
    }
}

#[test]
fn swapped_files_are_remarked_on() {
    let folder = tempfile::tempdir().unwrap();
    write_csv(folder.path(), "in.csv", &overlapping(1000, 0.3));
    write_csv(folder.path(), "out.csv", &overlapping(1000, 0.0));
    for rest in ["", "--estimator all"] {
        for (files, is_reversed) in
            [("out.csv --scores-out in.csv", true), ("in.csv --scores-out out.csv", false)]
        {
            let estimate = format!("estimate --scores-in {files} {rest}");
            let document = json(folder.path(), &estimate);
            let remark = document["remark"].as_str().unwrap_or_default();
            assert_eq!(remark.contains("look reversed"), is_reversed, "{estimate}: {remark}");
            assert_eq!(document.get("remark").is_some(), is_reversed);
            let text = misdeal(folder.path(), &estimate).stdout;
            assert_eq!(text.contains("Remark: the scores look reversed"), is_reversed, "{text}");
            fs::write(folder.path().join("result.json"), document.to_string()).unwrap();
            let page = misdeal(folder.path(), "report result.json").stdout;
            assert_eq!(page.contains("The scores look reversed"), is_reversed, "{estimate}");
        }
    }
}

#[test]
fn worlds_of_different_sizes_are_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    write_csv(folder.path(), "in.csv", &overlapping(500, 0.5));
    write_csv(folder.path(), "out.csv", &overlapping(800, 0.0));
    let document =
        json(folder.path(), "estimate --scores-in in.csv --scores-out out.csv --threshold-choice hold-out");
    assert_eq!((&document["observations_in"], &document["observations_out"]), (&250.into(), &400.into()));
    assert!(document["observations_per_world"].is_null());
}

#[test]
fn all_estimators_at_once() {
    let folder = tempfile::tempdir().unwrap();
    write_csv(folder.path(), "in.csv", &overlapping(1000, 0.3));
    write_csv(folder.path(), "out.csv", &overlapping(1000, 0.0));
    let run = |estimator: &str| {
        json(
            folder.path(),
            &format!("estimate --scores-in in.csv --scores-out out.csv --estimator {estimator}"),
        )
    };
    let all = run("all");
    assert_eq!((&all["schema_version"], &all["command"]), (&2.into(), &"estimate".into()));
    assert!(all.get("empirical_epsilon").is_none());
    let estimates = all["estimates"].as_object().unwrap();
    let names = [
        "clopper-pearson",
        "jeffreys",
        "joint-bayesian",
        "log-katz",
        "gdp",
        "divergence",
        "one-run",
        "one-run-fdp",
        "raw",
    ];
    assert!(names.iter().all(|&name| estimates[name]["guarantee"].as_str().unwrap().len() > 20));
    assert_eq!(estimates.len(), names.len());
    let figures = &all["descriptive"];
    assert!((0.5..1.0).contains(&figures["auroc"]["value"].as_f64().unwrap()));
    assert_eq!(figures["true_positive_rates"].as_array().unwrap().len(), 3);
    for (name, estimate) in estimates {
        assert_eq!(estimate["estimator"], **name);
        let one = run(name);
        for (field, value) in estimate.as_object().unwrap() {
            assert_eq!(one[field], *value, "{name}, {field}");
        }
    }
    let bound = |name: &str| estimates[name]["empirical_epsilon"].as_f64();
    assert!(estimates["clopper-pearson"]["valid"] == true && estimates["raw"]["valid"] == false);
    assert!(bound("clopper-pearson") > Some(0.0));
}

#[test]
fn text_says_what_it_means() {
    let folder = tempfile::tempdir().unwrap();
    write_csv(folder.path(), "in.csv", &overlapping(1000, 0.5));
    write_csv(folder.path(), "out.csv", &overlapping(1000, 0.0));
    write_csv(folder.path(), "same.csv", &overlapping(1000, 0.0));
    let cases = [
        ("in", "out", "", "at least epsilon"),
        ("same", "out", "", "no leakage"),
        ("in", "out", "--threshold-choice max", "without a guarantee"),
        ("in", "out", "--estimator raw", "without a guarantee"),
        ("in", "out", "--estimator gdp", "only if the mechanism's trade-off curve is Gaussian"),
        ("in", "out", "--threshold-choice band", "at least epsilon"),
        ("in", "out", "--estimator all", "not a confidence bound"),
        ("in", "out", "--estimator all", "AUROC"),
    ];
    for (scores_in, scores_out, rest, words) in cases {
        let run = misdeal(
            folder.path(),
            &format!("estimate --scores-in {scores_in}.csv --scores-out {scores_out}.csv {rest}"),
        );
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        // Lines wrap between words.
        let told = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{rest}: {told}");
    }
}

#[test]
fn what_cannot_be_refuted_is_told_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let named = |rest: &str| {
        if rest.contains("--threshold-choice") {
            rest.to_owned()
        } else {
            format!("{rest} --threshold-choice hold-out")
        }
    };
    let play = |rest: &str| {
        misdeal(
            folder.path(),
            &format!("audit mechanism --scheme poisson --threat-model target-canary {}", named(rest)),
        )
    };
    let claim = "--claimed-epsilon 0.7 --observations";
    let few = play(&format!("{claim} 20"));
    assert_eq!(few.stderr.lines().count(), 1, "{}", few.stderr);
    assert!(few.stderr.starts_with("Remark: 20 observations can show epsilon 0 at most"), "{}", few.stderr);
    let enough = few.stderr.split("that takes ").nth(1).unwrap().split(' ').next().unwrap();
    // Theory contradicts this claim; one that it leaves open is not refuted, and could not be.
    assert!(few.stdout.contains("contradicted by theory"), "{}", few.stdout);
    assert_eq!(play(&format!("{claim} {enough}")).stderr, "", "{enough} observations are enough");
    for quietly in ["--quiet", "--format json"] {
        assert_eq!(play(&format!("{claim} 20 {quietly}")).stderr, "", "{quietly}");
    }
    // An estimate that is no bound refutes nothing, however many there are.
    assert_eq!(play(&format!("{claim} 20 --threshold-choice max")).stderr, "");
    // What a store holds counts, too, and what is refused has one line to say.
    play("--observations 20000 --store held");
    assert_eq!(play(&format!("{claim} 20 --store held --resume")).stderr, "");
    let refused = play(&format!("{claim} 2200 --store held --resume --threshold-choice sequential"));
    assert!(refused.code == Some(2) && refused.stderr.lines().count() == 1, "{}", refused.stderr);
    // Where theory proves a claim nobody needs more observations.
    assert_eq!(play("--claimed-epsilon 5 --observations 20").stderr, "");

    write_csv(folder.path(), "in.csv", &overlapping(40, 0.4));
    write_csv(folder.path(), "out.csv", &overlapping(40, 0.0));
    let scores =
        "estimate --scores-in in.csv --scores-out out.csv --threshold-choice hold-out --claimed-epsilon";
    let shown = |claim: &str| {
        let text = misdeal(folder.path(), &format!("{scores} {claim}")).stdout;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(
        shown("9").contains("is not refuted, and could not be: with this estimator and threshold choice so few observations can show"),
        "{}",
        shown("9")
    );
    assert!(shown("1").contains("is not refuted: these observations show"), "{}", shown("1"));
    let largest = json(folder.path(), &format!("{scores} 9"))["largest_epsilon"].as_f64().unwrap();
    // No errors among the twenty that hold-out counts, at 97.5 %.
    let rate = 1.0 - 0.025_f64.powf(1.0 / 20.0);
    assert!((largest - ((1.0 - rate - 1e-5) / rate).ln()).abs() < 1e-9, "{largest}");
}

/// Scores cannot show that coins were tossed: one-run bounds are valid where that is stated, and nowhere else.
#[test]
fn one_run_bounds_need_stated_coins() {
    let folder = tempfile::tempdir().unwrap();
    write_csv(folder.path(), "out.csv", &overlapping(600, 0.0));
    for included in [600, 587, 613] {
        write_csv(folder.path(), "in.csv", &overlapping(included, 0.9));
        for choice in ["band", "hold-out", "max", "sequential"] {
            let flags = format!("--estimator all --threshold-choice {choice} --claimed-epsilon 0.01");
            let estimate = format!("estimate --scores-in in.csv --scores-out out.csv {flags}");
            let valid = |arguments: &str, name: &str| {
                json(folder.path(), arguments)["estimates"][name]["valid"].as_bool().unwrap()
            };
            for name in ["one-run", "one-run-fdp"] {
                assert!(!valid(&estimate, name), "{name}, {choice}, {included}");
            }
            let stated = valid(&format!("{estimate} --fair-coins"), "one-run");
            assert_eq!(stated, choice == "band", "{choice}, {included}");
        }
    }
}

/// Clopper-Pearson bounds count independent runs, which the canaries of one training are not.
#[test]
fn what_would_make_a_one_run_bound_valid_is_told() {
    let folder = tempfile::tempdir().unwrap();
    write_csv(folder.path(), "out.csv", &overlapping(600, 0.0));
    write_csv(folder.path(), "in.csv", &overlapping(600, 5.0));
    let says = |flags: &str| {
        // The default is valid here and refutes the claim.
        let choice = if flags.contains("--threshold-choice") { "" } else { "--threshold-choice hold-out" };
        let estimate = format!(
            "estimate --scores-in in.csv --scores-out out.csv --claimed-epsilon 0.01 {flags} {choice}"
        );
        let found = json(folder.path(), &estimate);
        assert_eq!(found["verdict"]["kind"], "undecided", "{found}");
        found["verdict"]["sentence"].as_str().unwrap().to_owned()
    };
    for flags in ["--estimator all", "--estimator one-run", "--estimator one-run-fdp"] {
        let sentence = says(&format!("{flags} --fair-coins"));
        let advice = "repeat with the estimator one-run and the threshold choice band.";
        assert!(sentence.ends_with(advice), "{flags}: {sentence}");
    }
    let sentence = says("--estimator one-run --threshold-choice band");
    assert!(sentence.contains("repeat with --fair-coins") && sentence.contains("or else"), "{sentence}");
    assert!(says("--estimator jeffreys").ends_with("repeat with the estimator clopper-pearson."));
}

/// Randomised response with the epsilon that it has: 100 audits of a true claim refute it by chance alone.
#[test]
fn curves_of_true_claims_are_seldom_refuted() {
    let folder = tempfile::tempdir().unwrap();
    let epsilon: f64 = 1.5;
    let truthful = epsilon.exp() / (1.0 + epsilon.exp());
    let mut state = 7_u64;
    let mut uniform = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut refuted = 0;
    for _ in 0..100 {
        for (name, answer) in [("in.npy", truthful), ("out.npy", 1.0 - truthful)] {
            let scores: Vec<f64> = (0..800).map(|_| f64::from(u8::from(uniform() < answer))).collect();
            write_npy(folder.path(), name, &scores);
        }
        let flags = format!("--claimed-epsilon {epsilon} --trade-off");
        let found = json(folder.path(), &format!("estimate --scores-in in.npy --scores-out out.npy {flags}"));
        let promised = found["trade_off"]["promised"].as_array().unwrap();
        let tests: Vec<_> = promised.iter().filter_map(|curve| curve["test"]["refuted"].as_bool()).collect();
        assert_eq!(tests.len(), 1, "the claim's own curve is tested");
        refuted += u32::from(tests[0] || found["violated"] == true);
    }
    // More than 18 of 100 at 2 x 5 % happen with a probability below 0.5 %.
    assert!(refuted <= 18, "{refuted}");
}

/// A claimed curve from a file, from theory and by the claimed epsilon, in `estimate` and in audits.
#[test]
fn a_claimed_curve_is_tested_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (world, shift) in [("in", 0.4), ("out", 0.0)] {
        write_csv(folder.path(), &format!("{world}.csv"), &overlapping(3001, shift));
    }
    fs::write(folder.path().join("curve.csv"), "delta,epsilon\n1e-5,2.87\n0.05,0.64\n0.214,0\n").unwrap();
    let scores = "estimate --scores-in in.csv --scores-out out.csv --claimed-epsilon 4 --claimed-curve";
    let found = json(folder.path(), &format!("{scores} curve.csv"));
    let curve = &found["curve"];
    assert_eq!((&curve["refuted"], &curve["name"]), (&true.into(), &"claimed".into()));
    assert!((curve["claimed_total_variation"].as_f64().unwrap() - 0.214).abs() < 1e-12);
    assert!(curve["p_value"].as_f64().unwrap() < 1e-9 && curve["log_e_value"].as_f64().unwrap() > 3.0);
    assert_eq!(json(folder.path(), &format!("{scores} gaussian"))["curve"]["refuted"], true);
    assert_eq!(json(folder.path(), &format!("{scores} gdp=9"))["curve"]["refuted"], false);
    let coins = json(folder.path(), &format!("{scores} curve.csv --fair-coins"));
    assert!(coins["curve"]["refuted"] == true && coins["curve"]["e_value"].is_null());

    let audit =
        "audit mechanism --noise-multiplier 0.8 --steps-per-epoch 20 --observations 4000 --claimed-epsilon";
    let shuffled = json(folder.path(), &format!("{audit} 0.1 --claimed-curve balls-in-bins"));
    assert_eq!(shuffled["curve"]["refuted"], true);
    let dealt = json(folder.path(), &format!("{audit} 0.1 --scheme poisson --claimed-curve poisson"));
    assert_eq!(dealt["curve"]["refuted"], false);

    for curve in ["poison", "poisson", "none.csv"] {
        let refused = refusal(folder.path(), &format!("{scores} {curve}"));
        assert!(refused.contains(curve), "{refused}");
    }
}
