//! Writes Terraform code for a machine of AWS, Azure or Google Cloud that starts the server.

use super::server::{ServerCode, fill};

/// The disk space of an image with drivers and Docker, in GiB.
const SYSTEM_GIB: f64 = 80.0;

pub(super) fn write(code: &ServerCode<'_>, arguments: &[String]) -> String {
    let mut notes = vec![
        "The server has no password: allow only your clients in the network.".to_owned(),
        "If the model is gated, write your token of Hugging Face into /opt/huggingface/token on the machine."
            .to_owned(),
    ];
    notes.extend(code.note_on_machines());
    let machine = code.choice.machine.as_str();
    let template = match code.choice.provider.as_str() {
        "azure" => include_str!("azure.tf"),
        "gcp" => include_str!("google.tf"),
        _ => include_str!("aws.tf"),
    };
    // The driver of graphics machines is another one, which Microsoft's image does not contain.
    let image = if machine.starts_with("Standard_NV") { "" } else { AZURE_IMAGE };
    let (header, name, arguments) = (code.header(&notes), code.model.of_server(), arguments.join(" "));
    let disk = (code.disk_gib() + SYSTEM_GIB).to_string();
    let values = [
        // These parts of all templates contain the values below.
        ("disk_variable", include_str!("disk.tf")),
        ("start", include_str!("start.txt")),
        ("header", header.as_str()),
        ("name", &name),
        ("machine", machine),
        ("region", code.region),
        ("disk", &disk),
        ("disk_type", google_disk(machine)),
        ("image", image),
        ("model", code.model.0),
        ("arguments", &arguments),
    ];
    fill(template, &values)
}

/// Microsoft's image for machines with accelerators.
const AZURE_IMAGE: &str = r#"  default = {
    publisher = "microsoft-dsvm"
    offer     = "ubuntu-hpc"
    sku       = "2204"
    version   = "latest"
  }
"#;

/// Returns the type of disk that a machine supports. The newest machines have Hyperdisk only.
fn google_disk(machine: &str) -> &'static str {
    let has_hyperdisk_only = ["a3-ultragpu-", "a4-", "a4x-", "g4-"].iter().any(|family| machine.starts_with(family));
    if has_hyperdisk_only { "hyperdisk-balanced" } else { "pd-balanced" }
}
