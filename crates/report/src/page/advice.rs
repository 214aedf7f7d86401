//! Explains what a number means for a decision, and what the reader can do.

use super::section::{Advice, Remark};
use super::settings;
use misdeal_core::Setting;
use misdeal_results::numbers::{count, percent, probability, rounded_down, rounded_up, significant};
use misdeal_results::request::{CalibrateRequest, Request, ShapeRequest};
use misdeal_results::{Judged, Tone, Verdict};

/// The audited number with its setting, and theory's bounds on it.
pub struct Subject<'a> {
    /// The estimate and the claim.
    pub judged: &'a Judged,
    /// The audited setting.
    pub setting: &'a Setting,
    /// Theory's lower and upper bound for the setting's scheme.
    pub theory: [Option<f64>; 2],
    /// Whether the claim is the one that Poisson sampling would justify.
    pub claims_poisson: bool,
    /// Whether the run is known to do what theory describes. A user's own training may differ.
    pub is_as_in_theory: bool,
}

impl Subject<'_> {
    /// The verdict on the training. An audit that refutes nothing decides nothing, so the verdict then says what else is known.
    pub fn verdict(&self) -> Verdict {
        let verdict = self.judged.verdict(Some(self.setting.scheme), self.known());
        match self.judged.undecided(self.known()) {
            Some(sentence) if self.judged.valid => {
                Verdict::new(verdict.kind, Tone::Neutral, "Undecided", sentence)
            }
            _ => verdict,
        }
    }

    /// Remarks on the audit alone.
    pub fn remarks(&self) -> Vec<Remark> {
        let known = self.known();
        let own = || self.judged.verdict(Some(self.setting.scheme), known).sentence;
        let is_undecided = self.judged.undecided(known).is_some() && self.judged.valid;
        let remark = self.judged.too_small().filter(|_| !self.judged.is_proven(known));
        remark.or_else(|| is_undecided.then(own)).map(Remark::on_audit).into_iter().collect()
    }

    /// Theory's bounds that hold for this run. The upper bound counts only if the run is as in theory.
    fn known(&self) -> [Option<f64>; 2] {
        [self.theory[0], self.theory[1].filter(|_| self.is_as_in_theory)]
    }

    /// Paragraphs on what the number guarantees, and what theory adds.
    pub fn meaning(&self, guarantee: &str) -> Vec<String> {
        let mut paragraphs = meaning(self.judged, guarantee, Some(self.setting));
        if self.judged.is_proven(self.known()) {
            paragraphs.push("Here theory proves it, for every adversary.".into());
        }
        paragraphs
    }

    /// The factor by which to raise the number of observations next. It is ten, or a larger power of ten if the claim needs it.
    ///
    /// The largest epsilon that n observations can show grows as the logarithm of n.
    pub fn further(&self) -> u64 {
        let lacking = self.judged.out_of_reach().zip(self.judged.claimed_epsilon);
        let times = lacking.map_or(1.0, |(largest, claim)| (claim - largest).exp());
        (1..9)
            .map(|power| 10_u64.pow(power))
            .find(|&power| power as f64 > 1.5 * times)
            .unwrap_or(1_000_000_000)
    }

    /// Advice on what to do. `further` is the command of the same audit with [more](Self::further) observations.
    pub fn advice(&self, further: Option<&str>) -> Vec<Advice> {
        let Some(claim) = self.judged.claimed_epsilon else { return Vec::new() };
        let mut advice: Vec<Advice> = Vec::new();
        if self.judged.refutes() || self.judged.is_contradicted(self.known()) {
            if let Some(upper) = self.theory[1].filter(|&upper| upper > claim) {
                let text =
                    format!("State what is proven of these batches: epsilon at most {}.", rounded_up(upper));
                advice.push(Advice { text, command: None });
            }
            if self.claims_poisson {
                let text = "Draw batches by Poisson sampling, for which the claim was computed.";
                advice.push(Advice { text: text.into(), command: None });
            }
            if self.theory[1].is_some() {
                let scheme = self.setting.scheme;
                let text = format!("Find the noise with which {scheme} is proven to meet the claim:");
                let &Setting { steps_per_epoch, epochs, batch_size, .. } = self.setting;
                let request = CalibrateRequest {
                    // Whoever meets less meets the claim.
                    target_epsilon: rounded_down(claim).parse().ok(),
                    delta: self.judged.delta,
                    shape: ShapeRequest {
                        steps_per_epoch,
                        epochs,
                        batch_size,
                        buffer_size: scheme.buffer_size(),
                        ..ShapeRequest::default()
                    },
                    scheme: scheme.name().into(),
                    ..CalibrateRequest::default()
                };
                let command = request.command_line();
                advice.push(Advice { text, command: Some(command) });
            }
            for one in advice.iter_mut().skip(1) {
                one.text = format!("Or {}", lowered(&one.text));
            }
        } else if let Some(further) = further.filter(|_| !self.judged.is_proven(self.known())) {
            let times = match self.further() {
                10 => "ten".into(),
                100 => "a hundred".into(),
                more => count(more),
            };
            let text = format!("Look further: {times} times as many observations may show more.");
            advice.push(Advice { text, command: Some(further.into()) });
        }
        advice
    }
}

