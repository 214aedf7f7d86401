//! Records of a file, before some of them are chosen and scaled.

use super::{Examples, Shape};

/// The features of all records, one record after another.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    /// Pixels, to be divided by 255.
    Pixels(Vec<u8>),
    /// Zeros and ones.
    Bits(Vec<u8>),
    /// Numbers that are used as they are.
    Numbers(Vec<f32>),
}

/// A file's records in compact form: bytes stay bytes until the used records are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Records {
    pub shape: Shape,
    pub values: Values,
    /// One label for each record.
    pub labels: Vec<u16>,
}

impl Records {
    /// Size in memory, in bytes.
    pub fn bytes(&self) -> u64 {
        let values = match &self.values {
            Values::Pixels(bytes) | Values::Bits(bytes) => bytes.len(),
            Values::Numbers(numbers) => 4 * numbers.len(),
        };
        (values + 2 * self.labels.len()) as u64
    }

    /// Returns the records with these indices, in this order, scaled.
    ///
    /// A pixel p becomes p / 255, correctly rounded. As in the paper, there is no other preprocessing.
    pub fn take(&self, indices: &[usize]) -> Examples {
        let features = self.shape.features();
        let mut taken = Vec::with_capacity(indices.len() * features);
        for &index in indices {
            let range = index * features..(index + 1) * features;
            match &self.values {
                Values::Pixels(pixels) => {
                    taken.extend(pixels[range].iter().map(|&pixel| f32::from(pixel) / 255.0));
                }
                Values::Bits(bits) => taken.extend(bits[range].iter().map(|&bit| f32::from(bit))),
                Values::Numbers(numbers) => taken.extend_from_slice(&numbers[range]),
            }
        }
        let labels = indices.iter().map(|&index| self.labels[index]).collect();
        Examples { shape: self.shape, features: taken, labels }
    }

    /// All records, scaled.
    pub fn take_all(&self) -> Examples {
        self.take(&(0..self.labels.len()).collect::<Vec<_>>())
    }

    /// Cuts the records in two: those before `index`, and the rest.
    pub fn split_at(mut self, index: usize) -> (Self, Self) {
        let at = index * self.shape.features();
        let values = match &mut self.values {
            Values::Pixels(pixels) => Values::Pixels(pixels.split_off(at)),
            Values::Bits(bits) => Values::Bits(bits.split_off(at)),
            Values::Numbers(numbers) => Values::Numbers(numbers.split_off(at)),
        };
        let rest = Records { shape: self.shape, values, labels: self.labels.split_off(index) };
        (self, rest)
    }
}

/// Images of a few classes, collected batch by batch.
pub(super) struct ImagesOfClasses<'a> {
    classes: &'a [u16],
    shape: Shape,
    pixels: Vec<u8>,
    labels: Vec<u16>,
}

impl<'a> ImagesOfClasses<'a> {
    /// Creates an empty collection; images of `classes[i]` get label i.
    pub fn new(shape: Shape, classes: &'a [u16]) -> Self {
        ImagesOfClasses { classes, shape, pixels: Vec::new(), labels: Vec::new() }
    }

    /// Adds an image if its class is one of the collected classes.
    pub fn add(&mut self, class: u16, pixels: &[u8]) {
        if let Some(label) = self.classes.iter().position(|&wanted| wanted == class) {
            self.pixels.extend_from_slice(pixels);
            self.labels.push(label as u16);
        }
    }

    /// Adds all images of `others`, which has the same shape and classes.
    pub fn append(&mut self, mut others: Self) {
        self.pixels.append(&mut others.pixels);
        self.labels.append(&mut others.labels);
    }

    /// The collected records.
    pub fn finish(self) -> Records {
        Records { shape: self.shape, values: Values::Pixels(self.pixels), labels: self.labels }
    }
}
