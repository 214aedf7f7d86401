//! A store is a function of what was asked, not of how it was computed.

use crate::program::{json, refusal};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Several chunks for every core, cut at an odd place.
const AUDIT: &str = "audit mechanism --steps-per-epoch 20 --seed 11";
const OBSERVATIONS: u64 = 1_400_006;

fn run(folder: &Path, arguments: &str) -> Value {
    json(folder, &format!("{AUDIT} {arguments}"))
}

/// A store's scores, without its header, which remembers judgements.
fn scores(folder: &Path, name: &str) -> Vec<u8> {
    let bytes = bytes(folder, name);
    let header = u64::from_le_bytes(std::array::from_fn(|i| bytes[12 + i])) as usize;
    bytes[20 + header..bytes.len() - 32].to_vec()
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

/// Everything that the scores decide.
fn assert_same_estimate(one: &Value, other: &Value) {
    for field in [
        "setting",
        "observations",
        "empirical_epsilon",
        "raw_epsilon",
        "threshold",
        "false_positives",
        "false_negatives",
        "observations_per_world",
    ] {
        assert_eq!(one[field], other[field], "{field}");
    }
}

#[test]
fn threads_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["counts", "exact"] {
        let runs = [1, 2, 7].map(|threads| {
            let name = format!("{kind}-{threads}");
            let arguments =
                format!("--observations {OBSERVATIONS} --scores {kind} --threads {threads} --store {name}");
            (run(folder.path(), &arguments), bytes(folder.path(), &name))
        });
        for (report, store) in &runs[1..] {
            assert_same_estimate(report, &runs[0].0);
            assert!(*store == runs[0].1, "{kind}");
        }
    }
}

/// A run that went on after it was judged has the scores of the whole run, and no valid bound any more.
#[test]
fn a_run_that_goes_on_has_the_same_scores() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["counts", "exact"] {
        let step = |observations: u64, rest: &str| {
            run(folder.path(), &format!("--observations {observations} --scores {kind} {rest}"))
        };
        let whole = step(OBSERVATIONS, &format!("--store {kind}-whole"));
        let store = format!("--store {kind}-steps");
        step(300_002, &store);
        step(300_002 + 10, &format!("{store} --resume"));
        let resumed = step(OBSERVATIONS, &format!("{store} --resume"));
        assert_same_estimate(&resumed, &whole);
        assert!(
            scores(folder.path(), &format!("{kind}-steps"))
                == scores(folder.path(), &format!("{kind}-whole"))
        );
        // Nothing is left to play: the same answer, and other analyses of it.
        let again = step(OBSERVATIONS, &format!("{store} --resume"));
        assert_same_estimate(&again, &whole);
        let other = step(OBSERVATIONS, &format!("{store} --resume --delta 1e-3 --threshold-choice max"));
        assert_eq!(other["observations_per_world"], OBSERVATIONS / 2);
    }
}

/// Looking again after playing on is not free, unless a confidence sequence looks.
#[test]
fn a_second_look_at_more_observations_is_not_valid() {
    let folder = tempfile::tempdir().unwrap();
    let look = |observations: u64, rest: &str| {
        let report =
            run(folder.path(), &format!("--observations {observations} --claimed-epsilon 0.1 {rest}"));
        let field = |name: &str| report[name].as_bool().unwrap();
        assert!(field("estimate_exceeds_claim") && field("violated") == field("valid"));
        (field("valid"), report["guarantee"].as_str().unwrap().to_owned())
    };
    for choice in ["hold-out", "band", "max --estimator divergence"] {
        let store = format!("--threshold-choice {choice} --store {}", choice.split(' ').next().unwrap());
        assert!(look(20_000, &store).0, "{choice}");
        // The same observations are the same look; further ones are another, also after going back.
        assert!(look(20_000, &format!("{store} --resume")).0, "{choice}");
        let (valid, guarantee) = look(40_000, &format!("{store} --resume"));
        assert!(!valid && guarantee.contains("judged before, as a run of 20000 observations"), "{guarantee}");
        assert!(!look(40_000, &format!("{store} --resume")).0, "{choice}");
    }
    // A confidence sequence may go on, and only by itself.
    let sequential = "--threshold-choice sequential --store sequential";
    assert!(look(20_000, sequential).0 && look(40_000, &format!("{sequential} --resume")).0);
    assert!(!look(40_000, "--store sequential --resume").0);
    assert!(!look(80_000, "--threshold-choice sequential --store band --resume").0);
}

