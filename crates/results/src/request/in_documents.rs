//! Requests inside the documents that answer them.

use super::{AuditMechanismRequest, AuditTrainingRequest, Request};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What an audit was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AuditRequest {
    /// The audit of the mechanism.
    Mechanism(Box<AuditMechanismRequest>),
    /// The audit of training.
    Training(Box<AuditTrainingRequest>),
}

impl AuditRequest {
    /// The command line that asks for the same.
    pub fn command_line(&self) -> String {
        match self {
            Self::Mechanism(request) => request.command_line(),
            Self::Training(request) => request.command_line(),
        }
    }

    /// The same audit with this many observations.
    #[must_use]
    pub fn with_observations(&self, observations: u64) -> Self {
        let mut request = self.clone();
        match &mut request {
            Self::Mechanism(request) => request.observations = observations,
            Self::Training(request) => request.observations = observations,
        }
        request
    }
}

/// Reads a document's request. A request of a later version, which has fields unknown here, reads as absent.
pub(crate) fn if_known<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Run;

    #[test]
    fn audits_read_their_own_request_back() {
        let run = Run { store: Some("secret.store".into()), ..Run::default() };
        let mechanism = AuditMechanismRequest { observations: 200, run, ..AuditMechanismRequest::default() };
        let training = AuditTrainingRequest { canaries: 3, ..AuditTrainingRequest::default() };
        for (request, line) in [
            (AuditRequest::Mechanism(mechanism.into()), "misdeal audit mechanism --observations 200"),
            (AuditRequest::Training(training.into()), "misdeal audit training --canaries 3"),
        ] {
            let text = serde_json::to_string(&request).unwrap();
            assert!(!text.contains("secret.store"), "{text}");
            let again: AuditRequest = serde_json::from_str(&text).unwrap();
            assert_eq!(again.command_line(), line);
            assert!(again.with_observations(400).command_line().contains("--observations 400"));
        }
    }

    #[test]
    fn requests_of_later_versions_read_as_absent() {
        let read = |text: &str| -> Option<AuditMechanismRequest> {
            if_known(&mut serde_json::Deserializer::from_str(text)).unwrap()
        };
        assert_eq!(read(r#"{"observations": 200}"#).map(|request| request.observations), Some(200));
        for unknown in [r#"{"observations": 200, "later": 1}"#, "null", "7"] {
            assert_eq!(read(unknown), None, "{unknown}");
        }
    }
}
