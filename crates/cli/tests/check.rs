//! `misdeal check`: model cards get the verdicts that an expert wrote down before.

use crate::program::{Run, misdeal, run};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const CARD: &str = "--dataset-size 60000 --batch-size 512 --epochs 15 --noise-multiplier 0.8 --delta 1e-5";

fn checked(folder: &Path, arguments: &str) -> Value {
    let run = misdeal(folder, &format!("check {arguments} --format json"));
    assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn cards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cards").canonicalize().unwrap()
}

/// How an expert, without this program, expects a card to fare.
#[derive(Debug, serde::Deserialize)]
struct Expected {
    file: String,
    kind: Option<String>,
    #[serde(default)]
    refused: bool,
    /// The field that a refusal must name.
    field: Option<String>,
    refuted_under_poisson: Option<bool>,
    /// The values that the expert accepts for a bound.
    epsilon_lower_range: Option<[f64; 2]>,
    epsilon_upper_range: Option<[f64; 2]>,
}

#[derive(serde::Deserialize)]
struct AllExpected {
    card: Vec<Expected>,
}

#[test]
fn cards_get_the_verdicts_that_an_expert_wrote_down_first() {
    let text = fs::read_to_string(cards().join("expected.toml")).unwrap();
    let AllExpected { card: expected } = toml::from_str(&text).unwrap();
    assert!(expected.len() >= 12);
    for one in &expected {
        let path = cards().join(&one.file);
        let Run { code, stdout, stderr, .. } =
            run(&cards(), ["check", path.to_str().unwrap(), "--format", "json", "--check"]);
        if one.refused {
            let field = one.field.as_deref().unwrap();
            let is_named = stderr.contains(field) && stderr.contains(&one.file);
            assert!(code == Some(2) && is_named, "{one:?}: {stderr}");
            continue;
        }
        let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{one:?}: {stderr}"));
        let card = &document["cards"][0];
        assert_eq!(card["verdict"]["kind"].as_str(), one.kind.as_deref(), "{one:?}: {}", card["verdict"]);
        assert_eq!(card["refuted_under_poisson"].as_bool(), one.refuted_under_poisson, "{one:?}");
        assert_eq!(code, Some(i32::from(one.kind.as_deref() == Some("refuted"))), "{one:?}");
        let ranges = [("lower", one.epsilon_lower_range), ("upper", one.epsilon_upper_range)];
        for (side, range) in ranges {
            let Some([least, most]) = range else { continue };
            let ours = card[format!("epsilon_{side}_bound")].as_f64().unwrap_or(f64::NAN);
            assert!((least..=most).contains(&ours), "{one:?}: {side} {ours}");
        }
    }
}

#[test]
fn the_largest_proven_bound_leads() {
    let folder = tempfile::tempdir().unwrap();
    let document =
        checked(folder.path(), &format!("{CARD} --claimed-epsilon 2.1 --scheme shuffle --observations 2000"));
    assert_eq!([&document["command"], &document["schema_version"]], [&Value::from("check"), &Value::from(2)]);
    let card = &document["cards"][0];
    assert_eq!(card["setting"]["steps_per_epoch"], 117);
    let lower = card["epsilon_lower_bound"].as_f64().unwrap();
    assert!((21.2..21.3).contains(&lower), "{lower}");
    // The audit by itself shows less; the verdict speaks of what is proven.
    assert!(card["audit"]["empirical_epsilon"].as_f64().unwrap() < lower);
    let sentence = card["verdict"]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("at least epsilon 21.2")
            && sentence.contains("Poisson sampling too: at least 3.41")
    );
    let needed = |scheme: &str| card["schemes"][scheme]["noise_multiplier_needed"].as_f64().unwrap();
    assert!((needed("poisson") - 0.9835).abs() < 1e-3 && needed("balls-in-bins") < 1.03, "{card}");
    // The closed form of the fixed order, by a search of its own.
    assert!((needed("shuffle") - 7.392).abs() < 5e-3, "{card}");
}

