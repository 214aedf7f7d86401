//! Verdicts and advice on checked model cards, in words.

use crate::numbers::{confidence, count, probability, rounded_down, rounded_up, significant, times};
use crate::{CheckedCard, Tone, Verdict, VerdictKind};
use misdeal_core::{ClosedSet, SchemeName};
use std::fmt::Write;

impl CheckedCard {
    /// Returns the name of the card's batches in a sentence.
    fn batches(&self) -> String {
        self.setting.scheme.map_or("these batches".into(), batches)
    }

    /// Returns the verdict on the claim.
    pub fn verdict(&self) -> Verdict {
        let Some(claim) = self.claimed_epsilon else { return self.without_claim() };
        match self.setting.scheme {
            Some(scheme) => self.of_scheme(scheme, claim),
            None => self.of_unknown_scheme(claim),
        }
    }

    fn without_claim(&self) -> Verdict {
        let sentence = match (self.largest_lower_bound(), self.epsilon_upper_bound) {
            (None, None) => "Nothing is claimed, and no bound is known.".into(),
            (lower, upper) => {
                format!("Nothing is claimed. This training leaks {}.", between(lower, upper, self.delta))
            }
        };
        Verdict::new(VerdictKind::NoClaim, Tone::Neutral, "No claim", sentence)
    }

    fn of_scheme(&self, scheme: SchemeName, claim: f64) -> Verdict {
        let delta = probability(self.delta);
        let upper = self.epsilon_upper_bound;
        let batches = self.batches();
        if let Some(lower) = self.largest_lower_bound().filter(|&lower| lower > claim) {
            let how = match &self.audit {
                Some(audit) if self.audited_lower_bound().is_some() => {
                    let confidence = confidence(audit.estimate.significance);
                    format!("an audit shows it with {confidence} confidence")
                }
                _ => "theory proves it".into(),
            };
            let also = match self
                .scheme(SchemeName::Poisson)
                .map(|poisson| (poisson.kind(claim), &poisson.bounds))
            {
                _ if scheme == SchemeName::Poisson => String::new(),
                Some((VerdictKind::Refuted, bounds)) => format!(
                    " The claim is false under Poisson sampling too: at least {}.",
                    rounded_down(bounds.epsilon_lower_bound.unwrap_or(0.0))
                ),
                Some((VerdictKind::Holds, _)) => " The claim would hold under Poisson sampling.".into(),
                _ => String::new(),
            };
            let sentence = format!(
                "The claim of epsilon {} is REFUTED: with {batches} this training leaks at least epsilon {} at delta {delta}, {} \
                 times the claim ({how}).{also}",
                significant(claim),
                rounded_down(lower),
                times(lower, claim)
            );
            return Verdict::new(VerdictKind::Refuted, Tone::Refuted, "Claim refuted", sentence);
        }
        if let Some(upper) = upper.filter(|&upper| upper <= claim) {
            // A claim that is the bound itself is not to look smaller than it.
            let claim = if claim == upper { rounded_up(claim) } else { significant(claim) };
            let sentence = format!(
                "The claim of epsilon {claim} HOLDS: with {batches} this training leaks at most epsilon {} at delta {delta} \
                 (theory proves it).",
                rounded_up(upper)
            );
            return Verdict::new(VerdictKind::Holds, Tone::Open, "Claim holds", sentence);
        }
        let sentence = format!(
            "The claim of epsilon {} is UNDECIDED: with {batches} this training leaks {}.",
            significant(claim),
            between(self.largest_lower_bound(), upper, self.delta)
        );
        Verdict::new(VerdictKind::Undecided, Tone::Doubt, "Undecided", sentence)
    }

    fn of_unknown_scheme(&self, claim: f64) -> Verdict {
        let judged = [SchemeName::Shuffle, SchemeName::Poisson].map(|name| {
            self.scheme(name).map_or((VerdictKind::Undecided, [None, None]), |scheme| {
                (scheme.kind(claim), scheme.bounds.sides())
            })
        });
        let [(shuffle, [lower, upper]), (poisson, [poisson_lower, poisson_upper])] = judged;
        let shown = significant(claim);
        let delta = probability(self.delta);
        match (shuffle, poisson) {
            (VerdictKind::Refuted, VerdictKind::Refuted) => {
                let sentence = format!(
                    "The claim of epsilon {shown} is REFUTED however the batches were made: at delta {delta} this training leaks \
                     at least epsilon {} with shuffled batches and {} with Poisson sampling (theory proves it).",
                    at_least(lower),
                    at_least(poisson_lower)
                );
                Verdict::new(VerdictKind::Refuted, Tone::Refuted, "Claim refuted", sentence)
            }
            (VerdictKind::Holds, VerdictKind::Holds) => {
                let sentence = format!(
                    "The claim of epsilon {shown} HOLDS: at delta {delta} this training leaks at most epsilon {}, with shuffled \
                     batches and with Poisson sampling (theory proves it).",
                    at_most(self.epsilon_upper_bound)
                );
                Verdict::new(VerdictKind::Holds, Tone::Open, "Claim holds", sentence)
            }
            _ => {
                let one = |kind, batches: &str, [lower, upper]: [Option<f64>; 2]| match kind {
                    VerdictKind::Refuted => {
                        format!("with {batches} it is refuted (at least {})", at_least(lower))
                    }
                    VerdictKind::Holds => format!("with {batches} it holds (at most {})", at_most(upper)),
                    _ => format!("with {batches} it is undecided ({})", range(lower, upper)),
                };
                let sentence = format!(
                    "The claim of epsilon {shown} is UNDECIDED: the card must state how batches were made (`scheme`). At delta \
                     {delta} {}; {}.",
                    one(shuffle, "shuffled batches", [lower, upper]),
                    one(poisson, "Poisson sampling", [poisson_lower, poisson_upper])
                );
                Verdict::new(VerdictKind::Undecided, Tone::Doubt, "Scheme not stated", sentence)
            }
        }
    }

