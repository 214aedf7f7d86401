//! Converts documents of version 1 to the current version.

use misdeal_statistics::{Guarantee, estimator as estimator_by_name};
use serde_json::{Map, Value, json};

/// Adds the fields that version 1 did not write, and moves those that changed place.
pub fn upgrade(command: &str, document: &mut Value) {
    let Some(fields) = document.as_object_mut() else { return };
    match command {
        "audit mechanism" | "audit training" => {
            // Stores held nothing else at first.
            fields.entry("scores").or_insert_with(|| json!("counts"));
            estimate(fields);
        }
        "estimate" | "judge outputs" => {
            estimate(fields);
            let all = fields.get_mut("estimates").and_then(Value::as_object_mut);
            all.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut).for_each(estimate);
        }
        "diagnose" => {
            let explanation = fields.remove("verdict").unwrap_or_default();
            fields.insert("explanation".into(), explanation);
        }
        _ => {}
    }
}

/// Adds the guarantee's kind and the objection, which version 1 wrote only as a sentence.
fn estimate(fields: &mut Map<String, Value>) {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let (Some(guarantee), Some(estimator)) = (text("guarantee"), text("estimator")) else { return };
    let kind = match estimator_by_name(estimator) {
        Ok(estimator) if !guarantee.starts_with("none: ") => estimator.guarantee(),
        _ => Guarantee::Nothing,
    };
    // A threshold chosen on the counted scores has a reason that ends with what would hold otherwise.
    let objection = guarantee.strip_prefix("none: ").filter(|reason| !reason.ends_with(')'));
    let objection = objection.map(str::to_owned);
    fields.insert("guarantee_kind".into(), json!(kind));
    if let Some(objection) = objection {
        fields.insert("objection".into(), objection.into());
    }
}
