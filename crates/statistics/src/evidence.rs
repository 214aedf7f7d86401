//! The scores of both worlds, as counts or as exact scores.

use crate::ErrorCounts;
use crate::estimator::Side;
use crate::exact::{best_threshold, occupied, refined_thresholds, steps};
use crate::looks::Look;
use crate::occupied_bins::OccupiedBins;
use crate::sample::Sample;
use crate::search::{Curve, Objective, search};
use crate::threshold_choice::Trials;
use misdeal_core::score_grid::{BINS, bin, lower_edge};
use misdeal_core::{Error, Result, ScoreStore, StoreKind, World};
use std::borrow::Cow;

/// The input of an estimate.
pub struct Evidence<'a> {
    form: Form<'a>,
    fair_coins: bool,
}

enum Form<'a> {
    /// Counts on the grid; thresholds are its edges.
    Counts(Cow<'a, OccupiedBins>),
    /// Exact scores `In` and `Out`; thresholds are the scores.
    Exact([Sample<'a>; 2]),
}

impl<'a> Evidence<'a> {
    /// The scores of a game, which has equally many trials in both worlds.
    pub(crate) fn of_store(store: &'a ScoreStore) -> Self {
        let form = match store.kind() {
            StoreKind::Counts => Form::Counts(Cow::Owned(OccupiedBins::of(store))),
            StoreKind::Exact => {
                Form::Exact(World::BOTH.map(|world| Sample(store.exact_scores(world).collect())))
            }
        };
        Evidence { form, fair_coins: false }
    }

    /// The scores of a game, from its bins.
    pub(crate) fn of_bins(bins: &'a OccupiedBins) -> Self {
        Evidence { form: Form::Counts(Cow::Borrowed(bins)), fair_coins: false }
    }

    /// The same evidence, with a statement whether an independent fair coin chose each score's world.
    pub(crate) fn with_fair_coins(self, fair_coins: bool) -> Self {
        Evidence { fair_coins, ..self }
    }

    /// The evidence of any scores, in the order of their indices.
    pub(crate) fn of_scores(scores_in: &'a [f64], scores_out: &'a [f64]) -> Self {
        let samples = [scores_in, scores_out].map(|scores| Sample(vec![(0, scores)]));
        Evidence { form: Form::Exact(samples), fair_coins: false }
    }

    /// Whether the caller stated that an independent fair coin chose each score's world. It is never inferred.
    pub(crate) fn has_fair_coins(&self) -> bool {
        self.fair_coins
    }

    /// The evidence at the last look of a confidence sequence, and that look.
    ///
    /// # Errors
    /// Too few trials, or counts that include trials after the look, which cannot be separated any more.
    pub(crate) fn at_last_look(&self) -> Result<(Evidence<'_>, Look)> {
        let fewest = self.observations(Trials::All).into_iter().min().unwrap_or(0);
        let first = Look::all().next().map_or(0, Look::trials);
        let look = Look::last_within(fewest).ok_or_else(|| {
            let allowed = format!("at least {first} trials per world");
            Error::bad_value(
                "observations_per_world",
                fewest,
                allowed,
                "a confidence sequence begins to look there",
            )
        })?;
        let evidence = match &self.form {
            Form::Counts(_) => self.borrowed(),
            Form::Exact(samples) => {
                let form = Form::Exact(samples.each_ref().map(|sample| sample.first(look.trials())));
                Evidence { form, ..*self }
            }
        };
        let kept = evidence.observations(Trials::All);
        if kept.into_iter().all(|n| n == look.trials()) {
            return Ok((evidence, look));
        }
        let next = Look::all().find(|look| look.trials() >= fewest).map_or(0, Look::trials);
        let allowed = format!("{} or {next} trials per world, from the first on", look.trials());
        let hint = "a confidence sequence looks there and nowhere else; play on to the next look";
        Err(Error::bad_value("observations_per_world", fewest, allowed, hint))
    }

    /// The same evidence, without copying the scores.
    pub(crate) fn borrowed(&self) -> Evidence<'_> {
        let form = match &self.form {
            Form::Counts(bins) => Form::Counts(Cow::Borrowed(bins)),
            Form::Exact(samples) => Form::Exact(samples.each_ref().map(|sample| Sample(sample.0.clone()))),
        };
        Evidence { form, ..*self }
    }

    /// The numbers of scores `In` and `Out` of `trials`.
    pub(crate) fn observations(&self, trials: Trials) -> [u64; 2] {
        match &self.form {
            Form::Counts(bins) => bins.reaching(trials, 0),
            Form::Exact(samples) => samples.each_ref().map(|sample| sample.len(trials)),
        }
    }

    /// The bins of the grid that hold scores, ascending, with their numbers of scores `In` and `Out`.
    pub(crate) fn cells(&self, trials: Trials) -> (Vec<u32>, Vec<[u64; 2]>) {
        match &self.form {
            Form::Counts(bins) => bins.cells(trials),
            Form::Exact(samples) => {
                let [counts_in, counts_out] = samples.each_ref().map(|sample| sample.counted(trials));
                occupied(&counts_in, &counts_out)
            }
        }
    }

    /// The numbers of scores `In` and `Out` at each distinct score, ascending.
    ///
    /// For counts and for very many scores, they are given by cells of the grid.
    pub(crate) fn fine_cells(&self) -> Vec<[u64; 2]> {
        const MOST_SORTED: u64 = 1 << 21;
        match &self.form {
            Form::Exact(samples) if self.observations(Trials::All).iter().sum::<u64>() <= MOST_SORTED => {
                let [mut scores_in, mut scores_out] = samples.each_ref().map(|sample| {
                    let mut scores = Vec::new();
                    sample.for_each(Trials::All, |score| scores.push(score));
                    scores
                });
                steps(&mut scores_in, &mut scores_out).1
            }
            _ => self.cells(Trials::All).1,
        }
    }

    /// The best threshold for `trials`; infinite if predicting `Out` always is best.
    pub(crate) fn best_threshold(&self, trials: Trials, objective: &Objective<'_>) -> f64 {
        match &self.form {
            Form::Counts(_) => {
                let (bins, cells) = self.cells(trials);
                let found = search(&Curve::new(&cells, 0, 0), objective, f64::NEG_INFINITY, false);
                let bin = found.best.and_then(|(_, knot)| bins.get(knot));
                bin.map_or(f64::INFINITY, |&bin| lower_edge(bin))
            }
            Form::Exact(samples) => best_threshold(samples, trials, objective),
        }
    }

    /// The errors of `trials` at a threshold. For counts, the threshold is the edge of its cell.
    pub(crate) fn errors(&self, trials: Trials, threshold: f64) -> ErrorCounts {
        let [observations_in, observations_out] = self.observations(trials);
        let [reaching_in, false_positives] = match &self.form {
            Form::Counts(bins) => {
                bins.reaching(trials, if threshold < f64::INFINITY { bin(threshold) } else { BINS })
            }
            Form::Exact(samples) => samples.each_ref().map(|sample| sample.reaching(trials, threshold)),
        };
        let false_negatives = observations_in - reaching_in;
        ErrorCounts { false_positives, false_negatives, observations_in, observations_out }
    }

    /// The thresholds at given ranks r, with their errors on all trials.
    ///
    /// For [`Side::Upper`] it is the lowest threshold that fewer than r scores `Out` reach. For [`Side::Lower`] it is
    /// the highest threshold that fewer than r scores `In` lie below. For [`Side::Together`] it is the lowest threshold
    /// that at most r scores of both worlds reach.
    pub(crate) fn thresholds_of_ranks(&self, ranks: &[(Side, u64)]) -> Vec<(f64, ErrorCounts)> {
        let (bins, cells) = self.cells(Trials::All);
        let curve = Curve::new(&cells, 0, 0);
        let [observations_in, observations_out] = self.observations(Trials::All);
        let found = match &self.form {
            Form::Counts(_) => ranks
                .iter()
                .map(|&(side, rank)| {
                    let knot = knot_of_rank(&curve, side, rank, observations_in);
                    (bins.get(knot).map_or(f64::INFINITY, |&bin| lower_edge(bin)), curve.errors(knot))
                })
                .collect(),
            Form::Exact(samples) => {
                refined_thresholds(samples, (&bins, &cells), &curve, ranks, observations_in)
            }
        };
        let with_totals = |(threshold, [false_negatives, false_positives]): (f64, [u64; 2])| {
            (threshold, ErrorCounts { false_positives, false_negatives, observations_in, observations_out })
        };
        found.into_iter().map(with_totals).collect::<Vec<_>>()
    }
}

/// The knot that a rank selects.
///
/// It is the first knot that few enough scores reach, or the last one that few enough lie below.
pub(crate) fn knot_of_rank(curve: &Curve, side: Side, rank: u64, observations_in: u64) -> usize {
    let reached = |knot: usize| {
        let [false_negatives, false_positives] = curve.errors(knot);
        match side {
            Side::Upper => false_positives < rank,
            // True for the knots after the last allowed one.
            Side::Lower => false_negatives >= rank,
            Side::Together => observations_in - false_negatives + false_positives <= rank,
        }
    };
    // As thresholds ascend, each condition becomes true once and stays true.
    let (mut low, mut high) = (0, curve.knots());
    while low < high {
        let middle = low.midpoint(high);
        if reached(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if side == Side::Lower { low.saturating_sub(1) } else { low.min(curve.knots() - 1) }
}
