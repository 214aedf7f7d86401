//! Memory is predicted before it is taken.

use crate::{MEMORY, alone};
use misdeal_core::{Blueprint, CanaryKind, Recipe, Setting, ThreatModel};
use misdeal_testkit::tiny;
use misdeal_train::data::Shape;
use misdeal_train::{MOST_BYTES, TrainingPlan};

fn plan(
    layers: &str,
    shape: Shape,
    change: impl Fn(&mut Setting, &mut Recipe),
) -> Result<TrainingPlan, String> {
    let blueprint = Blueprint::from_toml(&format!("name = 'wide'\nlayers = [{layers}]")).unwrap();
    let mut recipe = Recipe { canary: CanaryKind::Dirac, ..Recipe::new(blueprint) };
    let threat_model = ThreatModel::PartiallyInformed;
    let mut setting = Setting { steps_per_epoch: 2, batch_size: 4, threat_model, ..Setting::default() };
    change(&mut setting, &mut recipe);
    let plan =
        TrainingPlan::new(&setting, &recipe, tiny::noise(shape, 3, 8)).map_err(|error| error.to_string())?;
    plan.parallelism().map_err(|error| error.to_string())?;
    Ok(plan)
}

#[test]
fn memory_is_told_before_it_is_taken() {
    let _alone = alone();
    let wide = |outputs: u64| format!("{{ kind = 'linear', outputs = {outputs} }}, {{ kind = 'linear' }}");
    let deep = "{ kind = 'average-pooling', size = 1 }, ".repeat(1000) + "{ kind = 'linear' }";
    let image = Shape { channels: 1, height: 100, width: 100 };
    let big_filters =
        "{ kind = 'convolution', filters = 2, size = 2001, padding = 1000 }, { kind = 'linear' }";
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    for (layers, shape, field) in [
        (wide(200_000).as_str(), Shape::flat(784), "model is wide with 157600003 parameters"),
        (&deep, image, "model is wide"),
        (big_filters, image, "model is wide"),
    ] {
        let refusal = plan(layers, shape, |_, _| ()).unwrap_err();
        assert!(refusal.starts_with(field) && refusal.contains("within 800 MB"), "{refusal}");
    }
    let small = wide(8);
    let refusal = plan(&small, Shape::flat(4), |s, _| s.epochs = 1 << 28).unwrap_err();
    assert!(refusal.starts_with("epochs is 268435456") && refusal.contains("within 800 MB"), "{refusal}");
    let many = |_: &mut Setting, r: &mut Recipe| (r.canary, r.canaries) = (CanaryKind::Random, 4);
    let refusal = plan(&wide(20_000), Shape::flat(1000), many).unwrap_err();
    assert!(refusal.starts_with("canaries is 4"), "{refusal}");
    assert!(MEMORY.peak_usage() - before < 10 << 20, "{} bytes", MEMORY.peak_usage());

    // What is not refused takes no more than was told, on as many cores as fit, with the same scores.
    let plan = plan(&wide(200_000), Shape::flat(20), |_, _| ()).unwrap();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(64).build().unwrap();
    let (told, spread) = pool.install(|| (plan.workspace_bytes(), plan.parallelism().unwrap()));
    assert!(spread.cores < 64 && (spread.cores * told) as u64 <= MOST_BYTES, "{spread:?} {told}");
    let spread_out = pool.install(|| plan.score(0..16, &|| false, &|| ())).unwrap();
    let taken = MEMORY.peak_usage() - before;
    assert!(taken <= spread.cores * told + (1 << 20), "{taken} bytes for {spread:?}, {told} each");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| plan.score(0..16, &|| false, &|| ())).unwrap(), spread_out);
}
