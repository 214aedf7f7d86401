//! What a result means, in a sentence: the same on the terminal, on the page and in Python.

use crate::numbers::{confidence, count, probability, rounded_down, rounded_up, significant, times};
use misdeal_core::BatchScheme;
use misdeal_statistics::{EpsilonEstimate, objection, promises};

/// What accuracies of trained models are in the worst case, and why.
pub const AT_CHANCE: &str = "at chance: in the worst case every gradient is planted, and nothing is learned";

/// Why a run cannot refute a claim, said before it is played.
pub fn beyond_reach(claim: f64, observations: u64, largest: f64, fewest: Option<u64>) -> String {
    let enough = fewest.map_or(String::new(), |fewest| format!("; that takes {} or more", count(fewest)));
    format!(
        "{} observations can show epsilon {} at most and cannot refute the claim of {}{enough}",
        count(observations),
        significant(largest),
        significant(claim)
    )
}

/// What batches leak beside what Poisson sampling would justify, where they leak more.
pub fn beside_poisson(claim: Option<f64>, leaks: Option<f64>, is_estimate: bool) -> Option<String> {
    let (claim, leaks) = (claim?, leaks?);
    (leaks > claim).then(|| {
        format!(
            "A library that accounts for Poisson sampling would claim epsilon {}; {} {} leaks.",
            significant(claim),
            if is_estimate { "about" } else { "at least" },
            rounded_down(leaks)
        )
    })
}

/// How a verdict is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// What is claimed does not hold.
    Refuted,
    /// Something is wrong or in doubt.
    Doubt,
    /// Nothing speaks against what is claimed, which proves nothing.
    Open,
    /// There is nothing to judge.
    Neutral,
}

/// A verdict that is theory's and not the audit's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TheorySays {
    /// How it is to be taken.
    pub tone: Tone,
    /// In a word or two.
    pub label: &'static str,
    /// In a sentence.
    pub sentence: String,
}

/// An epsilon with what it is worth, and the claim that it is held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What was found.
    pub empirical_epsilon: f64,
    /// Whether that is a lower bound with the confidence stated.
    pub valid: bool,
    /// What it is worth, in a sentence.
    pub guarantee: String,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// The level of the bound.
    pub significance: f64,
    /// The claim.
    pub claimed_epsilon: Option<f64>,
    /// What so many observations can show at most; `None` where nothing bounds it or nobody said.
    pub largest_epsilon: Option<f64>,
}

impl Judged {
    /// An estimate beside a claim.
    pub fn of(estimate: &EpsilonEstimate, claimed_epsilon: Option<f64>) -> Self {
        let &EpsilonEstimate { empirical_epsilon, valid, delta, significance, largest_epsilon, .. } =
            estimate;
        let guarantee = estimate.guarantee.clone();
        Judged { empirical_epsilon, valid, guarantee, delta, significance, claimed_epsilon, largest_epsilon }
    }

    /// Whether a bound that holds as stated refutes the claim.
    pub fn refutes(&self) -> bool {
        self.valid && self.exceeds()
    }

    /// Whether what was found is above the claim, valid or not.
    fn exceeds(&self) -> bool {
        self.claimed_epsilon.is_some_and(|claim| self.empirical_epsilon > claim)
    }

    /// Whether it is a bound under an assumption only, which the guarantee names.
    pub fn is_conditional(&self) -> bool {
        !self.valid && promises(&self.guarantee)
    }

    /// How the verdict is to be taken.
    pub fn tone(&self) -> Tone {
        match self.claimed_epsilon {
            Some(_) if self.refutes() => Tone::Refuted,
            Some(_) if self.exceeds() => Tone::Doubt,
            Some(_) => Tone::Open,
            None => Tone::Neutral,
        }
    }

    /// The claim and a proven lower bound above it.
    pub fn contradicted(&self, theory: [Option<f64>; 2]) -> Option<[f64; 2]> {
        let (claim, lower) = (self.claimed_epsilon?, theory[0]?);
        (lower > claim).then_some([claim, lower])
    }

    /// The claim and a proven upper bound that does not exceed it, if the audit does not say otherwise.
    pub fn proven(&self, theory: [Option<f64>; 2]) -> Option<[f64; 2]> {
        let (claim, upper) = (self.claimed_epsilon?, theory[1]?);
        (upper <= claim && !self.refutes()).then_some([claim, upper])
    }

