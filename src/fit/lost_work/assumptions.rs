//! The assumptions of the calculation, with their sources in `pricing/startup.csv` and `pricing/images.csv`.

use crate::catalog::AssumedNumber;
use crate::inventory::Range;

use super::Change;
use super::amounts::total;
use super::inputs::LostWorkInputs;
use super::{MissingInput, Sensitivity};

/// A number that neither the files nor the settings declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumption {
    MachineStart,
    ImageSize,
    ImagePull,
    WeightsDownload,
    WeightsLoad,
    ServerStart,
    ProgramStart,
    CheckpointWrite,
    Interruptions,
    RunLength,
}

impl Assumption {
    pub const ALL: [Assumption; 10] = [
        Assumption::MachineStart,
        Assumption::ImageSize,
        Assumption::ImagePull,
        Assumption::WeightsDownload,
        Assumption::WeightsLoad,
        Assumption::ServerStart,
        Assumption::ProgramStart,
        Assumption::CheckpointWrite,
        Assumption::Interruptions,
        Assumption::RunLength,
    ];

    /// Returns the name, which is also the key of its row in `startup.csv`.
    pub fn name(self) -> &'static str {
        match self {
            Assumption::MachineStart => "machine-start",
            Assumption::ImageSize => "image-size",
            Assumption::ImagePull => "image-pull",
            Assumption::WeightsDownload => "weights-download",
            Assumption::WeightsLoad => "weights-load",
            Assumption::ServerStart => "server-start",
            Assumption::ProgramStart => "program-start",
            Assumption::CheckpointWrite => "checkpoint-write",
            Assumption::Interruptions => "interruptions",
            Assumption::RunLength => "run-length",
        }
    }

    /// Returns the quantity that changes, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Assumption::MachineStart => "seconds until a new machine is ready",
            Assumption::ImageSize => "size of the image",
            Assumption::ImagePull => "speed of the image pull",
            Assumption::WeightsDownload => "speed of the download of weights",
            Assumption::WeightsLoad => "speed of the load from a disk",
            Assumption::ServerStart => "seconds of the server's start",
            Assumption::ProgramStart => "seconds of the program's start",
            Assumption::CheckpointWrite => "speed of checkpoint writes",
            Assumption::Interruptions => "interruptions of a machine",
            Assumption::RunLength => "length of a run",
        }
    }
}

impl LostWorkInputs<'_> {
    /// Returns the factor by which the calculation changes an assumption.
    pub(super) fn scale(&self, assumption: Assumption) -> f64 {
        match self.change {
            Change::Scaled(changed, factor) if changed == assumption => factor,
            _ => 1.0,
        }
    }

    /// Returns an assumption of the catalog as a range.
    pub(super) fn assumed(&self, assumption: Assumption) -> Result<Range, MissingInput> {
        let row = self.catalog.startup(assumption.name());
        let row = row.ok_or_else(|| {
            MissingInput::new(format!("the catalog has no {}", assumption.meaning()), "gpulint.dev/cold-start-seconds")
        })?;
        Ok(range_of(row).map(|end| end * self.scale(assumption)))
    }

    /// Returns the seconds to move a number of GiB at an assumed speed.
    pub(super) fn seconds_to_move(&self, gib: Range, speed: Assumption) -> Result<Range, MissingInput> {
        let speed = self.assumed(speed)?;
        Ok(Range {
            floor: gib.floor / speed.ceiling,
            expected: gib.expected / speed.expected,
            ceiling: gib.ceiling / speed.floor,
        })
    }

    /// Returns how the expected sum changes with each assumption that it uses.
    pub(super) fn sensitivity(&self, sum: f64) -> Vec<Sensitivity> {
        let with = |assumption: Assumption, factor: f64| {
            let changed = LostWorkInputs { change: Change::Scaled(assumption, factor), ..self.clone() };
            total(&changed.parts()).map_or(sum, |total| total.expected)
        };
        let effects = Assumption::ALL.into_iter().map(|assumption| Sensitivity {
            assumption,
            half: with(assumption, 0.5),
            double: with(assumption, 2.0),
        });
        effects.filter(|it| it.half != sum || it.double != sum).collect()
    }
}

pub(super) fn range_of(row: AssumedNumber<'_>) -> Range {
    Range { floor: row.floor, expected: row.expected, ceiling: row.ceiling }
}
