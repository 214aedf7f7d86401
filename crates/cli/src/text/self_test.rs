//! Whether this machine computes right, for people.

use super::row;
use misdeal_results::SelfTest;

/// A line for each check, and the outcome.
pub fn self_test(report: &SelfTest) -> String {
    let mut text = String::new();
    for check in &report.checks {
        let verdict = if check.passed { "pass" } else { "FAIL" };
        row(&mut text, &check.name, &format!("{verdict}  {}", check.detail));
    }
    if let Some(reason) = &report.cuda_missing {
        row(&mut text, "cuda", &format!("not tested: {reason}"));
    }
    let failed = report.checks.iter().filter(|check| !check.passed).count();
    let outcome = match failed {
        0 => "all checks passed".to_owned(),
        failed => {
            format!("{failed} of {} checks failed; do not trust results of this machine", report.checks.len())
        }
    };
    row(&mut text, "outcome", &format!("{outcome}, in {:.1} s", report.seconds));
    text
}