    /// What theory's bounds for the scheme that ran say of the claim, where the audit leaves it open.
    pub fn by_theory(&self, scheme: BatchScheme, theory: [Option<f64>; 2]) -> Option<TheorySays> {
        if let Some([claim, lower]) = self.contradicted(theory).filter(|_| !self.refutes()) {
            let found = rounded_down(self.empirical_epsilon);
            let shown = if self.valid {
                format!("This audit by itself shows {found}.")
            } else {
                format!("The estimate of {found} {}.", self.weakness())
            };
            let sentence = format!(
                "Theory contradicts the claim of epsilon {}: in the worst case {scheme} is proven to leak at least {}. {shown}",
                significant(claim),
                rounded_down(lower)
            );
            return Some(TheorySays { tone: Tone::Refuted, label: "Contradicted by theory", sentence });
        }
        let [claim, upper] = self.proven(theory)?;
        // A claim that is the bound itself is not to look smaller than it.
        let claim = if claim == upper { rounded_up(claim) } else { significant(claim) };
        let upper = rounded_up(upper);
        let sentence =
            format!("The claim of epsilon {claim} holds: theory proves at most {upper} for this scheme.");
        Some(TheorySays { tone: Tone::Open, label: "Proven by theory", sentence })
    }

    /// The verdict in plain words.
    pub fn sentence(&self) -> String {
        let found = rounded_down(self.empirical_epsilon);
        match self.claimed_epsilon.map(significant) {
            Some(claim) if self.refutes() => format!(
                "the claim of epsilon {claim} is REFUTED. At delta {} this mechanism leaks at least epsilon {found}, {} times the \
                 claim, with {} confidence.",
                probability(self.delta),
                times(self.empirical_epsilon, self.claimed_epsilon.unwrap_or(f64::NAN)),
                self.confidence()
            ),
            Some(claim) if self.exceeds() => {
                let remedy = match objection(&self.guarantee) {
                    Some(reason) => format!(": {reason}"),
                    None if self.is_conditional() => {
                        " by itself; repeat with the estimator clopper-pearson".into()
                    }
                    None => "; repeat with the threshold choice hold-out".into(),
                };
                format!(
                    "open. The estimate of {found} is above the claim of {claim}, but it {} and refutes nothing{remedy}.",
                    self.weakness()
                )
            }
            Some(claim) if let Some(largest) = self.out_of_reach() => format!(
                "the claim of epsilon {claim} is not refuted, and could not be: with this estimator and threshold choice so few observations \
                 can show {} at most, and these show {found}. More of them may tell.",
                significant(largest)
            ),
            Some(claim) => format!(
                "the claim of epsilon {claim} is not refuted: these observations show {found}. That does not prove the claim; more \
                 observations or a stronger adversary may show more."
            ),
            None => self.meaning(),
        }
    }

    /// The most that so many observations can show, if that does not exceed the claim.
    pub fn out_of_reach(&self) -> Option<f64> {
        let is_less =
            |&largest: &f64| self.valid && self.claimed_epsilon.is_some_and(|claim| largest <= claim);
        self.largest_epsilon.filter(is_less)
    }

    /// What the number says by itself.
    pub fn meaning(&self) -> String {
        let found = rounded_down(self.empirical_epsilon);
        let delta = probability(self.delta);
        if self.is_conditional() {
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

    /// Why an estimate that is not valid refutes nothing.
    pub fn weakness(&self) -> &'static str {
        if self.is_conditional() { "holds only under an assumption" } else { "is not a valid bound" }
    }

    /// The confidence of a bound.
    pub fn confidence(&self) -> String {
        confidence(self.significance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_an_assumption_is_not_called_invalid() {
        let judged = |conditional: bool| Judged {
            empirical_epsilon: 2.0,
            valid: false,
            guarantee: if conditional { "lower bound, only if".into() } else { String::new() },
            delta: 1e-5,
            significance: 0.05,
            claimed_epsilon: Some(1.0),
            largest_epsilon: None,
        };
        let [none, assumed] = [false, true].map(|conditional| judged(conditional).sentence());
        assert!(
            none.contains("it is not a valid bound and refutes nothing; repeat with the threshold choice")
        );
        assert!(assumed.contains(
            "holds only under an assumption and refutes nothing by itself; repeat with the estimator"
        ));
        assert!(judged(false).meaning().contains("without a guarantee"));
        assert!(judged(true).meaning().contains("a bound only under an assumption"));
        let theory = judged(true).by_theory(BatchScheme::Shuffle, [Some(3.0), None]).unwrap();
        assert!(theory.sentence.ends_with("The estimate of 2 holds only under an assumption."));
    }
}
