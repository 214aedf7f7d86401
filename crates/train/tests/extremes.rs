//! Models with extreme numbers in every field: trained like the reference, or refused with the field, never worse.

use misdeal_core::{Blueprint, CanaryKind, Recipe, Setting, ThreatModel, World};
use misdeal_testkit::tiny;
use misdeal_train::TrainingPlan;
use misdeal_train::data::Shape;
use misdeal_train::reference;
use proptest::prelude::*;

/// The paths of the arithmetic: sizes that fit, sizes whose products overflow 32 or 64 bits, and the ends of TOML's numbers.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 0..8_u64,
        1 => 8..3_000_u64,
        1 => (0..63_u32, -1..=1_i64).prop_map(|(power, off)| (1_u64 << power).saturating_add_signed(off)),
        1 => Just(i64::MAX as u64),
    ]
}

fn layer() -> impl Strategy<Value = String> {
    prop_oneof![
        number().prop_map(|outputs| format!("{{ kind = 'linear', outputs = {outputs} }}")),
        (number(), number(), number()).prop_map(|(filters, size, padding)| format!(
            "{{ kind = 'convolution', filters = {filters}, size = {size}, padding = {padding} }}"
        )),
        // Wrapped around, this one's number of taps is small.
        (0..64_u64).prop_map(|more| format!(
            "{{ kind = 'convolution', filters = 2, size = {}, padding = {} }}",
            (1_u64 << 32) + more,
            (1_u64 << 31) - 1 + more / 2
        )),
        number().prop_map(|size| format!("{{ kind = 'max-pooling', size = {size} }}")),
        number().prop_map(|size| format!("{{ kind = 'average-pooling', size = {size} }}")),
        Just("{ kind = 'tanh' }".to_owned()),
        Just("{ kind = 'relu' }".to_owned()),
    ]
}

fn setting() -> Setting {
    let threat_model = ThreatModel::PartiallyInformed;
    Setting { steps_per_epoch: 2, batch_size: 4, noise_multiplier: 0.7, threat_model, ..Setting::default() }
}

/// A plan for a model; a refusal must say what is wrong, what is allowed and what to do.
fn plan(model: &str, shape: Shape) -> Option<TrainingPlan> {
    let blueprint = Blueprint::from_toml(model).unwrap();
    let recipe = Recipe { canary: CanaryKind::Dirac, learning_rate: 0.1, ..Recipe::new(blueprint) };
    let plan = TrainingPlan::new(&setting(), &recipe, tiny::noise(shape, 3, 8));
    match plan.and_then(|plan| plan.parallelism().map(|_| plan)) {
        Ok(plan) => Some(plan),
        Err(error) => {
            let line = error.to_string();
            assert!(
                line.starts_with("model is ") && line.contains("allowed") && line.contains(';'),
                "{line}"
            );
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn any_model_trains_like_the_reference_or_is_refused(
        layers in prop::collection::vec(layer(), 0..4),
        channels in 1..4_usize,
        height in 1..9_usize,
        width in 1..9_usize,
    ) {
        let layers = layers.into_iter().chain(["{ kind = 'linear' }".to_owned()]).collect::<Vec<_>>();
        let model = format!("name = 'extreme'\nlayers = [{}]", layers.join(", "));
        let Some(plan) = plan(&model, Shape { channels, height, width }) else { return Ok(()) };
        // More would take seconds in plain loops.
        if plan.operations_per_model() > 2e7 {
            return Ok(());
        }
        let ours = plan.train(&mut plan.workspace(), World::In, 0, &|| false).unwrap().outputs;
        let exact = reference::train(&plan, World::In, 0);
        for (a, b) in exact.projections[0].iter().zip(&ours.projections[0]) {
            prop_assert!((a - b).abs() < 1e-3, "{a} {b} {model}");
        }
        for (a, b) in exact.parameters.iter().zip(&ours.parameters) {
            prop_assert!((a - b).abs() < 1e-3, "{a} {b} {model}");
        }
    }
}

/// These read beyond their slices, or overflowed on the way there.
#[test]
fn products_that_wrap_around_are_refused() {
    let shape = Shape { channels: 1, height: 28, width: 28 };
    for (layer, named) in [
        ("kind = 'convolution', filters = 2, size = 4294967296, padding = 2147483647", "size = 4294967296"),
        ("kind = 'convolution', filters = 2, size = 3, padding = 9223372036854775807", "padding from 0 to 2"),
        (
            "kind = 'convolution', filters = 2, size = 9223372036854775807, padding = 9223372036854775806",
            "size from 1 to 16384",
        ),
        ("kind = 'convolution', filters = 4611686018427387904, size = 2", "filters from 1 to 268435456"),
        ("kind = 'convolution', filters = 2, size = 29", "size from 1 to 28"),
        ("kind = 'convolution', filters = 268435456, size = 2", "at most 268435456 outputs"),
        ("kind = 'convolution', filters = 0, size = 2", "filters = 0"),
        ("kind = 'max-pooling', size = 4294967296", "size from 1 to 28"),
        ("kind = 'linear', outputs = 9223372036854775807", "outputs = 9223372036854775807"),
    ] {
        let model = format!("name = 'huge'\nlayers = [{{ {layer} }}, {{ kind = 'linear' }}]");
        let recipe = Recipe::new(Blueprint::from_toml(&model).unwrap());
        let error = TrainingPlan::new(&setting(), &recipe, tiny::noise(shape, 3, 8)).unwrap_err().to_string();
        assert!(error.contains(named) && error.contains("layer 1"), "{named}: {error}");
    }
}
