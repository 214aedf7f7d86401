//! Writes the command that computes the privacy cost of a shuffle buffer.

use misdeal_core::Setting;

/// The sizes of a pipeline in records; `None` if the source does not give them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    /// The size of the shuffle buffer.
    pub buffer: Option<i64>,
    /// The size of a batch.
    pub batch: Option<i64>,
    /// The size of the data set.
    pub records: Option<i64>,
}

impl Sizes {
    /// The command that accounts for the buffer, with the known sizes.
    ///
    /// Unknown values appear as letters, which the user must replace. `K` is an unknown buffer size. If the buffer is larger than
    /// the default data set and the data's size is unknown, `T` batches of `B` records appear too.
    pub fn command(self) -> String {
        let positive =
            |size: Option<i64>| size.and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0);
        let [buffer, batch, records] = [self.buffer, self.batch, self.records].map(positive);
        let or = |size: Option<u64>, letter: &str| size.map_or(letter.to_owned(), |size| size.to_string());
        let command = format!("misdeal account --scheme stream-shuffle --buffer-size {}", or(buffer, "K"));
        let default = Setting::default();
        let fits = buffer.is_none_or(|buffer| buffer <= default.steps_per_epoch * default.batch_size);
        let steps = records.zip(batch).map(|(records, batch)| records.div_ceil(batch));
        if steps.is_none() && fits {
            return command;
        }
        format!("{command} --steps-per-epoch {} --batch-size {}", or(steps, "T"), or(batch, "B"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sizes_are_written_and_letters_stand_for_the_others() {
        let command = |buffer, batch, records| {
            let words = Sizes { buffer, batch, records }.command();
            words.strip_prefix("misdeal account --scheme stream-shuffle --buffer-size ").unwrap().to_owned()
        };
        assert_eq!(command(None, None, None), "K");
        assert_eq!(command(Some(0), None, None), "K");
        assert_eq!(command(Some(1000), Some(32), None), "1000");
        assert_eq!(command(Some(50_000), None, None), "50000 --steps-per-epoch T --batch-size B");
        assert_eq!(command(Some(50_000), Some(32), None), "50000 --steps-per-epoch T --batch-size 32");
        assert_eq!(
            command(Some(1000), Some(256), Some(60_000)),
            "1000 --steps-per-epoch 235 --batch-size 256"
        );
    }
}
