//! Root finding in few evaluations.

/// A sign change: the values at `low` and `high` have opposite signs, or one is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bracket {
    pub low: (f64, f64),
    pub high: (f64, f64),
}

/// Narrows a bracket to `tolerance` by Chandrupatla's method (1997).
///
/// The method uses inverse quadratic interpolation if possible, otherwise bisection. It needs at most about twice as
/// many evaluations as bisection. Each side keeps its sign. If a root is found exactly, both sides become that root.
pub(crate) fn narrow(mut f: impl FnMut(f64) -> f64, start: Bracket, tolerance: f64) -> Bracket {
    let sign = |y: f64| y > 0.0;
    // `a` is the newest point, `b` the other side of the bracket, `c` the point before `a`.
    let (mut a, mut b) = (start.low, start.high);
    let mut c;
    let mut fraction = 0.5;
    for _ in 0..200 {
        if a.1 == 0.0 {
            return Bracket { low: a, high: a };
        }
        if (b.0 - a.0).abs() <= tolerance {
            break;
        }
        // Stay half a tolerance away from the ends, so that the bracket closes from both sides.
        let least = (0.5 * tolerance / (b.0 - a.0).abs()).min(0.5);
        let x = a.0 + f64::clamp(fraction, least, 1.0 - least) * (b.0 - a.0);
        let new = (x, f(x));
        if sign(new.1) == sign(a.1) {
            c = a;
        } else {
            c = b;
            b = a;
        }
        a = new;
        let xi = (a.0 - b.0) / (c.0 - b.0);
        let phi = (a.1 - b.1) / (c.1 - b.1);
        fraction = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            a.1 / (b.1 - a.1) * (c.1 / (b.1 - c.1))
                + (c.0 - a.0) / (b.0 - a.0) * (a.1 / (c.1 - a.1)) * (b.1 / (c.1 - b.1))
        } else {
            0.5
        };
        if !fraction.is_finite() {
            fraction = 0.5;
        }
    }
    if a.0 < b.0 { Bracket { low: a, high: b } } else { Bracket { low: b, high: a } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_on_the_root_in_few_evaluations() {
        type Case = (fn(f64) -> f64, f64, f64, f64);
        let cases: [Case; 4] = [
            (|x| x * x * x - 2.0, 0.0, 5.0, 2_f64.cbrt()),
            (|x| x.exp() - 1e-6, -40.0, 3.0, 1e-6_f64.ln()),
            (|x| if x < 0.3 { -1.0 } else { 1.0 }, -1.0, 2.0, 0.3),
            (|x| 1.0 / x - 1e3, 1e-9, 1.0, 1e-3),
        ];
        for (f, low, high, root) in cases {
            let mut evaluations = 0;
            let start = Bracket { low: (low, f(low)), high: (high, f(high)) };
            let end = narrow(
                |x| {
                    evaluations += 1;
                    f(x)
                },
                start,
                1e-12,
            );
            assert!(end.low.0 <= root && root <= end.high.0, "{end:?} misses {root}");
            assert!(end.high.0 - end.low.0 <= 1e-12 && evaluations < 60, "{evaluations}");
            assert_eq!(end.low.1 > 0.0, start.low.1 > 0.0);
        }
    }
}