    /// Tells a decision maker what to do, in one or two sentences.
    pub fn advice(&self) -> String {
        let Some(claim) = self.claimed_epsilon else {
            return match self.epsilon_upper_bound {
                Some(upper) => format!("State epsilon {}: no smaller number is proven.", rounded_up(upper)),
                None => "State no epsilon: none is proven for this training.".into(),
            };
        };
        let shown = significant(claim);
        let mut advice = match self.verdict().kind {
            VerdictKind::Refuted => {
                let lower = self.largest_lower_bound().map_or_else(String::new, rounded_down);
                format!("Do not publish epsilon {shown}: this training leaks at least {lower}.")
            }
            VerdictKind::Holds => {
                return format!("Epsilon {shown} can be published: it is proven for this training.");
            }
            _ if self.setting.scheme.is_none() => {
                return format!(
                    "Do not publish epsilon {shown} before the card states how batches were made."
                );
            }
            _ => format!("Do not publish epsilon {shown}: it is not proven for this training."),
        };
        if let Some((name, upper, _)) = self.remedy() {
            let _ =
                write!(advice, " With {} the same noise gives at most {}.", batches(name), rounded_up(upper));
        } else if let Some(upper) = self.epsilon_upper_bound {
            let _ = write!(advice, " What is proven is at most {}.", rounded_up(upper));
        }
        advice
    }

    /// Returns the other scheme with the smallest proven epsilon at the same noise.
    ///
    /// The result holds the scheme's name, its upper bound, and the noise with which it keeps the claim. It is `None` if that bound is not
    /// below the bound of the card's own scheme.
    pub fn remedy(&self) -> Option<(SchemeName, f64, Option<f64>)> {
        let others = self.schemes.iter().filter(|&(&name, _)| Some(name) != self.setting.scheme);
        let bounded = others.filter_map(|(name, scheme)| {
            Some((*name, scheme.bounds.epsilon_upper_bound?, scheme.noise_multiplier_needed))
        });
        let best = bounded.min_by(|(_, a, _), (_, b, _)| a.total_cmp(b))?;
        self.epsilon_upper_bound.is_none_or(|upper| best.1 < upper).then_some(best)
    }

    /// Describes the training in one line.
    pub fn training(&self) -> String {
        let setting = &self.setting;
        let scheme = match (setting.scheme, setting.buffer_size) {
            (None, _) => "batch scheme not stated".into(),
            (Some(scheme), None) => scheme.name().to_owned(),
            (Some(scheme), Some(size)) => format!("{} with a buffer of {}", scheme.name(), count(size)),
        };
        let passes = if setting.steps == setting.steps_per_epoch * setting.epochs {
            let plural = if setting.epochs == 1 { "" } else { "s" };
            format!("{} epoch{plural} of {} steps", count(setting.epochs), count(setting.steps_per_epoch))
        } else {
            format!("{} steps, {} an epoch", count(setting.steps), count(setting.steps_per_epoch))
        };
        format!(
            "{} records, batches of {}, {passes}, noise multiplier {}, {scheme}",
            count(setting.dataset_size),
            count(setting.batch_size),
            setting.noise_multiplier,
        )
    }
}

/// Returns the name of a scheme's batches in a sentence.
fn batches(scheme: SchemeName) -> String {
    match scheme {
        SchemeName::Poisson => "Poisson sampling".into(),
        SchemeName::Shuffle => "shuffled batches".into(),
        other => format!("{} batches", other.name()),
    }
}

fn at_least(lower: Option<f64>) -> String {
    lower.map_or("?".into(), rounded_down)
}

fn at_most(upper: Option<f64>) -> String {
    upper.map_or("?".into(), rounded_up)
}

/// Formats a lower and an upper bound in a few words.
fn range(lower: Option<f64>, upper: Option<f64>) -> String {
    match (lower, upper) {
        (Some(_), Some(_)) => format!("at least {}, at most {}", at_least(lower), at_most(upper)),
        (Some(_), None) => format!("at least {}, no upper bound known", at_least(lower)),
        (None, Some(_)) => format!("at most {}, no lower bound known", at_most(upper)),
        (None, None) => "no bound known".into(),
    }
}

/// Formats a lower and an upper bound in words that follow "leaks".
fn between(lower: Option<f64>, upper: Option<f64>, delta: f64) -> String {
    let delta = probability(delta);
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!(
            "at least epsilon {} and at most {} at delta {delta}",
            rounded_down(lower),
            rounded_up(upper)
        ),
        (Some(lower), None) => format!("at least epsilon {} at delta {delta}", rounded_down(lower)),
        (None, Some(upper)) => format!("at most epsilon {} at delta {delta}", rounded_up(upper)),
        (None, None) => "an amount that no bound is known for".into(),
    }
}
