//! A law of the one-epoch loss that is never too large, from chords inside the region of achievable tests.
//!
//! The events at the knots are tests, with (Q(A), P(A)) their false and true positive rates. The region under their
//! concave hull is achievable. A pair whose own region lies inside it is dominated (Blackwell), also after composition.
//! The code walks along the hull from (0, 0) in chords with slopes e^(index step). Each chord is the steepest one that
//! leads into the region. This gives a dominated pair with losses on the grid. A chord cuts off O(step^2).

use super::knots::Knots;
use crate::pld::{LossGrid, Side};

/// An edge of the hull: its extent under P and under Q.
#[derive(Clone, Copy)]
struct Edge {
    present: f64,
    absent: f64,
}

/// A corner of the hull, with its distance to (1, 1) for accuracy near that end.
#[derive(Clone, Copy)]
struct Corner {
    present: f64,
    absent: f64,
    present_complement: f64,
    absent_complement: f64,
}

/// The loss law whose divergences are never too large. It drops losses below the lowest knot.
pub fn lower_law(knots: &Knots) -> LossGrid {
    let edges = hull(knots);
    let lowest = knots.points[0].0 - 1;
    let highest = knots.points[knots.points.len() - 1].0 + 1;
    let mut masses = vec![0.0; (highest - lowest + 1) as usize];
    let mut rest = edges.iter().copied();
    let mut current = rest.next();
    while let Some(edge) = current {
        let log_slope = (edge.present / edge.absent).ln();
        let index = ((log_slope / knots.step).floor() as i64).min(highest);
        if index < lowest {
            break;
        }
        let slope = (index as f64 * knots.step).exp();
        let mut excess = (edge.present - slope * edge.absent).max(0.0);
        let mut absent = edge.absent;
        current = None;
        for next in rest.by_ref() {
            let fall = slope * next.absent - next.present;
            if fall <= excess {
                excess -= fall;
                absent += next.absent;
                continue;
            }
            let share = excess / fall;
            absent += share * next.absent;
            current =
                Some(Edge { present: (1.0 - share) * next.present, absent: (1.0 - share) * next.absent });
            break;
        }
        masses[(index - lowest) as usize] += slope * absent;
    }
    LossGrid { side: Side::Lower, step: knots.step, origin: 0.0, first: lowest, masses, infinity_mass: 0.0 }
}

/// The concave hull of the knots' events from (0, 0) to (1, 1), as edges of decreasing slope.
fn hull(knots: &Knots) -> Vec<Edge> {
    let origin = Corner { present: 0.0, absent: 0.0, present_complement: 1.0, absent_complement: 1.0 };
    let end = Corner { present: 1.0, absent: 1.0, present_complement: 0.0, absent_complement: 0.0 };
    let events = knots.points.iter().rev().map(|(_, point)| Corner {
        present: point.present,
        absent: point.absent,
        present_complement: point.present_complement,
        absent_complement: point.absent_complement,
    });
    let mut corners = vec![origin];
    for corner in events.chain([end]) {
        loop {
            let edge = edge(corners[corners.len() - 1], corner);
            if edge.present <= 0.0 {
                break; // dominated by the last corner
            }
            let bends_out = corners.len() > 1 && {
                let last = self::edge(corners[corners.len() - 2], corners[corners.len() - 1]);
                edge.absent <= 0.0 || edge.present * last.absent >= last.present * edge.absent
            };
            if !bends_out {
                corners.push(corner);
                break;
            }
            corners.pop();
        }
    }
    corners.windows(2).map(|pair| edge(pair[0], pair[1])).collect()
}

/// The edge between two corners. Each extent is computed from the nearer end of the curve.
fn edge(from: Corner, to: Corner) -> Edge {
    let extent = |low: f64, high: f64, low_rest: f64, high_rest: f64| {
        if low > 0.5 { low_rest - high_rest } else { high - low }
    };
    Edge {
        present: extent(from.present, to.present, from.present_complement, to.present_complement),
        absent: extent(from.absent, to.absent, from.absent_complement, to.absent_complement),
    }
}
