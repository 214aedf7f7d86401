//! What is audited, from words.

use crate::errors::refusal;
use crate::words::Words;
use misdeal_core::{Adjacency, BatchScheme, Setting};
use pyo3::prelude::*;
use pyo3::types::PyDict;

impl Words<'_> {
    /// The setting that the words describe, validated.
    pub fn setting(&self) -> PyResult<Setting> {
        let setting = Setting {
            noise_multiplier: self.number("noise_multiplier")?,
            steps_per_epoch: self.count("steps_per_epoch")?,
            epochs: self.count("epochs")?,
            batch_size: self.count("batch_size")?,
            ..Setting::default()
        };
        self.game(setting)?.validated().map_err(refusal)
    }

    /// A setting with the schemes, the adversary and the seed that the words name.
    pub fn game(&self, setting: Setting) -> PyResult<Setting> {
        let buffer_size = self.count_if_any("buffer_size")?;
        let adversary = BatchScheme::of_adversary(
            self.text_if_any("adversary_scheme")?.as_deref(),
            self.count_if_any("adversary_buffer_size")?,
            buffer_size,
        );
        Ok(Setting {
            scheme: BatchScheme::from_name(&self.text("scheme")?, buffer_size).map_err(refusal)?,
            threat_model: self.named()?,
            adjacency: Adjacency::ZeroOut,
            target_index: self.count("target_index")?,
            adversary_scheme: adversary.map_err(refusal)?,
            seed: self.count("seed")?,
            ..setting
        })
    }
}

/// The hash of a setting, if every word is in its range, and the setting as JSON.
#[pyfunction]
pub fn describe_setting(words: Bound<'_, PyDict>) -> PyResult<(String, String)> {
    let setting = Words(words).setting()?;
    let json = serde_json::to_string(&setting).expect("a setting has only numbers and names");
    Ok((setting.hash().to_string(), json))
}
