//! Checks model cards: what the card claims, what is proven, and what would keep the claim.
//!
//! # Which numbers count?
//! Theory comes first. An audit runs only if theory has no lower bound, or if the request asks for one. The verdict leads with the
//! largest valid bound.
//!
//! # Which noise is enough?
//! The least noise whose proven upper bound is at most the claim. It is rounded up, by at most three parts in ten thousand.

mod bounds;
mod card;
mod front_matter;
mod privacy_statement;
mod read;
mod sweep;

pub use sweep::sweep;

use crate::{Error, MechanismAudit, Progress, Result, RunOptions};
use bounds::{SchemeUse, Wanted};
use card::Training;
use misdeal_core::{BatchScheme, SchemeName, Setting, path_text};
use misdeal_results::request::{Card, CheckRequest};
use misdeal_results::{Checked, CheckedCard, CheckedScheme, Theory};
use misdeal_statistics::ThresholdChoice;
use read::ReadCard;
use std::collections::BTreeMap;

/// Checks model cards: gives bounds and the required noise for each scheme, and a verdict.
///
/// ```
/// use misdeal::request::{Card, CheckRequest};
/// use misdeal::{Unwatched, VerdictKind};
///
/// let card = Card {
///     dataset_size: Some(60_000),
///     batch_size: Some(512),
///     epochs: Some(15),
///     noise_multiplier: Some(0.8),
///     delta: Some(1e-5),
///     claimed_epsilon: Some(2.1),
///     scheme: Some("shuffle".into()),
///     ..Card::default()
/// };
/// let found = misdeal::check(&CheckRequest { card, ..CheckRequest::default() }, &Unwatched)?;
/// assert_eq!(found.cards[0].verdict().kind, VerdictKind::Refuted);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// A card cannot be read, a field is missing or out of range, or the run is interrupted.
pub fn check(request: &CheckRequest, progress: &dyn Progress) -> Result<Checked> {
    let cards = if request.cards.is_empty() {
        vec![ReadCard { card: request.card.clone(), remarks: Vec::new(), path: None }]
    } else {
        request.cards.iter().map(|path| read::card(path)).collect::<Result<_>>()?
    };
    let trainings = cards.iter().map(|read| {
        let refused = |error: misdeal_core::Error| match &read.path {
            Some(path) => misdeal_files::Error::refused(path, error).into(),
            None => Error::from(error),
        };
        Training::of(&read.card).map_err(refused)
    });
    let trainings = trainings.collect::<Result<Vec<_>>>()?;
    let checked = cards.into_iter().zip(trainings).map(|(read, training)| {
        if progress.is_interrupted() {
            return Err(Error::simulation_interrupted());
        }
        checked(read, &training, request, progress)
    });
    Ok(Checked { request: Some(request.clone()), cards: checked.collect::<Result<_>>()? })
}

/// Returns a card of the default setting. Its claim is the one that Poisson sampling would justify.
///
/// # Errors
/// None in practice: the setting is valid.
pub fn default_card() -> Result<Card> {
    let setting = Setting::default();
    let claim = crate::promised::poisson_claim(&setting, 1e-5);
    Ok(Card {
        name: Some("the default setting".into()),
        dataset_size: Some(setting.dataset_size()),
        batch_size: Some(setting.batch_size),
        epochs: Some(setting.epochs),
        noise_multiplier: Some(setting.noise_multiplier),
        delta: Some(1e-5),
        // Rounded up, as somebody would state it.
        claimed_epsilon: claim.map(|epsilon| (epsilon * 1000.0).ceil() / 1000.0),
        scheme: Some(setting.scheme.name().into()),
        ..Card::default()
    })
}

/// Returns a card with its bounds, and with an audit if one is needed or asked for.
fn checked(
    read: ReadCard,
    training: &Training,
    request: &CheckRequest,
    progress: &dyn Progress,
) -> Result<CheckedCard> {
    let mut card = checked_card(read, training, Wanted::BoundsAndNoise)?;
    let needs_audit = request.audit || request.observations.is_some() || card.epsilon_lower_bound.is_none();
    let scheme = training.scheme.unwrap_or(BatchScheme::Shuffle);
    if let Some(setting) = training.whole_epochs(scheme).filter(|_| needs_audit) {
        card.audit = Some(Box::new(audit(setting, training, &card.schemes, request, progress)?));
    }
    Ok(card)
}

