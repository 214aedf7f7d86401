//! Estimates epsilon from scores.

use crate::measurement::NOT_INDEPENDENT;
use crate::run::check_claim;
use crate::standing::Standing;
use crate::trade_off::{Observed, trade_off_report};
use crate::{Analysis, ClaimedCurve, Result};
use misdeal_core::{Error, ScoreStore, path_text};
use misdeal_files::scores;
use misdeal_results::Estimation;
use misdeal_results::request::EstimateRequest;
use misdeal_statistics::{ESTIMATORS, EpsilonEstimate, Estimator, Figure, Look, ThresholdChoice};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Judges all scores of a store as one whole run.
///
/// The store records that it was judged. A second judgement of other scores is not valid.
///
/// ```
/// use misdeal::{Analysis, MechanismAudit, Setting, Unwatched, judge_store, play_part};
/// let audit = Setting::new(1.0).audit().observations(10_000);
/// let mut store = play_part(&audit, 0..5_000, &Unwatched)?;
/// assert!(judge_store(&Analysis::default(), &mut store)?.valid);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The analysis is refused, or there are too few scores.
pub fn judge_store(analysis: &Analysis, store: &mut ScoreStore) -> Result<EpsilonEstimate> {
    let mut estimate = analysis.of_store(store)?;
    let planned = store.trials().last().map_or(0, |range| range.end);
    let objection = match estimate.threshold_choice {
        ThresholdChoice::Sequential => store.judge_sequentially(),
        _ => store.judge(planned),
    };
    objection.map_or(Standing::ALONE, Standing::Unproven).mark(&mut estimate);
    Ok(estimate)
}

/// Reads two files of scores and estimates epsilon, with one estimator or with `all`.
///
/// [`estimate_arrays`] has an example.
///
/// # Errors
/// A value is out of range, a file cannot be read, or there are too few scores.
pub fn estimate_scores(request: &EstimateRequest) -> Result<Estimation> {
    check(&request.analysis, request.claimed_epsilon)?;
    if let Some(path) = &request.scores {
        let [scores_in, scores_out] = read_both(path, request)?;
        let report = estimate_arrays(&scores_in, &scores_out, request)?;
        return Ok(Estimation { scores: Some(path_text(path).into_owned()), ..report });
    }
    let file = |field, path: &Option<PathBuf>| {
        let hint = "give --scores-in and --scores-out, or both kinds of runs in one file with --scores";
        path.clone().ok_or_else(|| Error::bad_value(field, "missing", "a file", hint))
    };
    let (scores_in, scores_out) =
        (file("scores_in", &request.scores_in)?, file("scores_out", &request.scores_out)?);
    check_apart(&scores_in, &scores_out)?;
    let report = estimate_arrays(&scores::read(&scores_in)?, &scores::read(&scores_out)?, request)?;
    let [scores_in, scores_out] = [scores_in, scores_out].map(|path| Some(path_text(&path).into_owned()));
    Ok(Estimation { request: Some(request.clone()), scores_in, scores_out, ..report })
}

/// Reads the scores of both worlds from one file. A column of the file says which world a score belongs to.
///
/// # Errors
/// The request also has a file for one world, or the file cannot be read.
pub fn read_both(path: &Path, request: &EstimateRequest) -> Result<[Vec<f64>; 2]> {
    if request.scores_in.is_some() || request.scores_out.is_some() {
        let hint = "the file of `scores` has both kinds of runs";
        return Err(Error::bad_value("scores", path_text(path), "no other scores beside it", hint).into());
    }
    Ok(scores::read_both(path, &request.member_column, &request.score_column)?)
}

/// Refuses the same file for both worlds.
///
/// # Errors
/// Both paths lead to the same file.
pub fn check_apart(scores_in: &Path, scores_out: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real(scores_in) != real(scores_out) {
        return Ok(());
    }
    let hint = "one file with both kinds of runs is given with `scores`, and has a column that says which";
    let allowed = "another file than `scores_in`";
    Err(Error::bad_value("scores_out", path_text(scores_out), allowed, hint).into())
}