/// A part is not judged validly, and looking at it spoils nothing; another division of the parts does.
#[test]
fn a_part_is_not_judged_validly_and_the_merged_run_is() {
    let folder = tempfile::tempdir().unwrap();
    let valid = |arguments: &str| run(folder.path(), arguments)["valid"].as_bool().unwrap();
    for shard in 1..=3 {
        assert!(!valid(&format!("--observations 30000 --shard {shard}/3 --store part-{shard}")));
    }
    json(folder.path(), "merge part-1 part-2 part-3 --output whole");
    assert!(valid("--observations 30000 --store whole --resume"));
    json(folder.path(), "merge part-1 part-2 --output two");
    assert!(!valid("--observations 20000 --store two --resume"), "two of three were not planned");
}

#[test]
fn shards_make_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["counts", "exact"] {
        let observations = format!("--observations {OBSERVATIONS} --scores {kind}");
        let whole = run(folder.path(), &format!("{observations} --store {kind}-whole"));
        for shard in 1..=3 {
            run(folder.path(), &format!("{observations} --shard {shard}/3 --store {kind}-{shard}"));
        }
        // In any order.
        let merged = json(folder.path(), &format!("merge {kind}-3 {kind}-1 {kind}-2 --output {kind}-merged"));
        assert_eq!((&merged["stores"], &merged["observations"]), (&3.into(), &OBSERVATIONS.into()));
        assert_eq!(merged["missing_trials"], serde_json::json!([]));
        let without = json(folder.path(), &format!("merge {kind}-3 {kind}-1 --output {kind}-without"));
        let gaps = without["missing_trials"].as_array().unwrap();
        let missing = gaps.iter().map(|gap| gap[1].as_u64().unwrap() - gap[0].as_u64().unwrap()).sum::<u64>();
        assert_eq!((gaps.len(), without["observations"].as_u64().unwrap() + 2 * missing), (1, OBSERVATIONS));
        assert_eq!(
            (&merged["schema_version"], &merged["command"], &merged["setting"]),
            (&2.into(), &"merge".into(), &whole["setting"])
        );
        let [joined, one_go] =
            ["merged", "whole"].map(|name| bytes(folder.path(), &format!("{kind}-{name}")));
        assert!(joined == one_go, "{kind}");
        let resumed = run(folder.path(), &format!("{observations} --store {kind}-merged --resume"));
        assert_same_estimate(&resumed, &whole);
    }
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let stores = [
        ("first", "--shard 1/2"),
        ("second", "--shard 2/2"),
        ("whole", ""),
        ("noisier", "--noise-multiplier 2 --shard 2/2"),
        ("longer", "--epochs 2 --shard 2/2"),
        ("canary", "--threat-model target-canary --shard 2/2"),
        ("elsewhere", "--target-index 1 --shard 2/2"),
        ("blind", "--adversary-scheme poisson --shard 2/2"),
        ("reseeded", "--seed 12 --shard 2/2"),
        ("reference", "--engine reference --shard 2/2"),
        ("exact", "--scores exact --shard 2/2"),
    ];
    for (name, arguments) in stores {
        let seed = if arguments.contains("--seed") { "" } else { "--seed 11" };
        let arguments = format!(
            "audit mechanism --steps-per-epoch 20 --observations 2000 {seed} {arguments} --store {name}"
        );
        json(folder.path(), &arguments);
    }
    let cases: [(&str, &[&str]); 11] = [
        ("first noisier", &["noisier", "noise_multiplier is 1.0 and 2.0"]),
        ("first longer", &["longer", "epochs is 1 and 2"]),
        ("first canary", &["canary", "threat_model", "worst-case", "target-canary"]),
        ("first elsewhere", &["elsewhere", "target_index is 0 and 1"]),
        ("first blind", &["blind", "adversary_scheme is none"]),
        ("first reseeded", &["reseeded", "seed is 11 and 12"]),
        ("first reference", &["reference", "lineages: cpu and reference"]),
        ("first exact", &["exact", "counts and exact"]),
        ("first whole", &["whole", "trials 0 to 499 are there twice"]),
        ("whole second", &["second", "trials 500 to 999 are there twice"]),
        ("first first", &["first", "twice"]),
    ];
    for (inputs, words) in cases {
        let line = refusal(folder.path(), &format!("merge {inputs} --output merged"));
        assert!(words.iter().all(|word| line.contains(word)), "{inputs}: {line}");
    }
    json(folder.path(), "merge first second --output merged");
    assert!(bytes(folder.path(), "merged") == bytes(folder.path(), "whole"));
}

