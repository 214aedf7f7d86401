//! [`Theory`]: theory's bounds on epsilon, by scheme.

use misdeal_core::{Bounds, SchemeName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

/// Theory's bounds on epsilon, by scheme.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Theory(BTreeMap<SchemeName, Bounds>);

impl Theory {
    /// Returns a scheme's lower and upper bound; each is `None` if it is not known.
    pub fn sides(&self, scheme: impl Into<SchemeName>) -> [Option<f64>; 2] {
        self.get(&scheme.into()).map_or([None, None], Bounds::sides)
    }

    /// Returns the upper bound for Poisson sampling, which is the epsilon that it justifies.
    pub fn poisson_upper_bound(&self) -> Option<f64> {
        self.sides(SchemeName::Poisson)[1]
    }
}

impl Deref for Theory {
    type Target = BTreeMap<SchemeName, Bounds>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Theory {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromIterator<(SchemeName, Bounds)> for Theory {
    fn from_iter<I: IntoIterator<Item = (SchemeName, Bounds)>>(bounds: I) -> Self {
        Theory(bounds.into_iter().collect())
    }
}
