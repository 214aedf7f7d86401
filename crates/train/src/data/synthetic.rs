//! Synthetic data, so that an audit of training needs no download.

use super::selection::stream_for;
use super::{Dataset, Examples, Result, Shape};
use misdeal_core::{Error, Purpose, Stream, World};

/// Parameters of synthetic data, which are a pure function of these fields.
///
/// Each class has a pattern of random grey levels, constant on squares of four by four pixels. A record is one quarter of its
/// class's pattern and three quarters of fresh noise. Every feature is in [0, 1]. The levels of a square differ between two
/// classes by 0.08 on average, and the noise has a standard deviation of 0.11. A few dozen features therefore tell the classes
/// apart easily, and a single feature does not.
///
/// ```
/// use misdeal_train::data::{Shape, Synthetic};
/// let shape = Shape { channels: 3, height: 32, width: 32 };
/// let dataset = Synthetic { shape, classes: 10, size: 200, ..Synthetic::default() }.make()?;
/// assert_eq!(dataset.train.features.len(), 200 * 3 * 32 * 32);
/// # Ok::<(), misdeal_train::data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synthetic {
    /// The shape of every record.
    pub shape: Shape,
    /// The number of classes; record i has class i modulo this number.
    pub classes: usize,
    /// Number of training records.
    pub size: usize,
    /// Number of further records for measuring accuracy.
    pub test_size: usize,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Default for Synthetic {
    /// Two classes of images of Fashion-MNIST's size, with 10,000 records for training and 2,000 for testing.
    fn default() -> Self {
        let shape = Shape { channels: 1, height: 28, width: 28 };
        Synthetic { shape, classes: 2, size: 10_000, test_size: 2_000, seed: 0 }
    }
}

/// Limit for all numbers of a data set, equal to the limit of a training: 800 MB as `f32`.
const MOST_NUMBERS: usize = crate::memory::MOST_BYTES as usize / 4;

/// Side of the squares of constant grey level, in pixels.
const SQUARE: usize = 4;

/// Weight of the pattern in a record; the rest is noise.
const PATTERN_SHARE: f32 = 0.25;

impl Synthetic {
    /// Makes the data set.
    ///
    /// # Errors
    /// There are no records or no features, fewer than 2 or more than 65,536 classes, or more than 200 million numbers in all.
    pub fn make(&self) -> Result<Dataset> {
        self.check()?;
        let stream = stream_for(self.seed, "misdeal synthetic data 1");
        let patterns: Vec<Vec<f32>> = (0..self.classes).map(|class| self.pattern(&stream, class)).collect();
        Ok(Dataset {
            name: "synthetic".into(),
            classes: self.classes,
            train: self.examples(&stream, &patterns, World::In, self.size),
            test: Some(self.examples(&stream, &patterns, World::Out, self.test_size))
                .filter(|test| !test.is_empty()),
        })
    }

    fn check(&self) -> Result<()> {
        let Shape { channels, height, width } = self.shape;
        let records =
            self.size.checked_add(self.test_size).and_then(|records| records.checked_add(self.classes));
        let numbers = [channels, height, width]
            .iter()
            .try_fold(records.unwrap_or(usize::MAX), |product, &length| product.checked_mul(length));
        let fits = numbers.is_some_and(|numbers| numbers <= MOST_NUMBERS);
        if self.size == 0 || !fits {
            let allowed = format!("from 1 record to {MOST_NUMBERS} numbers in all");
            let hint = format!("a record has {} numbers", self.shape);
            return Err(Error::bad_value("dataset_size", self.size, allowed, hint).into());
        }
        if channels == 0 || height == 0 || width == 0 {
            let hint = "channels, height and width start at 1";
            return Err(
                Error::bad_value("shape", self.shape, "a shape with at least one number", hint).into()
            );
        }
        if !(2..=1 << 16).contains(&self.classes) {
            let allowed = "a whole number from 2 to 65536";
            return Err(Error::bad_value(
                "classes",
                self.classes,
                allowed,
                "one class leaves nothing to learn",
            )
            .into());
        }
        Ok(())
    }

    /// The grey levels of a class, one for each feature: uniform on [0, 1], constant on each square.
    fn pattern(&self, stream: &Stream, class: usize) -> Vec<f32> {
        let Shape { channels, height, width } = self.shape;
        let (rows, columns) = (height.div_ceil(SQUARE), width.div_ceil(SQUARE));
        let level = |channel: usize, row: usize, column: usize| {
            let square = (channel * rows + row / SQUARE) * columns + column / SQUARE;
            let bits = stream.uniform(Purpose::Position, World::In, class as u64, square as u32);
            (bits >> 40) as f32 / (1 << 24) as f32
        };
        let places =
            (0..channels * height * width).map(|at| (at / (height * width), at / width % height, at % width));
        places.map(|(channel, row, column)| level(channel, row, column)).collect()
    }

