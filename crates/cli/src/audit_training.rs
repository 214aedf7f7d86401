//! `misdeal audit training`.

use crate::arguments::{CommonArguments, TrainingArguments};
use crate::failure::{Failure, Success};
use crate::interruption::Patience;
use crate::plot;
use crate::progress::Bar;

/// Trains, plays the game and reports.
pub fn run(arguments: TrainingArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let TrainingArguments { mut request, outcome } = arguments;
    plot::check(outcome.plot.as_deref())?;
    request.seed = common.seed;
    request.run.trade_off |= outcome.plot.is_some();
    common.environment.listen(Patience::None)?;
    let audit = {
        let bar = Bar::new(common);
        misdeal::audit_training(&request, &bar)?
    };
    outcome.deliver(audit, common)
}
