//! The guarantee of an estimate, in plain words.

use crate::ThresholdChoice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is proven about an estimator, at a threshold that was not chosen on the counted scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guarantee {
    /// A lower confidence bound for any mechanism whose runs are independent.
    AnyMechanism,
    /// A lower confidence bound if the mechanism's trade-off curve is Gaussian.
    GaussianMechanism,
    /// A lower confidence bound for any mechanism, if an independent fair coin included each canary.
    FairCoins,
    /// As `fair-coins`, if the trade-off curve is also Gaussian.
    FairCoinsGaussian,
    /// A Bayesian statement, given a prior.
    Credible,
    /// A confidence bound in the limit of many observations only.
    Approximate,
    /// No guarantee.
    Nothing,
}

impl Guarantee {
    /// The guarantee under a threshold choice.
    ///
    /// It becomes [`Nothing`](Self::Nothing) if the threshold was chosen on the scores that it counts.
    ///
    /// ```
    /// use misdeal_statistics::{Guarantee, ThresholdChoice};
    /// let assumed = Guarantee::GaussianMechanism;
    /// assert_eq!(assumed.at(ThresholdChoice::HoldOut, true), assumed);
    /// assert_eq!(assumed.at(ThresholdChoice::Max, true), Guarantee::Nothing);
    /// ```
    #[must_use]
    pub fn at(self, choice: ThresholdChoice, chooses: bool) -> Self {
        if chooses && !choice.valid() { Self::Nothing } else { self }
    }

    /// The guarantee as a sentence, for a threshold choice and a significance.
    pub fn sentence(self, choice: ThresholdChoice, chooses: bool, significance: f64) -> String {
        let percent = format!("{}", (100.0 * (1.0 - significance) * 1e6).round() / 1e6);
        let kind = match self {
            Self::AnyMechanism => {
                format!(
                    "lower bound with {percent} % confidence, for any mechanism whose runs are independent"
                )
            }
            Self::GaussianMechanism => {
                format!(
                    "lower bound with {percent} % confidence, only if the mechanism's trade-off curve is Gaussian"
                )
            }
            Self::FairCoins => format!(
                "lower bound with {percent} % confidence, for any mechanism, if each canary was included by its own fair coin in one training"
            ),
            Self::FairCoinsGaussian => format!(
                "lower bound with {percent} % confidence, if each canary was included by its own fair coin in one training and \
                 the trade-off curve is Gaussian"
            ),
            Self::Credible => format!("{percent} % credible, given Jeffreys' prior; not a confidence bound"),
            Self::Approximate => format!(
                "lower bound with {percent} % confidence in the limit of many errors only; may err upwards for few"
            ),
            Self::Nothing => return "no confidence in either direction; for plots".to_owned(),
        };
        if chooses && !choice.valid() {
            return format!(
                "none: the threshold was chosen on the scores that it counts, so that it errs upwards (else {kind})"
            );
        }
        if choice == ThresholdChoice::Sequential {
            format!("{kind}, at whichever look the run is stopped")
        } else {
            kind
        }
    }
}
