//! Reads histograms of scores, and refuses those that are inconsistent.

use misdeal_statistics::ScoreHistogram;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Reads a histogram, if there is one, and checks that it is consistent.
///
/// The edges must ascend over a finite range. There must be one more edge than cells. Both worlds must have the same cells. Each
/// world's counts must have a sum that fits into 64 bits.
///
/// # Errors
/// Fails if the histogram breaks any of these rules.
pub fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ScoreHistogram>, D::Error> {
    let found = Option::<ScoreHistogram>::deserialize(deserializer)?;
    match found.as_ref().and_then(problem) {
        Some(problem) => Err(D::Error::custom(format!("score_histogram: {problem}"))),
        None => Ok(found),
    }
}

/// Says what is wrong with a histogram; `None` if it is consistent.
fn problem(ScoreHistogram { edges, scores_in, scores_out }: &ScoreHistogram) -> Option<String> {
    let has_a_sum = |counts: &[u64]| counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
    let range = match (edges.first(), edges.last()) {
        (Some(first), Some(last)) => last - first,
        _ => 0.0,
    };
    if scores_in.is_empty() || scores_in.len() != scores_out.len() || edges.len() != scores_in.len() + 1 {
        let cells = [scores_in, scores_out].map(Vec::len);
        Some(format!(
            "{} edges for {} and {} cells, and both worlds have the same cells, with one edge more",
            edges.len(),
            cells[0],
            cells[1]
        ))
    } else if !edges.is_sorted() || !range.is_finite() {
        Some("its edges do not ascend over a finite range".into())
    } else if [scores_in, scores_out].into_iter().any(|counts| has_a_sum(counts).is_none()) {
        Some("it counts more scores than there can be".into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(document: &Value) -> Result<Option<ScoreHistogram>, String> {
        whole(document).map_err(|error| error.to_string())
    }

    #[test]
    fn only_whole_histograms_are_read() {
        let sound = json!({"edges": [0.0, 1.0, 2.0], "scores_in": [1, u64::MAX - 1], "scores_out": [3, 4]});
        assert_eq!(read(&sound).unwrap().unwrap().scores_out, [3, 4]);
        assert_eq!(read(&Value::Null), Ok(None));
        for (field, value, words) in [
            ("edges", json!([0.0, 1.0]), "2 edges for 2 and 2 cells"),
            ("edges", json!([]), "0 edges"),
            ("edges", json!([0.0, 1.0, 2.0, 3.0]), "4 edges"),
            ("scores_out", json!([1]), "2 and 1 cells"),
            ("edges", json!([0.0, 2.0, 1.0]), "do not ascend"),
            ("edges", json!([-1.7e308, 0.0, 1.7e308]), "finite range"),
            ("scores_in", json!([2, u64::MAX]), "more scores than there can be"),
        ] {
            let mut broken = sound.clone();
            broken[field] = value;
            let problem = read(&broken).unwrap_err();
            assert!(problem.contains("score_histogram") && problem.contains(words), "{problem}");
        }
        assert!(read(&json!({"edges": [0.0], "scores_in": [], "scores_out": []})).is_err());
    }
}
