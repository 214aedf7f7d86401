//! Canaries: the gradients that replace the targets' own gradients.

use misdeal_core::ClosedSet;
mod least_variance;

use crate::data::Examples;
use crate::model::Model;
use misdeal_core::{CanaryKind, Error, Loss, Purpose, Recipe, Result, Stream, World, gaussian};

/// A gradient of norm `clip_norm` that is zero outside consecutive parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Canary {
    /// Index of the first parameter.
    pub start: usize,
    /// The gradient's values from `start` on.
    pub values: Vec<f32>,
}

impl Canary {
    fn new(start: usize, direction: &[f64], clip_norm: f64) -> Self {
        let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        Canary { start, values: direction.iter().map(|x| (x * clip_norm / norm) as f32).collect() }
    }

    /// The range of parameters where the canary may be nonzero.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.values.len()
    }

    /// The inner product with a gradient, divided by C^2.
    pub fn projection(&self, gradient: &[f64], clip_norm: f64) -> f64 {
        let sum: f64 = self.values.iter().zip(&gradient[self.range()]).map(|(&c, g)| f64::from(c) * g).sum();
        sum / (clip_norm * clip_norm)
    }
}

/// The canaries of a recipe: orthogonal, of norm C, the same in all trials.
///
/// - `random`: Gaussian directions from the setting's stream, made orthogonal one after the other.
/// - `dirac`: one parameter for each canary, counted backwards from the last parameter (the last layer's last bias).
/// - `null-space` with softmax cross-entropy: the same value in all weights of one row of the last layer. The first canary uses
///   the row of biases, the others use hidden units. The gradient with respect to the outputs, p - y, sums to zero over the
///   classes for every record at every parameter value. So does each row h (p - y). Natural gradients, clipped or not, are
///   therefore orthogonal to these directions, up to rounding.
/// - `null-space` with any other loss: directions among the last layer's biases in which a sample of clipped gradients has the
///   smallest second moment. Natural gradients are small in these directions, but not zero.
///
/// # Errors
/// The recipe wants more canaries than there are such directions.
pub(crate) fn canaries(
    recipe: &Recipe,
    model: &Model,
    examples: &Examples,
    records: usize,
    stream: &Stream,
) -> Result<Vec<Canary>> {
    let (count, last, clip_norm) = (recipe.canaries, model.last_weights(), recipe.clip_norm);
    let exact = model.loss == Loss::SoftmaxCrossEntropy;
    let most = match recipe.canary {
        CanaryKind::Random => model.parameters.min(64),
        CanaryKind::Dirac => model.parameters,
        CanaryKind::NullSpace if exact => last.inputs + 1,
        CanaryKind::NullSpace => last.outputs,
    };
    if !(1..=most).contains(&count) {
        let hint =
            format!("that is how many orthogonal {} directions this model offers", recipe.canary.name());
        return Err(Error::bad_value("canaries", count, format!("a whole number from 1 to {most}"), hint));
    }
    Ok(match recipe.canary {
        CanaryKind::Random => random(count, model.parameters, clip_norm, stream),
        CanaryKind::Dirac => {
            (1..=count).map(|k| Canary::new(model.parameters - k, &[1.0], clip_norm)).collect()
        }
        CanaryKind::NullSpace if exact => {
            let row = |k| Canary::new(last.row(last.inputs - k).start, &vec![1.0; last.outputs], clip_norm);
            (0..count).map(row).collect()
        }
        CanaryKind::NullSpace => least_variance::directions(model, examples, records, clip_norm, stream)
            .iter()
            .take(count)
            .map(|direction| Canary::new(last.biases().start, direction, clip_norm))
            .collect(),
    })
}

fn random(count: usize, parameters: usize, clip_norm: f64, stream: &Stream) -> Vec<Canary> {
    let mut directions: Vec<Vec<f64>> = Vec::with_capacity(count);
    for k in 0..count as u64 {
        let number = |i: u64| {
            let block = stream.block(Stream::long_counter(Purpose::Canary, World::In, k, i));
            gaussian(block as u32, || (block >> 64) as u64)
        };
        let mut direction: Vec<_> = (0..parameters as u64).map(number).collect();
        for earlier in &directions {
            let dot: f64 = direction.iter().zip(earlier).map(|(a, b)| a * b).sum();
            direction.iter_mut().zip(earlier).for_each(|(a, b)| *a -= dot * b);
        }
        let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in &mut direction {
            *x /= norm;
        }
        directions.push(direction);
    }
    directions.iter().map(|direction| Canary::new(0, direction, clip_norm)).collect()
}
