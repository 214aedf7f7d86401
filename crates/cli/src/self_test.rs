//! `misdeal self-test`.

use crate::arguments::CommonArguments;
use crate::failure::{Failure, Success};
use crate::interruption::{self, Patience};
use crate::output;
use misdeal::request::SelfTestRequest;
use misdeal::{Progress, self_test};

/// Checks what there is, and says what was found; a check that fails is bad news.
pub fn run(mut request: SelfTestRequest, common: &CommonArguments) -> Result<Success, Failure> {
    common.environment.listen(Patience::ToSave)?;
    request.seed = common.seed;
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
