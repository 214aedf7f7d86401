//! Dates that pages show.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns today's date in UTC, such as 2026-01-31.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// Returns the date that is `days` days after 1970-01-01.
fn date(mut days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        let known = [(0, "1970-01-01"), (31, "1970-02-01"), (11_016, "2000-02-29"), (19_782, "2024-02-29")];
        for (days, day) in known.into_iter().chain([(20_453, "2025-12-31"), (20_454, "2026-01-01")]) {
            assert_eq!(date(days), day);
        }
    }
}
