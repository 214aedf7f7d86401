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
const GROUP_SIZE: usize = 8;

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
    /// Candidates are laid out on the scales of the two extremes: a target that moves by z standard deviations over all epochs
    /// together up to z in each, z the quantile of delta, and a shift of everything by up to three standard deviations of the sum.
    pub fn strategy(mut self) -> Option<Strategy> {
        let pair = self.pair;
        let s = pair.noise_multiplier;
        let far = -normal::lower_quantile(self.question.delta.min(0.25));
        let least = 0.5 * far / (pair.epochs as f64).sqrt();
        let target = |deviations: f64| pair.present + s * deviations;
        let lift = |deviations: f64| s * deviations / (pair.epochs as f64 * pair.batches() as f64).sqrt();

        let (mut moved, mut lifted) = (0.0, 0.0);
        let mut best = f64::NEG_INFINITY;
        let steps = (1.3 * far / least).ln() / 1.4_f64.ln();
        for i in 0..=steps.ceil() as i32 {
            let candidate = least * 1.4_f64.powi(i);
            self.consider(&mut best, target(candidate), lift(0.0), || moved = candidate)?;
        }
        for candidate in [1.0, 2.0, 3.0] {
            self.consider(&mut best, target(moved), lift(candidate), || lifted = candidate)?;
        }
        for factor in [0.5, 0.7, 0.85, 1.18] {
            let candidate = moved * factor;
            self.consider(&mut best, target(candidate), lift(lifted), || moved = candidate)?;
        }
        for change in [-0.5, 0.5] {
            let candidate = lifted + change;
            self.consider(&mut best, target(moved), lift(candidate), || lifted = candidate)?;
        }
        let tilt = Tilt { everywhere: lift(lifted), target: target(moved) };
        self.strategy_for(tilt)
    }

    /// The group size and stakes for a given tilt.
    pub fn strategy_for(&mut self, tilt: Tilt) -> Option<Strategy> {
        let Question { delta, significance, samples } = self.question;
        let pilot = self.samples(tilt, samples / 64)?;
        let moments = pilot.moments(pilot.epsilon_estimate(delta));
        let group_size = self.group_size(moments);
        let groups = samples / group_size as u64;
        let variance = moments.between + moments.within / group_size as f64;
        let bet = Bet::plan(delta, variance, groups, significance);
        Some(Strategy { tilt, plan: Plan { groups, group_size }, bet })
    }

    /// Lets `take` note a tilt whose pilot bound is above the `best` so far.
    fn consider(&mut self, best: &mut f64, target: f64, everywhere: f64, take: impl FnOnce()) -> Option<()> {
        let Question { delta, significance, samples } = self.question;
        let losses = self.samples(Tilt { everywhere, target }, samples / 256)?;
        let Moments { between, within, .. } = losses.moments(losses.epsilon_estimate(delta));
        let variance = between + within / GROUP_SIZE as f64;
        let bet = Bet::plan(delta, variance, losses.groups(), significance);
        let bound = losses.epsilon_lower_bound(&bet, significance);
        if bound > *best {
            *best = bound;
            take();
        }
        Some(())
    }

    /// About `samples` runs, from bits that no other stage uses.
    fn samples(&mut self, tilt: Tilt, samples: u64) -> Option<Losses> {
        let part = Part::Pilot { stage: self.stage };
        self.stage += 1;
        let plan = Plan { groups: samples.clamp(512, 1 << 16) / GROUP_SIZE as u64, group_size: GROUP_SIZE };
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
