//! `misdeal audit mechanism`.

use crate::arguments::{AnalysisArguments, CommonArguments, MechanismArguments};
use crate::failure::{Failure, Success};
use crate::progress::Bar;
use crate::{interruption, output, plot, text};
use misdeal_audit::{Analysis, MechanismRequest, Shard, StopWhen, audit_mechanism};
use misdeal_core::{Adjacency, BatchScheme, Error, Setting, StoreKind, ThreatModel};
use misdeal_files::atomic::is_same_place;

/// Plays the game and reports.
pub fn run(arguments: MechanismArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let check = arguments.check;
    if let (Some(store), Some(output)) = (&arguments.store, &common.output)
        && is_same_place(store, output)
    {
        let hint = "the result would replace the store";
        return Err(Error::bad_value("output", output.display(), "another file than --store", hint).into());
    }
    let plot = arguments.plot.clone();
    plot::check(plot.as_deref())?;
    let request = request(arguments, common.seed)?;
    interruption::listen()?;
    let report = {
        let bar = Bar::new(common.quiet);
        audit_mechanism(&request, &bar)?
    };
    if let Some((path, curves)) = plot.as_deref().zip(report.trade_off.as_ref()) {
        plot::trade_off(path, plot::title(&report.setting), curves)?;
    }
    output::deliver(common, &report, || text::mechanism(&report))?;
    Ok(if check && report.refutes_the_claim() { Success::BadNews } else { Success::Fine })
}

impl AnalysisArguments {
    /// How scores become an epsilon.
    pub fn analysis(&self) -> Analysis {
        Analysis {
            delta: self.delta,
            significance: self.significance,
            estimator: self.estimator.clone(),
            threshold_choice: self.threshold_choice.clone(),
        }
    }
}

fn request(arguments: MechanismArguments, seed: u64) -> Result<MechanismRequest, Failure> {
    let later = [("--device cuda", arguments.device == "cuda"), ("--search-buffer", arguments.search_buffer)];
    if let Some((flag, _)) = later.into_iter().find(|(_, given)| *given) {
        return Err(Failure::not_available_yet(flag));
    }
    let engine = arguments.engine.unwrap_or(arguments.device);
    let adversary_buffer = |name: &str| {
        arguments
            .adversary_buffer_size
            .or(arguments.shape.buffer_size.filter(|_| BatchScheme::has_buffer(name)))
    };
    let adversary_scheme = arguments.adversary_scheme.as_deref();
    let setting = Setting {
        noise_multiplier: arguments.noise_multiplier,
        scheme: BatchScheme::from_name(&arguments.scheme, arguments.shape.buffer_size)?,
        threat_model: ThreatModel::from_name(&arguments.threat_model)?,
        adjacency: Adjacency::ZeroOut,
        target_index: arguments.target_index,
        adversary_scheme: adversary_scheme
            .map(|name| BatchScheme::from_name(name, adversary_buffer(name)).map_err(of_the_adversary))
            .transpose()?,
        seed,
        ..arguments.shape.setting()
    };
    Ok(MechanismRequest {
        setting,
        observations: arguments.observations,
        analysis: arguments.analysis.analysis(),
        scores: if arguments.scores == "exact" { StoreKind::Exact } else { StoreKind::Counts },
        engine,
        stop_when: arguments.stop_when.as_deref().map(StopWhen::parse).transpose()?,
        claimed_epsilon: arguments.claimed_epsilon,
        trade_off: arguments.trade_off || arguments.plot.is_some(),
        store: arguments.store,
        resume: arguments.resume,
        shard: arguments.shard.map_or(Ok(Shard::WHOLE), |text| Shard::parse(&text))?,
    })
}

/// A refusal of the adversary's scheme, with the flags that are its own.
fn of_the_adversary(error: Error) -> Error {
    match error {
        Error::BadValue { field: "buffer_size", value, allowed, hint } => {
            Error::BadValue { field: "adversary_buffer_size", value, allowed, hint }
        }
        other => other,
    }
}
