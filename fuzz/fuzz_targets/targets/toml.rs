//! What users write in TOML.

use super::check_refusal;
use misdeal_scan::Settings;
use misdeal_train::data::Shape;
use misdeal_train::Model;
use misdeal_core::Blueprint;

/// A model, built for small images if it can be.
pub fn model(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let built = Blueprint::from_toml(text)
        .and_then(|model| Model::new(&model, Shape { channels: 1, height: 6, width: 6 }, 3));
    if let Err(refusal) = built {
        check_refusal(&refusal.to_string());
    }
}

/// The scanner's settings, whose rules and patterns are looked up.
pub fn scan_settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(settings) = Settings::from_toml(text)
        && let Err(refusal) = misdeal_scan::scan_source("a.py", "x = 1\n", &settings)
    {
        check_refusal(&refusal.to_string());
    }
}
