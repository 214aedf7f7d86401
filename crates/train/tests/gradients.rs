//! The reference's gradients against PyTorch's and against finite differences.

use misdeal_core::{Blueprint, Loss};
use misdeal_testkit::golden;
use misdeal_testkit::tiny;
use misdeal_train::Model;
use misdeal_train::data::Shape;
use misdeal_train::reference::Network;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    model: String,
    classes: usize,
    label: usize,
    parameters: usize,
    loss: f64,
    norm: f64,
    layer_norms: Vec<f64>,
    places: Vec<usize>,
    gradient: Vec<f64>,
}

const ODD: &str = "
    name = 'odd'
    layers = [
        { kind = 'convolution', filters = 3, size = 3, padding = 2 }, { kind = 'relu' }, { kind = 'max-pooling', size = 2 },
        { kind = 'convolution', filters = 5, size = 2 }, { kind = 'tanh' }, { kind = 'average-pooling', size = 3 },
        { kind = 'linear' },
    ]";

/// The script's formulas.
fn parameters(model: &Model) -> Vec<f64> {
    let mut parameters: Vec<f64> = (0..model.parameters).map(|i| libm::sin(0.7 * i as f64 + 0.3)).collect();
    for weights in model.layers.iter().filter_map(|layer| layer.weights) {
        let scale = (weights.inputs as f64).sqrt();
        parameters[weights.range()].iter_mut().for_each(|parameter| *parameter /= scale);
    }
    parameters
}

fn record(shape: Shape) -> Vec<f32> {
    (0..shape.features()).map(|j| (0.5 * (1.0 + libm::sin(1.3 * j as f64 + 0.1))) as f32).collect()
}

fn norm(gradient: &[f64]) -> f64 {
    gradient.iter().map(|g| g * g).sum::<f64>().sqrt()
}

#[test]
fn losses_and_gradients_are_pytorch_s() {
    let golden: Golden = golden("training_gradients.toml");
    assert_eq!(golden.case.len(), 4);
    for case in golden.case {
        let (blueprint, shape) = match case.model.as_str() {
            "mlp" => (Blueprint::named("mlp"), Shape::flat(600)),
            "lenet" => (Blueprint::named("lenet"), Shape { channels: 1, height: 28, width: 28 }),
            "cnn" => (Blueprint::named("cnn"), Shape { channels: 3, height: 32, width: 32 }),
            _ => (Blueprint::from_toml(ODD), Shape { channels: 2, height: 7, width: 9 }),
        };
        let model = Model::new(&blueprint.unwrap(), shape, case.classes).unwrap();
        assert_eq!(model.parameters, case.parameters);
        let network = Network::new(&model);
        let (parameters, record) = (parameters(&model), record(shape));
        let close = |ours: f64, theirs: f64, what: &str| {
            assert!(
                (ours - theirs).abs() < 1e-11 * (1.0 + theirs.abs()),
                "{} {what}: {ours} {theirs}",
                case.model
            );
        };
        close(network.loss(&parameters, &record, case.label), case.loss, "loss");
        let gradient = network.gradient(&parameters, &record, case.label);
        close(norm(&gradient), case.norm, "norm");
        let layers = model.layers.iter().filter_map(|layer| layer.weights);
        for (weights, theirs) in layers.zip(case.layer_norms) {
            close(norm(&gradient[weights.range()]), theirs, "layer");
        }
        for (place, theirs) in case.places.into_iter().zip(case.gradient) {
            close(gradient[place], theirs, "gradient");
        }
    }
}

/// Central differences with a step of 1e-5, every parameter, both losses.
#[test]
fn gradients_are_the_loss_s_slopes() {
    let shape = Shape { channels: 1, height: 6, width: 6 };
    let record = record(shape);
    for text in [tiny::CONVOLUTIONS, tiny::PERCEPTRON] {
        for loss in [Loss::SoftmaxCrossEntropy, Loss::SquaredError] {
            let blueprint = Blueprint { loss, ..Blueprint::from_toml(text).unwrap() };
            let model = Model::new(&blueprint, shape, 3).unwrap();
            let network = Network::new(&model);
            let mut parameters = parameters(&model);
            let gradient = network.gradient(&parameters, &record, 1);
            for place in 0..model.parameters {
                let here = parameters[place];
                let mut at = |value| {
                    parameters[place] = value;
                    network.loss(&parameters, &record, 1)
                };
                let slope = (at(here + 1e-5) - at(here - 1e-5)) / 2e-5;
                parameters[place] = here;
                assert!((slope - gradient[place]).abs() < 1e-8, "{place}: {slope} {}", gradient[place]);
            }
        }
    }
}
