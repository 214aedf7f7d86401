//! What is recorded of a training, as plain arrays.

use serde::Deserialize;

/// What a training is claimed to do: the null hypothesis of every test of a check-up.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Claim {
    /// Whether the account assumes Poisson sampling.
    pub claims_poisson: bool,
    /// Whether batches come from a fresh uniform shuffle in each epoch, which bounds from several canaries may rest on.
    pub is_shuffled: bool,
    /// The number of records.
    pub dataset_size: f64,
    /// The claimed batch size; under Poisson sampling the expected one.
    pub batch_size: f64,
    /// The probability with which a record joins a batch, under Poisson sampling.
    pub sampling_probability: f64,
    /// Steps in an epoch.
    pub steps_per_epoch: usize,
    /// Whether gradients of other records may reach the outputs. Then tests that need a known mean are left out.
    pub natural_outputs: bool,
    /// Whether one coin serves each pair of runs: the canary is present in one of the two.
    pub paired_coins: bool,
    /// The relative spacing of the floating-point numbers that gradients are computed in.
    pub resolution: f64,
}

impl Default for Claim {
    fn default() -> Self {
        Claim {
            claims_poisson: false,
            is_shuffled: false,
            dataset_size: 0.0,
            batch_size: 0.0,
            sampling_probability: 0.0,
            steps_per_epoch: 1,
            natural_outputs: true,
            paired_coins: false,
            resolution: 1.2e-7,
        }
    }
}

/// One run of a training. Gradients are in units of the clipping norm.
///
/// A table of `steps` by `canaries` is stored step by step. Its columns belong to orthonormal canaries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunRecord {
    /// The canaries.
    pub canaries: usize,
    /// For each step and canary: the noisy sum of clipped gradients along the canary.
    pub outputs: Vec<f64>,
    /// For each step and canary: how often the canary was planted, minus how often it was opposed.
    pub planted: Vec<f64>,
    /// For each step and canary: whether the canary's own record is in the batch.
    pub placed: Vec<bool>,
    /// For each canary: whether its record carries it (in) or is zeroed out.
    pub coins: Vec<bool>,
    /// For each step: the claimed noise multiplier.
    pub noise_multipliers: Vec<f64>,
    /// For each step: the size of the logical batch.
    pub batch_sizes: Vec<u64>,
    /// For each step and coordinate: some coordinates of the noisy gradient.
    pub coordinates: Vec<f64>,
    /// What was planted in these coordinates, if nothing else reaches them.
    pub coordinate_means: Option<Vec<f64>>,
    /// For each coordinate: the tensor that it belongs to. Coordinates of a tensor are next to each other.
    pub coordinate_tensors: Vec<usize>,
}

impl RunRecord {
    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.noise_multipliers.len()
    }

    /// Says which table has the wrong length or a value that is not allowed, if one has.
    ///
    /// # Errors
    /// The field, what it holds, and what is allowed.
    pub fn check(&self) -> Result<(), (&'static str, String, String)> {
        let steps = self.steps();
        let table = steps * self.canaries;
        let read = steps * self.coordinate_tensors.len();
        let sizes = [
            ("outputs", self.outputs.len(), table),
            ("planted", self.planted.len(), table),
            ("placed", self.placed.len(), table),
            ("coins", self.coins.len(), self.canaries),
            ("batch_sizes", self.batch_sizes.len(), steps),
            ("coordinates", self.coordinates.len(), read),
            ("coordinate_means", self.coordinate_means.as_ref().map_or(read, Vec::len), read),
        ];
        for (field, length, allowed) in sizes {
            if length != allowed {
                return Err((
                    field,
                    format!("{length} values"),
                    format!("{allowed} values, for {steps} steps"),
                ));
            }
        }
        let floats =
            [("outputs", &self.outputs), ("planted", &self.planted), ("coordinates", &self.coordinates)];
        let means = self.coordinate_means.iter().map(|means| ("coordinate_means", means));
        for (field, values) in floats.into_iter().chain(means) {
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err((field, value.to_string(), "finite numbers".into()));
            }
        }
        if let Some(noise) = self.noise_multipliers.iter().find(|noise| !(noise.is_finite() && **noise > 0.0))
        {
            return Err(("noise_multipliers", noise.to_string(), "numbers above 0".into()));
        }
        Ok(())
    }

    /// The outputs less what was planted, in units of the claimed noise: standard normal where nothing else reaches them.
    pub(super) fn residuals(&self) -> Table {
        Table::residuals(&self.outputs, Some(&self.planted), &self.noise_multipliers, self.canaries)
    }

    /// The same of the coordinates. Without known means nothing is subtracted.
    pub(super) fn coordinate_residuals(&self) -> Table {
        let means = self.coordinate_means.as_deref();
        Table::residuals(&self.coordinates, means, &self.noise_multipliers, self.coordinate_tensors.len())
    }
}

/// Numbers by step (rows) and direction (columns), in units of the claimed noise.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Table {
    pub(super) values: Vec<f64>,
    pub(super) columns: usize,
}

impl Table {
    fn residuals(outputs: &[f64], means: Option<&[f64]>, noise: &[f64], columns: usize) -> Self {
        let value = |(place, output): (usize, &f64)| {
            (output - means.map_or(0.0, |means| means[place])) / noise[place / columns]
        };
        Table { values: outputs.iter().enumerate().map(value).collect(), columns }
    }

    /// The rows; none without columns.
    pub(super) fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.columns.max(1))
    }
}

/// The sum of the squares.
pub(super) fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}
