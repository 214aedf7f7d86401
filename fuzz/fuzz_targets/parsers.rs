//! Every parser behind one binary: the environment variable `TARGET` names the one to fuzz.
#![no_main]

mod targets;

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use targets::{Parser, TARGETS};

static CHOSEN: OnceLock<Parser> = OnceLock::new();

fuzz_target!(
    init: {
        let wanted = std::env::var("TARGET").unwrap_or_default();
        let found = TARGETS.iter().find(|(name, _)| *name == wanted);
        let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        let (_, parser) = found.unwrap_or_else(|| panic!("TARGET is {wanted:?}, but one of {} is needed", names.join(" ")));
        let _ = CHOSEN.set(*parser);
    },
    |bytes: &[u8]| {
        if let Some(parser) = CHOSEN.get() {
            parser(bytes);
        }
    }
);
