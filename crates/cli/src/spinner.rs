//! A spinner for work that takes more than a second.

use crate::arguments::CommonArguments;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time before the spinner appears.
const SILENT: Duration = Duration::from_secs(1);

/// A spinner on standard error, shown after one second and until it is dropped.
///
/// Nothing is shown if standard error is not a terminal.
#[derive(Debug)]
pub struct Spinner(Option<(Sender<()>, JoinHandle<()>)>);

impl Spinner {
    /// Creates a spinner; `what` names the work in progress.
    pub fn new(common: &CommonArguments, what: &'static str) -> Self {
        if common.quiet || !common.environment.is_watched() {
            return Spinner(None);
        }
        let (ends, is_over) = mpsc::channel();
        let spin = move || {
            if is_over.recv_timeout(SILENT) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
            bar.set_style(style.expect("the template is fixed"));
            bar.set_message(what);
            bar.enable_steady_tick(Duration::from_millis(100));
            // An error is the end of the sender, which is what is waited for.
            let _ = is_over.recv();
            bar.finish_and_clear();
        };
        // Without a thread there is no spinner, and nothing else is missing.
        Spinner(
            std::thread::Builder::new().name("spinner".into()).spawn(spin).ok().map(|thread| (ends, thread)),
        )
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((ends, thread)) = self.0.take() {
            drop(ends);
            let _ = thread.join();
        }
    }
}
