//! The kernels of trainings go through the device's compiler, which needs no device.

use misdeal_core::{Blueprint, CanaryKind, Precision, Recipe, Setting, Stream, ThreatModel};
use misdeal_cuda::compile_source;
use misdeal_cuda::training::{Program, Tuning};
use misdeal_testkit::tiny;
use misdeal_train::TrainingPlan;
use misdeal_train::data::Shape;

/// Bytes of shared memory of a block on the devices that the kernels are compiled for.
const SHARED_BYTES: usize = 227 * 1024;

#[test]
fn the_kernels_of_trainings_compile() {
    let setting = Setting { threat_model: ThreatModel::PartiallyInformed, ..tiny::setting() };
    let records = setting.dataset_size() as usize;
    let mut bits = (*tiny::noise(Shape::flat(600), 100, records)).clone();
    bits.train.features.iter_mut().for_each(|feature| *feature = feature.round().abs());
    let bits = std::sync::Arc::new(bits);
    let plans = [
        (tiny::recipe(tiny::CONVOLUTIONS, CanaryKind::Random), tiny::dataset(records)),
        (Recipe::new(Blueprint::named("mlp").unwrap()), bits),
    ];
    for (recipe, dataset) in plans {
        let plan = TrainingPlan::with_stream(&setting, &recipe, dataset, Stream::philox).unwrap();
        for precision in [Precision::F32, Precision::Tf32] {
            let program = Program::new(&plan, precision, Tuning::default(), SHARED_BYTES);
            assert_eq!(program.fused.is_some(), recipe.model.name == "mlp");
            match compile_source(&program.source(), &[], 9, 0) {
                Err(reason) if reason.is_missing() => misdeal_testkit::skip(reason),
                code => assert!(code.unwrap().len() > 10_000),
            }
        }
    }
}
