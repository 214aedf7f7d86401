//! How many records a data set may have, beyond those that a log shows.

use libm::{exp, lgamma, log};

/// A data set size is ruled out if the log would be less probable than this.
const UNLIKELY: f64 = 1e-6;

/// Upper bounds on the size of a data set, if the log shows no record from `seen` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargestSize {
    /// The bound for schemes that use each record once an epoch.
    pub once_an_epoch: usize,
    /// The bound for schemes that draw every batch anew.
    pub drawn_anew: usize,
}

impl LargestSize {
    /// Bounds for a size that the user stated.
    pub fn stated(size: usize) -> Self {
        LargestSize { once_an_epoch: size, drawn_anew: size }
    }

    /// Computes the bounds from the number of records in each epoch. All records are below `seen`, called n here.
    ///
    /// The first k records of a uniform order of N records are all below n with probability C(n, k) / C(N, k). For batches drawn
    /// anew, with m entries in total, the probability is at most (n / N)^m. Sizes N whose probability is below 1e-6 are ruled out.
    pub fn of(dealt: &[usize], seen: usize) -> Self {
        let n = seen as f64;
        let log_choose = |n: f64, k: f64| lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
        let is_possible = |size: usize| {
            let of_epoch = |&dealt: &usize| {
                let k = dealt.min(seen) as f64;
                log_choose(n, k) - log_choose(size as f64, k)
            };
            dealt.iter().map(of_epoch).sum::<f64>() >= log(UNLIKELY)
        };
        let most = 1_usize << 40;
        let once_an_epoch = if is_possible(most) { most } else { last(seen, most, is_possible) };
        let entries: usize = dealt.iter().sum();
        let drawn_anew = (n * exp(-log(UNLIKELY) / entries.max(1) as f64)).min(most as f64) as usize;
        LargestSize { once_an_epoch, drawn_anew: drawn_anew.max(seen) }
    }
}

/// The largest number for which `holds` is true; it is true for `low` and false for `high`.
fn last(mut low: usize, mut high: usize, holds: impl Fn(usize) -> bool) -> usize {
    while high - low > 1 {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_epochs_leave_no_room_and_short_ones_do() {
        assert_eq!(LargestSize::of(&[1000; 3], 1000).once_an_epoch, 1000);
        // 1 / C(1002, 1000) is 2e-6.
        assert_eq!(LargestSize::of(&[1000], 1000).once_an_epoch, 1002);
        let single = LargestSize::of(&[1], 1).once_an_epoch;
        assert!((999_900..=1_000_000).contains(&single), "{single}");
        assert!(LargestSize::of(&[2, 2], 4).once_an_epoch > 50);
        let anew = LargestSize::of(&[1000; 3], 1000).drawn_anew;
        assert!((1000..1010).contains(&anew), "{anew}");
        assert!(LargestSize::of(&[2], 2).drawn_anew >= 1999);
    }
}
