//! Natural logarithms of sixteen numbers at once, with the same bits on every instruction set.

use super::lanes::LANES;

/// The natural logarithms of sixteen positive normal numbers, to about 1e-14 relative or 1e-16 absolute.
///
/// Write x = 2^k m with m in [sqrt(1/2), sqrt(2)). Then ln m = 2 artanh(r) with r = (m - 1)/(m + 1), |r| <= 0.172, and
/// ten terms of the series leave 1e-17. The code uses only additions, multiplications, divisions and integer
/// operations. So the compiler can vectorise it, and all processors round in the same way.
#[inline(always)]
pub fn ln(values: [f64; LANES]) -> [f64; LANES] {
    const LN_2: f64 = std::f64::consts::LN_2;
    /// The bits of sqrt(1/2). Subtracting them makes the exponent field count from there.
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    values.map(|value| {
        let bits = value.to_bits();
        let exponent = (bits.wrapping_sub(ROOT_HALF) as i64) >> 52;
        let mantissa = f64::from_bits(bits.wrapping_sub((exponent << 52) as u64));
        let r = (mantissa - 1.0) / (mantissa + 1.0);
        let square = r * r;
        let mut series = 1.0 / 19.0;
        for denominator in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
            series = series * square + 1.0 / denominator;
        }
        let log_mantissa = 2.0 * r + 2.0 * r * square * series;
        f64::from(exponent as i32) * LN_2 + log_mantissa
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_libm_over_the_whole_range() {
        let mut x = 1e-300;
        while x < 1e300 {
            let values = std::array::from_fn(|i| x * (1.0 + 0.13 * i as f64));
            for (ours, value) in ln(values).into_iter().zip(values) {
                let exact = libm::log(value);
                assert!((ours - exact).abs() < 2e-16 + 1e-15 * exact.abs(), "ln {value}: {ours} for {exact}");
            }
            x *= 1.7;
        }
    }
}
