//! What both audits share: delivery.

use crate::arguments::{CommonArguments, OutcomeArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot};
use misdeal_results::{Audit, Document};

impl OutcomeArguments {
    /// Draws and prints what an audit found.
    pub fn deliver(&self, audit: Audit, common: &CommonArguments) -> Result<Success, Failure> {
        let document: Document = audit.into();
        if let Some(path) = &self.plot {
            plot::write(path, &document)?;
        }
        output::deliver(common, &document)?;
        Ok(Success::of(self.check, &document))
    }
}
