//! Writes a task of SkyPilot.

use super::server::{PORT, ServerCode, fill};

/// SkyPilot's names of accelerators: provider, name in the catalog, name in SkyPilot. They are from the programs that
/// collect its catalog (sky/catalog/data_fetchers of skypilot 0.14.1), 2026-11.
const ACCELERATORS: [(&str, &str, &str); 30] = [
    ("aws", "T4", "T4"),
    ("aws", "A10G", "A10G"),
    ("aws", "L4", "L4"),
    ("aws", "L40S", "L40S"),
    ("aws", "RTX-PRO-6000", "RTXPRO6000"),
    ("aws", "A100-40GB", "A100"),
    ("aws", "A100-80GB", "A100-80GB"),
    ("aws", "H100-80GB", "H100"),
    ("aws", "H200", "H200"),
    ("aws", "B200", "B200"),
    ("azure", "T4", "T4"),
    ("azure", "A100-40GB", "A100"),
    ("azure", "A100-80GB", "A100-80GB"),
    ("azure", "A100-80GB-PCIe", "A100-80GB"),
    ("azure", "H100-80GB", "H100"),
    ("gcp", "L4", "L4"),
    ("gcp", "RTX-PRO-6000", "RTXPRO6000"),
    ("gcp", "A100-40GB", "A100"),
    ("gcp", "A100-80GB", "A100-80GB"),
    ("gcp", "H100-80GB", "H100"),
    ("gcp", "H200", "H200"),
    ("gcp", "B200", "B200"),
    ("lambda", "A10", "A10"),
    ("lambda", "A100-40GB", "A100"),
    ("lambda", "A100-80GB", "A100-80GB"),
    ("lambda", "RTX-A6000", "A6000"),
    ("nebius", "L40S", "L40S"),
    ("nebius", "H100-80GB", "H100"),
    ("nebius", "H200", "H200"),
    ("nebius", "B200", "B200"),
];

/// The default size of the disk in SkyPilot 0.14.1, in GB.
const DEFAULT_DISK_GB: f64 = 256.0;

fn accelerator<'n>(provider: &str, machine: &str, name: &str) -> Option<&'n str> {
    if machine.starts_with("a3-megagpu-") {
        return Some("H100-MEGA");
    }
    ACCELERATORS.iter().find(|(of, known, _)| *of == provider && *known == name).map(|(_, _, name)| *name)
}

/// Returns the name of a machine in SkyPilot, which attaches accelerators to machines of Google Cloud by their exact
/// names only.
pub(super) fn machine<'m>(provider: &str, machine: &'m str, name: &str) -> Option<&'m str> {
    let is_attached = !machine.starts_with("a3-edgegpu-");
    accelerator(provider, machine, name).filter(|_| is_attached)?;
    Some(machine.trim_end_matches("-nolssd"))
}

pub(super) fn write(code: &ServerCode<'_>, arguments: &[String]) -> String {
    let choice = code.choice;
    let (name, machine) = (code.model.of_server(), choice.machine.as_str());
    let infra = match code.region {
        "*" => choice.provider.clone(),
        region => format!("{}/{region}", choice.provider),
    };
    let accelerator = accelerator(&choice.provider, machine, &choice.accelerator).unwrap_or(&choice.accelerator);
    let mut notes = vec![
        format!("Start it: sky launch --cluster {name} FILE. If the model is gated, add: --secret HF_TOKEN"),
        format!("Use it: ssh -L {PORT}:localhost:{PORT} {name}, then http://localhost:{PORT}/v1"),
    ];
    notes.extend(code.note_on_machines());
    let disk = code.disk_gib();
    let disk = if disk > DEFAULT_DISK_GB { format!("  disk_size: {disk}\n") } else { String::new() };
    let (header, count, arguments) = (code.header(&notes), choice.count.to_string(), arguments.join(" "));
    let values = [
        ("header", header.as_str()),
        ("name", &name),
        ("infra", &infra),
        ("machine", machine),
        ("accelerator", accelerator),
        ("count", &count),
        ("disk", &disk),
        ("model", code.model.0),
        ("arguments", &arguments),
    ];
    fill(include_str!("skypilot.yaml"), &values)
}

#[cfg(test)]
mod tests {
    use super::ACCELERATORS;
    use crate::catalog::Catalog;

    #[test]
    fn the_catalog_has_machines_with_each_accelerator() {
        let catalog = Catalog::embedded();
        for (provider, name, _) in ACCELERATORS {
            assert!(!catalog.machines_with(provider, name).is_empty(), "{provider} {name}");
        }
    }
}
