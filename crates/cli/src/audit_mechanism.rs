//! `misdeal audit mechanism`.

use crate::arguments::{CommonArguments, MechanismArguments};
use crate::failure::{Failure, Success};
use crate::interruption::Patience;
use crate::plot;
use crate::progress::Bar;

/// Plays the game and reports.
pub fn run(arguments: MechanismArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let MechanismArguments { mut request, outcome } = arguments;
    plot::check(outcome.plot.as_deref())?;
    request.seed = common.seed;
    request.run.trade_off |= outcome.plot.is_some();
    common.environment.listen(Patience::ToSave)?;
    let audit = {
        let bar = Bar::new(common);
        misdeal::audit_mechanism(&request, &bar)?
    };
    outcome.deliver(audit, common)
}
