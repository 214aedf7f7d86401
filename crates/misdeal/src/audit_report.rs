//! What an audit found, beside what was promised.

use crate::measurement::{Measurement, Player, measure_from};
use crate::promised::{poisson_upper_bound, promised_within};
use crate::run::OpenStore;
use crate::trade_off::{Observed, TradeOffReport, WORK_FOR_CURVES, trade_off_report};
use crate::{
    Analysis, BufferSearch, ClaimedCurve, OutOfReach, Progress, Result, RunOptions, SCHEMA_VERSION,
    TrainingFigures,
};
use misdeal_core::{Bounds, ScoreStore, Setting, StoreKind};
use misdeal_files::stores::Claim;
use misdeal_results::{Judged, Verdict, VerdictKind};
use misdeal_statistics::{Descriptive, EpsilonEstimate, ScoreHistogram};
use misdeal_theory::work::{self, Work};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What an audit found.
#[derive(Debug, Clone, Serialize)]
pub struct AuditReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// What was audited.
    pub setting: Setting,
    /// Observations in both worlds together.
    pub observations: u64,
    /// Whether the run ended before all observations were made, because that was reached which it was to stop at.
    pub stopped_early: bool,
    /// The seed of all randomness.
    pub seed: u64,
    /// What the scores show.
    #[serde(flatten)]
    pub estimate: EpsilonEstimate,
    /// What they show by another analysis, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_estimate: Option<EpsilonEstimate>,
    /// How well the scores tell the worlds apart.
    pub descriptive: Descriptive,
    /// All scores in a few cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_histogram: Option<ScoreHistogram>,
    /// The claim that was tested.
    pub claimed_epsilon: Option<f64>,
    /// Whether a valid bound exceeds the claim; `None` without a claim.
    pub violated: Option<bool>,
    /// Whether the estimate exceeds the claim, valid or not; `None` without a claim.
    pub estimate_exceeds_claim: Option<bool>,
    /// What follows for the claim, by this audit or by theory.
    pub verdict: Verdict,
    /// What theory says, by scheme.
    pub theory: BTreeMap<&'static str, Bounds>,
    /// The trade-off curve beside those that are promised, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<TradeOffReport>,
    /// What is kept of a score.
    pub scores: StoreKind,
    /// The engine that played.
    pub engine: &'static str,
    /// Time from the first draw to epsilon.
    pub seconds: f64,
    /// Observations played in this run, each second.
    pub observations_per_second: f64,
    /// Where the scores were saved.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "misdeal_core::serialize_path_if_any")]
    pub store: Option<PathBuf>,
    /// The guesses of an adversary that does not know the buffer, if it was to guess.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_search: Option<BufferSearch>,
    /// What was trained, and what it is worth; `None` for the mechanism.
    #[serde(flatten)]
    pub training: Option<TrainingFigures>,
}

impl AuditReport {
    /// Whether the claim is the one that Poisson sampling would justify.
    pub fn claims_poisson(&self) -> bool {
        self.claimed_epsilon.is_some() && self.claimed_epsilon == poisson_upper_bound(&self.theory)
    }

    /// Whether a valid bound, of the audit or of theory, refutes the claim.
    pub fn refutes_the_claim(&self) -> bool {
        self.verdict.kind == VerdictKind::Refuted
    }

    /// What follows for the claim.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Sets the verdict from the estimate, the claim and theory.
    pub(crate) fn judged(mut self) -> Self {
        let scheme = self.setting.scheme;
        let bounds = self.theory.get(scheme.name()).map_or([None, None], Bounds::sides);
        self.verdict = Judged::of(&self.estimate, self.claimed_epsilon).verdict(Some(scheme), bounds);
        self
    }
}

/// Plays, estimates, and sets the estimate beside theory.
pub(crate) fn audit(
    command: &'static str,
    player: &dyn Player,
    request: &RunOptions,
    progress: &dyn Progress,
) -> Result<AuditReport> {
    audit_from(command, player, request, None, progress)
}

/// As [`audit`], going on from trials that were played elsewhere.
pub(crate) fn audit_from(
    command: &'static str,
    player: &dyn Player,
    request: &RunOptions,
    held: Option<ScoreStore>,
    progress: &dyn Progress,
) -> Result<AuditReport> {
    request.check()?;
    let setting = player.setting();
    let open = match held {
        None => request.open_store(setting, player.lineage(), player.stream())?,
        Some(store) => OpenStore { store, claim: request.store.as_deref().map(Claim::on).transpose()? },
    };
    // A run that stops when its claim is refuted must know the claim, and whoever waits for one should know whether it can be.
    let theory = request.theory.clone().unwrap_or_else(|| theory_beside(setting, request));
    let mut request = Cow::Borrowed(request);
    if request.claimed_epsilon.is_none()
        && let Some(claim) = poisson_upper_bound(&theory)
    {
        request.to_mut().claimed_epsilon = Some(claim);
        request.to_mut().claimed_curve.get_or_insert(ClaimedCurve::Poisson);
    }
    let proven = theory.get(setting.scheme.name()).and_then(|bounds| bounds.epsilon_upper_bound);
    if let Some(claim) = request.claimed_epsilon
        && player.scores_are_independent()
        && proven.is_none_or(|upper| upper > claim)
        && let Some(claim) = OutOfReach::of(&request, claim, &open.store, player.scores_per_observation())?
    {
        progress.cannot_refute(&claim);
    }
    let (measurement, store) = measure_from(player, &request, open, progress)?;
    report(command, setting, &request, measurement, &store, Some(theory))
}

/// Theory's bounds; curves, where they are asked for, take their part of the work.
fn theory_beside(setting: &Setting, request: &RunOptions) -> BTreeMap<&'static str, Bounds> {
    let curves = if request.trade_off { WORK_FOR_CURVES } else { 0.0 };
    promised_within(setting, request.analysis.delta, &Work::of(work::COMMAND - curves))
}

/// Sets what was measured beside theory, which is computed if it is not given.
pub(crate) fn report(
    command: &'static str,
    setting: &Setting,
    request: &RunOptions,
    measurement: Measurement,
    store: &ScoreStore,
    theory: Option<BTreeMap<&'static str, Bounds>>,
) -> Result<AuditReport> {
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
    let claimed_epsilon = request.claimed_epsilon.or(poisson_upper_bound(&theory));
    let claims_poisson = request.claimed_epsilon.is_none() && claimed_epsilon.is_some();
    let claimed_curve = request.claimed_curve.or(claims_poisson.then_some(ClaimedCurve::Poisson));
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
    Ok(AuditReport {
        schema_version: SCHEMA_VERSION,
        command,
        version: env!("CARGO_PKG_VERSION"),
        setting: setting.clone(),
        observations,
        stopped_early,
        seed: setting.seed,
        claimed_epsilon,
        violated: claimed_epsilon.map(|claim| estimate.violates(claim)),
        estimate_exceeds_claim: claimed_epsilon.map(|claim| estimate.exceeds(claim)),
        estimate,
        second_estimate: second_estimate.transpose()?,
        descriptive: misdeal_statistics::describe(store)?,
        score_histogram: misdeal_statistics::histogram(store),
        theory,
        trade_off: trade_off.transpose()?,
        scores: request.scores,
        engine,
        seconds,
        observations_per_second,
        store: request.store.clone(),
        buffer_search: None,
        training: None,
        verdict: Verdict::default(),
    }
    .judged())
}
