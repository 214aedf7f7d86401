//! Compares the results of an audit with theory and the claim.

use crate::measurement::{Measurement, Player, empty_store, measure_from};
use crate::promised::promised_within;
use crate::run::{ClaimedStore, OpenStore};
use crate::trade_off::{Observed, WORK_FOR_CURVES, trade_off_report};
use crate::{Analysis, ClaimOutOfReach, ClaimedCurve, Progress, Result, RunOptions};
use misdeal_core::{ScoreStore, Setting, path_text};
use misdeal_results::{Audit, Theory};
use misdeal_theory::work::{self, Work};
use std::borrow::Cow;

/// Runs a checked request, estimates epsilon and compares it with theory.
pub(crate) fn audit(
    player: &dyn Player,
    request: &RunOptions,
    place: ClaimedStore,
    progress: &dyn Progress,
) -> Result<Audit> {
    audit_from(player, request, place.open(empty_store(player, request)?)?, progress)
}

/// Like [`audit`], but resumes from an open store.
pub(crate) fn audit_from(
    player: &dyn Player,
    request: &RunOptions,
    open: OpenStore,
    progress: &dyn Progress,
) -> Result<Audit> {
    let setting = player.setting();
    // A run that stops when its claim is refuted must know the claim, and whoever waits for one should know whether it can be.
    let theory = request.theory.clone().unwrap_or_else(|| theory_beside(setting, request));
    let mut request = Cow::Borrowed(request);
    if request.claimed_epsilon.is_none()
        && let Some(claim) = theory.poisson_upper_bound()
    {
        request.to_mut().claimed_epsilon = Some(claim);
        request.to_mut().claimed_curve.get_or_insert(ClaimedCurve::Poisson);
    }
    let proven = theory.sides(setting.scheme)[1];
    if let Some(claim) = request.claimed_epsilon
        && player.scores_are_independent()
        && proven.is_none_or(|upper| upper > claim)
        && let Some(claim) =
            ClaimOutOfReach::of(&request, claim, &open.store, player.scores_per_observation())?
    {
        progress.cannot_refute(&claim);
    }
    let (measurement, store) = measure_from(player, &request, open, progress)?;
    report(setting, &request, measurement, &store, Some(theory))
}

/// Returns theory's bounds. If curves are asked for, they use a part of the work.
fn theory_beside(setting: &Setting, request: &RunOptions) -> Theory {
    let curves = if request.trade_off { WORK_FOR_CURVES } else { 0.0 };
    promised_within(setting, request.dataset_size, request.analysis.delta, &Work::of(work::COMMAND - curves))
}

/// Compares a measurement with theory. Theory is computed if it is not given.
pub(crate) fn report(
    setting: &Setting,
    request: &RunOptions,
    measurement: Measurement,
    store: &ScoreStore,
    theory: Option<Theory>,
) -> Result<Audit> {
    let Analysis { delta, significance, .. } = request.analysis;
    let Measurement {
        observations,
        stopped_early,
        estimate,
        standing,
        engine,
        seconds,
        observations_per_second,
    } = measurement;
    let theory = theory.unwrap_or_else(|| theory_beside(setting, request));
    let claimed_epsilon = request.claimed_epsilon.or(theory.poisson_upper_bound());
    let claims_poisson = request.claimed_epsilon.is_none() && claimed_epsilon.is_some();
    let claimed_curve = request.claimed_curve.as_ref().or(claims_poisson.then_some(&ClaimedCurve::Poisson));
    let trade_off = request.trade_off.then(|| {
        let observed = Observed::Store(store);
        let claim = (claimed_epsilon, claimed_curve);
        trade_off_report(&observed, Some(setting), claim, delta, significance, &standing)
    });
    let second_estimate = request.second_analysis.as_ref().map(|other| {
        let significance = standing.share() * other.significance;
        let mut estimate = Analysis { significance, ..other.clone() }.of_store(store)?;
        standing.mark(&mut estimate);
        Ok::<_, crate::Error>(estimate)
    });
    Ok(Audit {
        request: None,
        setting: setting.clone(),
        observations,
        stopped_early,
        seed: setting.seed,
        claimed_epsilon,
        violated: claimed_epsilon.map(|claim| estimate.violates(claim)),
        estimate_exceeds_claim: claimed_epsilon.map(|claim| estimate.exceeds(claim)),
        unused_records: request.dataset_size.map(|records| records.saturating_sub(setting.dataset_size())),
        estimate,
        second_estimate: second_estimate.transpose()?,
        descriptive: Some(misdeal_statistics::describe(store)?),
        score_histogram: misdeal_statistics::histogram(store),
        theory,
        trade_off: trade_off.transpose()?,
        scores: request.scores,
        engine,
        stream: Some(store.stream().to_owned()),
        seconds,
        observations_per_second,
        store: request.store.as_deref().map(|path| path_text(path).into_owned()),
        buffer_search: None,
        training: None,
    })
}
