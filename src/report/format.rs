use std::fmt;
use std::str::FromStr;

/// The formats of a report. This is the one list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    Text,
    Json,
    Markdown,
    Outputs,
}

impl Format {
    pub const ALL: &'static [Format] = &[Format::Text, Format::Json, Format::Markdown, Format::Outputs];

    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Outputs => "outputs",
            Format::Markdown => "markdown",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Format::ALL.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
            format!("the formats are {}", names.join(", "))
        })
    }
}
