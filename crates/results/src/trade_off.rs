//! Trade-off curves: the observed one and the promised ones.

use misdeal_statistics::{CurveTest, TradeOffEstimate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The observed trade-off curve beside those that are promised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TradeOff {
    /// The errors at many thresholds.
    pub observed: TradeOffEstimate,
    /// The curves that are claimed, and those that theory knows.
    pub promised: Vec<PromisedCurve>,
    /// Why no promise is tested, where no test of these scores holds; bounds on the observed curve hold no more than a test would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_tested: Option<String>,
}

/// A curve beside the observed one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromisedCurve {
    /// Whose curve it is.
    pub name: String,
    /// Where it is given, ascending.
    pub false_positive_rates: Vec<f64>,
    /// The curve there.
    pub false_negative_rates: Vec<f64>,
    /// Whether what was observed is consistent with it, if it is a claim and can be tested; each test is at the full significance.
    pub test: Option<CurveTest>,
}

impl PromisedCurve {
    /// Returns the curve's points: false-positive rate (ascending), then false-negative rate.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.false_positive_rates.iter().zip(&self.false_negative_rates).map(|(&x, &y)| [x, y])
    }

    /// Returns the curve's name, and the test's outcome if it was tested.
    pub fn legend(&self) -> String {
        match &self.test {
            Some(test) if test.refuted => format!("{}: refuted", self.name),
            Some(_) => format!("{}: not refuted", self.name),
            None => self.name.clone(),
        }
    }
}