/// Paragraphs on what the number guarantees, and what it does not.
pub fn meaning(judged: &Judged, guarantee: &str, setting: Option<&Setting>) -> Vec<String> {
    let mut paragraphs = Vec::new();
    if !guarantee.is_empty() {
        paragraphs.push(format!("{}.", capitalised(guarantee.trim_end_matches('.'))));
    }
    if judged.valid {
        let level = percent(judged.significance);
        paragraphs
            .push(format!("An audit like this states more than the truth with probability {level} at most."));
    }
    if judged.empirical_epsilon > 0.0 && judged.empirical_epsilon < 50.0 {
        let claim = judged.claimed_epsilon.filter(|&claim| claim < 50.0);
        let allowed = claim
            .map_or(String::new(), |claim| format!("; the claim allows {} times", significant(claim.exp())));
        paragraphs.push(format!(
            "In plain words: up to a probability of {}, epsilon bounds how many times more likely anything that training gives away may \
             become because one person's record was used. Epsilon {} is {} times{allowed}.",
            probability(judged.delta),
            rounded_down(judged.empirical_epsilon),
            rounded_down(judged.empirical_epsilon.exp())
        ));
    }
    if let Some(setting) = setting {
        paragraphs.push(settings::threat(setting.threat_model).into());
    }
    paragraphs.push("An audit can refute a claim. It cannot prove one.".into());
    paragraphs
}

pub use misdeal_results::capitalised;

