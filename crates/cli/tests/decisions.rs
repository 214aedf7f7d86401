//! What a page tells somebody who decides, and how its result is made again.

use crate::program::{json, misdeal, refusal};
use crate::report::{page, rerun, stored};
use serde_json::{Value, json as document};
use std::fs;

#[test]
fn the_request_is_in_the_document_and_the_page_prints_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line =
        "audit training --dataset-size 100 --noise-multiplier 1.0 --batch-size 20 --observations 20 --seed 2";
    let mut found = json(folder, &format!("{line} --store secret.store --save-every 5"));
    assert_eq!(found["request"]["batch_size"], 20);
    assert!(
        !found["request"].to_string().contains("secret.store"),
        "where scores are kept is no part of a request"
    );
    let page_of = |found: &Value| {
        fs::write(folder.join("training.json"), found.to_string()).unwrap();
        page(folder, "training.json")
    };
    assert_eq!(rerun(&page_of(&found)), line);
    for unknown in [Value::Null, document!({"later": 1}), document!([])] {
        found["request"] = unknown;
        let page = page_of(&found);
        assert!(
            page.contains("This result does not say what was asked for")
                && !page.contains("<code>misdeal audit")
        );
    }
    found.as_object_mut().unwrap().remove("request");
    assert!(page_of(&found).contains("This result does not say what was asked for"));
}

#[test]
fn pages_have_a_title_a_name_a_date_and_a_sentence_for_whoever_decides() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let card = "check --dataset-size 60000 --batch-size 512 --epochs 15 --noise-multiplier 0.8 --delta 1e-5 --claimed-epsilon 2.1 \
                --scheme shuffle --format json";
    let run =
        misdeal(folder, &format!("{card} -o card.json --report check.html --title Review --date 2026-01-31"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let checked = fs::read_to_string(folder.join("check.html")).unwrap();
    for words in [
        ">Review</h1>",
        ">2026-01-31<",
        "Do not publish epsilon 2.1: this training leaks at least 21.2",
        "class=\"verdict refuted\"",
    ] {
        assert!(checked.contains(words), "{words}");
    }
    let named = misdeal(folder, "report card.json --title Other --name M7 --date today -o page.html");
    assert_eq!(named.code, Some(0), "{}", named.stderr);
    let named = fs::read_to_string(folder.join("page.html")).unwrap();
    for words in [">Other</h1>", "Model card: M7<", ">today<", "<th scope=\"col\">delta</th>"] {
        assert!(named.contains(words), "{words}");
    }
    assert!(refusal(folder, "check --dataset-size 100 --title Review").contains("--report"));
    let today = page(folder, "card.json");
    let date = today.split("<p class=\"date\">").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(date.len() == 10 && date.starts_with("20"), "{date}");
}

#[test]
fn an_audit_that_is_too_small_says_so_of_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stored(folder, "small.json", "audit mechanism --observations 2000 --claimed-epsilon 4.2");
    let small = page(folder, "small.json");
    assert!(
        small.contains("class=\"verdict neutral\"") && small.contains("<p class=\"label\">Undecided</p>")
    );
    assert!(small.contains("<b>About this audit.</b>") && small.contains("Do not publish epsilon 4.2"));
    stored(folder, "false.json", "audit mechanism --observations 2000 --claimed-epsilon 3");
    let refuted = page(folder, "false.json");
    assert!(refuted.contains("class=\"verdict refuted\"") && refuted.contains("at least 4.065"));
}

#[test]
fn accounts_are_drawn_by_scheme_or_as_curves() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (flags, words) in [("", "claimed, as if Poisson"), ("--trade-off", "false-negative rate")] {
        let run = misdeal(folder, &format!("account --scheme shuffle {flags} --plot drawn.svg"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let drawn = fs::read_to_string(folder.join("drawn.svg")).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.contains(words), "{flags}");
    }
    assert!(refusal(folder, "account --plot drawn.pdf").contains("drawn.pdf"));
}
