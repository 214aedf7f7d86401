//! One suite that every engine passes: trial by trial, each fused engine agrees with the reference, and all fused
//! engines agree with each other to the last bit.

use misdeal_core::{EngineName, Setting, World};
use misdeal_game::{Game, engines};
use misdeal_testkit::suite::Suite;

#[test]
fn every_engine_agrees_with_the_reference_trial_by_trial() {
    let suite = Suite::read();
    for case in &suite.case {
        let setting = case.setting();
        let game = Game::new(&setting);
        let reference = engines::choose(&game, EngineName::Reference).unwrap();
        for world in World::BOTH {
            // Not a multiple of sixteen at either end.
            let trials = 5..5 + case.trials;
            let mut expected = vec![0.0; case.trials as usize];
            reference.score(world, trials.clone(), &mut expected);
            let mut fused: Option<Vec<f64>> = None;
            for name in engines::cpu::available_names() {
                let engine = match engines::choose(&game, name) {
                    Ok(engine) => engine,
                    Err(error) => {
                        assert!(case.reference_only, "{setting:?}: {error}");
                        continue;
                    }
                };
                assert!(!case.reference_only, "{name:?} now plays {setting:?}");
                let mut scores = vec![0.0; case.trials as usize];
                engine.score(world, trials.clone(), &mut scores);
                for (trial, (&ours, &exact)) in scores.iter().zip(&expected).enumerate() {
                    let error = (ours - exact).abs();
                    assert!(
                        error < suite.absolute || error < suite.relative * exact.abs(),
                        "{name:?}, {world:?}, trial {trial} of {setting:?}: {ours} for {exact}"
                    );
                }
                match &fused {
                    None => fused = Some(scores),
                    Some(first) => assert_eq!(*first, scores, "{name:?} differs in bits: {setting:?}"),
                }
            }
        }
    }
}

#[test]
fn a_trial_does_not_depend_on_its_company() {
    let setting = Setting { epochs: 2, steps_per_epoch: 7, ..Setting::default() };
    let game = Game::new(&setting);
    for name in engines::cpu::available_names().chain([EngineName::Reference]) {
        let engine = engines::choose(&game, name).unwrap();
        let mut together = vec![0.0; 100];
        engine.score(World::Out, 1000..1100, &mut together);
        for (trial, expected) in (1000..1100).zip(together) {
            let mut alone = [0.0];
            engine.score(World::Out, trial..trial + 1, &mut alone);
            assert_eq!(alone[0], expected, "{name:?}, trial {trial}");
        }
    }
}
