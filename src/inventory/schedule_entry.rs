//! Defines changes that a weekly schedule makes to the number of machines or pods.

use std::sync::Arc;

use crate::source::Span;

use super::fact::Fact;

/// One entry of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleEntry {
    /// The time in cron format.
    pub at: Fact<Arc<str>>,
    /// Time zone of the entry; the default is UTC.
    pub zone: Fact<Arc<str>>,
    pub change: ScheduledSize,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ScheduledSize {
    /// The resource starts with the number that it sets in another place.
    Start,
    /// The resource stops.
    Stop,
    /// The resource has these numbers from then on. An absent number keeps its value.
    Set { min: Fact<f64>, desired: Fact<f64>, max: Fact<f64> },
    /// The resource has at least this number until the end.
    AtLeast { count: Fact<f64>, until: Until },
}

impl ScheduledSize {
    /// Returns the numbers that it sets.
    pub fn numbers(&self) -> Vec<&Fact<f64>> {
        match self {
            ScheduledSize::Start | ScheduledSize::Stop => Vec::new(),
            ScheduledSize::Set { min, desired, max } => vec![min, desired, max],
            ScheduledSize::AtLeast { count, .. } => vec![count],
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Until {
    /// The end in cron format.
    Cron(Fact<Arc<str>>),
    Seconds(Fact<f64>),
}