/// The text with a small first letter.
pub fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::{BatchScheme, OrInfinite};

    fn advised(scheme: BatchScheme, theory: [Option<f64>; 2], claims_poisson: bool) -> Vec<Advice> {
        let judged = Judged {
            empirical_epsilon: 2.0,
            valid: true,
            is_conditional: false,
            objection: None,
            remedy: "the estimator clopper-pearson",
            delta: 1e-5,
            significance: 0.05,
            claimed_epsilon: Some(1.0),
            largest_epsilon: OrInfinite::default(),
        };
        let setting = Setting { scheme, ..Setting::default() };
        Subject { judged: &judged, setting: &setting, theory, claims_poisson, is_as_in_theory: true }
            .advice(None)
    }

    #[test]
    fn more_observations_are_as_many_more_as_the_claim_takes() {
        let further = |claim: f64, largest: Option<f64>| {
            let judged = Judged {
                empirical_epsilon: 0.5,
                valid: true,
                is_conditional: false,
                objection: None,
                remedy: "the estimator clopper-pearson",
                delta: 1e-5,
                significance: 0.05,
                claimed_epsilon: Some(claim),
                largest_epsilon: largest.map_or_else(OrInfinite::default, OrInfinite::from),
            };
            let setting = Setting::default();
            let subject = Subject {
                judged: &judged,
                setting: &setting,
                theory: [None; 2],
                claims_poisson: false,
                is_as_in_theory: true,
            };
            (subject.further(), subject.advice(Some("more"))[0].text.clone())
        };
        let (times, text) = further(8.0, Some(4.9));
        assert_eq!((times, text.contains("a hundred times as many")), (100, true), "{text}");
        for near in [further(5.0, Some(4.9)), further(4.0, Some(4.9)), further(8.0, None)] {
            assert_eq!((near.0, near.1.contains("ten times as many")), (10, true));
        }
        assert_eq!(further(1e300, Some(4.9)).0, 1_000_000_000);
    }

    #[test]
    fn a_claim_above_theorys_upper_bound_is_proven_unless_it_is_somebodys_own_code() {
        let shown = |claim: f64, upper: f64, violated: bool, is_as_in_theory: bool| {
            let judged = Judged {
                empirical_epsilon: if violated { 2.0 } else { 1.0 },
                valid: true,
                is_conditional: false,
                objection: None,
                remedy: "the estimator clopper-pearson",
                delta: 1e-5,
                significance: 0.05,
                claimed_epsilon: Some(claim),
                largest_epsilon: OrInfinite::default(),
            };
            let setting = Setting::default();
            let theory = [Some(1.5), Some(upper)];
            let subject = Subject {
                judged: &judged,
                setting: &setting,
                theory,
                claims_poisson: false,
                is_as_in_theory,
            };
            let Verdict { label, sentence, .. } = subject.verdict();
            let proof =
                subject.meaning("").iter().any(|paragraph| paragraph.starts_with("Here theory proves"));
            assert_eq!(proof, upper <= claim && is_as_in_theory && !violated);
            (label, sentence, subject.advice(Some("more")).len())
        };
        let (label, sentence, advice) = shown(5.0, 4.3777, false, true);
        assert_eq!((label.as_str(), advice), ("Proven by theory", 0));
        assert_eq!(sentence, "The claim of epsilon 5 holds: theory proves at most 4.378 for this scheme.");
        let (_, sentence, _) = shown(4.37741, 4.37741, false, true);
        assert_eq!(
            sentence,
            "The claim of epsilon 4.378 holds: theory proves at most 4.378 for this scheme."
        );
        for (claim, upper, violated, ours, label, advised) in [
            (4.3, 4.4, false, true, "Undecided", 1),
            (5.0, 4.4, false, false, "Undecided", 1),
            // Then theory or the audit is wrong, and the audit says what it saw.
            (1.9, 1.8, true, true, "Claim refuted", 1),
        ] {
            let found = shown(claim, upper, violated, ours);
            assert_eq!((found.0.as_str(), found.2), (label, advised), "{claim} {upper} {violated}");
        }
    }

    #[test]
    fn what_is_advised_can_be_done() {
        let all = advised(BatchScheme::Shuffle, [Some(1.5), Some(4.0)], true);
        let begins = ["State what", "Or draw batches", "Or find the noise"];
        assert!(all.len() == 3 && all.iter().zip(begins).all(|(one, begin)| one.text.starts_with(begin)));
        assert!(all[2].command.as_ref().is_some_and(|command| command.contains("--scheme shuffle")));
        // Nobody has proven an upper bound for these batches, so that no noise can be found.
        let unknown = advised(BatchScheme::WithoutReplacement, [None, None], true);
        assert!(unknown.len() == 1 && unknown[0].text.starts_with("Draw") && unknown[0].command.is_none());
        assert!(advised(BatchScheme::WithoutReplacement, [None, None], false).is_empty());
        assert!(advised(BatchScheme::Shuffle, [None, Some(0.5)], false)[0].text.starts_with("Find"));
    }
}
