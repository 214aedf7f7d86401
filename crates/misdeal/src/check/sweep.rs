//! Checks a model card over a range of one or two fields.

use super::bounds::Wanted;
use super::card::Training;
use super::{checked_card, read::ReadCard};
use crate::{Error, Progress, Result};
use misdeal_core::SchemeName;
use misdeal_results::request::{Card, SweepRequest, Variation};
use misdeal_results::{CheckedCard, Swept, VariedField};
use rayon::prelude::*;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};

/// Checks a card at each point of a range or grid. Uses theory alone and does not compute the required noise.
///
/// ```
/// use misdeal::Unwatched;
/// use misdeal::request::{Card, SweepRequest};
///
/// let card = Card { dataset_size: Some(1000), batch_size: Some(100), epochs: Some(1), delta: Some(1e-5), ..Card::default() };
/// let request = SweepRequest { vary: vec!["noise-multiplier=1,2".into()], card };
/// assert_eq!(misdeal::sweep(&request, &Unwatched)?.cards.len(), 2);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// A field cannot vary, a value is not allowed in a card, or the run is interrupted.
pub fn sweep(request: &SweepRequest, progress: &dyn Progress) -> Result<Swept> {
    let variations = request.variations()?;
    let mut cards = vec![request.card.clone()];
    for variation in &variations {
        cards = cards
            .iter()
            .flat_map(|card| variation.values.iter().map(|value| with(card, variation, value)))
            .collect();
    }
    // A bad point is refused before any is computed.
    let points = cards.into_iter().map(|card| Ok((Training::of(&card)?, card)));
    let points = points.collect::<Result<Vec<_>>>()?;
    let done = AtomicU64::new(0);
    let claims_poisson =
        request.card.claimed_epsilon.is_none() && variations.iter().all(|one| one.field != "claimed_epsilon");
    let total = points.len() as u64;
    let checked = points.into_par_iter().map(|(training, card)| {
        if progress.is_interrupted() {
            return Err(Error::simulation_interrupted());
        }
        let read = ReadCard { card, remarks: Vec::new(), path: None };
        let mut found = checked_card(read, &training, Wanted::Bounds)?;
        if claims_poisson {
            found.claimed_epsilon =
                found.scheme(SchemeName::Poisson).and_then(|poisson| poisson.bounds.epsilon_upper_bound);
        }
        progress.observed(1 + done.fetch_add(1, Ordering::Relaxed), total);
        Ok(found)
    });
    let cards = checked.collect::<Result<Vec<CheckedCard>>>()?;
    let varied = variations.into_iter().map(|Variation { field, values }| VariedField { field, values });
    Ok(Swept { request: Some(request.clone()), varied: varied.collect(), claims_poisson, cards })
}

/// Returns the card with one field changed. The request has already checked the field and the type of its values.
fn with(card: &Card, variation: &Variation, value: &Value) -> Card {
    let mut card = card.clone();
    match variation.field.as_str() {
        "dataset_size" => card.dataset_size = value.as_u64(),
        "batch_size" => card.batch_size = value.as_u64(),
        "epochs" => card.epochs = value.as_u64(),
        "steps" => card.steps = value.as_u64(),
        "buffer_size" => card.buffer_size = value.as_u64(),
        "noise_multiplier" => card.noise_multiplier = value.as_f64(),
        "delta" => card.delta = value.as_f64(),
        "claimed_epsilon" => card.claimed_epsilon = value.as_f64(),
        _ => card.scheme = value.as_str().map(str::to_owned),
    }
    card
}