/// A result has no scores in it, so that it must not take a store's place.
#[test]
fn a_result_never_replaces_a_store() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "--observations 2000 --store run.svg");
    let before = bytes(folder.path(), "run.svg");
    for arguments in [
        "audit mechanism --observations 1e14 --output run.svg",
        "audit mechanism --observations 1e14 --plot run.svg",
        "account --output run.svg",
        "scan . --output run.svg",
    ] {
        let line = refusal(folder.path(), arguments);
        assert!(line.contains("it is a store of scores, which a result would replace"), "{line}");
        assert!(bytes(folder.path(), "run.svg") == before, "{arguments}");
    }
}

/// What was judged at 2000 observations stays judged, whatever is merged over it.
#[test]
fn a_merged_store_remembers_what_it_replaces() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "--observations 2000 --store looked");
    for part in 1..=2 {
        run(folder.path(), &format!("--observations 4000 --shard {part}/2 --store {part}"));
    }
    json(folder.path(), "merge 1 2 --output unseen");
    json(folder.path(), "merge 1 2 --output looked");
    assert_eq!(run(folder.path(), "--observations 4000 --store unseen --resume")["valid"], true);
    let looked = run(folder.path(), "--observations 4000 --store looked --resume");
    assert_eq!(looked["valid"], false);
    assert!(looked["guarantee"].as_str().unwrap().contains("as a run of 2000 observations"), "{looked}");
}

/// Stores of version 1 (`testdata/scripts/old_stores.rs`) are read and gone on from; they count as judged at what they hold.
#[test]
fn stores_of_an_older_version_go_on() {
    for kind in ["counts", "exact"] {
        let folder = tempfile::tempdir().unwrap();
        let old = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/stores/{kind}.v1"));
        fs::copy(old, folder.path().join("old")).unwrap();
        assert_eq!(bytes(folder.path(), "old")[8..12], [1, 0, 0, 0]);
        let audit = format!("audit mechanism --steps-per-epoch 5 --seed 3 --scores {kind}");
        for observations in [200, 400] {
            let resumed =
                json(folder.path(), &format!("{audit} --observations {observations} --store old --resume"));
            let name = observations.to_string();
            let new = json(folder.path(), &format!("{audit} --observations {observations} --store {name}"));
            assert_same_estimate(&resumed, &new);
            assert!(scores(folder.path(), "old") == scores(folder.path(), &name), "{kind}, {observations}");
            assert_eq!(resumed["valid"], observations == 200, "{resumed}");
        }
        json(folder.path(), "merge old --output copy");
        assert_eq!(bytes(folder.path(), "copy")[8..12], [2, 0, 0, 0]);
    }
}

/// The grid's edges are the only thresholds of counts: a little is lost, and nothing gained.
#[test]
fn counts_lose_next_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (noise, steps) in [(0.5, 20), (1.0, 20), (1.5, 20), (1.0, 100)] {
        let [exact, counts] = ["exact", "counts"].map(|kind| {
            let arguments = format!(
                "audit mechanism --noise-multiplier {noise} --steps-per-epoch {steps} --observations 2e6 \
                 --threshold-choice max --scores {kind}"
            );
            json(folder.path(), &arguments)["empirical_epsilon"].as_f64().unwrap()
        });
        assert!(counts <= exact && counts > 0.995 * exact, "{noise}, {steps}: {counts} {exact}");
    }
}
