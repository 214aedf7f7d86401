//! What both audits share: delivery.

use crate::arguments::{CommonArguments, OutcomeArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot};
use misdeal_results::Audit;

impl OutcomeArguments {
    /// Draws and prints what an audit found.
    pub fn deliver(&self, audit: Audit, common: &CommonArguments) -> Result<Success, Failure> {
        let is_bad_news = self.check && audit.refutes_the_claim();
        let document = audit.into();
        if let Some(path) = &self.plot {
            plot::write(path, &document)?;
        }
        output::deliver(common, &document)?;
        Ok(if is_bad_news { Success::BadNews } else { Success::Fine })
    }
}
