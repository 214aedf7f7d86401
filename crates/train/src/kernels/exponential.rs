//! exp and tanh from single operations that every instruction set rounds in the same way.

/// 1.5 * 2^23: adding this constant rounds to a whole number, stored in the low bits.
const ROUNDER: f32 = 12_582_912.0;
/// ln 2 as two parts. The first has so few bits that its multiples by small whole numbers are exact.
const LN_2: [f32; 2] = [0.693_359_375, -2.121_944_4e-4];

/// (e^r - 1, 2^n) with x = n ln 2 + r and |r| <= ln 2 / 2, for x from -87 to 88.
///
/// The series of e^r - 1 has degree seven; its relative error is below 2e-8.
#[inline(always)]
fn parts(x: f32) -> (f32, f32) {
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let r = n.mul_add(-LN_2[1], n.mul_add(-LN_2[0], x));
    let mut series = (1.0_f32 / 5040.0).mul_add(r, 1.0 / 720.0);
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
        series = series.mul_add(r, coefficient);
    }
    (series * r, f32::from_bits(rounded.to_bits().wrapping_add(127) << 23))
}

/// e^x for x <= 0, within two units in the last place. Values of x below -87 count as -87.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (above_one, power) = parts(if x < -87.0 { -87.0 } else { x });
    above_one.mul_add(power, power)
}

/// tanh x = (e^2x - 1) / (e^2x + 1), within three units in the last place.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    // Beyond 9.1, tanh is 1 to the last bit.
    let bounded = if x > 9.1 { 9.1 } else { x };
    let bounded = if bounded < -9.1 { -9.1 } else { bounded };
    let (above_one, power) = parts(2.0 * bounded);
    let minus_one = above_one.mul_add(power, power - 1.0);
    minus_one / (minus_one + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_close_to_the_exact_functions() {
        for i in -200_000..=200_000 {
            let x = (i as f32) * 1e-4;
            let (ours, exact) = (f64::from(tanh(x)), libm::tanh(f64::from(x)));
            assert!((ours - exact).abs() <= 2e-7 * exact.abs(), "tanh {x}: {ours} {exact}");
            let x = -x.abs() * 4.3;
            let (ours, exact) = (f64::from(exp(x)), libm::exp(f64::from(x)));
            assert!((ours - exact).abs() <= 2e-7 * exact, "exp {x}: {ours} {exact}");
        }
        assert_eq!([tanh(0.0), tanh(50.0), tanh(f32::NEG_INFINITY)], [0.0, 1.0, -1.0]);
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
    }
}