#[test]
fn the_noise_that_is_needed_keeps_the_claim() {
    let folder = tempfile::tempdir().unwrap();
    let document = checked(folder.path(), &format!("{CARD} --claimed-epsilon 2.1 --scheme shuffle"));
    for (scheme, found) in document["cards"][0]["schemes"].as_object().unwrap() {
        let noise = found["noise_multiplier_needed"].as_f64().unwrap();
        let with = |noise: f64| {
            let card = CARD.replace("0.8", &noise.to_string());
            let document = checked(folder.path(), &format!("{card} --claimed-epsilon 2.1 --scheme {scheme}"));
            document["cards"][0]["verdict"]["kind"].as_str().unwrap().to_owned()
        };
        assert_eq!(with(noise), "holds", "{scheme} {noise}");
        // Balls-in-bins is searched with less work than it is checked with, so that its noise may be a little larger.
        assert_ne!(with(0.995 * noise), "holds", "{scheme} {noise}");
    }
}

#[test]
fn a_card_that_is_silent_says_what_was_assumed() {
    let folder = tempfile::tempdir().unwrap();
    let silent = CARD.replace(" --delta 1e-5", "");
    let card = &checked(folder.path(), &format!("{silent} --claimed-epsilon 5"))["cards"][0];
    assert_eq!(card["delta"].as_f64().unwrap(), 1.0 / 60_000.0);
    assert!(card["setting"]["scheme"].is_null());
    assert_eq!(card["verdict"]["kind"], "undecided");
    assert!(card["verdict"]["sentence"].as_str().unwrap().contains("must state how batches were made"));
    let remarks = card["remarks"].to_string();
    assert!(
        ["96 of 60,000", "no delta", "judged as shuffle and as poisson"]
            .iter()
            .all(|words| remarks.contains(words))
    );
    let [shuffle, poisson] = ["shuffle", "poisson"].map(|name| &card["schemes"][name]);
    assert_eq!(card["epsilon_lower_bound"], poisson["epsilon_lower_bound"]);
    assert_eq!(card["epsilon_upper_bound"], shuffle["epsilon_upper_bound"]);
}

#[test]
fn steps_count_all_epochs() {
    let folder = tempfile::tempdir().unwrap();
    let with = |length: &str, scheme: &str| {
        let card = CARD.replace("--epochs 15", length);
        let document = checked(folder.path(), &format!("{card} --scheme {scheme}"));
        let sides = ["epsilon_lower_bound", "epsilon_upper_bound"];
        sides.map(|side| document["cards"][0][side].as_f64())
    };
    for scheme in ["shuffle", "poisson", "balls-in-bins"] {
        assert_eq!(with("--steps 234", scheme), with("--epochs 2", scheme), "{scheme}");
    }
    // Half an epoch more: at least two epochs, at most three.
    let [lower, upper] = with("--steps 300", "shuffle");
    assert_eq!([lower, upper], [with("--epochs 2", "shuffle")[0], with("--epochs 3", "shuffle")[1]]);
    let [lower, upper] = with("--steps 50", "shuffle");
    assert!(lower.is_none() && upper == with("--epochs 1", "shuffle")[1]);
    assert!(with("--steps 300", "poisson")[0] > with("--epochs 2", "poisson")[1]);
}

#[test]
fn several_cards_make_a_table_and_bad_news_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let card = "dataset_size = 60000\nbatch_size = 512\nepochs = 15\nnoise_multiplier = 0.8\ndelta = 1e-5\nscheme = \"poisson\"\n";
    fs::write(folder.path().join("true.toml"), format!("{card}claimed_epsilon = 3.5\nname = \"A\"")).unwrap();
    fs::write(folder.path().join("false.toml"), format!("{card}claimed_epsilon = 2.1")).unwrap();
    let run =
        misdeal(folder.path(), "check true.toml false.toml --check --report page.html --plot cards.svg");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for words in ["REFUTED", "holds", "false.toml", "3.417"] {
        assert!(run.stdout.contains(words), "{}", run.stdout);
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("Do not publish epsilon 2.1") && page.contains("can be published"));
    assert!(fs::read_to_string(folder.path().join("cards.svg")).unwrap().contains("false.toml"));
    assert_eq!(misdeal(folder.path(), "check true.toml --check").code, Some(0));
}

