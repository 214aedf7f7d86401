//! [`Judged`]: an epsilon compared with a claim, and the verdict.

use crate::numbers::{confidence, count, probability, rounded_down, rounded_up, significant, times};
use crate::{Tone, Verdict, VerdictKind};
use misdeal_core::{BatchScheme, OrInfinite};
use misdeal_statistics::EpsilonEstimate;

/// Explains why models trained in the worst case have accuracies at chance.
pub const AT_CHANCE: &str = "at chance: in the worst case every gradient is planted, and nothing is learned";

/// Says, before a run, why it cannot refute a claim.
pub fn beyond_reach(claim: f64, observations: u64, largest: f64, fewest: Option<u64>) -> String {
    let enough = fewest.map_or(String::new(), |fewest| format!("; that takes {} or more", count(fewest)));
    format!(
        "{} observations can show epsilon {} at most and cannot refute the claim of {}{enough}",
        count(observations),
        significant(largest),
        significant(claim)
    )
}

/// An epsilon with its guarantee, and the claim that it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The epsilon that was found.
    pub empirical_epsilon: f64,
    /// Whether that epsilon is a lower bound with the stated confidence.
    pub valid: bool,
    /// Whether the epsilon is a bound only under an assumption, which the guarantee names.
    pub is_conditional: bool,
    /// Why the epsilon proves nothing, if the scores or the run rule out a valid bound.
    pub objection: Option<String>,
    /// What would make the bound valid, in words that follow "repeat with".
    pub remedy: &'static str,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// The significance level: the largest probability that the bound fails.
    pub significance: f64,
    /// The epsilon that is claimed.
    pub claimed_epsilon: Option<f64>,
    /// The largest epsilon that this many observations could show.
    pub largest_epsilon: OrInfinite,
}

/// Says what would give a valid bound from independent runs.
pub(crate) fn remedy(is_conditional: bool) -> &'static str {
    if is_conditional { "the estimator clopper-pearson" } else { "the threshold choice hold-out" }
}

/// The reason for a verdict, with the numbers that show it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ground {
    /// Nothing is claimed.
    NoClaim,
    /// The epsilon that was found is a valid bound and above the claim.
    Found { claim: f64 },
    /// Theory proves a lower bound for the scheme that is above the claim.
    Contradicted { claim: f64, lower: f64, scheme: BatchScheme },
    /// Theory proves an upper bound for the scheme that is at most the claim.
    Proven { claim: f64, upper: f64 },
    /// The epsilon that was found is above the claim, but is not a valid bound.
    AboveWithoutProof { claim: f64 },
    /// So few observations can show no epsilon above the claim.
    OutOfReach { claim: f64, largest: f64 },
    /// The epsilon that was found is not above the claim.
    NotRefuted { claim: f64 },
}

impl Judged {
    /// Compares an estimate with a claim.
    pub fn of(estimate: &EpsilonEstimate, claimed_epsilon: Option<f64>) -> Self {
        let &EpsilonEstimate { valid, delta, significance, largest_epsilon, .. } = estimate;
        Judged {
            empirical_epsilon: *estimate.empirical_epsilon,
            valid,
            is_conditional: estimate.is_conditional(),
            objection: estimate.objection.clone(),
            remedy: remedy(estimate.is_conditional()),
            delta,
            significance,
            claimed_epsilon,
            largest_epsilon,
        }
    }

    /// Whether a valid bound refutes the claim.
    pub fn refutes(&self) -> bool {
        self.valid && self.claimed_epsilon.is_some_and(|claim| self.empirical_epsilon > claim)
    }

    /// Whether theory proves a lower bound above the claim.
    pub fn is_contradicted(&self, theory: [Option<f64>; 2]) -> bool {
        self.claimed_epsilon.zip(theory[0]).is_some_and(|(claim, lower)| lower > claim)
    }

    /// Whether theory proves the claim and the audit does not refute it.
    pub fn is_proven(&self, theory: [Option<f64>; 2]) -> bool {
        self.claimed_epsilon.zip(theory[1]).is_some_and(|(claim, upper)| upper <= claim && !self.refutes())
    }

