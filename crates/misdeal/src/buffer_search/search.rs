//! The search: first the paper's guesses, then bisection around the best one.

use super::{Blind, Rungs, belief};
use crate::audit_report::report;
use crate::measurement::{Measurement, NOT_INDEPENDENT};
use crate::standing::Standing;
use crate::{Analysis, Result, RunOptions};
use misdeal_core::{ClosedSet, OrInfinite, ScoreStore, Setting};
use misdeal_results::{Audit, BufferSearch, Correction, EngineUsed, Guess};
use misdeal_statistics::EpsilonEstimate;
use std::collections::BTreeMap;
use std::time::Instant;

/// Largest number of guesses that bisection may add.
const MOST_BISECTIONS: usize = 12;

/// Audits with every guess and reports the guess with the largest bound. `start` is when the run began, before playing or
/// training.
pub(crate) fn audit_blindly(
    blind: &dyn Blind,
    rungs: &Rungs,
    request: &RunOptions,
    correction: Correction,
    start: Instant,
) -> Result<Audit> {
    let mut search = Search {
        blind,
        rungs,
        request,
        correction,
        tried: BTreeMap::new(),
        guesses: vec![],
        best: None,
        largest: 0.0.into(),
    };
    for rung in rungs.grid() {
        search.guess(rung)?;
    }
    // The paper's maximum is that over the paper's guesses.
    let bisections = if correction == Correction::None { 0 } else { MOST_BISECTIONS };
    for _ in 0..bisections {
        let Some(rung) = search.next_bisection() else { break };
        search.guess(rung)?;
    }
    let Search { guesses, best, largest, .. } = search;
    let Best { rung, mut estimate, store, .. } = best.expect("a grid is never empty");
    // Guesses have levels of their own, and whichever shows most might have been reported.
    estimate.largest_epsilon = largest;
    let significance = request.analysis.significance;
    let meaning = match correction {
        Correction::Bonferroni => format!(
            "the largest of {} guesses of the buffer's size; the levels of all {} sizes that might have been guessed add up to {significance}",
            guesses.len(),
            rungs.len()
        ),
        Correction::None => format!(
            "the largest of {} guesses of the buffer's size, each at the full level of {significance}: not a valid bound",
            guesses.len()
        ),
    };
    // The sentence names a confidence: that of the whole search.
    let (estimator, choice) = request.analysis.parse()?;
    let of_the_whole = estimator.guarantee().sentence(choice, estimator.chooses_a_threshold(), significance);
    estimate.guarantee = format!("{of_the_whole}; {meaning}");
    estimate.significance = significance;
    let standing = match correction {
        _ if !blind.scores_are_independent() => Standing::Unproven(NOT_INDEPENDENT.into()),
        Correction::Bonferroni => Standing::Share(rungs.level(rung) / significance),
        Correction::None => Standing::Unproven(meaning.clone()),
    };
    standing.mark(&mut estimate);
    let buffer_size = size(blind.setting(), rungs, rung);
    let seconds = start.elapsed().as_secs_f64();
    let observations = request.observations;
    let measurement = Measurement {
        observations,
        stopped_early: false,
        estimate,
        standing,
        engine: EngineUsed::from_name(blind.engine())?,
        seconds,
        observations_per_second: observations as f64 / seconds,
    };
    let setting =
        Setting { adversary_scheme: Some(belief(blind.setting(), buffer_size)?), ..blind.setting().clone() };
    let mut report = report(&setting, request, measurement, &store, None)?;
    report.buffer_search = Some(BufferSearch { buffer_size, correction, meaning, guesses });
    Ok(report)
}

fn size(setting: &Setting, rungs: &Rungs, rung: usize) -> u64 {
    rungs.batches(rung) * setting.batch_size
}

struct Search<'a> {
    blind: &'a dyn Blind,
    rungs: &'a Rungs,
    request: &'a RunOptions,
    correction: Correction,
    /// The bound of every size that was tried, by its index.
    tried: BTreeMap<usize, f64>,
    guesses: Vec<Guess>,
    best: Option<Best>,
    /// The largest epsilon that any guess could have shown.
    largest: OrInfinite,
}

struct Best {
    rung: usize,
    estimate: EpsilonEstimate,
    store: ScoreStore,
}

impl Search<'_> {
    fn guess(&mut self, rung: usize) -> Result<()> {
        let setting = self.blind.setting();
        let buffer_size = size(setting, self.rungs, rung);
        let store = self.blind.scored(belief(setting, buffer_size)?)?;
        let significance = match self.correction {
            Correction::Bonferroni => self.rungs.level(rung),
            Correction::None => self.request.analysis.significance,
        };
        let estimate = Analysis { significance, ..self.request.analysis.clone() }.of_store(&store)?;
        self.tried.insert(rung, *estimate.empirical_epsilon);
        self.largest = self.largest.max(*estimate.largest_epsilon).into();
        self.guesses.push(Guess {
            buffer_size,
            batches: self.rungs.batches(rung),
            is_from_the_paper: self.rungs.is_grid(rung),
            significance,
            empirical_epsilon: estimate.empirical_epsilon,
            raw_epsilon: estimate.raw_epsilon,
            threshold: estimate.threshold,
        });
        if self.best.as_ref().is_none_or(|best| best.estimate.empirical_epsilon < estimate.empirical_epsilon)
        {
            self.best = Some(Best { rung, estimate, store });
        }
        Ok(())
    }

    /// Half-way between the best rung and the nearer one tried on a side, the side with the larger bound first; nothing where
    /// both sides are exhausted.
    fn next_bisection(&self) -> Option<usize> {
        let best = self.best.as_ref()?.rung;
        let below = self.tried.range(..best).next_back();
        let above = self.tried.range(best + 1..).next();
        let mut sides: Vec<(f64, usize)> = [below, above]
            .into_iter()
            .flatten()
            .map(|(&rung, &bound)| (bound, rung.midpoint(best)))
            .filter(|(_, middle)| !self.tried.contains_key(middle))
            .collect();
        sides.sort_by(|one, other| other.0.total_cmp(&one.0));
        sides.first().map(|side| side.1)
    }
}
