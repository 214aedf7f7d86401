//! Integrals of smooth functions, by one Gauss-Legendre rule of 32 points.

/// The integral of `value` from `from` to `to`.
pub(crate) fn integrate(from: f64, to: f64, value: impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let pair = |node: f64| value(middle - half * node) + value(middle + half * node);
    half * LEGENDRE_32.iter().map(|&[node, weight]| weight * pair(node)).sum::<f64>()
}

/// The positive nodes and their weights of the 32-point Gauss-Legendre rule on [-1, 1].
const LEGENDRE_32: [[f64; 2]; 16] = [
    [0.048307665687738316235, 0.096540088514727800567],
    [0.14447196158279649349, 0.095638720079274859419],
    [0.23928736225213707454, 0.093844399080804565639],
    [0.33186860228212764978, 0.091173878695763884713],
    [0.42135127613063534536, 0.087652093004403811143],
    [0.50689990893222939002, 0.083311924226946755222],
    [0.58771575724076232904, 0.078193895787070306472],
    [0.66304426693021520098, 0.072345794108848506225],
    [0.73218211874028968039, 0.065822222776361846838],
    [0.79448379596794240696, 0.058684093478535547145],
    [0.84936761373256997013, 0.050998059262376176196],
    [0.89632115576605212397, 0.042835898022226680657],
    [0.93490607593773968917, 0.034273862913021433103],
    [0.96476225558750643077, 0.025392065309262059456],
    [0.9856115115452683354, 0.016274394730905670605],
    [0.99726386184948156354, 0.0070186100094700966004],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// An n-point Gauss rule is exact for polynomials of degree 2n - 1.
    #[test]
    fn the_rule_integrates_polynomials_exactly() {
        for power in (0..64).step_by(2) {
            let sum: f64 = LEGENDRE_32.iter().map(|[x, w]| 2.0 * w * libm::pow(*x, f64::from(power))).sum();
            assert!((sum * f64::from(power + 1) / 2.0 - 1.0).abs() < 1e-14, "{power}");
        }
    }
}
