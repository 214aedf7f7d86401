//! Code shared by schemes that use each record once, by uniform choices.

use super::{CERTAIN_LEAD, SchemeEvidence};
use crate::choices::{Choices, logarithms};
use crate::logged_epochs::LoggedEpoch;
use crate::orders::Orders;
use crate::p_values::Tests;
use crate::rank_tests;
use libm::{lgamma, log};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};
use rayon::prelude::*;

/// The orders of a log, or the reason why no scheme with fixed batch sizes can have made it.
pub fn fixed_sizes<'a>(evidence: &SchemeEvidence<'a>) -> Result<&'a Orders, String> {
    let orders = once(evidence)?;
    orders.uneven.clone().map_or(Ok(orders), Err)
}

/// The orders of a log, or the reason why no scheme that uses each record once can have made it.
pub fn once<'a>(evidence: &SchemeEvidence<'a>) -> Result<&'a Orders, String> {
    let why = "many records are dealt several times in an epoch, but it deals each once";
    evidence.orders.ok_or_else(|| why.to_owned())
}

/// Logarithm of the probability of these epochs; `None` if one of them is not possible.
///
/// For every repeated entry that was removed, the description of its place and its record is subtracted.
pub fn log_likelihood(choices: Choices, orders: &Orders, epochs: &[LoggedEpoch]) -> Option<f64> {
    let n = orders.dataset_size;
    let logarithms = logarithms(if orders.ordered { 0 } else { orders.batch_size });
    let of_epoch = |epoch: &LoggedEpoch| {
        let order = choices.log_probability(epoch.records.len(), n);
        if orders.ordered {
            return Some(order);
        }
        let inner = match choices {
            Choices::All => Some(epoch.steps().map(|step| lgamma(step.len() as f64 + 1.0)).sum()),
            _ => choices.log_inner_orders(epoch, n, &logarithms),
        };
        inner.map(|inner: f64| order + inner)
    };
    let sums: Option<Vec<f64>> = epochs.par_iter().map(of_epoch).collect();
    Some(sums?.iter().sum::<f64>() - 2.0 * orders.repeated as f64 * log(n as f64))
}

/// The log-likelihood of a buffer's possible orders minus that of a full shuffle.
///
/// This is also minus the logarithm of the probability that a full shuffle gives orders that the buffer could have made.
pub fn lead(choices: Choices, orders: &Orders) -> f64 {
    let n = orders.dataset_size;
    let of_epoch = |epoch: &LoggedEpoch| {
        let dealt = epoch.records.len();
        choices.log_probability(dealt, n) - Choices::All.log_probability(dealt, n)
    };
    orders.distinct_epochs().iter().map(of_epoch).sum()
}

/// Tests the choices of these epochs. Steps without order get a random possible order.
pub fn tests(choices: Choices, orders: &Orders, epochs: &[LoggedEpoch]) -> Tests {
    let n = orders.dataset_size;
    if orders.ordered {
        return rank_tests::test(choices, epochs, n);
    }
    let with_orders =
        |(index, epoch): (usize, &LoggedEpoch)| choices.with_inner_orders(epoch, n, index as u64);
    let epochs: Vec<LoggedEpoch> = epochs.par_iter().enumerate().map(with_orders).collect();
    rank_tests::test(choices, &epochs, n)
}

/// The candidate for a scheme that draws every epoch anew, with the given choices.
///
/// If all epochs are the same, the scheme may also have drawn only once. Nobody intends that, so this explanation is penalised by
/// [`CERTAIN_LEAD`].
pub fn drawn_anew_or_reused(
    scheme: LoggedScheme,
    choices: Choices,
    orders: &Orders,
    mut parameters: SchemeParameters,
) -> Candidate {
    let impossible = || {
        Candidate::impossible(scheme, "an order within the batches that it could have made does not exist")
    };
    let Some(once) = log_likelihood(choices, orders, orders.distinct_epochs()) else { return impossible() };
    let anew = if orders.reused { once * orders.epochs.len() as f64 } else { once };
    let reused = orders.reused && once - CERTAIN_LEAD > anew;
    let tests = tests(choices, orders, if reused { orders.distinct_epochs() } else { &orders.epochs });
    parameters.order_is_reused = reused.then_some(true);
    Candidate {
        scheme,
        parameters,
        log_likelihood: Some(if reused { once - CERTAIN_LEAD } else { anew }),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}
