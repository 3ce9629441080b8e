//! What a schedule changes about the number of something, week after week.

use std::sync::Arc;

use crate::source::Span;

use super::fact::Fact;

/// One entry of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// When, as cron writes it.
    pub at: Fact<Arc<str>>,
    /// The time zone of that; UTC where nothing is said.
    pub zone: Fact<Arc<str>>,
    pub change: Change,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// As many as the text says beside it.
    Start,
    /// None at all.
    Stop,
    /// So many from then on; what is absent stays as it was.
    Set { min: Fact<f64>, desired: Fact<f64>, max: Fact<f64> },
    /// At least so many, until it ends.
    AtLeast { count: Fact<f64>, until: Until },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Until {
    /// As cron writes it.
    Cron(Fact<Arc<str>>),
    Seconds(Fact<f64>),
}
