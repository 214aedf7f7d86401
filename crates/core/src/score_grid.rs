//! The grid on which scores are counted: 2^20 bins, the same for every run.
//!
//! Each bin has a sign, one of 256 binary exponents and the first eleven bits of the mantissa. Neighbouring edges
//! differ by less than 1/2048 of their size in the range where scores lie.
//!
//! # Why the float's own bits?
//! No range has to be chosen in advance. So any two stores of one setting merge, whenever and wherever they were
//! written. The cost: scores closer than one part in 2,048 may share a bin. Use `--scores exact` if that matters.
//!
//! # Formal guarantees
//! - [`bin`] is monotone: x <= y implies bin(x) <= bin(y).
//! - For finite x and any b up to [`BINS`]: bin(x) >= b if and only if x >= [`lower_edge`]\(b\). So predicting `In`
//!   from the bin equals predicting `In` from the score, at a threshold that is a bin edge. Bounds stay valid. The best
//!   edge shows at most as much as the best threshold.

/// The number of bins of the grid.
pub const BINS: u32 = 1 << 20;

/// The number of bins in one binade (one sign and one binary exponent).
pub(crate) const BINS_PER_BINADE: u32 = 1 << MANTISSA_BITS;

const MANTISSA_BITS: u32 = 11;
const DROPPED_BITS: u32 = 52 - MANTISSA_BITS;

/// The number of bins for one sign. Non-negative scores begin at this bin.
const HALF: u32 = BINS / 2;

/// The leading bits of 2^-128. Smaller magnitudes are counted in the same bin.
const SMALLEST: u64 = (1023 - 128) << MANTISSA_BITS;

/// The bin of a finite score, from 0 for the lowest to [`BINS`] - 1 for the highest.
///
/// Magnitudes below 2^-128 go into the bin next to zero on their side; -0.0 counts as 0.0. Magnitudes of 2^128 and more
/// go into the outermost bins.
#[inline]
pub fn bin(score: f64) -> u32 {
    let bits = (score + 0.0).to_bits();
    let leading = (bits & (u64::MAX >> 1)) >> DROPPED_BITS;
    let magnitude = leading.saturating_sub(SMALLEST).min(u64::from(HALF - 1)) as u32;
    // All bits are ones for a negative score, so bins count downwards from the one below zero.
    let sign = ((bits as i64) >> 63) as u32;
    HALF.wrapping_add(magnitude ^ sign)
}

/// The smallest score that [`bin`] puts into bin `bin` or a higher one.
///
/// It is the threshold that belongs to the bin.
///
/// The lowest bin begins at the smallest finite number. `lower_edge(BINS)` is infinite, because no score lies above all
/// bins.
///
/// ```
/// use misdeal_core::score_grid::{BINS, bin, lower_edge};
/// let edge = lower_edge(bin(3.14159));
/// assert!(edge <= 3.14159 && 3.14159 < edge * (1.0 + 1.0 / 2048.0));
/// assert_eq!(lower_edge(BINS), f64::INFINITY);
/// ```
pub fn lower_edge(bin: u32) -> f64 {
    let smallest_of = |magnitude: u32| f64::from_bits((SMALLEST + u64::from(magnitude)) << DROPPED_BITS);
    match bin {
        0 => f64::MIN,
        HALF => 0.0,
        BINS.. => f64::INFINITY,
        _ if bin > HALF => smallest_of(bin - HALF),
        // A negative bin includes its upper end, so the next bin further from zero begins at that magnitude.
        _ => -smallest_of(HALF - bin).next_down(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prelude::*, test_runner::RngSeed};

    #[test]
    fn every_edge_begins_its_bin() {
        for b in 0..BINS {
            let edge = lower_edge(b);
            assert_eq!(bin(edge), b, "{edge}");
            if b > 0 {
                assert_eq!(bin(edge.next_down()), b - 1, "{edge}");
            }
        }
        assert_eq!((bin(f64::MIN), bin(f64::MAX), bin(-0.0)), (0, BINS - 1, bin(0.0)));
    }

    fn finite() -> impl Strategy<Value = f64> {
        let any = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite());
        prop_oneof![any, -50.0..50.0_f64, Just(0.0), Just(-0.0)]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 4000,
            rng_seed: RngSeed::Fixed(20),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn monotone(x in finite(), y in finite()) {
            prop_assert_eq!(x <= y || bin(x) >= bin(y), true);
            prop_assert_eq!(x >= y || bin(x) <= bin(y), true);
        }

        #[test]
        fn edge_law(x in finite(), near in -3_i64..4, b in 0..=BINS) {
            for b in [b, (i64::from(bin(x)) + near).clamp(0, i64::from(BINS)) as u32] {
                prop_assert_eq!(bin(x) >= b, x >= lower_edge(b), "{} {}", x, b);
            }
        }
    }
}
