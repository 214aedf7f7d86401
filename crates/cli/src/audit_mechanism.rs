//! `misdeal audit mechanism`.

use crate::arguments::{CommonArguments, MechanismArguments};
use crate::failure::{Failure, Success};
use crate::interruption;
use crate::progress::Bar;
use misdeal::{EngineChoice, MechanismRequest, audit_mechanism};
use misdeal_core::Setting;

/// Plays the game and reports.
pub fn run(arguments: &MechanismArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let run = arguments.run.request(arguments.observations)?;
    let setting = Setting {
        noise_multiplier: arguments.noise_multiplier,
        seed: common.seed,
        ..arguments.shape.setting()
    };
    let setting = arguments.game.applied_to(setting, arguments.shape.buffer_size)?;
    let engine = EngineChoice { device: arguments.run.device, engine: arguments.engine.clone() };
    interruption::listen(interruption::Patience::Endless)?;
    let report = {
        let bar = Bar::new(common);
        audit_mechanism(&MechanismRequest { setting, engine, run }, &bar)?
    };
    arguments.run.deliver(&report, common)
}
