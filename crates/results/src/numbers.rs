//! Formats numbers for people.
//!
//! Most numbers have four significant digits. Lower bounds are rounded down and upper bounds up, so both stay true.

use std::ops::Range;

/// The range of numbers that are written in full. Others are written with a power of ten.
const PLAIN: Range<f64> = 1e-6..1e9;

/// Formats a number with at most four significant digits, without trailing zeros.
///
/// ```
/// use misdeal_results::numbers::{rounded_down, rounded_up, significant};
/// assert_eq!([significant(3.29996), rounded_down(3.29996), rounded_up(3.29914)], ["3.3", "3.299", "3.3"]);
/// ```
pub fn significant(value: f64) -> String {
    rounded(value, f64::round)
}

/// Like [`significant`], but rounds down. Use it for lower bounds.
pub fn rounded_down(value: f64) -> String {
    rounded(value, f64::floor)
}

/// Like [`significant`], but rounds up. Use it for upper bounds.
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
    if !PLAIN.contains(&value.abs()) {
        return scientific(value, round);
    }
    let digits = (3 - value.abs().log10().floor() as i32).max(0);
    let scale = 10_f64.powi(digits);
    let text = format!("{:.*}", digits as usize, round(value * scale) / scale);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats with four significant digits and a power of ten, such as 1.234e300.
///
/// The code works on the written digits, so no product can overflow or underflow.
fn scientific(value: f64, round: impl Fn(f64) -> f64) -> String {
    let nearest = format!("{value:.3e}");
    let (mantissa, power) = nearest.split_once('e').unwrap_or((&nearest, "0"));
    let (mut thousandths, mut power) =
        (mantissa.replace('.', "").parse().unwrap_or(0_i64), power.parse().unwrap_or(0_i32));
    thousandths += round(remainder(value, &nearest)) as i64;
    // The last step may have left the mantissas from 1 to 10, by one thousandth.
    if thousandths.abs() < 1000 {
        // Whatever was rounded up to 1 is at least 0.9999.
        (thousandths, power) = (9999 * thousandths.signum(), power - 1);
    } else if thousandths.abs() >= 10_000 {
        (thousandths, power) = (thousandths / 10, power + 1);
    }
    let digits = format!("{:.3}", thousandths as f64 / 1000.0);
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Tells on which side of the written number `nearest` the value lies.
///
/// Returns 0.4 if the value is above, -0.4 if it is below, and 0 if it is equal. The unit is the last written digit.
fn remainder(value: f64, nearest: &str) -> f64 {
    let written: f64 = nearest.parse().unwrap_or(value);
    if written == value { 0.0 } else { 0.4_f64.copysign(value - written) }
}

/// Formats a noise multiplier with seven decimals.
///
/// A multiplier that is proven to be enough is rounded up. One below which noise is known to be too small is rounded down.
pub fn noise_multiplier(value: f64, is_enough: bool) -> String {
    const LAST_DIGIT: f64 = 1e-7;
    let round = if is_enough { f64::ceil } else { f64::floor };
    if !PLAIN.contains(&value) {
        return rounded(value, round);
    }
    let nearest = format!("{value:.7}");
    let step = LAST_DIGIT * round(remainder(value, &nearest));
    format!("{:.7}", nearest.parse().unwrap_or(value) + step)
}

/// Formats the ratio of a lower bound to a claim, rounded down.
///
/// The ratio has two decimals below 1.2 and one decimal up to 1000.
///
/// ```
/// use misdeal_results::numbers::times;
/// assert_eq!([times(3.299, 0.7181), times(0.7857, 0.72)], ["4.5", "1.09"]);
/// ```
pub fn times(lower_bound: f64, claim: f64) -> String {
    match lower_bound / claim {
        ratio if ratio < 1.2 => format!("{:.2}", (100.0 * ratio).floor() / 100.0),
        ratio if ratio < 1000.0 => format!("{:.1}", (10.0 * ratio).floor() / 10.0),
        ratio => rounded_down(ratio),
    }
}

/// Formats a probability; a small one is written as 1e-5, not 0.00001.
pub fn probability(value: f64) -> String {
    // A quotient such as 1 / 60,000 has more digits than anybody reads.
    let is_long = format!("{value:e}").len() > 12;
    let value = if is_long { format!("{value:.3e}").parse().unwrap_or(value) } else { value };
    if value == 0.0 || (0.001..PLAIN.end).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

/// Formats a p-value. A small one has two digits, because only its order of magnitude matters.
pub fn p_value(value: f64) -> String {
    match value {
        x if x < 1e-99 => "below 1e-99".into(),
        x if x < 0.001 => format!("{x:.1e}"),
        x => significant(x),
    }
}

/// Formats a share as a percentage: 0.05 becomes `5 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share))
}

/// Formats the confidence 1 - `significance` as a percentage.
///
/// The percentage is rounded down and never exceeds 99.99 %. `significance` is the largest probability with which the bound fails.
///
/// ```
/// use misdeal_results::numbers::confidence;
/// assert_eq!([confidence(0.05), confidence(1e-9)], ["95 %", "99.99 %"]);
/// ```
pub fn confidence(significance: f64) -> String {
    // Differences of decimals may lie a little below the decimal that is meant.
    const LAST_BITS: f64 = 1e-9;
    format!("{} %", rounded_down((100.0 * (1.0 - significance) + LAST_BITS).min(99.99)))
}

/// Formats a whole number with its digits in groups of three: 1,234,567.
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

/// Formats a number of epochs: `1 epoch`, `2 epochs`.
pub fn epochs(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "epoch" } else { "epochs" })
}

/// Formats a duration in seconds, minutes or hours.
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
        let ordinary = [0.717961262, 4.37717, 12.3456, 123456.7, 1e-7, 3.0];
        let extreme = [1e-307, 9.9996e-307, 1.00004e-7, 9.99999e9, 1.00001e9, 1e300, 3.14159e300];
        for value in ordinary.into_iter().chain(extreme) {
            let [down, up]: [f64; 2] =
                [rounded_down(value), rounded_up(value)].map(|text| text.parse().unwrap());
            assert!(down <= value && value <= up && up - down <= 1.1e-3 * value, "{down} {value} {up}");
        }
        let extremes =
            [significant(1e300), rounded_up(9.9999e299), rounded_down(1.0004e-9), rounded_up(-2.00001e-8)];
        assert_eq!(extremes, ["1e300", "1e300", "1e-9", "-2e-8"]);
        assert_eq!([rounded_down(9.9996e-7), rounded_down(f64::from_bits(1))], ["9.999e-7", "4.941e-324"]);
        let noises =
            [1.99381286, 1.99381284, 0.79].map(|noise| [true, false].map(|is| noise_multiplier(noise, is)));
        assert_eq!(noises[0], ["1.9938129", "1.9938128"]);
        assert_eq!(noises[1], ["1.9938129", "1.9938128"]);
        assert_eq!(noises[2], ["0.7900000", "0.7900000"]);
        assert_eq!([times(1.2, 0.6), times(0.7857, 0.72), times(1e300, 1.0)], ["2.0", "1.09", "1e300"]);
        let levels = [0.05, 0.07, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-300, 0.0, 0.0333333].map(confidence);
        let expected = ["95", "93", "90", "99", "99.9", "99.99", "99.99", "99.99", "99.99", "96.66"];
        assert_eq!(levels, expected.map(|share| format!("{share} %")));
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([p_value(1e-120), p_value(2.34e-9), p_value(0.25)], ["below 1e-99", "2.3e-9", "0.25"]);
    }
}
