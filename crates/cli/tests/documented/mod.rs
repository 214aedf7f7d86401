//! Holds a document against a schema field by field: what is documented, and what was seen of it.

use serde_json::Value;
use std::collections::BTreeSet;

/// A schema, and which of its fields documents had so far.
pub struct Fields<'a> {
    schema: &'a Value,
    seen: BTreeSet<String>,
}

impl<'a> Fields<'a> {
    pub fn of(schema: &'a Value) -> Self {
        Fields { schema, seen: BTreeSet::new() }
    }

    /// Notes the fields of `document`, and gives those that the schema does not name.
    pub fn note(&mut self, document: &Value) -> Vec<String> {
        let mut undocumented = Vec::new();
        self.walk("", document, "", &mut undocumented);
        undocumented
    }

    /// Fields that the schema names and no document had.
    pub fn unseen(&self) -> Vec<String> {
        let mut named = Vec::new();
        named_fields(self.schema, "", &mut named);
        named.retain(|field| !self.seen.contains(field));
        named
    }

    fn walk(&mut self, at: &str, document: &Value, place: &str, undocumented: &mut Vec<String>) {
        let mut parts = Vec::new();
        self.parts(at, &mut parts);
        match document {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let named = self.below(&parts, &format!("/properties/{name}"));
                    let found =
                        if named.is_empty() { self.below(&parts, "/additionalProperties") } else { named };
                    if found.is_empty() {
                        undocumented.push(format!("{place}/{name}"));
                    }
                    for pointer in found {
                        self.walk(&pointer, value, &format!("{place}/{name}"), undocumented);
                        self.seen.insert(pointer);
                    }
                }
            }
            Value::Array(items) => {
                for pointer in self.below(&parts, "/items") {
                    for (i, item) in items.iter().enumerate() {
                        self.walk(&pointer, item, &format!("{place}/{i}"), undocumented);
                    }
                }
            }
            _ => {}
        }
    }

    /// The pointers of all that a schema is put together from, itself included.
    fn parts(&self, at: &str, parts: &mut Vec<String>) {
        let schema = self.schema.pointer(at).unwrap_or_else(|| panic!("no {at}"));
        parts.push(at.to_owned());
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            self.parts(target.trim_start_matches('#'), parts);
        }
        for together in ["allOf", "anyOf", "oneOf"] {
            let members = schema.get(together).and_then(Value::as_array).map_or(0, Vec::len);
            (0..members).for_each(|i| self.parts(&format!("{at}/{together}/{i}"), parts));
        }
    }

    fn below(&self, parts: &[String], step: &str) -> Vec<String> {
        let pointers = parts.iter().map(|part| format!("{part}{step}"));
        pointers.filter(|pointer| self.schema.pointer(pointer).is_some_and(Value::is_object)).collect()
    }
}

fn named_fields(schema: &Value, at: &str, named: &mut Vec<String>) {
    let steps: Vec<(String, &Value)> = match schema {
        Value::Object(map) => map.iter().map(|(key, value)| (format!("{at}/{key}"), value)).collect(),
        Value::Array(all) => all.iter().enumerate().map(|(i, value)| (format!("{at}/{i}"), value)).collect(),
        _ => return,
    };
    if at.ends_with("/properties") {
        named.extend(steps.iter().map(|(pointer, _)| pointer.clone()));
    }
    for (pointer, value) in steps {
        named_fields(value, &pointer, named);
    }
}
