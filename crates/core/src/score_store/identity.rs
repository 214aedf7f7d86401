//! The identity of a store: what its scores belong to.

use crate::{Error, Result, Setting, SettingHash};
use serde_json::{Map, Value};

/// Setting, lineage and stream of a store. Stores merge only if all three are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    pub setting: Setting,
    pub hash: SettingHash,
    pub lineage: String,
    pub stream: String,
}

impl Identity {
    /// # Errors
    /// A setting that is not valid.
    pub fn new(setting: Setting, lineage: String, stream: String) -> Result<Self> {
        let setting = setting.validated()?;
        Ok(Identity { hash: setting.hash(), setting, lineage, stream })
    }

    /// # Errors
    /// Says how the two identities differ.
    pub fn check_same(&self, other: &Self) -> Result<()> {
        if self.hash != other.hash {
            let differences = differences(&self.setting, &other.setting);
            return Err(Error::Mismatch(format!("the stores have different settings: {differences}")));
        }
        let names = [("lineages", &self.lineage, &other.lineage), ("streams", &self.stream, &other.stream)];
        for (what, ours, theirs) in names {
            if ours != theirs {
                return Err(Error::Mismatch(format!(
                    "the stores have different {what}: {ours} and {theirs}"
                )));
            }
        }
        Ok(())
    }
}

/// The fields in which two settings differ, with both values.
fn differences(ours: &Setting, theirs: &Setting) -> String {
    let (ours, theirs) = (fields(ours), fields(theirs));
    let mut names: Vec<_> = ours.keys().chain(theirs.keys()).collect();
    names.sort();
    names.dedup();
    let value = |fields: &Map<String, Value>, name| fields.get(name).map_or("none".into(), Value::to_string);
    let different = names.into_iter().filter(|&name| ours.get(name) != theirs.get(name));
    let described: Vec<_> = different
        .map(|name| format!("{name} is {} and {}", value(&ours, name), value(&theirs, name)))
        .collect();
    described.join(", ")
}

fn fields(setting: &Setting) -> Map<String, Value> {
    match serde_json::to_value(setting) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
