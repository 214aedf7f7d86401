//! A progress bar, shown only on a terminal.

use crate::arguments::{CommonArguments, Format};
use crate::environment::Environment;
use crate::interruption;
use crate::spinner::Spinner;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use misdeal::{ClaimOutOfReach, Progress};
use misdeal_results::beyond_reach;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A progress bar on standard error, with rate and time left.
pub struct Bar {
    drawn: ProgressBar,
    /// The spinner that is shown until the first observation, while theory is computed.
    before: Mutex<Option<Spinner>>,
    remarks: bool,
    environment: Environment,
}

impl Bar {
    /// Creates a bar, which is hidden with `--quiet` or if standard error is not a terminal.
    ///
    /// Remarks are printed for text output, or if standard error is a terminal. Programs that read JSON find the remarks there.
    pub fn new(common: &CommonArguments) -> Self {
        let quiet = common.quiet;
        let remarks = !quiet && (common.format() == Format::Text || common.environment.is_watched());
        let target = if quiet || !common.environment.is_process() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = "{bar:30} {percent:>3} %  {human_pos} of {human_len} observations, {rate}/s, {eta} left";
        let rate = |state: &ProgressState, text: &mut dyn fmt::Write| {
            let _ = write!(text, "{}", HumanCount(state.per_sec() as u64));
        };
        bar.set_style(
            ProgressStyle::with_template(style).expect("the template is fixed").with_key("rate", rate),
        );
        let before = Mutex::new(Some(Spinner::new(common, "computing what theory proves")));
        Bar { drawn: bar, before, remarks, environment: common.environment.clone() }
    }
}

impl Progress for Bar {
    fn observed(&self, done: u64, total: u64) {
        drop(self.before.lock().unwrap_or_else(PoisonError::into_inner).take());
        if self.drawn.length() != Some(total) {
            self.drawn.set_length(total);
        }
        self.drawn.set_position(done);
    }

    fn is_interrupted(&self) -> bool {
        interruption::has_come()
    }

    fn cannot_refute(&self, claim: &ClaimOutOfReach) {
        drop(self.before.lock().unwrap_or_else(PoisonError::into_inner).take());
        if self.remarks {
            let &ClaimOutOfReach { claimed_epsilon, observations, largest_epsilon, fewest_observations } =
                claim;
            let sentence = beyond_reach(claimed_epsilon, observations, largest_epsilon, fewest_observations);
            self.drawn.suspend(|| self.environment.tell(&format!("Remark: {sentence}.")));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.drawn.finish_and_clear();
    }
}
