//! Several audits at once, with levels at which the largest of their bounds is valid.

use misdeal_core::{Error, Result};

/// A family of bounds or tests that share one significance.
///
/// # Formal guarantees
/// - Bounds at the levels [`level`](Family::level) all hold together with confidence 1 - significance (Bonferroni), for
///   any dependence between them. So the largest bound may be reported as if it were the only one.
/// - [`refuted`](Family::refuted) refutes a true claim with probability at most the significance, also for any
///   dependence (Holm, 1979).
///
/// ```
/// use misdeal_statistics::Family;
/// // Four guesses of a buffer's size, the first thought to be the likeliest.
/// let family = Family::weighted(0.05, &[2.0, 1.0, 1.0, 1.0])?;
/// assert!((family.level(0) - 0.02).abs() < 1e-15);
/// assert_eq!(family.refuted(&[0.015, 0.2, 0.016, 0.001]), [true, false, true, true]);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    significance: f64,
    shares: Vec<f64>,
}

impl Family {
    /// A family of `members` members with equal weights.
    ///
    /// # Errors
    /// No members, or a significance outside (0, 0.5].
    pub fn even(significance: f64, members: usize) -> Result<Self> {
        Self::weighted(significance, &vec![1.0; members])
    }

    /// A family with weights that were fixed before the data were seen.
    ///
    /// The weights need not add up to 1.
    ///
    /// # Errors
    /// No members, a weight that is not a positive number, or a significance outside (0, 0.5].
    pub fn weighted(significance: f64, weights: &[f64]) -> Result<Self> {
        crate::check_levels(0.0, significance)?;
        let total: f64 = weights.iter().sum();
        if let Some(bad) = weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
            return Err(Error::bad_value(
                "weights",
                bad,
                "a finite number above 0",
                "leave out what is not tested",
            ));
        }
        if weights.is_empty() || !total.is_finite() {
            let hint = "a family has at least one member";
            return Err(Error::bad_value(
                "weights",
                format!("{} of them", weights.len()),
                "one or more",
                hint,
            ));
        }
        Ok(Family { significance, shares: weights.iter().map(|weight| weight / total).collect() })
    }

    /// The significance level of one member's bound.
    pub fn level(&self, member: usize) -> f64 {
        self.significance * self.shares[member]
    }

    /// Which claims are refuted, given the members' p-values in order, by weighted Holm.
    ///
    /// The procedure visits the members in order of p-value over share. A member is refuted if its p-value is at most
    /// the significance times its share of the remaining shares. The first member that is not refuted ends the
    /// procedure.
    ///
    /// # Panics
    /// If the number of p-values differs from the number of members.
    pub fn refuted(&self, p_values: &[f64]) -> Vec<bool> {
        assert_eq!(p_values.len(), self.shares.len(), "one p-value for each member");
        let mut order: Vec<usize> = (0..p_values.len()).collect();
        order.sort_by(|&one, &other| {
            (p_values[one] / self.shares[one]).total_cmp(&(p_values[other] / self.shares[other]))
        });
        let mut left = 1.0;
        let mut refuted = vec![false; p_values.len()];
        for member in order {
            if p_values[member].is_nan() || p_values[member] * left > self.significance * self.shares[member]
            {
                break;
            }
            refuted[member] = true;
            left -= self.shares[member];
        }
        refuted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_by_hand() {
        let family = Family::even(0.05, 4).unwrap();
        // The limits are 0.0125, then 0.05/3 = 0.0167, then 0.025, then 0.05.
        assert_eq!(family.refuted(&[0.0126, 0.5, 0.5, 0.5]), [false; 4]);
        assert_eq!(family.refuted(&[0.01, 0.0166, 0.5, 0.5]), [true, true, false, false]);
        assert_eq!(family.refuted(&[0.01, 0.0166, 0.0249, 0.049]), [true; 4]);
        assert_eq!(family.refuted(&[0.01, 0.0168, 0.0249, 0.049]), [true, false, false, false]);
        assert_eq!(family.refuted(&[f64::NAN; 4]), [false; 4]);
        let levels: f64 = (0..4).map(|member| family.level(member)).sum();
        assert!((levels - 0.05).abs() < 1e-15);
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        assert!(Family::even(0.05, 0).is_err() && Family::even(1.0, 3).is_err());
        assert!(
            Family::weighted(0.05, &[1.0, 0.0]).is_err() && Family::weighted(0.05, &[1.0, f64::NAN]).is_err()
        );
    }
}