/// Returns a card with what theory proves about it.
fn checked_card(read: ReadCard, training: &Training, wanted: Wanted) -> Result<CheckedCard> {
    let Training { setting, delta, claimed_epsilon, .. } = training;
    let schemes = all_schemes(training, wanted)?;
    // A side that is unknown of one scheme is unknown of all.
    let known = |side: usize| {
        let judged = setting.judged_schemes();
        judged.iter().map(|name| schemes[name].bounds.sides()[side]).collect::<Option<Vec<_>>>()
    };
    let epsilon_lower_bound = known(0).and_then(|all| all.into_iter().reduce(f64::min));
    let epsilon_upper_bound = known(1).and_then(|all| all.into_iter().reduce(f64::max));
    let file = read.path.as_deref().map(|path| path_text(path).into_owned());
    Ok(CheckedCard {
        name: read.card.name.or(file).unwrap_or_else(|| "this card".into()),
        setting: setting.clone(),
        delta: *delta,
        claimed_epsilon: *claimed_epsilon,
        epsilon_lower_bound,
        epsilon_upper_bound,
        schemes,
        remarks: training.remarks.iter().cloned().chain(read.remarks).collect(),
        audit: None,
    })
}

/// Returns what is proven of the card's scheme and of the two schemes that have an accountant. A card without a scheme counts as
/// shuffled.
fn all_schemes(training: &Training, wanted: Wanted) -> Result<BTreeMap<SchemeName, CheckedScheme>> {
    let checked = |scheme: BatchScheme, guess: Option<f64>| {
        Ok::<_, Error>((SchemeName::from(scheme), SchemeUse { training, scheme, guess }.checked(wanted)?))
    };
    let own = training.scheme.unwrap_or(BatchScheme::Shuffle);
    // Balls-in-bins needs nearly the noise of Poisson sampling, which is cheaper to find.
    let accounted = || {
        let poisson = checked(BatchScheme::Poisson, None)?;
        let bins = checked(BatchScheme::BallsInBins, poisson.1.noise_multiplier_needed)?;
        Ok::<_, Error>([poisson, bins])
    };
    let is_accounted = matches!(own, BatchScheme::Poisson | BatchScheme::BallsInBins);
    let (accounted, own) = rayon::join(accounted, || (!is_accounted).then(|| checked(own, None)).transpose());
    Ok(accounted?.into_iter().chain(own?).collect())
}

/// Work of an audit without a requested size: a second or two on two cores.
const BATCHES_OBSERVED: f64 = 2e9;

fn audit(
    setting: Setting,
    training: &Training,
    schemes: &BTreeMap<SchemeName, CheckedScheme>,
    request: &CheckRequest,
    progress: &dyn Progress,
) -> Result<misdeal_results::Audit> {
    let setting = Setting { seed: request.seed, ..setting };
    let observations = request.observations.unwrap_or_else(|| {
        let affordable = BATCHES_OBSERVED / setting.steps() as f64;
        // A round number, so that it reads well.
        let round = 10_f64.powf(affordable.clamp(1e4, 1e7).log10().floor());
        2 * ((affordable.clamp(1e4, 1e7) / round).floor() * round / 2.0) as u64
    });
    let names = [SchemeName::Poisson, setting.scheme.into()];
    let theory: Theory = names.into_iter().map(|name| (name, schemes[&name].bounds.clone())).collect();
    let mut run = RunOptions::new(observations);
    run.analysis.delta = training.delta;
    run.analysis.threshold_choice = ThresholdChoice::Band;
    run.claimed_epsilon = training.claimed_epsilon;
    run.theory = Some(theory);
    MechanismAudit { setting, run, ..MechanismAudit::default() }.play(progress)
}
