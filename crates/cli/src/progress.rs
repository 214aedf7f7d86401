//! A progress bar on a terminal, and nothing where there is none.

use crate::interruption;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use misdeal_audit::Progress;
use std::fmt::Write;

/// Shows how far a job is, with rate and time left, on standard error.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar, invisible if `quiet` or if standard error is not a terminal.
    pub fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = "{bar:30} {percent:>3} %  {human_pos} of {human_len} observations, {rate}/s, {eta} left";
        let rate = |state: &ProgressState, text: &mut dyn Write| {
            let _ = write!(text, "{}", HumanCount(state.per_sec() as u64));
        };
        bar.set_style(
            ProgressStyle::with_template(style).expect("the template is fixed").with_key("rate", rate),
        );
        Bar(bar)
    }
}

impl Progress for Bar {
    fn observed(&self, done: u64, total: u64) {
        if self.0.length() != Some(total) {
            self.0.set_length(total);
        }
        self.0.set_position(done);
    }

    fn is_interrupted(&self) -> bool {
        interruption::has_come()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
