//! The random numbers of one group of samples.

use misdeal_core::{Purpose, Stream, World, gaussian};

/// Random numbers in the order in which a group asks for them: blocks 0, 1, 2, ... of [`Purpose::MonteCarlo`], lowest
/// word first. A pure function of the stream, the part and the group's index.
pub(super) struct Draws<'a> {
    stream: &'a Stream,
    world: World,
    index: u64,
    next_block: u32,
    block: u128,
    words_left: u32,
}

/// The two independent parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Chooses the proposal; what it draws is then forgotten.
    Pilot {
        /// Which of the pilot's stages.
        stage: u64,
    },
    /// Gives the bound.
    Main,
}

impl<'a> Draws<'a> {
    /// The numbers of group `index` of a part.
    pub fn new(stream: &'a Stream, part: Part, index: u64) -> Self {
        let (world, index) = match part {
            Part::Main => (World::In, index),
            Part::Pilot { stage } => (World::Out, stage << 40 | index),
        };
        Draws { stream, world, index, next_block: 0, block: 0, words_left: 0 }
    }

    fn word(&mut self) -> u32 {
        if self.words_left == 0 {
            let counter = Stream::counter(Purpose::MonteCarlo, self.world, self.index, self.next_block);
            self.block = self.stream.block(counter);
            self.next_block += 1;
            self.words_left = 4;
        }
        let word = self.block as u32;
        self.block >>= 32;
        self.words_left -= 1;
        word
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        u64::from(self.word()) | u64::from(self.word()) << 32
    }

    /// A number from N(0, 1), resolved as [`gaussian`] says.
    pub fn normal(&mut self) -> f64 {
        let word = self.word();
        gaussian(word, || self.bits())
    }

    /// Whether an event of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        (self.bits() as f64) < probability * 2.0_f64.powi(64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::Setting;

    #[test]
    fn parts_stages_and_groups_share_no_bits() {
        let stream = Stream::new(&Setting::default().hash());
        let parts = [Part::Main, Part::Pilot { stage: 0 }, Part::Pilot { stage: 1 }];
        let mut seen: Vec<u64> = parts
            .iter()
            .flat_map(|&part| (0..3).map(move |index| (part, index)))
            .flat_map(|(part, index)| {
                let mut draws = Draws::new(&stream, part, index);
                [draws.bits(), draws.bits(), draws.bits()]
            })
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 27);
    }
}
