//! What theory says, beside epsilon.

use crate::program::{json, misdeal};

#[test]
fn delta_and_epsilon_are_inverse() {
    let folder = tempfile::tempdir().unwrap();
    for subject in ["--scheme shuffle --steps-per-epoch 20", "--sampling-probability 0.01 --steps 500"] {
        let report = json(folder.path(), &format!("account {subject} --epsilon 1.5"));
        assert_eq!(report["epsilon"], 1.5);
        for (name, found) in report["deltas"].as_object().unwrap() {
            let sides =
                [("delta_lower_bound", "epsilon_lower_bound"), ("delta_upper_bound", "epsilon_upper_bound")];
            for (delta, epsilon) in sides {
                let back = json(folder.path(), &format!("account {subject} --delta {}", found[delta]));
                let epsilon = back["schemes"][name][epsilon].as_f64().unwrap();
                assert!((epsilon / 1.5 - 1.0).abs() < 2e-3, "{name} {delta}: {epsilon}");
            }
        }
    }
}

#[test]
fn trade_off_curves_fall_from_one_to_zero() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), "account --steps-per-epoch 10 --buffer-size 300 --trade-off");
    let curves = report["trade_offs"].as_object().unwrap();
    assert_eq!(curves.len(), 9);
    for (name, curve) in curves {
        let rates = curve["false_positive_rates"].as_array().unwrap();
        for side in ["false_negative_rate_lower_bounds", "false_negative_rate_upper_bounds"] {
            let Some(values) = curve[side].as_array() else { continue };
            let values: Vec<f64> = values.iter().map(|value| value.as_f64().unwrap()).collect();
            assert_eq!(values.len(), rates.len());
            assert!(values.is_sorted_by(|a, b| a >= b) && values[0] > 0.999, "{name}");
            assert!(values[values.len() - 1] < 0.01, "{name}");
        }
    }
}

#[test]
fn other_methods_stand_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), "account --steps-per-epoch 50 --compare");
    for one in report["comparisons"].as_array().unwrap() {
        let bounds = &report["schemes"][one["scheme"].as_str().unwrap()];
        if let Some(upper) = one["epsilon_upper_bound"].as_f64() {
            assert!(upper >= bounds["epsilon_upper_bound"].as_f64().unwrap(), "{one}");
        }
        if let Some(lower) = one["epsilon_lower_bound"].as_f64() {
            assert!(lower <= bounds["epsilon_lower_bound"].as_f64().unwrap(), "{one}");
        }
    }
    let text =
        misdeal(folder.path(), "account --steps-per-epoch 10 --epsilon 1 --trade-off --compare").stdout;
    for words in ["At epsilon 1:", "false-negative rate of any adversary", "random allocation", "Chua et al."]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}
