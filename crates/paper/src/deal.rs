//! Simulates a drawing of the paper, which shows the batch of each record in a small file.

use crate::artefact::DealJob;
use misdeal_core::{Result, Stream, World};
use misdeal_results::Dealt;
use misdeal_schemes::sampler;

/// Number of epochs that are shown.
const SHOWN: usize = 3;

/// Number of epochs over which shares are counted.
const EPOCHS: u64 = 100_000;

impl DealJob {
    /// Simulates many epochs with the sampler that trainings use.
    ///
    /// # Errors
    /// The scheme does not exist, or the sizes do not fit it.
    pub(crate) fn dealt(&self, artefact: &'static str, seed: u64) -> Result<Dealt> {
        let setting = self.setting(seed)?.validated()?;
        let stream = Stream::new(&setting.hash());
        let mut shown_epochs = Vec::new();
        let mut met_in = vec![0_u64; setting.steps_per_epoch as usize];
        let mut met = vec![0_u64; setting.dataset_size() as usize];
        for trial in 0..EPOCHS {
            let mut sampler = sampler(&setting, &stream, World::In, trial);
            let batches = sampler.next_epoch();
            if shown_epochs.len() < SHOWN {
                shown_epochs.push(batches.iter().map(<[u64]>::to_vec).collect());
            }
            for (place, batch) in batches.iter().enumerate() {
                if batch.contains(&setting.target_index) {
                    met_in[place] += 1;
                    for &record in batch {
                        met[record as usize] += 1;
                    }
                }
            }
        }
        let shares =
            |counts: Vec<u64>| counts.into_iter().map(|count| count as f64 / EPOCHS as f64).collect();
        Ok(Dealt {
            artefact: artefact.into(),
            name: self.name.clone(),
            setting,
            shown_epochs,
            epochs: EPOCHS,
            target_shares: shares(met_in),
            company_shares: shares(met),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefact::artefact;

    fn deals(name: &'static str) -> Vec<Dealt> {
        artefact(name).unwrap().deals.iter().map(|job| job.dealt(name, 7).unwrap()).collect()
    }

    /// Whether a share is within six standard deviations of its probability.
    ///
    /// A share lies beyond them with probability 2e-9. All shares of both figures together raise a false alarm with probability
    /// below 1e-6.
    fn is(share: f64, probability: f64) -> bool {
        (share - probability).abs() <= 6.0 * (probability * (1.0 - probability) / EPOCHS as f64).sqrt()
    }

    #[test]
    fn a_buffer_keeps_the_target_in_its_first_batches() {
        let [full, partial] = &deals("figure-8")[..] else { panic!("two ways to shuffle") };
        assert!(full.target_shares.iter().all(|&share| is(share, 0.25)), "{:?}", full.target_shares);
        assert!(is(partial.target_shares[0], 0.5) && is(partial.target_shares[1], 0.5));
        assert_eq!(partial.target_shares[2..], [0.0, 0.0]);
        assert!(full.company_shares[1..].iter().all(|&share| is(share, 1.0 / 7.0)));
        assert!(partial.company_shares[1..4].iter().all(|&share| is(share, 1.0 / 3.0)));
        assert_eq!(partial.company_shares[4..], [0.0; 4]);
        for epoch in &partial.shown_epochs {
            let mut first_buffer = epoch[..2].concat();
            first_buffer.sort_unstable();
            assert_eq!((epoch.len(), first_buffer), (4, vec![0, 1, 2, 3]));
        }
    }

    #[test]
    fn batched_first_the_company_never_changes() {
        let [right, wrong] = &deals("figure-10")[..] else { panic!("two orders") };
        for deal in [right, wrong] {
            assert!(deal.target_shares.iter().all(|&share| is(share, 0.5)), "{:?}", deal.target_shares);
        }
        assert!(right.company_shares[1..].iter().all(|&share| is(share, 3.0 / 7.0)));
        assert_eq!(wrong.company_shares, [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_seed_deals_the_same_again_and_another_does_not() {
        let job = &artefact("figure-8").unwrap().deals[0];
        assert_eq!(job.dealt("figure-8", 1).unwrap(), job.dealt("figure-8", 1).unwrap());
        assert_ne!(
            job.dealt("figure-8", 1).unwrap().shown_epochs,
            job.dealt("figure-8", 2).unwrap().shown_epochs
        );
    }
}
