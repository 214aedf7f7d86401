//! Advice: what a decision maker should do about a claim, in one or two sentences.
//!
//! # Why is advice separate from the verdict?
//! A verdict says what is known of a claim. A decision is needed even if little is known. For example, an audit that was too small
//! refutes nothing. Still, nobody should publish a claim that nothing proves.

use crate::numbers::{rounded_down, rounded_up, significant};
use crate::{Account, Audit, Calibration, Diagnosed, Estimation, Judged, Outputs, VerdictKind};
use misdeal_core::ClosedSet;

/// What is known of one training: its claim and the bounds on its epsilon.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known<'a> {
    claim: Option<f64>,
    kind: VerdictKind,
    /// The largest valid lower bound.
    lower: Option<f64>,
    /// The proven upper bound.
    upper: Option<f64>,
    /// The upper bound for Poisson sampling with the same noise; `None` if the advice should not mention it.
    poisson: Option<f64>,
    /// The subject of "... leaks at least", such as "this training".
    subject: &'a str,
}

impl Known<'_> {
    fn advice(&self) -> String {
        let Some(claim) = self.claim else {
            return match (self.lower.filter(|&lower| lower > 0.0), self.upper) {
                (_, Some(upper)) => {
                    format!("State epsilon {}: no smaller number is proven.", rounded_up(upper))
                }
                (Some(lower), None) => {
                    format!("State no epsilon below {}: it would be refuted.", rounded_down(lower))
                }
                (None, None) => "State no epsilon because of this result: it proves none.".into(),
            };
        };
        let shown = significant(claim);
        let first = match (self.kind, self.lower) {
            (VerdictKind::Refuted, Some(lower)) => {
                format!(
                    "Do not publish epsilon {shown}: {} leaks at least {}.",
                    self.subject,
                    rounded_down(lower)
                )
            }
            (VerdictKind::Holds, _) => {
                // A claim that is the bound itself is not to look smaller than it.
                let shown = if self.upper == Some(claim) { rounded_up(claim) } else { shown };
                return format!("Epsilon {shown} can be published: it is proven for this training.");
            }
            _ => format!("Do not publish epsilon {shown} because of this result: nothing here proves it."),
        };
        let better = |upper: &f64| self.upper.is_none_or(|own| *upper < own);
        match (self.poisson.filter(better), self.upper) {
            (Some(poisson), _) => {
                format!("{first} With Poisson sampling the same noise gives at most {}.", rounded_up(poisson))
            }
            (None, Some(upper)) => format!("{first} What is proven is at most {}.", rounded_up(upper)),
            (None, None) => first,
        }
    }
}

/// Returns the larger of two lower bounds, of those that are known.
fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

impl Judged {
    /// Returns the epsilon that was found, if it is a valid bound.
    fn valid_bound(&self) -> Option<f64> {
        self.valid.then_some(self.empirical_epsilon)
    }

    /// Says what bounds are known if the claim is neither refuted nor proven.
    ///
    /// The verdict then covers the audit only. This sentence adds theory's bounds for the scheme. Returns `None` if there is no claim,
    /// or if the verdict already decides it.
    pub fn undecided(&self, theory: [Option<f64>; 2]) -> Option<String> {
        let claim = self.claimed_epsilon?;
        if self.refutes() || self.is_contradicted(theory) || self.is_proven(theory) {
            return None;
        }
        let lower = larger(self.valid_bound(), theory[0]).filter(|&lower| lower > 0.0);
        let known = match (lower, theory[1]) {
            (Some(lower), Some(upper)) => {
                format!(
                    "this training leaks at least {} and at most {}",
                    rounded_down(lower),
                    rounded_up(upper)
                )
            }
            (Some(lower), None) => {
                format!("this training leaks at least {}, and no upper bound is known", rounded_down(lower))
            }
            (None, Some(upper)) => format!("this training leaks at most {}", rounded_up(upper)),
            (None, None) => "no bound on this training is known".into(),
        };
        Some(format!("The claim of epsilon {} is neither refuted nor proven: {known}.", significant(claim)))
    }

    /// Says that the audit was too small, if it could not have refuted the claim.
    pub fn too_small(&self) -> Option<String> {
        let (largest, claim) = (self.out_of_reach()?, self.claimed_epsilon?);
        Some(format!(
            "This audit was too small to decide: so many observations can show epsilon {} at most, and the claim is {}. That says \
             nothing in favour of the claim.",
            significant(largest),
            significant(claim)
        ))
    }
}

impl Audit {
    /// Tells a decision maker what to do about the claim.
    pub fn advice(&self) -> String {
        let [lower, upper] = self.theory.sides(self.setting.scheme);
        Known {
            claim: self.claimed_epsilon,
            kind: self.verdict().kind,
            lower: larger(self.judged().valid_bound(), lower),
            upper,
            poisson: self.theory.poisson_upper_bound(),
            subject: "this training",
        }
        .advice()
    }
}

impl Outputs {
    /// Tells a decision maker what to do about the claim.
    pub fn advice(&self) -> String {
        let [lower, upper] = self.theory_of_the_scheme();
        Known {
            claim: self.claimed_epsilon,
            kind: self.verdict().kind,
            lower: larger(self.judged().valid_bound(), lower),
            upper,
            poisson: None,
            subject: "this training",
        }
        .advice()
    }
}

impl Estimation {
    /// Tells a decision maker what to do about the claim.
    pub fn advice(&self) -> String {
        let lower = self.counted().and_then(|one| Judged::of(one, None).valid_bound());
        let kind = self.verdict().kind;
        Known {
            claim: self.claimed_epsilon,
            kind,
            lower,
            upper: None,
            poisson: None,
            subject: "what was scored",
        }
        .advice()
    }
}

