//! A digest of data and recipe, for the setting's hash.
//!
//! # Why a digest in the setting?
//! The setting's hash is the key of the random stream and of the store. `Setting::training` holds the digest, so another data set
//! or recipe gets other random bits and another store. An audit of the mechanism leaves the field empty.

use crate::data::Dataset;
use blake3::Hasher;
use misdeal_core::Recipe;

/// A digest of the data set and the recipe with its model: 64 hexadecimal digits.
///
/// In the same setting, trainings with the same digest give the same result in each trial. Training uses the first `records`
/// training records.
///
/// # Panics
/// Never: a recipe has only numbers and names, which JSON can write.
pub fn training_digest(dataset: &Dataset, records: usize, recipe: &Recipe) -> String {
    let mut hasher = Hasher::new_derive_key("misdeal training 1");
    let mut text = |text: &[u8]| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    text(dataset.name.as_bytes());
    text(&serde_json::to_vec(recipe).expect("a recipe has only numbers and names"));
    text(&(records as u64).to_le_bytes());
    text(&dataset.content_hash());
    // Earlier versions gave all canaries of a model the same world. Their stores must not continue here.
    if recipe.canaries > 1 {
        text(b"a coin for each canary");
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Examples, Shape};
    use misdeal_core::{Blueprint, CanaryKind, LastBatch};

    /// Stores of trainings use these digests as keys, so they must never change.
    #[test]
    fn digests_never_change() {
        let examples =
            Examples { shape: Shape::flat(2), features: vec![0.0, 1.0, 2.0, 3.0], labels: vec![0, 1] };
        let dataset = Dataset { name: "two".into(), classes: 2, train: examples, test: None };
        let digests = ["mlp", "lenet", "cnn"].map(|model| {
            let recipe = Recipe::new(Blueprint::named(model).unwrap());
            training_digest(&dataset, 2, &recipe)
        });
        assert_eq!(digests.join("\n"), include_str!("../../../testdata/training_digests.txt").trim_end());
    }

    #[test]
    fn the_digest_sees_everything_that_changes_a_trial() {
        let examples =
            Examples { shape: Shape::flat(2), features: vec![0.0, 1.0, 2.0, 3.0], labels: vec![0, 1] };
        let dataset = Dataset { name: "two".into(), classes: 2, train: examples, test: None };
        let recipe = Recipe::new(Blueprint::named("mlp").unwrap());
        let base = training_digest(&dataset, 2, &recipe);
        assert_eq!(base, training_digest(&dataset.clone(), 2, &recipe.clone()));
        let recipes: [fn(&mut Recipe); 7] = [
            |r| r.learning_rate = 0.2,
            |r| r.clip_norm = 2.0,
            |r| r.canary = CanaryKind::Dirac,
            |r| r.canaries = 2,
            |r| r.debias = true,
            |r| r.last_batch = LastBatch::Keep,
            |r| r.model.layers.truncate(1),
        ];
        let datasets: [fn(&mut Dataset); 5] = [
            |d| d.name.push('!'),
            |d| d.classes = 3,
            |d| d.train.features[3] = 4.0,
            |d| d.train.labels.swap(0, 1),
            |d| d.test = Some(d.train.clone()),
        ];
        let mut digests = vec![base, training_digest(&dataset, 1, &recipe)];
        for change in recipes {
            let mut other = recipe.clone();
            change(&mut other);
            digests.push(training_digest(&dataset, 2, &other));
        }
        for change in datasets {
            let mut other = dataset.clone();
            change(&mut other);
            digests.push(training_digest(&other, 2, &recipe));
        }
        let count = digests.len();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }
}
