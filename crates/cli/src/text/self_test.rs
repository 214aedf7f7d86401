//! Formats a self-test as text for people.

use super::Text;
use crate::environment::Environment;
use misdeal_results::SelfTest;

/// Formats a line for each check, and the outcome.
pub fn self_test(report: &SelfTest, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    for check in &report.checks {
        let verdict = if check.passed { "pass" } else { "FAIL" };
        text.row(&check.name, &format!("{verdict}  {}", check.detail));
    }
    if let Some(reason) = &report.cuda_missing {
        text.row("cuda", &format!("not tested: {reason}"));
    }
    let failed = report.checks.iter().filter(|check| !check.passed).count();
    let outcome = match failed {
        0 => "all checks passed".to_owned(),
        failed => {
            format!("{failed} of {} checks failed; do not trust results of this machine", report.checks.len())
        }
    };
    text.row("outcome", &format!("{outcome}, in {:.1} s", report.seconds));
    text.into_string()
}