/// Returns the message for scores whose area under the curve is below 1/2.
fn reversed(area: &Figure) -> String {
    format!(
        "the scores look reversed: AUROC is {:.4}, below 0.5 with 95 % confidence, and larger scores must mean that the target was \
         present; swap both worlds, or the sign of the scores",
        area.value
    )
}

/// Returns the estimator and the threshold choice, or refuses the request before any file is read. For `all`, the first estimator
/// is returned.
fn check(
    analysis: &Analysis,
    claimed_epsilon: Option<f64>,
) -> Result<(&'static dyn Estimator, ThresholdChoice)> {
    check_claim(claimed_epsilon)?;
    if analysis.estimator == "all" {
        return Ok(Analysis { estimator: ESTIMATORS[0].name().into(), ..analysis.clone() }.parse()?);
    }
    Ok(analysis.parse()?)
}

/// Estimates epsilon from scores in memory, with one estimator or with `all`.
///
/// ```
/// use misdeal::{estimate_arrays, request::EstimateRequest};
/// let scores = |shift: f64| (0..1_000).map(|i| shift + f64::from(i) / 1_000.0).collect::<Vec<_>>();
/// let found = estimate_arrays(&scores(0.5), &scores(0.0), &EstimateRequest::default())?;
/// println!("{}", found.verdict());
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// A value is out of range, a score is not finite, or there are too few scores.
pub fn estimate_arrays(
    scores_in: &[f64],
    scores_out: &[f64],
    request: &EstimateRequest,
) -> Result<Estimation> {
    let &EstimateRequest { ref analysis, fair_coins, claimed_epsilon, trade_off, .. } = request;
    let claimed_curve = request.claimed_curve.as_deref().map(ClaimedCurve::parse).transpose()?;
    let (one, choice) = check(analysis, claimed_epsilon)?;
    let estimate = |estimator: &dyn Estimator| -> misdeal_core::Result<EpsilonEstimate> {
        let estimate =
            if fair_coins { misdeal_statistics::from_coin_scores } else { misdeal_statistics::from_scores };
        estimate(scores_in, scores_out, choice, estimator, analysis.delta, analysis.significance)
    };
    let mut report = Estimation {
        request: None,
        scores_in: None,
        scores_out: None,
        scores: None,
        estimate: None,
        fair_coins,
        estimates: BTreeMap::new(),
        claimed_epsilon,
        violated: None,
        estimate_exceeds_claim: None,
        descriptive: None,
        remark: misdeal_statistics::reversed_auroc(scores_in, scores_out)?.map(|area| reversed(&area)),
        score_histogram: misdeal_statistics::histogram_of_scores(scores_in, scores_out)?,
        trade_off: None,
        seconds: 0.0,
    };
    let start = Instant::now();
    if analysis.estimator == "all" {
        for one in ESTIMATORS {
            let one = estimate(one)?;
            report.estimates.insert(one.estimator, one);
        }
        report.descriptive = Some(misdeal_statistics::describe_scores(scores_in, scores_out)?);
    } else {
        report.estimate = Some(estimate(one)?);
    }
    report.seconds = start.elapsed().as_secs_f64();
    if let (Some(claim), Some(one)) = (claimed_epsilon, &report.estimate) {
        report.violated = Some(one.violates(claim));
        report.estimate_exceeds_claim = Some(one.exceeds(claim));
    }
    if trade_off || claimed_curve.is_some() {
        let fewest = scores_in.len().min(scores_out.len()) as u64;
        let look = (choice == ThresholdChoice::Sequential).then(|| Look::last_within(fewest)).flatten();
        // A look has as many scores of both worlds, and no more than it takes.
        let first = |scores: &'_ [f64]| look.map_or(scores.len(), |look| look.trials() as usize);
        let observed = Observed::Scores {
            scores_in: &scores_in[..first(scores_in)],
            scores_out: &scores_out[..first(scores_out)],
        };
        let standing =
            if fair_coins { Standing::Unproven(NOT_INDEPENDENT.into()) } else { Standing::at(look) };
        let Analysis { delta, significance, .. } = *analysis;
        report.trade_off = Some(trade_off_report(
            &observed,
            None,
            (claimed_epsilon, claimed_curve.as_ref()),
            delta,
            significance,
            &standing,
        )?);
    }
    Ok(report)
}
