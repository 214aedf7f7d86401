//! The likelihood ratio over the whole domain of settings, against mpmath with 60 digits (`testdata/scripts/likelihood.py`).

use misdeal_game::{Shifts, TargetModel, log_likelihood_ratio, log_likelihood_ratio_with_variances};
use misdeal_schemes::{PositionLaw, Weights};
use misdeal_testkit::golden;

#[derive(serde::Deserialize)]
struct Golden {
    #[allow(clippy::type_complexity, reason = "a row of a table")]
    cases: Vec<(String, f64, f64, f64, u64, u64, u32, usize, String)>,
}

/// The script's outputs: the same bits, from one product and one sum.
fn outputs(seed: u32, count: usize, noise: f64, shift: f64, every: usize) -> Vec<f64> {
    let mut state = seed;
    (0..count)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let z = f64::from(state >> 8) / f64::from(1 << 20) - 8.0;
            let noisy = noise * z;
            noisy + if i % every == 0 { shift } else { 0.0 }
        })
        .collect()
}

/// Where noise is small, evidence is a product of large numbers, and its own rounding is the error: relative to the largest evidence.
#[test]
fn agrees_with_sixty_digits_everywhere() {
    let golden: Golden = golden("likelihood.toml");
    assert!(golden.cases.len() > 800);
    let mut largest: f64 = 0.0;
    for (law, parameter, noise, present, steps, epochs, seed, every, exact) in &golden.cases {
        let values = outputs(*seed, (steps * epochs) as usize, *noise, *present, *every);
        let exact: f64 = exact.parse().unwrap();
        let weights: Vec<f64> = (0..*steps).map(|t| parameter.powi(t as i32)).collect();
        let total: f64 = weights.iter().sum();
        let weights = Weights::new(0, weights.into_iter().map(|weight| weight / total).collect());
        let law = match law.as_str() {
            "each-step" => PositionLaw::EachStep { probability: *parameter },
            "once" => PositionLaw::OnceAnEpoch(weights),
            _ => PositionLaw::KeptForAllEpochs(weights),
        };
        let model = TargetModel { law, shifts: Shifts { present: *present, zeroed: present - 1.0 } };
        let size =
            values.iter().map(|y| (present * y).abs() + present * present).sum::<f64>() / (noise * noise);
        let variances = vec![noise * noise; values.len()];
        for ours in [
            log_likelihood_ratio(&model, *noise, &(0..*steps), &values),
            log_likelihood_ratio_with_variances(&model, *steps, &variances, &values),
        ] {
            let error = (ours - exact).abs() / (1e-15 * size + 1e-14 * exact.abs() + 1e-14);
            assert!(error < 4.0, "{ours} for {exact}: {model:?}, noise {noise}");
            largest = largest.max(error);
        }
    }
    println!("largest error: {largest:.1} of the unit of rounding");
}
