//! Unequal weights in few groups: exact if there are few weights, otherwise rounded to a stated side.
//!
//! `delta(l) = E_0 (sum_t w_t g(y_t))+` is convex in the weights. All `y_t` have the same law, so it is also symmetric.
//! Therefore it is Schur-convex. The original weights majorise weights averaged within groups, so averaging makes every
//! divergence smaller. Weights moved to the ends of their group, with the same sum, majorise the originals, so this
//! makes every divergence larger. Proof: `docs/proofs/buffers.md`.

use super::shift_pair::WeightGroup;
use crate::pld::Side;

/// Groups that replace `weights`, of at most `bins` different sizes (three per bin on the upper side).
///
/// The result is exact if there are at most `bins` different positive weights. Otherwise divergences are never too
/// large for [`Side::Lower`] and never too small for [`Side::Upper`]. Weights of zero get no group.
pub(super) fn grouped(weights: &[f64], side: Side, bins: usize) -> Vec<WeightGroup> {
    let mut sorted: Vec<f64> = weights.iter().copied().filter(|&weight| weight > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let distinct = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq());
    if distinct.clone().count() <= bins {
        return distinct.map(|same| WeightGroup { weight: same[0], batches: same.len() as u64 }).collect();
    }
    // Weights within a factor of 2^(10 / bins) share a bin. All weights below a thousandth of the largest share one
    // bin.
    let largest = sorted[sorted.len() - 1];
    let bin = |weight: f64| ((largest / weight).log2() * bins as f64 / 10.0).min(bins as f64 - 1.0) as usize;
    sorted.chunk_by(|&a, &b| bin(a) == bin(b)).flat_map(|members| merge(members, side)).collect()
}

/// The members of one bin as one mean, or as both ends and one weight between them that keeps the sum.
fn merge(members: &[f64], side: Side) -> Vec<WeightGroup> {
    let count = members.len();
    let (low, high) = (members[0], members[count - 1]);
    let sum: f64 = members.iter().sum();
    if side == Side::Lower || low >= high {
        return vec![WeightGroup { weight: sum / count as f64, batches: count as u64 }];
    }
    let at_high = (((sum - count as f64 * low) / (high - low)).floor().max(0.0) as usize).min(count - 1);
    let between = sum - at_high as f64 * high - (count - 1 - at_high) as f64 * low;
    [(low, count - 1 - at_high), (between, 1), (high, at_high)]
        .into_iter()
        .filter(|(_, batches)| *batches > 0)
        .map(|(weight, batches)| WeightGroup { weight, batches: batches as u64 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(groups: &[WeightGroup]) -> (f64, u64) {
        groups.iter().fold((0.0, 0), |(sum, count), group| {
            (sum + group.weight * group.batches as f64, count + group.batches)
        })
    }

    #[test]
    fn few_weights_stay_as_they_are() {
        let groups = grouped(&[0.25, 0.0, 0.5, 0.25], Side::Upper, 4);
        let expected = [(0.25, 2), (0.5, 1)].map(|(weight, batches)| WeightGroup { weight, batches });
        assert_eq!(groups, expected);
    }

    /// Compares partial sums of the largest weights, by the definition of majorisation.
    #[test]
    fn sides_are_ordered_by_majorisation() {
        let weights: Vec<f64> = (0..200).map(|t| 0.95_f64.powi(t) * 0.05).collect();
        let partial_sums = |groups: Vec<WeightGroup>| -> Vec<f64> {
            let mut all: Vec<f64> =
                groups.iter().flat_map(|g| std::iter::repeat_n(g.weight, g.batches as usize)).collect();
            all.sort_by(|a, b| f64::total_cmp(b, a));
            all.iter()
                .scan(0.0, |sum, weight| {
                    *sum += weight;
                    Some(*sum)
                })
                .collect()
        };
        let (lower, upper) = (grouped(&weights, Side::Lower, 5), grouped(&weights, Side::Upper, 5));
        assert!(lower.len() == 5 && upper.len() <= 15);
        assert_eq!(total(&lower).1, 200);
        assert!((total(&lower).0 - total(&upper).0).abs() < 1e-12);
        let exact = partial_sums(grouped(&weights, Side::Lower, 1000));
        for ((low, middle), high) in partial_sums(lower).iter().zip(&exact).zip(partial_sums(upper)) {
            assert!(*low <= middle + 1e-12 && *middle <= high + 1e-12);
        }
    }
}