    /// Makes records; classes alternate. Training and test data have separate noise.
    fn examples(&self, stream: &Stream, patterns: &[Vec<f32>], world: World, count: usize) -> Examples {
        let mut features = Vec::with_capacity(count * self.shape.features());
        for index in 0..count {
            let pattern = &patterns[index % self.classes];
            for (draw, levels) in pattern.chunks(4).enumerate() {
                let block = stream.block(Stream::counter(Purpose::Noise, world, index as u64, draw as u32));
                features.extend(
                    levels
                        .iter()
                        .zip(bell_shaped(block))
                        .map(|(level, noise)| PATTERN_SHARE * level + (1.0 - PATTERN_SHARE) * noise),
                );
            }
        }
        let labels = (0..count).map(|index| (index % self.classes) as u16).collect();
        Examples { shape: self.shape, features, labels }
    }
}

/// Four numbers in [0, 1], each the mean of four random bytes. Mean 1/2, standard deviation 0.145, the same on every machine.
fn bell_shaped(block: u128) -> [f32; 4] {
    std::array::from_fn(|word| {
        let bytes = ((block >> (32 * word)) as u32).to_le_bytes();
        bytes.iter().map(|&byte| f32::from(byte)).sum::<f32>() / 1020.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test accuracy of a linear model after one pass of plain SGD.
    fn accuracy_after_one_pass(dataset: &Dataset) -> f64 {
        let features = dataset.train.shape.features();
        let mut weights = vec![0.0_f32; dataset.classes * (features + 1)];
        let logits = |weights: &[f32], record: &[f32]| -> Vec<f32> {
            let one =
                |row: &[f32]| row[features] + row.iter().zip(record).map(|(w, x)| w * (x - 0.5)).sum::<f32>();
            weights.chunks(features + 1).map(one).collect()
        };
        for index in 0..dataset.train.len() {
            let record = dataset.train.record(index);
            let exponentials: Vec<f32> =
                logits(&weights, record).into_iter().map(bounded_exponential).collect();
            let sum: f32 = exponentials.iter().sum();
            for (class, row) in weights.chunks_mut(features + 1).enumerate() {
                let wanted = f32::from(u8::from(usize::from(dataset.train.labels[index]) == class));
                let step = 0.1 * (wanted - exponentials[class] / sum);
                row.iter_mut().zip(record).for_each(|(w, x)| *w += step * (x - 0.5));
                row[features] += step;
            }
        }
        let test = dataset.test.as_ref().unwrap();
        let right = (0..test.len()).filter(|&index| {
            let logits = logits(&weights, test.record(index));
            (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]))
                == Some(test.labels[index].into())
        });
        right.count() as f64 / test.len() as f64
    }

    /// The exponential of a logit clamped to [-30, 30].
    fn bounded_exponential(logit: f32) -> f32 {
        logit.clamp(-30.0, 30.0).exp()
    }

    #[test]
    fn a_linear_model_learns_it() {
        let image = Shape { channels: 1, height: 28, width: 28 };
        for (shape, classes, size) in [(image, 2, 2000), (Shape::flat(600), 100, 10_000)] {
            let dataset = Synthetic { shape, classes, size, test_size: 400, seed: 5 }.make().unwrap();
            assert!(accuracy_after_one_pass(&dataset) > 0.95, "{shape}");
            assert!(dataset.train.features.iter().all(|feature| (0.0..=1.0).contains(feature)));
        }
    }

    #[test]
    fn it_is_a_function_of_the_seed_and_a_longer_one_begins_as_the_shorter() {
        let plan = Synthetic { size: 50, test_size: 10, seed: 1, ..Synthetic::default() };
        let made = plan.make().unwrap();
        assert_eq!(made, plan.make().unwrap());
        let longer = Synthetic { size: 60, ..plan.clone() }.make().unwrap();
        assert_eq!(longer.train.features[..made.train.features.len()], made.train.features);
        assert_ne!(Synthetic { seed: 2, ..plan }.make().unwrap().train, made.train);
        assert_ne!(made.test.unwrap().record(0), made.train.record(0));
    }

    #[test]
    fn refuses_what_cannot_be_made() {
        let plan = Synthetic::default;
        let none = Shape { channels: 0, height: 1, width: 1 };
        let cases = [
            (Synthetic { size: 0, ..plan() }, "dataset_size is 0"),
            (Synthetic { size: usize::MAX, ..plan() }, "numbers in all"),
            (Synthetic { shape: Shape::flat(usize::MAX), ..plan() }, "numbers in all"),
            (Synthetic { shape: none, ..plan() }, "shape is 0x1x1"),
            (Synthetic { classes: 1, ..plan() }, "classes is 1"),
        ];
        for (plan, expected) in cases {
            let message = plan.make().unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
