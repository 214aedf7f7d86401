//! From numbers on an axis to places in a panel.

use misdeal_results::numbers::significant;

/// A position far outside every panel that drawing programs can still handle.
const OUTSIDE: f64 = 1e4;
/// Ticks of an axis, at most.
const MOST_TICKS: usize = 100;
/// The range in which a logarithmic axis has plain numbers.
const PLAIN: std::ops::Range<f64> = 1e-3..2e4;

/// An axis between two places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The numbers at its ends.
    pub ends: [f64; 2],
    /// The places of its ends.
    pub places: [f64; 2],
    /// Whether it is logarithmic.
    pub log: bool,
}

impl Scale {
    /// Where a number lies; what is far outside, or has no logarithm, lies outside.
    pub fn place(&self, value: f64) -> f64 {
        let along = |value: f64| if self.log { value.max(0.0).log10() } else { value };
        let ([low, high], [start, end]) = (self.ends.map(along), self.places);
        let place = start + (end - start) * ((along(value) - low) / (high - low));
        if place.is_nan() { start } else { place.clamp(-OUTSIDE, OUTSIDE) }
    }

    /// Ticks and their words, all in one notation; at most about `most` have words.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if !self.log {
            return linear(self.ends, most).into_iter().map(|tick| (tick, shown(tick))).collect();
        }
        let ticks = logarithmic(self.ends, most);
        let are_plain = ticks.iter().all(|tick| PLAIN.contains(tick));
        let words = |tick: f64| if are_plain { significant(tick) } else { power_of_ten(tick) };
        ticks.into_iter().map(|tick| (tick, words(tick))).collect()
    }
}

/// Numbers from one end to the other in steps of 1, 2 or 5.
fn linear([from, to]: [f64; 2], most: usize) -> Vec<f64> {
    let rough = (to - from) / most as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= rough);
    let Some(step) = step.filter(|step| step.is_finite() && *step > 0.0) else { return Vec::new() };
    let first = (from / step - 1e-9).ceil();
    let ticks = (0..MOST_TICKS).map(|i| (first + i as f64) * step);
    let mut ticks: Vec<f64> = ticks.take_while(|tick| *tick <= to + 1e-9 * step).map(tidy).collect();
    ticks.dedup();
    ticks
}

/// Powers of ten, and steps between them where there are few.
fn logarithmic([from, to]: [f64; 2], most: usize) -> Vec<f64> {
    let [low, high] = [from.log10(), to.log10()];
    if !(high - low).is_finite() {
        return Vec::new();
    }
    let every = (((high - low) / most as f64).ceil() as i32).max(1);
    let steps: &[f64] = if high - low < most as f64 / 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = (low.floor() as i32..=high.floor() as i32).filter(|power| power % every == 0);
    let ticks = powers.flat_map(|power| steps.iter().map(move |step| tidy(step * 10_f64.powi(power))));
    let ticks: Vec<f64> =
        ticks.filter(|tick| (from * (1.0 - 1e-9)..=to * (1.0 + 1e-9)).contains(tick)).collect();
    if ticks.len() > 1 { ticks } else { linear([from, to], most) }
}

/// Without the last bits that sums and products leave.
fn tidy(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A number on a linear axis.
fn shown(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-3..1e6).contains(&size) { power_of_ten(value) } else { value.to_string() }
}

/// 2·10⁻⁷ for 2e-7.
fn power_of_ten(value: f64) -> String {
    let text = format!("{:e}", format!("{value:.3e}").parse().unwrap_or(value));
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = |c: char| match c {
        '-' => '⁻',
        digit => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize - '0' as usize).unwrap_or(digit),
    };
    let power: String = power.chars().map(raised).collect();
    if mantissa == "1" { format!("10{power}") } else { format!("{mantissa}·10{power}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(ends: [f64; 2], log: bool) -> Vec<String> {
        let scale = Scale { ends, places: [0.0, 100.0], log };
        scale.ticks(6).into_iter().map(|(_, words)| words).collect()
    }

    #[test]
    fn ticks_of_an_axis_are_in_one_notation() {
        assert_eq!(words([0.0, 1.0], false), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(words([0.0, 20_000.0], false), ["0", "5000", "10000", "15000", "20000"]);
        assert_eq!(words([1e-4, 1.0], true), ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        assert_eq!(words([0.8, 2000.0], true), ["1", "10", "100", "1000"]);
        assert_eq!(words([0.8, 12.0], true), ["1", "2", "5", "10"]);
        assert_eq!(words([9e4, 4e5], true), ["10⁵", "2·10⁵"]);
    }

    #[test]
    fn every_axis_has_few_ticks_and_every_number_a_place() {
        let extremes = [[0.0, 1e300], [-1e299, 1e299], [1e-300, 1e300], [1.0, 1.0 + 1e-15], [0.0, 5e-324]];
        for ends in extremes {
            for log in [false, true] {
                let scale = Scale { ends, places: [0.0, 100.0], log };
                assert!(scale.ticks(6).len() <= MOST_TICKS, "{ends:?}");
                for value in [0.0, -1.0, 1e308, -1e308, ends[0], ends[1]] {
                    assert!(scale.place(value).abs() <= OUTSIDE, "{ends:?} {value}");
                }
            }
        }
    }
}
