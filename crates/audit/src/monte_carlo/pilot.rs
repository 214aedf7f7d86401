//! Independent samples that choose the proposal, the group size and the stakes of the main run.

use super::betting::Bet;
use super::draws::Part;
use super::losses::{Losses, Moments};
use super::pair::ModelledPair;
use super::proposal::{Proposal, Tilt};
use super::sampling::{Plan, sample};
use crate::Progress;
use misdeal_core::{Stream, normal};

/// Runs in a group of the pilot.
const GROUP_SIZE: usize = 4;

/// The inverse of the share of the main run's samples that one round of the pilot draws.
const SHARE_OF_A_ROUND: u64 = 32;

/// The fewest samples of a candidate.
const FEWEST_SAMPLES: u64 = 256;

/// The most runs that share their other batches in the main run.
const LARGEST_GROUP: f64 = 32.0;

/// The fewest groups of the main run, if it has as many samples.
const FEWEST_GROUPS: u64 = 1000;

/// Gaussian numbers of other batches that take as long as one output of the target's batch with its weights.
const COST_OF_A_RUN: f64 = 4.0;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub delta: f64,
    pub significance: f64,
    pub samples: u64,
}

/// What the main run is to do, fixed before it draws anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Strategy {
    pub tilt: Tilt,
    pub plan: Plan,
    pub bet: Bet,
}

/// Chooses and discards: nothing that the pilot draws enters the bound, so every choice it makes is valid.
pub(super) struct Pilot<'a> {
    pub pair: &'a ModelledPair,
    pub stream: &'a Stream,
    pub question: Question,
    pub progress: &'a dyn Progress,
    stage: u64,
}

impl<'a> Pilot<'a> {
    /// A pilot for a question about a pair.
    pub fn new(
        pair: &'a ModelledPair,
        stream: &'a Stream,
        question: Question,
        progress: &'a dyn Progress,
    ) -> Self {
        Pilot { pair, stream, question, progress, stage: 0 }
    }

    /// The tilt whose samples show the largest lower bound, and a strategy for it; `None` if interrupted.
    ///
    /// Comparing bounds instead of variances sees through a tilt that misses what matters and looks precise: its bound is low.
    /// In every round the candidates share their random numbers, and the better half of them stays for the next, with twice as
    /// many samples each.
    pub fn strategy(mut self) -> Option<Strategy> {
        let mut candidates = self.candidates();
        while candidates.len() > 1 {
            let samples = self.question.samples / SHARE_OF_A_ROUND / candidates.len() as u64;
            let bounds: Option<Vec<_>> =
                candidates.iter().map(|&tilt| Some((self.bound(tilt, samples)?, tilt))).collect();
            let mut bounds = bounds?;
            bounds.sort_by(|one, other| other.0.total_cmp(&one.0));
            bounds.truncate(candidates.len().div_ceil(2));
            candidates = bounds.into_iter().map(|(_, tilt)| tilt).collect();
            self.stage += 1;
        }
        self.strategy_for(candidates[0])
    }

    /// A grid on the scales of two extremes: a target that moves by half of z standard deviations over all epochs together, up to
    /// 1.3 z in every epoch, z the quantile of delta; and all means moved by up to three standard deviations of their sum.
    fn candidates(&self) -> Vec<Tilt> {
        let pair = self.pair;
        let s = pair.noise_multiplier;
        let far = -normal::lower_quantile(self.question.delta.min(0.25));
        let lift = s / (pair.epochs as f64 * pair.batches() as f64).sqrt();
        let first = 0.5 * far / (pair.epochs as f64).sqrt();
        let moves = std::iter::successors(Some(first), |moved| Some(1.3 * moved));
        moves
            .take_while(|&moved| moved <= 1.3 * far)
            .flat_map(|moved| [0.0, 1.0, 2.0, 3.0].map(|lifts| (moved, lifts)))
            .map(|(moved, lifts)| Tilt { everywhere: lift * lifts, target: pair.present + s * moved })
            .collect()
    }

    /// The group size and stakes for a given tilt.
    pub fn strategy_for(&self, tilt: Tilt) -> Option<Strategy> {
        let Question { delta, significance, samples } = self.question;
        let pilot = self.samples(tilt, samples / SHARE_OF_A_ROUND)?;
        let moments = pilot.moments(pilot.epsilon_estimate(delta));
        let group_size = self.group_size(moments);
        let groups = samples / group_size as u64;
        let bet = Bet::plan(delta, moments.variance(group_size), groups, significance);
        Some(Strategy { tilt, plan: Plan { groups, group_size }, bet })
    }

    /// The lower bound that a pilot of `samples` with this tilt would show, with stakes planned in hindsight.
    fn bound(&self, tilt: Tilt, samples: u64) -> Option<f64> {
        let Question { delta, significance, .. } = self.question;
        let losses = self.samples(tilt, samples)?;
        let moments = losses.moments(losses.epsilon_estimate(delta));
        let bet = Bet::plan(delta, moments.variance(GROUP_SIZE), losses.groups(), significance);
        Some(losses.epsilon_lower_bound(&bet, significance))
    }

    /// About `samples` runs, from the bits of this stage.
    fn samples(&self, tilt: Tilt, samples: u64) -> Option<Losses> {
        let part = Part::Pilot { stage: self.stage };
        let plan = Plan { groups: samples.max(FEWEST_SAMPLES) / GROUP_SIZE as u64, group_size: GROUP_SIZE };
        sample(Proposal { pair: self.pair, tilt }, self.stream, part, plan, self.progress)
    }

    /// The size that makes variance times cost least: sqrt(cost of what is shared / cost of a run x within / between).
    fn group_size(&self, moments: Moments) -> usize {
        let cost = self.pair.batches() as f64 / COST_OF_A_RUN;
        let best = (cost * moments.within / moments.between).sqrt();
        let most = (self.question.samples / FEWEST_GROUPS) as f64;
        // `min` takes the limit where there is no variance at all.
        best.min(LARGEST_GROUP).min(most).max(1.0) as usize
    }
}
