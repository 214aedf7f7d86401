//! Numbers for people: four significant digits, rounded to the side on which they stay true.

/// Four significant digits, and no more than the number needs.
///
/// ```
/// use misdeal_report::numbers::{rounded_down, rounded_up, significant};
/// assert_eq!([significant(3.29996), rounded_down(3.29996), rounded_up(3.29914)], ["3.3", "3.299", "3.3"]);
/// ```
pub fn significant(value: f64) -> String {
    rounded(value, f64::round)
}

/// As [`significant`], never above the value: for lower bounds.
pub fn rounded_down(value: f64) -> String {
    rounded(value, f64::floor)
}

/// As [`significant`], never below the value: for upper bounds.
pub fn rounded_up(value: f64) -> String {
    rounded(value, f64::ceil)
}

fn rounded(value: f64, round: impl Fn(f64) -> f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.is_infinite() {
        return "infinite".into();
    }
    if value.is_nan() {
        return "no number".into();
    }
    let digits = (3 - value.abs().log10().floor() as i32).max(0);
    let scale = 10_f64.powi(digits);
    let text = format!("{:.*}", digits as usize, round(value * scale) / scale);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A small probability: 1e-5 rather than 0.00001.
pub fn probability(value: f64) -> String {
    if value == 0.0 || value >= 0.001 { value.to_string() } else { format!("{value:e}") }
}

/// A p-value, of which the order of magnitude is what matters.
pub fn p_value(value: f64) -> String {
    match value {
        x if x < 1e-99 => "below 1e-99".into(),
        x if x < 0.001 => format!("{x:.1e}"),
        x => significant(x),
    }
}

/// A share of one hundred.
pub fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share))
}

/// A whole number with its digits in groups of three.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration.
pub fn seconds(value: f64) -> String {
    match value {
        x if x >= 7200.0 => format!("{} hours", significant(x / 3600.0)),
        x if x >= 120.0 => format!("{} minutes", significant(x / 60.0)),
        x => format!("{} s", significant(x)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_stay_true_and_counts_are_grouped() {
        for value in [0.717961262, 4.37717, 12.3456, 123456.7, 1e-7, 3.0] {
            let [down, up]: [f64; 2] =
                [rounded_down(value), rounded_up(value)].map(|text| text.parse().unwrap());
            assert!(down <= value && value <= up && up - down <= 1.1e-3 * value, "{down} {value} {up}");
        }
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([p_value(1e-120), p_value(2.34e-9), p_value(0.25)], ["below 1e-99", "2.3e-9", "0.25"]);
    }
}
