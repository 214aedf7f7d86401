//! The coins that decide which canaries a model contains.
//!
//! # Why do models come in pairs?
//! Both models of a trial have the opposite coins, and noise and batches of their own. So each canary gives one score with the
//! target present and one without it, and a store holds as many of both. Each coin alone is fair, and the coins of one model are
//! independent.
//!
//! # Why does one canary have no coin?
//! The pair contains it once in any case, so the first model has it. Trials of one canary are those of earlier versions.

use misdeal_core::{Purpose, Stream, World};

/// Whether each canary is present in a trial's first model (`World::In`) or second one (`World::Out`).
pub fn coins(stream: &Stream, world: World, trial: u64, canaries: usize) -> Vec<bool> {
    let is_first = world == World::In;
    if canaries == 1 {
        return vec![is_first];
    }
    let block = |index| stream.block(Stream::long_counter(Purpose::Coins, World::In, trial, index));
    let bits = (0..).flat_map(|index| {
        let block = block(index);
        (0..128).map(move |bit| block >> bit & 1 == 1)
    });
    bits.take(canaries).map(|bit| bit == is_first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::Setting;

    /// Sums of 10,000 fair signs, alone and times their neighbours' in canaries and trials: deviates with a limit of 5.5.
    #[test]
    fn coins_are_fair_independent_and_opposite_in_a_pair() {
        for stream in [Stream::new, Stream::philox].map(|make| make(&Setting::default().hash())) {
            let signs: Vec<Vec<f64>> = (0..50)
                .map(|trial| coins(&stream, World::In, trial, 200))
                .map(|coins| coins.into_iter().map(|coin| if coin { 1.0 } else { -1.0 }).collect())
                .collect();
            let sum = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
                (0..50)
                    .flat_map(|trial| (0..200).map(move |k| (trial, k)))
                    .map(|(trial, k)| of(trial, k))
                    .sum()
            };
            for deviate in [
                sum(&|trial, k| signs[trial][k]),
                sum(&|trial, k| signs[trial][k] * signs[trial][(k + 1) % 200]),
                sum(&|trial, k| signs[trial][k] * signs[trial][(k + 128) % 200]),
                sum(&|trial, k| signs[trial][k] * signs[(trial + 1) % 50][k]),
            ] {
                assert!(deviate.abs() < 5.5 * 100.0, "{deviate}");
            }
            for (a, b) in
                coins(&stream, World::In, 7, 130).into_iter().zip(coins(&stream, World::Out, 7, 130))
            {
                assert_ne!(a, b);
            }
            assert_eq!(World::BOTH.map(|world| coins(&stream, world, 7, 1)), [[true], [false]]);
        }
    }
}
