//! Roles of numbers: where a number comes from, and its colour, dash and mark in every chart.
//!
//! # Why dashes and marks, beside colours?
//! Colours are those of Wong (2011), which colour-blind readers can tell apart. But there are more batch schemes than such colours, and a
//! grey print has none. Schemes of one family share a colour. No two schemes share dashes or a mark.

use misdeal_core::{ClosedSet, SchemeName};
use serde::{Deserialize, Serialize};

/// The source of a number: found here, claimed, theory, another source or a batch scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A number found by this tool, with a guarantee.
    Found,
    /// A claimed number.
    Claimed,
    /// A number from theory.
    Theory,
    /// A number printed elsewhere, or another curve.
    Other,
    /// A number without a guarantee.
    Raw,
    /// A fifth curve, when the other roles are taken.
    Fifth,
    /// A sixth curve.
    Sixth,
    /// Poisson sampling. This role and those below are batch schemes.
    Poisson,
    TruncatedPoisson,
    CyclicPoisson,
    Shuffle,
    ShuffleOnce,
    BatchThenShuffle,
    PartialShuffle,
    StreamShuffle,
    BallsInBins,
    BallsInBinsOnce,
    Allocation,
    WithoutReplacement,
    FixedOrder,
}

/// Colour, dashes and mark of a role.
struct Look {
    colour: &'static str,
    /// Lengths of dashes and gaps, in SVG's format.
    dash: &'static str,
    /// The outline of the mark: an SVG path relative to its centre.
    mark: &'static str,
}

const BLUE: &str = "#0072B2";
const VERMILION: &str = "#D55E00";
const GREEN: &str = "#00855F";
const PURPLE: &str = "#A3447F";
const ORANGE: &str = "#B87400";
const SKY: &str = "#2F8FC4";
const INK: &str = "#2A2F37";
const GREY: &str = "#595f69";

const CIRCLE: &str = "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z";
const SQUARE: &str = "m-4.5 -4.5h9v9h-9z";
const DIAMOND: &str = "m0 -6l6 6l-6 6l-6 -6z";
const UP: &str = "m0 -5.5l5.5 10h-11z";
const DOWN: &str = "m0 5.5l5.5 -10h-11z";
const TALL: &str = "m-3 -6h6v12h-6z";
const FLAT: &str = "m-5.5 -2.5h11v5h-11z";
const LEFT: &str = "m-5.5 0l10 -5.5v11z";
const RIGHT: &str = "m5.5 0l-10 -5.5v11z";
const PLUS: &str = "m-1.7 -5.5h3.4v3.8h3.8v3.4h-3.8v3.8h-3.4v-3.8h-3.8v-3.4h3.8z";
const CROSS: &str = "m-5 -3l2 -2l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3z";
const HOUSE: &str = "m0 -6l5 4v7h-10v-7z";
const HEXAGON: &str = "m-5.5 0l2.8 -4.8h5.4l2.8 4.8l-2.8 4.8h-5.4z";

impl Role {
    /// The role of a batch scheme.
    pub fn of_scheme(scheme: SchemeName) -> Self {
        Self::of_name(scheme.name())
    }

    /// The role of a batch scheme by its name. Unknown names get [`Role::Raw`].
    fn of_name(name: &str) -> Self {
        serde_json::from_value(name.into()).unwrap_or(Role::Raw)
    }

    /// Whether a word is the name of a batch scheme.
    pub fn is_scheme(word: &str) -> bool {
        let others =
            [Self::Found, Self::Claimed, Self::Theory, Self::Other, Self::Raw, Self::Fifth, Self::Sixth];
        !others.contains(&Self::of_name(word))
    }

    const fn look(self) -> Look {
        let (colour, dash, mark) = match self {
            Role::Found => (BLUE, "", DIAMOND),
            Role::Claimed => (VERMILION, "8 4", SQUARE),
            Role::Theory => (INK, "11 3 2 3", TALL),
            Role::Other => (PURPLE, "2 4", UP),
            Role::Raw => (GREY, "5 2", CIRCLE),
            Role::Fifth => (ORANGE, "14 4", DOWN),
            Role::Sixth => (SKY, "10 3 2 3 2 3", FLAT),
            Role::Poisson => (BLUE, "", CIRCLE),
            Role::TruncatedPoisson => (BLUE, "22 4", LEFT),
            Role::CyclicPoisson => (BLUE, "9 3 2 3 2 3 2 3", RIGHT),
            Role::Shuffle => (VERMILION, "9 4", SQUARE),
            Role::ShuffleOnce => (VERMILION, "9 3 2 3", DIAMOND),
            Role::BatchThenShuffle => (VERMILION, "14 4", TALL),
            Role::PartialShuffle => (PURPLE, "5 3", UP),
            Role::StreamShuffle => (PURPLE, "5 3 2 3", DOWN),
            Role::BallsInBins => (GREEN, "2 3", PLUS),
            Role::BallsInBinsOnce => (GREEN, "2 3 2 7", CROSS),
            Role::Allocation => (SKY, "5 3 5 8", HEXAGON),
            Role::WithoutReplacement => (ORANGE, "14 3 2 3 2 3", HOUSE),
            Role::FixedOrder => (INK, "18 3 6 3", FLAT),
        };
        Look { colour, dash, mark }
    }

    /// The role's colour on white.
    pub const fn colour(self) -> &'static str {
        self.look().colour
    }

    /// The role's dashes. They tell curves apart in a grey print too.
    pub const fn dash(self) -> &'static str {
        self.look().dash
    }

    /// The outline of the role's mark, as an SVG path.
    pub const fn mark(self) -> &'static str {
        self.look().mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Names of schemes, in this crate or in others.
    const SCHEMES: [&str; 13] = [
        "poisson",
        "truncated-poisson",
        "cyclic-poisson",
        "shuffle",
        "shuffle-once",
        "batch-then-shuffle",
        "partial-shuffle",
        "stream-shuffle",
        "balls-in-bins",
        "balls-in-bins-once",
        "allocation",
        "without-replacement",
        "fixed-order",
    ];

    #[test]
    fn schemes_differ_without_their_colours() {
        let roles: Vec<Role> = SCHEMES.iter().map(|name| Role::of_name(name)).collect();
        assert!(!roles.contains(&Role::Raw));
        let dashes: BTreeSet<&str> = roles.iter().map(|role| role.dash()).collect();
        let marks: BTreeSet<&str> = roles.iter().map(|role| role.mark()).collect();
        assert_eq!([dashes.len(), marks.len()], [SCHEMES.len(); 2]);
        assert_eq!(Role::of_name("tarot"), Role::Raw);
    }

    #[test]
    fn every_scheme_has_a_style() {
        for &scheme in SchemeName::all() {
            assert_ne!(Role::of_scheme(scheme), Role::Raw, "{scheme}");
        }
    }
}
