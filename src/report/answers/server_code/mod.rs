//! Writes code that runs a model on the machine that `gpulint fit` chose.

mod deployment;
mod server;
mod skypilot;
mod terraform;

pub use server::{CodeRefusal, HubName, ServerCode};

/// A language in which gpulint writes the code of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeTarget {
    Deployment,
    SkyPilot,
    Terraform,
}

impl CodeTarget {
    /// The names on the command line, in the order of `ALL`.
    pub const NAMES: [&str; 3] = ["deployment", "sky", "tf"];
    const ALL: [CodeTarget; 3] = [CodeTarget::Deployment, CodeTarget::SkyPilot, CodeTarget::Terraform];

    pub fn named(name: &str) -> Option<CodeTarget> {
        CodeTarget::NAMES.iter().position(|known| *known == name).map(|at| CodeTarget::ALL[at])
    }

    /// Returns the clouds for which gpulint can write this code.
    pub fn providers(self) -> &'static [&'static str] {
        match self {
            CodeTarget::SkyPilot => &["aws", "azure", "gcp", "lambda", "nebius"],
            CodeTarget::Deployment | CodeTarget::Terraform => &["aws", "azure", "gcp"],
        }
    }

    /// Returns the name of the machine in this language. `None` if the language cannot name it.
    pub fn machine<'m>(self, provider: &str, machine: &'m str, accelerator: &str) -> Option<&'m str> {
        match self {
            CodeTarget::SkyPilot => skypilot::machine(provider, machine, accelerator),
            CodeTarget::Deployment | CodeTarget::Terraform => Some(machine),
        }
    }
}

/// Returns the code of a server.
pub fn server_code(target: CodeTarget, code: &ServerCode<'_>) -> Result<String, CodeRefusal> {
    let arguments = code.arguments()?;
    Ok(match target {
        CodeTarget::Deployment => deployment::write(code, &arguments),
        CodeTarget::SkyPilot => skypilot::write(code, &arguments),
        CodeTarget::Terraform => terraform::write(code, &arguments),
    })
}
