//! What both audits share: requests from flags, and delivery.

use crate::arguments::{AnalysisArguments, CommonArguments, GameArguments, RunArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot, text};
use misdeal::{Analysis, AuditReport, ClaimedCurve, Correction, RunRequest, Shard, StopWhen};
use misdeal_core::{Adjacency, BatchScheme, Error, Setting};

impl AnalysisArguments {
    /// How scores become an epsilon.
    pub fn analysis(&self) -> Analysis {
        Analysis {
            delta: self.delta,
            significance: self.significance,
            estimator: self.estimator.clone(),
            threshold_choice: self.threshold_choice,
        }
    }
}

impl GameArguments {
    /// The setting with the schemes and the adversary that the flags name.
    pub fn applied_to(&self, setting: Setting, buffer_size: Option<u64>) -> Result<Setting, Error> {
        Ok(Setting {
            scheme: BatchScheme::from_name(&self.scheme, buffer_size)?,
            threat_model: self.threat_model,
            adjacency: Adjacency::ZeroOut,
            target_index: self.target_index,
            adversary_scheme: BatchScheme::of_adversary(
                self.adversary_scheme.as_deref(),
                self.adversary_buffer_size,
                buffer_size,
            )?,
            ..setting
        })
    }
}

impl RunArguments {
    /// How much is played, and what becomes of it; refuses what is known to be in vain.
    pub fn request(&self, observations: u64) -> Result<RunRequest, Failure> {
        plot::check(self.plot.as_deref())?;
        Ok(RunRequest {
            observations,
            analysis: self.analysis.analysis(),
            second_analysis: None,
            theory: None,
            scores: self.scores,
            stop_when: self.stop_when.as_deref().map(StopWhen::parse).transpose()?,
            claimed_epsilon: self.claimed_epsilon,
            claimed_curve: self.claimed_curve.as_deref().map(ClaimedCurve::parse).transpose()?,
            trade_off: self.trade_off || self.claimed_curve.is_some() || self.plot.is_some(),
            store: self.store.clone(),
            save_every: self.save_every,
            resume: self.resume,
            shard: self.shard.as_deref().map_or(Ok(Shard::WHOLE), Shard::parse)?,
            search_buffer: self.search_buffer.then_some(if self.uncorrected {
                Correction::None
            } else {
                Correction::Bonferroni
            }),
        })
    }

    /// Draws and prints what an audit found.
    pub fn deliver(&self, report: &AuditReport, common: &CommonArguments) -> Result<Success, Failure> {
        if let Some(path) = &self.plot {
            plot::write(path, report)?;
        }
        output::deliver(common, report, || text::audit(report))?;
        Ok(if self.check && report.refutes_the_claim() { Success::BadNews } else { Success::Fine })
    }
}
