//! What theory says about the scheme that was audited.

use misdeal_core::{BatchScheme, Bounds, Setting};
use misdeal_theory::gaussian::Gaussian;
use misdeal_theory::shuffle_max::LargestOutput;
use std::collections::BTreeMap;

/// Bounds on epsilon under the setting's scheme, by the scheme's name.
pub fn promised(setting: &Setting, delta: f64) -> BTreeMap<&'static str, Bounds> {
    let fixed_order = Gaussian::fixed_order(setting.noise_multiplier, setting.epochs);
    let upper = setting.scheme.uses_each_record_once().then(|| fixed_order.epsilon_upper_bound(delta));
    let lower = match setting.scheme {
        BatchScheme::Shuffle if setting.epochs == 1 => Some(
            LargestOutput::shuffle(setting.noise_multiplier, setting.steps_per_epoch)
                .epsilon_lower_bound(delta),
        ),
        _ => None,
    };
    let bounds = Bounds { epsilon_lower_bound: lower, epsilon_upper_bound: upper, method: "".into() };
    BTreeMap::from([(setting.scheme.name(), bounds)])
}
