//! JSON schemas of all documents, generated from their types.

use crate::request::AuditTrainingRequest;
use crate::{
    Account, Audit, Calibration, Calibrations, CheckUp, Checked, DealtPlan, Devices, Diagnosed, Estimation,
    LaidOut, Merged, Outputs, Reproduction, SCHEMA_VERSION, Scan, SelfTest, Swept, Training, Verdict,
};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An audit of DP-SGD with real data and models.
#[derive(Serialize, JsonSchema)]
struct TrainingDocument {
    #[serde(flatten)]
    audit: Audit,
    #[serde(flatten)]
    training: Training,
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<AuditTrainingRequest>,
}

/// Returns the schema of each kind of document, by its file name without `.v2.json`.
///
/// Each schema is complete: it refers to no other file, so readers need no resolver. Schemas allow additional fields, because readers
/// should ignore fields that they do not know.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let judged = true;
    let mut all = vec![
        ("account", of::<Account>("account", judged)),
        ("audit-mechanism", of::<Audit>("audit mechanism", judged)),
        ("audit-training", of::<TrainingDocument>("audit training", judged)),
        ("calibrate", of::<Calibration>("calibrate", judged)),
        ("calibrate-all", of::<Calibrations>("calibrate", judged)),
        ("check", of::<Checked>("check", judged)),
        ("check-up", of::<CheckUp>("check-up", !judged)),
        ("deal", of::<DealtPlan>("deal", !judged)),
        ("devices", of::<Devices>("devices", !judged)),
        ("diagnose", of::<Diagnosed>("diagnose", judged)),
        ("estimate", of::<Estimation>("estimate", judged)),
        ("merge", of::<Merged>("merge", !judged)),
        ("outputs", of::<Outputs>("judge outputs", judged)),
        ("report", of::<LaidOut>("report", !judged)),
        ("reproduce", of::<Reproduction>("reproduce", !judged)),
        ("scan", of::<Scan>("scan", !judged)),
        ("self-test", of::<SelfTest>("self-test", !judged)),
        ("sweep", of::<Swept>("sweep", judged)),
    ];
    for (name, schema) in &mut all {
        schema["$id"] = json!(format!("urn:misdeal:schema:{SCHEMA_VERSION}:{name}"));
    }
    all
}

/// Returns the schema of a command's documents: their contents in an envelope.
fn of<T: JsonSchema>(command: &str, is_judged: bool) -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.transforms.push(Box::new(RecursiveTransform(tidied)));
    let mut generator = settings.into_generator();
    let verdict = generator.subschema_for::<Verdict>().to_value();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["title"] = json!(format!("misdeal {command}"));
    let mut fields = vec![
        ("schema_version", json!({"description": "The version of the documents.", "const": SCHEMA_VERSION})),
        ("command", json!({"description": "What was asked for.", "const": command})),
        ("version", json!({"description": "The version of misdeal.", "type": "string"})),
    ];
    if is_judged {
        let mut verdict = verdict;
        verdict["description"] = json!("What follows for the claim.");
        fields.push(("verdict", verdict));
    } else if let Some(definitions) = schema["$defs"].as_object_mut() {
        definitions.remove("Verdict");
    }
    let required = schema["required"].take();
    let names =
        fields.iter().map(|(name, _)| json!(name)).chain(required.as_array().cloned().unwrap_or_default());
    schema["required"] = names.collect();
    let content = schema["properties"].take();
    let fields = fields.into_iter().map(|(name, field)| (name.to_owned(), field));
    schema["properties"] =
        fields.chain(content.as_object().cloned().unwrap_or_default()).collect::<Map<_, _>>().into();
    without_unused_definitions(schema)
}

/// Removes definitions that nothing in the schema refers to.
fn without_unused_definitions(mut schema: Value) -> Value {
    loop {
        let text = schema.to_string();
        let Some(definitions) = schema["$defs"].as_object_mut() else { return schema };
        let before = definitions.len();
        definitions.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
        if definitions.len() == before {
            return schema;
        }
    }
}

/// Removes details that are only for readers of the code.
///
/// These are number formats, and the later paragraphs and links of descriptions.
fn tidied(schema: &mut Schema) {
    schema.remove("format");
    // Readers ignore what they do not know, in requests too.
    schema.remove("unevaluatedProperties");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let first = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        *text = without_links(&first);
    }
}

/// Returns Markdown text with each link replaced by its words.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    plain.replace("[`", "`").replace("`]", "`")
}