    /// Returns the largest epsilon that this many observations could show, if it is at most the claim.
    ///
    /// Returns `None` if the bound is not valid, or if there is no claim.
    pub fn out_of_reach(&self) -> Option<f64> {
        let is_less =
            |&largest: &f64| self.valid && self.claimed_epsilon.is_some_and(|claim| largest <= claim);
        self.largest_epsilon.finite().filter(is_less)
    }

    fn ground(&self, scheme: Option<BatchScheme>, theory: [Option<f64>; 2]) -> Ground {
        let Some(claim) = self.claimed_epsilon else { return Ground::NoClaim };
        if self.refutes() {
            return Ground::Found { claim };
        }
        match (scheme, theory) {
            (Some(scheme), [Some(lower), _]) if lower > claim => {
                Ground::Contradicted { claim, lower, scheme }
            }
            (Some(_), [_, Some(upper)]) if upper <= claim => Ground::Proven { claim, upper },
            _ if self.empirical_epsilon > claim => Ground::AboveWithoutProof { claim },
            _ => match self.out_of_reach() {
                Some(largest) => Ground::OutOfReach { claim, largest },
                None => Ground::NotRefuted { claim },
            },
        }
    }

    /// Returns the verdict from the estimate and from theory's bounds for `scheme`, if the scheme is known.
    pub fn verdict(&self, scheme: Option<BatchScheme>, theory: [Option<f64>; 2]) -> Verdict {
        let ground = self.ground(scheme, theory);
        let (kind, tone, label) = match ground {
            Ground::NoClaim => (VerdictKind::NoClaim, Tone::Neutral, "No claim tested"),
            Ground::Found { .. } => (VerdictKind::Refuted, Tone::Refuted, "Claim refuted"),
            Ground::Contradicted { .. } => (VerdictKind::Refuted, Tone::Refuted, "Contradicted by theory"),
            Ground::Proven { .. } => (VerdictKind::Holds, Tone::Open, "Proven by theory"),
            Ground::AboveWithoutProof { .. } => (VerdictKind::Undecided, Tone::Doubt, "Open"),
            Ground::OutOfReach { .. } | Ground::NotRefuted { .. } => {
                (VerdictKind::Undecided, Tone::Neutral, "Not refuted")
            }
        };
        let sentence = self.sentence(ground);
        let line = match ground {
            Ground::Contradicted { .. } | Ground::Proven { .. } => {
                format!("{}. {sentence}", label.to_lowercase())
            }
            _ => sentence.clone(),
        };
        Verdict { line, ..Verdict::new(kind, tone, label, sentence) }
    }

    fn sentence(&self, ground: Ground) -> String {
        let found = rounded_down(self.empirical_epsilon);
        match ground {
            Ground::NoClaim => self.meaning(),
            Ground::Found { claim } => format!(
                "the claim of epsilon {} is REFUTED. At delta {} this mechanism leaks at least epsilon {found}, {} times the \
                 claim, with {} confidence.",
                significant(claim),
                probability(self.delta),
                times(self.empirical_epsilon, claim),
                self.confidence()
            ),
            Ground::Contradicted { claim, lower, scheme } => {
                let shown = if self.valid {
                    format!("This audit by itself shows {found}.")
                } else {
                    format!("The estimate of {found} {}.", self.weakness())
                };
                format!(
                    "Theory contradicts the claim of epsilon {}: in the worst case {scheme} is proven to leak at least {}. {shown}",
                    significant(claim),
                    rounded_down(lower)
                )
            }
            Ground::Proven { claim, upper } => {
                // A claim that is the bound itself is not to look smaller than it.
                let claim = if claim == upper { rounded_up(claim) } else { significant(claim) };
                let upper = rounded_up(upper);
                format!("The claim of epsilon {claim} holds: theory proves at most {upper} for this scheme.")
            }
            Ground::AboveWithoutProof { claim } => {
                let remedy = match &self.objection {
                    Some(reason) => format!(": {reason}"),
                    None if self.is_conditional => format!(" by itself; repeat with {}", self.remedy),
                    None => format!("; repeat with {}", self.remedy),
                };
                format!(
                    "open. The estimate of {found} is above the claim of {}, but it {} and refutes nothing{remedy}.",
                    significant(claim),
                    self.weakness()
                )
            }
            Ground::OutOfReach { claim, largest } => format!(
                "the claim of epsilon {} is not refuted, and could not be: with this estimator and threshold choice so few observations \
                 can show {} at most, and these show {found}. More of them may tell.",
                significant(claim),
                significant(largest)
            ),
            Ground::NotRefuted { claim } => format!(
                "the claim of epsilon {} is not refuted: these observations show {found}. That does not prove the claim; more \
                 observations or a stronger adversary may show more.",
                significant(claim)
            ),
        }
    }

