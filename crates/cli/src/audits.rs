//! What both audits share: delivery.

use crate::arguments::{CommonArguments, OutcomeArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot, text};
use misdeal::AuditReport;

impl OutcomeArguments {
    /// Draws and prints what an audit found.
    pub fn deliver(&self, report: &AuditReport, common: &CommonArguments) -> Result<Success, Failure> {
        if let Some(path) = &self.plot {
            plot::write(path, report)?;
        }
        output::deliver(common, report, || text::audit(report))?;
        Ok(if self.check && report.refutes_the_claim() { Success::BadNews } else { Success::Fine })
    }
}
