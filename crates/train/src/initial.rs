//! Parameters before the first step.

use crate::model::Model;
use misdeal_core::{Purpose, Stream, World};

/// Initial weights and biases, uniform on (-r, r) with r = 1 / sqrt(inputs).
///
/// PyTorch initialises linear and convolution layers in the same way. Random numbers come from the trial's own stream: parameter i
/// uses 24 bits of word i.
pub fn initial_parameters(model: &Model, stream: &Stream, world: World, trial: u64) -> Vec<f32> {
    let mut parameters = vec![0.0; model.parameters];
    fill_initial_parameters(model, stream, world, trial, &mut parameters);
    parameters
}

/// Writes the [`initial_parameters`] of a trial to `parameters`.
pub(crate) fn fill_initial_parameters(
    model: &Model,
    stream: &Stream,
    world: World,
    trial: u64,
    parameters: &mut [f32],
) {
    for (index, four) in (0..).zip(parameters.chunks_mut(4)) {
        let block = stream.block(Stream::long_counter(Purpose::InitialParameters, world, trial, index));
        for (word, parameter) in (0..).zip(four) {
            let bits = (block >> (32 * word)) as u32 >> 8;
            *parameter = (bits as f32 + 0.5) * 2.0_f32.powi(-23) - 1.0;
        }
    }
    for weights in model.layers.iter().filter_map(|layer| layer.weights) {
        let bound = (1.0 / (weights.inputs as f64).sqrt()) as f32;
        parameters[weights.range()].iter_mut().for_each(|parameter| *parameter *= bound);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Shape;
    use misdeal_core::{Blueprint, Setting};

    /// Tests mean and variance of each layer's weights as normal deviates with limit 5.5; the total false-alarm rate is 1e-6.
    #[test]
    fn every_layer_is_uniform_within_its_bound() {
        let image = Shape { channels: 1, height: 28, width: 28 };
        let model = Model::new(&Blueprint::named("lenet").unwrap(), image, 2).unwrap();
        let stream = Stream::new(&Setting::default().hash());
        let parameters = initial_parameters(&model, &stream, World::In, 3);
        assert_eq!(parameters, initial_parameters(&model, &stream, World::In, 3));
        assert_ne!(parameters, initial_parameters(&model, &stream, World::In, 4));
        for weights in model.layers.iter().filter_map(|layer| layer.weights) {
            let scale = (weights.inputs as f64).sqrt();
            let values: Vec<_> = parameters[weights.range()].iter().map(|&w| f64::from(w) * scale).collect();
            assert!(values.iter().all(|value| value.abs() <= 1.0));
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / (count / 3.0).sqrt();
            let square = values.iter().map(|v| v * v - 1.0 / 3.0).sum::<f64>() / (count * 4.0 / 45.0).sqrt();
            assert!(mean.abs() < 5.5 && square.abs() < 5.5, "{mean} {square}");
        }
    }
}
