//! The limits of `[bounds]` in the settings.

use std::time::Duration;

use crate::config::{Config, setting};
use crate::source::Limits;

/// The default time limit. Each known public repository takes seconds.
const SECONDS: f64 = 600.0;
/// The default time limit for one chart, which usually renders in less than a second.
const RENDER_SECONDS: f64 = 20.0;

pub(in crate::cli) fn limits(config: &Config) -> Limits {
    // The settings were checked: they are whole numbers within the limits.
    let default = Limits::default();
    Limits {
        file_bytes: config.number(setting!("bounds.file-mib")).map_or(default.file_bytes, |mib| (mib as u64) << 20),
        nesting: config.number(setting!("bounds.nesting")).map_or(default.nesting, |levels| levels as u32),
        evaluation_steps: config
            .number(setting!("bounds.evaluation-steps"))
            .map_or(default.evaluation_steps, |steps| steps as u64),
        yaml_nodes: config.number(setting!("bounds.yaml-nodes")).map_or(default.yaml_nodes, |nodes| nodes as u32),
    }
}

/// Returns the time limit of the whole process.
pub(in crate::cli) fn time(config: &Config) -> Duration {
    Duration::from_secs_f64(config.number(setting!("bounds.seconds")).unwrap_or(SECONDS))
}

/// Returns the time limit of a rendering program.
pub(in crate::cli) fn rendering_time(config: &Config) -> Duration {
    Duration::from_secs_f64(config.number(setting!("bounds.render-seconds")).unwrap_or(RENDER_SECONDS))
}