impl Calibration {
    /// Tells a decision maker how to meet the target epsilon.
    pub fn advice(&self) -> String {
        let (noise, target) = (self.noise(), significant(self.target_epsilon));
        let scheme = self.scheme.name();
        if self.is_enough() {
            return format!(
                "With {scheme} batches and noise multiplier {noise} or more, epsilon {target} can be published."
            );
        }
        format!(
            "Do not publish epsilon {target} for {scheme} batches with less noise than {noise}. This much may not be enough."
        )
    }
}

impl Account {
    /// Tells a decision maker for which schemes the claim can be published.
    pub fn advice(&self) -> String {
        let Some(claim) = self.claimed_epsilon else {
            return "State the largest proven bound of the scheme that made the batches.".into();
        };
        let shown = rounded_up(claim);
        if let [(scheme, bounds)] = &self.schemes.iter().collect::<Vec<_>>()[..] {
            let [lower, upper] = bounds.sides();
            let kind = match [lower, upper] {
                [Some(lower), _] if lower > claim => VerdictKind::Refuted,
                [_, Some(upper)] if upper <= claim => VerdictKind::Holds,
                _ => VerdictKind::Undecided,
            };
            let subject = format!("training with {} batches", scheme.name());
            let claim = self.claimed_epsilon;
            return Known {
                claim,
                kind,
                lower,
                upper,
                poisson: Some(shown.parse().unwrap_or(f64::INFINITY)),
                subject: &subject,
            }
            .advice();
        }
        let names = |is_in: fn(f64, [Option<f64>; 2]) -> bool| {
            let found = self.schemes.iter().filter(|(_, bounds)| is_in(claim, bounds.sides()));
            listed(&found.map(|(scheme, _)| scheme.name()).collect::<Vec<_>>())
        };
        let safe = names(|claim, [_, upper]| upper.is_some_and(|upper| upper <= claim));
        let unsafe_ones = names(|claim, [lower, _]| lower.is_some_and(|lower| lower > claim));
        let only = match safe.as_str() {
            "" => format!("Do not publish epsilon {shown}: no scheme here is proven to keep it."),
            safe => format!("Publish epsilon {shown} only for batches made by {safe}."),
        };
        match unsafe_ones.as_str() {
            "" => only,
            leaking => format!("{only} It is proven to be too small for {leaking}."),
        }
    }
}

impl Diagnosed {
    /// Tells a decision maker what to do about the claim that Poisson sampling would justify.
    pub fn advice(&self) -> String {
        let Some(leakage) = &self.leakage else {
            return "Give the noise multiplier of the training: without it no epsilon is known for these batches.".into();
        };
        let [lower, upper] = leakage.sides();
        if leakage.is_estimate {
            let about = lower
                .map_or(String::new(), |lower| format!(": about {} leaks by estimate", rounded_down(lower)));
            return format!("Publish no epsilon for these batches{about}, and nothing is proven.");
        }
        let claim = self.claimed_epsilon();
        let kind = self.verdict().kind;
        Known { claim, kind, lower, upper, poisson: claim, subject: "training with these batches" }.advice()
    }
}

/// Joins names as in a sentence: "a, b or c".
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(claim: Option<f64>, kind: VerdictKind, lower: Option<f64>, upper: Option<f64>) -> String {
        Known { claim, kind, lower, upper, poisson: None, subject: "this training" }.advice()
    }

    #[test]
    fn only_what_is_proven_can_be_published() {
        let refuted = known(Some(2.1), VerdictKind::Refuted, Some(21.2), Some(31.7));
        assert_eq!(
            refuted,
            "Do not publish epsilon 2.1: this training leaks at least 21.2. What is proven is at most 31.7."
        );
        let undecided = known(Some(2.1), VerdictKind::Undecided, Some(0.5), None);
        assert_eq!(undecided, "Do not publish epsilon 2.1 because of this result: nothing here proves it.");
        let holds = known(Some(4.0), VerdictKind::Holds, None, Some(3.2));
        assert_eq!(holds, "Epsilon 4 can be published: it is proven for this training.");
        assert_eq!(
            known(None, VerdictKind::NoClaim, None, None),
            "State no epsilon because of this result: it proves none."
        );
    }

    #[test]
    fn poisson_sampling_is_named_where_it_leaks_less() {
        let with = |poisson| Known {
            claim: Some(0.7),
            kind: VerdictKind::Refuted,
            lower: Some(4.0),
            upper: Some(4.4),
            poisson,
            subject: "this training",
        };
        assert!(
            with(Some(0.72)).advice().ends_with("With Poisson sampling the same noise gives at most 0.72.")
        );
        assert!(with(Some(5.0)).advice().ends_with("What is proven is at most 4.4."));
    }

    #[test]
    fn an_audit_that_is_too_small_says_so_of_itself() {
        let judged = |largest: f64, found: f64| Judged {
            empirical_epsilon: found,
            valid: true,
            is_conditional: false,
            remedy: "",
            objection: None,
            delta: 1e-5,
            significance: 0.05,
            claimed_epsilon: Some(5.0),
            largest_epsilon: largest.into(),
        };
        let small = judged(3.0, 0.5);
        assert!(small.too_small().unwrap().starts_with("This audit was too small to decide"));
        assert!(small.undecided([None, Some(6.0)]).unwrap().contains("at least 0.5 and at most 6"));
        assert_eq!(small.undecided([Some(5.5), None]), None, "theory refutes the claim");
        assert_eq!(judged(9.0, 0.5).too_small(), None);
    }
}