    /// Says what the epsilon means by itself, without a claim.
    pub fn meaning(&self) -> String {
        let found = rounded_down(self.empirical_epsilon);
        let delta = probability(self.delta);
        if self.is_conditional {
            return format!(
                "epsilon {found} at delta {delta} is a bound only under an assumption, which the guarantee names; by itself it refutes \
                 no claim."
            );
        }
        if !self.valid {
            return format!(
                "epsilon {found} at delta {delta} is an estimate without a guarantee; it refutes no claim."
            );
        }
        let confidence = self.confidence();
        if self.empirical_epsilon == 0.0 {
            return format!(
                "no leakage at delta {delta} is shown with {confidence} confidence. That does not prove that there is none."
            );
        }
        format!(
            "with {confidence} confidence at least epsilon {found} leaks at delta {delta}; whoever claims less is refuted."
        )
    }

    /// Says why an estimate that is not valid refutes nothing, in words that follow its name.
    pub fn weakness(&self) -> &'static str {
        if self.is_conditional { "holds only under an assumption" } else { "is not a valid bound" }
    }

    /// Formats the confidence of the bound as a percentage.
    pub fn confidence(&self) -> String {
        confidence(self.significance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(epsilon: f64, valid: bool, claimed_epsilon: Option<f64>) -> Judged {
        Judged {
            empirical_epsilon: epsilon,
            valid,
            is_conditional: false,
            objection: None,
            remedy: remedy(false),
            delta: 1e-5,
            significance: 0.05,
            claimed_epsilon,
            largest_epsilon: OrInfinite::default(),
        }
    }

    #[test]
    fn what_needs_an_assumption_is_not_called_invalid() {
        let judged = |is_conditional| Judged {
            is_conditional,
            remedy: remedy(is_conditional),
            ..judged(2.0, false, Some(1.0))
        };
        let says = |is_conditional| judged(is_conditional).verdict(None, [None, None]).line;
        assert!(
            says(false)
                .contains("it is not a valid bound and refutes nothing; repeat with the threshold choice")
        );
        assert!(says(true).contains(
            "holds only under an assumption and refutes nothing by itself; repeat with the estimator"
        ));
        assert!(judged(false).meaning().contains("without a guarantee"));
        assert!(judged(true).meaning().contains("a bound only under an assumption"));
        let theory = judged(true).verdict(Some(BatchScheme::Shuffle), [Some(3.0), None]);
        assert!(theory.sentence.ends_with("The estimate of 2 holds only under an assumption."));
        assert!(theory.line.starts_with("contradicted by theory. Theory contradicts"));
    }

    #[test]
    fn the_kind_follows_from_valid_bounds_alone() {
        let kind = |epsilon, valid, claim, theory| {
            judged(epsilon, valid, claim).verdict(Some(BatchScheme::Shuffle), theory).kind
        };
        let unknown = [None, None];
        assert_eq!(kind(2.0, true, None, [Some(3.0), None]), VerdictKind::NoClaim);
        assert_eq!(kind(2.0, true, Some(1.0), unknown), VerdictKind::Refuted);
        assert_eq!(kind(2.0, false, Some(1.0), unknown), VerdictKind::Undecided);
        assert_eq!(kind(0.5, true, Some(1.0), [Some(1.5), Some(2.0)]), VerdictKind::Refuted);
        assert_eq!(kind(0.5, true, Some(2.0), [Some(1.5), Some(2.0)]), VerdictKind::Holds);
        assert_eq!(kind(0.5, true, Some(1.7), [Some(1.5), Some(2.0)]), VerdictKind::Undecided);
    }
}
