//! Audits of training whose adversary guesses the buffer. Every model is trained once and scored under every belief.

use crate::buffer_search::{Blind, Rungs, belief};
use crate::checkpoints::Checkpoints;
use crate::measurement::Player;
use crate::training::TrainingPlayer;
use crate::{Error, Progress, Result, RunOptions};
use misdeal_core::{BatchScheme, STREAM_NAME, ScoreStore, Setting, StoreKind};
use misdeal_game::Watch;
use misdeal_train::{TrainingPlan, TrialBatch};

/// The scores of all models under every belief that may be asked for. Training a model twice would cost too much.
pub(crate) struct BlindTraining<'a> {
    plan: &'a TrainingPlan,
    beliefs: Vec<BatchScheme>,
    scores: Vec<TrialBatch>,
}

/// Largest number of scores kept, over all beliefs. With more models, fewer sizes are guessed.
const MOST_SCORES: u64 = 1 << 25;

impl<'a> BlindTraining<'a> {
    /// Trains all models of a run once, and decides which sizes may be guessed.
    ///
    /// # Errors
    /// The adversary assumes a scheme without a buffer, or the run is interrupted.
    pub(crate) fn train(
        player: &'a TrainingPlayer,
        run: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<(Rungs, Self)> {
        let plan = &player.backend.plan;
        let setting = plan.setting();
        let canaries = player.scores_per_observation();
        let most_others = MOST_SCORES / (run.observations * canaries).max(1);
        let rungs = Rungs::new(setting.steps_per_epoch, run.analysis.significance, most_others)?;
        let sizes = (0..rungs.len()).map(|rung| rungs.batches(rung) * setting.batch_size);
        let beliefs = sizes.map(|size| belief(setting, size)).collect::<misdeal_core::Result<Vec<_>>>()?;
        let checkpoints = Checkpoints::new(None, progress, 0, run.observations);
        let stretch = player.backend.trials_per_checkpoint();
        let mut scores: Vec<TrialBatch> = vec![TrialBatch::default(); beliefs.len()];
        let trials = run.trials();
        let mut next = trials.start;
        while next < trials.end {
            let part = next..trials.end.min(next + stretch);
            next = part.end;
            let cancelled = || checkpoints.is_cancelled();
            let Some(scored) =
                plan.score_for_beliefs(&beliefs, part, &cancelled, &|| checkpoints.observed(1))
            else {
                return Err(Error::simulation_interrupted());
            };
            for (all, part) in scores.iter_mut().zip(scored) {
                all.scores_in.extend(part.scores_in);
                all.scores_out.extend(part.scores_out);
                if let Ok(mut utility) = player.utility.lock() {
                    utility.merge(&part.utility);
                }
            }
        }
        Ok((rungs, BlindTraining { plan, beliefs, scores }))
    }
}

impl Blind for BlindTraining<'_> {
    fn setting(&self) -> &Setting {
        self.plan.setting()
    }

    fn engine(&self) -> &'static str {
        misdeal_train::ENGINE
    }

    fn scores_are_independent(&self) -> bool {
        self.plan.recipe().canaries == 1
    }

    fn scored(&self, belief: BatchScheme) -> Result<ScoreStore> {
        let place = self.beliefs.iter().position(|&known| known == belief).expect("all beliefs were scored");
        let TrialBatch { scores_in, scores_out, .. } = &self.scores[place];
        let setting = Setting { adversary_scheme: Some(belief), ..self.plan.setting().clone() };
        let mut store = ScoreStore::new(setting, misdeal_train::ENGINE, STREAM_NAME, StoreKind::Exact)?;
        store.insert(0..scores_in.len() as u64, scores_in, scores_out)?;
        Ok(store)
    }
}
