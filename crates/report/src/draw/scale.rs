//! Maps numbers on an axis to places in a panel.

use misdeal_results::numbers::significant;

/// A place far outside every panel, which drawing programs can still handle.
const OUTSIDE: f64 = 1e4;
/// The most ticks on an axis.
const MOST_TICKS: usize = 100;
/// The range of ticks that a logarithmic axis writes as plain numbers.
const PLAIN: std::ops::Range<f64> = 1e-3..2e4;

/// An axis, and where it lies in a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The numbers at the axis's ends.
    pub ends: [f64; 2],
    /// The places of the axis's ends.
    pub places: [f64; 2],
    /// Whether the axis is logarithmic.
    pub log: bool,
}

impl Scale {
    /// The place of a number. Numbers far outside, or without a logarithm, get a place outside the panel.
    pub fn place(&self, value: f64) -> f64 {
        let along = |value: f64| if self.log { value.max(0.0).log10() } else { value };
        let ([low, high], [start, end]) = (self.ends.map(along), self.places);
        let place = start + (end - start) * ((along(value) - low) / (high - low));
        if place.is_nan() { start } else { place.clamp(-OUTSIDE, OUTSIDE) }
    }

    /// Ticks and their labels, all in one notation. At most about `most` ticks have a label.
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

/// Ticks of a linear axis. Their step is 1, 2 or 5 times a power of ten.
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

/// Ticks of a logarithmic axis: powers of ten. If these are few, also their multiples by 2 and 5.
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

/// Rounds off the last bits, where sums and products leave errors.
fn tidy(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// The label of a number on a linear axis.
fn shown(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-3..1e6).contains(&size) { power_of_ten(value) } else { value.to_string() }
}

/// Writes a number with a power of ten: 2·10⁻⁷ for 2e-7.
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
