//! A law of the one-epoch loss that is never too small: it connects the dots of the divergence.

use super::knots::Knots;
use crate::pld::{Divergence, LossGrid, connect_dots};

/// The loss law whose divergences are never too small.
pub fn upper_law(knots: &Knots) -> LossGrid {
    let value = |point: &super::LevelPoint| {
        if point.level >= 0.0 { point.delta_upper_bound } else { point.reverse_delta_upper_bound }
    };
    let dots = knots.points.iter().map(|(index, point)| Divergence {
        index: *index,
        level: point.level,
        value: value(point),
    });
    connect_dots(knots.step, dots)
}