#[test]
fn what_is_no_card_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("empty.toml", "", "dataset_size"),
        ("key.toml", "batchsize = 3", "batchsize"),
        (
            "nan.toml",
            "dataset_size = 10\nbatch_size = 2\nepochs = 1\nnoise_multiplier = nan",
            "noise_multiplier",
        ),
        ("large.toml", "dataset_size = 10\nbatch_size = 20\nepochs = 1\nnoise_multiplier = 1", "batch_size"),
        (
            "both.toml",
            "dataset_size = 10\nbatch_size = 2\nepochs = 1\nsteps = 5\nnoise_multiplier = 1",
            "epochs",
        ),
        ("none.md", "---\nlicense: mit\n---\n", "privacy"),
        ("negative.toml", "dataset_size = -1", "dataset_size"),
        (
            "scheme.toml",
            "dataset_size = 10\nbatch_size = 2\nepochs = 1\nnoise_multiplier = 1\nscheme = \"shufle\"",
            "shufle",
        ),
    ];
    for (name, text, word) in files {
        fs::write(folder.path().join(name), text).unwrap();
        let run = misdeal(folder.path(), &format!("check {name}"));
        assert_eq!(run.code, Some(2), "{name}: {}", run.stdout);
        assert!(run.stderr.contains(name) && run.stderr.contains(word), "{name}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{name}: {}", run.stderr);
    }
    for (arguments, word) in [
        ("check", "--dataset-size"),
        ("check --dataset-size 100", "--batch-size"),
        ("check --dataset-size 100 --batch-size 10 --noise-multiplier 1", "--epochs"),
        ("check empty.toml --epochs 3", "--epochs"),
        ("check --dataset-size 0 --batch-size 1 --epochs 1 --noise-multiplier 1", "--dataset-size"),
        ("check missing.toml", "missing.toml"),
    ] {
        let run = misdeal(folder.path(), arguments);
        assert!(run.code == Some(2) && run.stderr.contains(word), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn a_sweep_is_a_check_at_each_point() {
    let folder = tempfile::tempdir().unwrap();
    let card = "--dataset-size 6000 --batch-size 100 --delta 1e-5 --scheme shuffle";
    let run = misdeal(
        folder.path(),
        &format!(
            "sweep {card} --vary noise-multiplier=1,4 --vary epochs=1:3:3 --format json --plot grid.svg --report grid.html"
        ),
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let cards = document["cards"].as_array().unwrap();
    assert_eq!(cards.len(), 6);
    assert_eq!(document["varied"][1]["values"], serde_json::json!([1, 2, 3]));
    let alone = checked(folder.path(), &format!("{card} --epochs 2 --noise-multiplier 4"));
    for side in ["epsilon_lower_bound", "epsilon_upper_bound"] {
        assert_eq!(cards[4][side], alone["cards"][0][side]);
    }
    // Without a claim it is what Poisson sampling justifies, which shuffling breaks.
    assert_eq!(cards[4]["claimed_epsilon"], cards[4]["schemes"]["poisson"]["epsilon_upper_bound"]);
    assert!(cards.iter().all(|card| card["verdict"]["kind"] == "refuted"));
    assert!(fs::metadata(folder.path().join("grid.svg")).unwrap().len() > 1000);
    assert!(fs::read_to_string(folder.path().join("grid.html")).unwrap().contains("point by point"));
    let refused = misdeal(folder.path(), &format!("sweep {card} --epochs 1 --vary epochs=1,2"));
    assert!(refused.code == Some(2) && refused.stderr.contains("--vary"), "{}", refused.stderr);
}
