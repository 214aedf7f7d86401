//! `misdeal self-test`.

use crate::arguments::{CommonArguments, SelfTestArguments};
use crate::failure::{Failure, Success};
use crate::{interruption, output};
use misdeal::{Progress, SelfTestRequest, self_test};

/// Checks what there is, and says what was found; a check that fails is bad news.
pub fn run(arguments: &SelfTestArguments, common: &CommonArguments) -> Result<Success, Failure> {
    interruption::listen(interruption::Patience::Endless)?;
    let request = SelfTestRequest { device: arguments.device, seed: common.seed };
    let found = self_test(&request, &Interruptible)?;
    let passed = found.passed;
    output::deliver(common, &found.into())?;
    Ok(if passed { Success::Fine } else { Success::BadNews })
}

/// A few checks need no bar.
struct Interruptible;

impl Progress for Interruptible {
    fn observed(&self, _done: u64, _total: u64) {}

    fn is_interrupted(&self) -> bool {
        interruption::has_come()
    }
}
