//! `misdeal report` on reproductions of the paper.

use crate::report::page;
use serde_json::{Value, json as document};
use std::fs;

/// A row of a reproduction.
fn row(name: &str, printed: Option<f64>, ours: f64, valid: f64, verdict: Option<&str>) -> Value {
    document!({"artefact": "table-1", "name": name, "printed": printed, "ours": ours, "standard_deviation": null,
        "valid_epsilon": valid, "tolerance": if printed.is_some() { 0.54 } else { 0.0 },
        "tolerance_reason": if printed.is_some() { "seeds differ" } else { "" }, "verdict": verdict, "reason": null,
        "printed_claim": 7.53, "theory": {}, "setting": null, "delta": 1e-5, "observations": 1000, "runs": 1, "engine": "cuda"})
}

/// A reproduction with these rows.
fn reproduction(name: &str, rows: &[Value]) -> Value {
    document!({"schema_version": 1, "command": "reproduce", "version": "0.1.0", "name": name, "seed": 0, "quick": false,
        "artefacts": [{"name": "table-1", "title": "Settings", "place": "Table 1", "remarks": []}], "rows": rows, "deals": [],
        "seconds": 1.0})
}

#[test]
fn reproductions_show_tolerances_and_what_is_past_the_paper() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let page_of = |document: &Value| {
        fs::write(folder.join("paper.json"), document.to_string()).unwrap();
        page(folder, "paper.json")
    };
    let above = "Where &#34;valid&#34; stands above &#34;ours&#34;";
    let one =
        page_of(&reproduction("table-1", &[row("Places-365", Some(13.54), 13.6, 13.0, Some("reproduced"))]));
    for words in [
        "13.54 ± 0.54",
        "count as reproduced: seeds differ.",
        "of 1 printed number<",
        "Of 1 printed number: 1 reproduced.",
    ] {
        assert!(one.contains(words), "{words}");
    }
    assert!(!one.contains(above));
    let rows = [row("one", Some(1.0), 3.0, 3.1, Some("exceeded")), row("other", None, 1.0, 0.9, None)];
    let several = page_of(&reproduction("table-1", &rows));
    for words in [above, "Of 1 printed number: 1 exceeded. One more setting has no printed number."] {
        assert!(several.contains(words), "{words}");
    }
    let none = page_of(&reproduction("figure-3", &rows[1..]));
    assert!(
        none.contains("The paper prints no numbers for these settings")
            && !none.contains("count as reproduced")
    );
    let mut past = reproduction("beyond", &rows[1..]);
    (past["rows"][0]["artefact"], past["artefacts"][0]["name"]) = ("beyond".into(), "beyond".into());
    let past = page_of(&past);
    assert!(past.contains("Past the paper") && past.contains("The paper has nothing like this"));
    assert!(!past.contains("The paper prints no numbers"));
}

#[test]
fn reproductions_are_compared_by_what_came_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = [
        row("one", Some(1.0), 3.0, 2.9, Some("exceeded")),
        row("two", Some(3.0), 3.1, 2.8, Some("reproduced")),
        row("three", None, 1.0, 0.9, None),
    ];
    for place in ["first", "second"] {
        fs::create_dir(folder.join(place)).unwrap();
        fs::write(folder.join(place).join("table.json"), reproduction("table-1", &rows).to_string()).unwrap();
    }
    fs::write(folder.join("second/single.json"), reproduction("table-1", &rows[1..2]).to_string()).unwrap();
    let at = |name: &str| folder.join(name).display().to_string();
    let [first, second, single] = ["first/table.json", "second/table.json", "second/single.json"].map(at);
    let both = page(folder, &format!("{first} {second}"));
    assert_eq!(
        both.matches("<span class=\"tally\">1 reproduced, 1 exceeded, 1 not printed</span>").count(),
        2
    );
    assert!(both.contains(">1. first/table.json</a>") && both.contains(">2. second/table.json</a>"));
    assert!(!both.contains("found ε") && !both.contains("id=\"chart-comparison\""));
    let all = page(folder, &format!("{first} {single}"));
    assert!(all.contains(">1. table.json</a>") && all.contains(">2. single.json</a>"));
    assert!(all.contains("<td data-name=\"found ε\">at least 2.8</td><td data-name=\"claimed ε\">7.53</td>"));
    assert!(all.contains("id=\"chart-comparison\""));
}
