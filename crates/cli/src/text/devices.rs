//! Formats the list of devices as text for people.

use super::Text;
use crate::environment::Environment;
use misdeal_core::ClosedSet;
use misdeal_results::Devices;

/// Formats a line for each device, and says what is missing.
pub fn devices(report: &Devices, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    for device in &report.devices {
        let cores = device.cores.map_or(String::new(), |cores| format!(", {cores} threads"));
        let gib = |bytes: u64| format!(", {:.0} GiB", bytes as f64 / f64::from(1 << 30));
        let memory = device.memory_bytes.map_or(String::new(), gib);
        let line = format!("{}{cores}{memory}, engine {}", device.name, device.engine);
        text.row(device.device.name(), &line);
    }
    if let Some(reason) = &report.cuda_missing {
        text.row("cuda", &format!("not to be had: {reason}"));
    }
    text.into_string()
}
