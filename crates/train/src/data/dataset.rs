//! Records with labels.

/// The shape of one record: channels x height x width for images (planar), 1 x 1 x features otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Colour channels of an image.
    pub channels: usize,
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image, or all features of a record that is not an image.
    pub width: usize,
}

impl Shape {
    /// The shape of a record that is not an image.
    pub fn flat(features: usize) -> Self {
        Shape { channels: 1, height: 1, width: features }
    }

    /// Numbers in a record.
    pub fn features(&self) -> usize {
        self.channels * self.height * self.width
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}x{}", self.channels, self.height, self.width)
    }
}

/// Records with labels 0..classes. Features are stored one record after another, already scaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    /// The shape of every record.
    pub shape: Shape,
    /// `shape.features()` numbers for each record.
    pub features: Vec<f32>,
    /// The class of each record.
    pub labels: Vec<u16>,
}

impl Examples {
    /// The number of records.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The features of one record.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn record(&self, index: usize) -> &[f32] {
        let features = self.shape.features();
        &self.features[index * features..][..features]
    }

    fn hash_into(&self, hasher: &mut blake3::Hasher) {
        let Shape { channels, height, width } = self.shape;
        for number in [channels, height, width, self.len()] {
            hasher.update(&(number as u64).to_le_bytes());
        }
        let mut bytes = Vec::new();
        for labels in self.labels.chunks(1 << 14) {
            bytes.clear();
            bytes.extend(labels.iter().flat_map(|label| label.to_le_bytes()));
            hasher.update(&bytes);
        }
        for features in self.features.chunks(1 << 14) {
            bytes.clear();
            bytes.extend(features.iter().flat_map(|feature| feature.to_le_bytes()));
            hasher.update(&bytes);
        }
    }
}

/// A data set, ready to train on.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The name in reports; the name of a synthetic stand-in says that it is one.
    pub name: String,
    /// The number of classes; some may have no records.
    pub classes: usize,
    /// The training data.
    pub train: Examples,
    /// The test data, if there is any.
    pub test: Option<Examples>,
}

impl Dataset {
    /// A hash of all shapes, labels and features of training and test data. The name is not included.
    ///
    /// Two data sets have the same hash if and only if they have the same numbers, up to collisions of BLAKE3. It does not matter
    /// where the numbers came from.
    pub fn content_hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("misdeal dataset 1");
        hasher.update(&(self.classes as u64).to_le_bytes());
        self.train.hash_into(&mut hasher);
        hasher.update(&[u8::from(self.test.is_some())]);
        if let Some(test) = &self.test {
            test.hash_into(&mut hasher);
        }
        *hasher.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_sees_all_but_the_name() {
        let examples =
            Examples { shape: Shape::flat(2), features: vec![0.0, 0.5, 1.0, 2.0], labels: vec![0, 1] };
        let base = Dataset { name: "a".into(), classes: 2, train: examples.clone(), test: Some(examples) };
        let changes: [fn(&mut Dataset); 7] = [
            |d| d.classes = 3,
            |d| d.train.features[3] = f32::from_bits(2.0_f32.to_bits() + 1),
            |d| d.train.features[0] = -0.0,
            |d| d.train.labels.swap(0, 1),
            |d| d.train.shape = Shape { channels: 2, height: 1, width: 1 },
            |d| d.test = None,
            |d| d.test.as_mut().unwrap().labels[0] = 1,
        ];
        for (which, change) in changes.iter().enumerate() {
            let mut other = base.clone();
            change(&mut other);
            assert_ne!(other.content_hash(), base.content_hash(), "change {which}");
        }
        assert_eq!(Dataset { name: "b".into(), ..base.clone() }.content_hash(), base.content_hash());
    }
}
