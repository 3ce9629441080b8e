//! Calculates how many hours a week a schedule lets a resource run, and with how many replicas.

use crate::inventory::{Fact, FactValue, Key, Range, Resource, ScheduleEntry, ScheduledSize, Until};

use super::HOURS_PER_MONTH;
use super::cron::minutes_of_week;
use crate::resolve::plain;
use Summer::{Australian, European, Never, NorthAmerican};

const MINUTES: usize = 7 * 24 * 60;
const HOURS_PER_WEEK: f64 = 168.0;

/// The effect of a resource's schedule on a month.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Week {
    /// The hours of all replicas together in a month.
    pub(super) hours: Range,
    /// The starts of all replicas together in a month.
    pub(super) replica_starts: f64,
    /// The source of the hours.
    pub(super) text: String,
    /// Whether machines are removed, and not only stopped. Removed machines have no disk cost.
    pub(super) takes_away: bool,
}

/// Returns the hours that the schedule of a resource sets, `None` without a schedule, or an error if the hours do not
/// follow from it. `stated` is the number of replicas outside the schedule.
pub(super) fn week(resource: &Resource, stated: Range) -> Option<Result<Week, String>> {
    if resource.shifts.is_empty() {
        return None;
    }
    Some(Schedule::read(&resource.shifts).map(|schedule| {
        let is_switched = schedule.is_switched();
        let stated = if is_by_clock(resource) { Range::exactly(stated.floor) } else { stated };
        let sum = schedule.sum(stated);
        let text = match is_switched && stated.expected > 0.0 {
            true => format!(
                "{} of 168 hours a week, by {}",
                plain(sum.expected / stated.expected),
                schedule.format_schedule()
            ),
            false => format!("{} hours a week per replica, by {}", plain(sum.expected), schedule.format_schedule()),
        };
        let months = HOURS_PER_MONTH / HOURS_PER_WEEK;
        let replica_starts = schedule.replica_starts(stated) * months;
        Week { hours: sum.map(|hours| hours * months), replica_starts, text, takes_away: !is_switched }
    }))
}

/// Whether only the clock scales the resource. Outside the scheduled times, it then has its minimum.
fn is_by_clock(resource: &Resource) -> bool {
    let looks_at = resource.fact(Key::AutoscaledOn).value();
    matches!(looks_at, Some(FactValue::List(names)) if !names.is_empty() && names.iter().all(|name| &**name == "cron"))
}

/// A change at a minute of the week.
#[derive(Debug, Clone, Copy)]
enum Event {
    Start,
    Stop,
    Set { min: Option<f64>, desired: Option<f64>, max: Option<f64> },
    Begin(usize, f64),
    End(usize),
}

struct Schedule {
    /// The events by minute, then in the order of the files.
    events: Vec<(usize, Event)>,
    /// The schedule entries as the files write them.
    texts: Vec<String>,
    zones: Vec<String>,
}

impl Schedule {
    fn read(shifts: &[ScheduleEntry]) -> Result<Schedule, String> {
        let zones = shifts.iter().map(zone).collect::<Result<Vec<_>, _>>()?;
        let mut schedule = Schedule { events: Vec::new(), texts: Vec::new(), zones: zones.clone() };
        schedule.zones.sort_unstable();
        schedule.zones.dedup();
        // With a single time zone, its distance from UTC does not affect the number of hours.
        let distances = if schedule.zones.len() > 1 { distances(&zones)? } else { vec![0; zones.len()] };
        for (at, (shift, ahead)) in shifts.iter().zip(distances).enumerate() {
            let text = known(&shift.at, "a time of the schedule")?;
            let weekly = |text: &str| Ok::<_, String>(moved(weekly(text)?, ahead));
            let minutes = weekly(&text)?;
            let event = match &shift.change {
                ScheduledSize::Start => Event::Start,
                ScheduledSize::Stop => Event::Stop,
                ScheduledSize::Set { min, desired, max } => {
                    Event::Set { min: number(min)?, desired: number(desired)?, max: number(max)? }
                }
                ScheduledSize::AtLeast { count, .. } => Event::Begin(at, number(count)?.unwrap_or(0.0)),
            };
            schedule.events.extend(minutes.iter().map(|minute| (*minute, event)));
            match &shift.change {
                ScheduledSize::AtLeast { until: Until::Cron(end), .. } => {
                    let end = known(end, "the end of the schedule")?;
                    schedule.events.extend(weekly(&end)?.into_iter().map(|minute| (minute, Event::End(at))));
                    schedule.texts.push(format!("`{text}` to `{end}`"));
                }
                ScheduledSize::AtLeast { until: Until::Seconds(seconds), .. } => {
                    let lasts = (number(seconds)?.unwrap_or(0.0) / 60.0).round();
                    if !(1.0..=MINUTES as f64).contains(&lasts) {
                        return Err(format!("a part of its schedule lasts only {} minutes", plain(lasts)));
                    }
                    let ends = minutes.iter().map(|minute| ((minute + lasts as usize) % MINUTES, Event::End(at)));
                    schedule.events.extend(ends);
                    schedule.texts.push(format!("`{text}` for {} hours", plain(lasts / 60.0)));
                }
                _ => schedule.texts.push(format!("`{text}`")),
            }
        }
        schedule.events.sort_by_key(|(minute, _)| *minute);
        schedule.has_both()?;
        Ok(schedule)
    }

    /// Returns an error if the schedule contains only stop times, because the start times are then unknown.
    fn has_both(&self) -> Result<(), String> {
        let wakes = |event: &Event| match event {
            Event::Start | Event::Begin(..) | Event::End(_) => true,
            Event::Stop => false,
            Event::Set { min, desired, .. } => desired.or(*min).is_some_and(|count| count > 0.0),
        };
        match self.events.iter().any(|(_, event)| wakes(event)) {
            true => Ok(()),
            false => Err(format!("stopped by {}, and no start time is set", self.format_schedule())),
        }
    }

    /// Whether the schedule only stops and starts the resource and never changes its size.
    fn is_switched(&self) -> bool {
        self.events.iter().all(|(_, event)| matches!(event, Event::Start | Event::Stop))
    }

    fn format_schedule(&self) -> String {
        format!("its schedule {} ({})", self.texts.join(", "), self.zones.join(", "))
    }

    /// Returns the replicas that the schedule starts in a week. Changes at the same minute count as one.
    fn replica_starts(&self, stated: Range) -> f64 {
        let mut state = self.state_at_midnight(stated);
        let mut starts = 0.0;
        for minute in self.events.chunk_by(|one, other| one.0 == other.0) {
            let before = state.range().expected;
            minute.iter().for_each(|(_, event)| state.change(*event, stated));
            starts += (state.range().expected - before).max(0.0);
        }
        starts
    }

    /// Returns the state at the beginning of the week, which is the one that the end of the week leaves.
    fn state_at_midnight(&self, stated: Range) -> State {
        let in_windows = self.events.iter().any(|(_, event)| matches!(event, Event::Begin(..)));
        let desired = if in_windows { stated.floor } else { stated.expected };
        let mut state = State { min: stated.floor, desired, max: stated.ceiling, begun: Vec::new() };
        self.events.iter().for_each(|(_, event)| state.change(*event, stated));
        state
    }

    /// Returns the weekly hours of all replicas. Between minimum and maximum, something else can change the number.
    fn sum(&self, stated: Range) -> Range {
        let mut state = self.state_at_midnight(stated);
        let mut sum = Range::exactly(0.0);
        let mut since = 0;
        for (minute, event) in &self.events {
            sum = added(sum, state.range(), minute - since);
            since = *minute;
            state.change(*event, stated);
        }
        added(sum, state.range(), MINUTES - since)
    }
}

fn added(sum: Range, now: Range, minutes: usize) -> Range {
    sum.plus(now.times(Range::exactly(minutes as f64 / 60.0)))
}

/// The number of replicas at one minute.
struct State {
    min: f64,
    desired: f64,
    max: f64,
    /// The open windows, each with its minimum number.
    begun: Vec<(usize, f64)>,
}

impl State {
    fn change(&mut self, event: Event, stated: Range) {
        match event {
            Event::Start => (self.min, self.desired, self.max) = (stated.floor, stated.expected, stated.ceiling),
            Event::Stop => (self.min, self.desired, self.max) = (0.0, 0.0, 0.0),
            Event::Set { min, desired, max } => {
                self.min = min.unwrap_or(self.min);
                self.max = max.unwrap_or(self.max).max(self.min);
                self.desired = desired.unwrap_or(self.desired).clamp(self.min, self.max);
            }
            Event::Begin(at, least) => {
                self.begun.retain(|(open, _)| *open != at);
                self.begun.push((at, least));
            }
            Event::End(at) => self.begun.retain(|(open, _)| *open != at),
        }
    }

    fn range(&self) -> Range {
        let least = self.begun.iter().map(|(_, least)| *least).fold(self.min, f64::max);
        Range { floor: least, expected: self.desired.max(least), ceiling: self.max.max(least) }
    }
}

fn weekly(text: &str) -> Result<Vec<usize>, String> {
    minutes_of_week(text).ok_or_else(|| format!("the schedule `{text}` is not the same every week"))
}

/// The rule for summer time. Zones with the same rule keep their distance from each other all year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Summer {
    Never,
    European,
    NorthAmerican,
    Australian,
}

/// Minutes by which clocks are ahead of UTC in winter (IANA time zone database 2025b, 2026-11).
const ZONES: [(&str, i32, Summer); 78] = [
    ("utc", 0, Never),
    ("etc/utc", 0, Never),
    ("gmt", 0, Never),
    ("etc/gmt", 0, Never),
    ("africa/accra", 0, Never),
    ("atlantic/reykjavik", 0, Never),
    ("africa/lagos", 60, Never),
    ("africa/johannesburg", 120, Never),
    ("africa/nairobi", 180, Never),
    ("europe/istanbul", 180, Never),
    ("europe/moscow", 180, Never),
    ("asia/riyadh", 180, Never),
    ("asia/dubai", 240, Never),
    ("asia/karachi", 300, Never),
    ("asia/kolkata", 330, Never),
    ("asia/calcutta", 330, Never),
    ("asia/kathmandu", 345, Never),
    ("asia/dhaka", 360, Never),
    ("asia/bangkok", 420, Never),
    ("asia/ho_chi_minh", 420, Never),
    ("asia/jakarta", 420, Never),
    ("asia/hong_kong", 480, Never),
    ("asia/kuala_lumpur", 480, Never),
    ("asia/manila", 480, Never),
    ("asia/shanghai", 480, Never),
    ("asia/singapore", 480, Never),
    ("asia/taipei", 480, Never),
    ("australia/perth", 480, Never),
    ("asia/seoul", 540, Never),
    ("asia/tokyo", 540, Never),
    ("australia/brisbane", 600, Never),
    ("america/phoenix", -420, Never),
    ("america/bogota", -300, Never),
    ("america/sao_paulo", -180, Never),
    ("europe/london", 0, European),
    ("europe/dublin", 0, European),
    ("europe/lisbon", 0, European),
    ("europe/amsterdam", 60, European),
    ("europe/belgrade", 60, European),
    ("europe/berlin", 60, European),
    ("europe/brussels", 60, European),
    ("europe/budapest", 60, European),
    ("europe/copenhagen", 60, European),
    ("europe/luxembourg", 60, European),
    ("europe/madrid", 60, European),
    ("europe/oslo", 60, European),
    ("europe/paris", 60, European),
    ("europe/prague", 60, European),
    ("europe/rome", 60, European),
    ("europe/stockholm", 60, European),
    ("europe/vienna", 60, European),
    ("europe/warsaw", 60, European),
    ("europe/zurich", 60, European),
    ("europe/athens", 120, European),
    ("europe/bucharest", 120, European),
    ("europe/helsinki", 120, European),
    ("europe/kyiv", 120, European),
    ("europe/kiev", 120, European),
    ("europe/riga", 120, European),
    ("europe/sofia", 120, European),
    ("europe/tallinn", 120, European),
    ("europe/vilnius", 120, European),
    ("america/new_york", -300, NorthAmerican),
    ("america/detroit", -300, NorthAmerican),
    ("america/toronto", -300, NorthAmerican),
    ("us/eastern", -300, NorthAmerican),
    ("america/chicago", -360, NorthAmerican),
    ("us/central", -360, NorthAmerican),
    ("america/denver", -420, NorthAmerican),
    ("america/edmonton", -420, NorthAmerican),
    ("us/mountain", -420, NorthAmerican),
    ("america/los_angeles", -480, NorthAmerican),
    ("america/vancouver", -480, NorthAmerican),
    ("us/pacific", -480, NorthAmerican),
    ("australia/adelaide", 570, Australian),
    ("australia/sydney", 600, Australian),
    ("australia/melbourne", 600, Australian),
    ("australia/hobart", 600, Australian),
];

/// Returns the distances of zones from UTC in winter, or an error if their distances from each other change in summer.
fn distances(zones: &[String]) -> Result<Vec<i32>, String> {
    let all = zones.iter().map(|zone| winter(zone)).collect::<Result<Vec<_>, _>>()?;
    let mut summers = all.iter().zip(zones).map(|((_, summer), zone)| (*summer, zone));
    if let Some((first, one)) = summers.next()
        && let Some((_, other)) = summers.find(|(summer, _)| *summer != first)
    {
        return Err(format!("its time zones {one} and {other} change their clocks on different days"));
    }
    Ok(all.into_iter().map(|(minutes, _)| minutes).collect())
}

fn winter(zone: &str) -> Result<(i32, Summer), String> {
    let lower = zone.to_ascii_lowercase();
    let listed = ZONES.iter().find(|(name, ..)| *name == lower).map(|(_, minutes, summer)| (*minutes, *summer));
    // The zone `Etc/GMT+5` is behind UTC.
    let written = || Some(-60 * lower.strip_prefix("etc/gmt")?.parse::<i32>().ok().filter(|it| it.abs() <= 14)?);
    let found = listed.or_else(|| written().map(|minutes| (minutes, Never)));
    found.ok_or_else(|| format!("it uses several time zones, and gpulint does not know the time zone {zone}"))
}

/// Converts minutes of a week to UTC.
fn moved(minutes: Vec<usize>, ahead: i32) -> Vec<usize> {
    let week = MINUTES as i64;
    let in_utc = |minute: usize| (minute as i64 - i64::from(ahead)).rem_euclid(week) as usize;
    minutes.into_iter().map(in_utc).collect()
}

fn zone(shift: &ScheduleEntry) -> Result<String, String> {
    match &shift.zone {
        Fact::Absent => Ok("UTC".to_owned()),
        said => known(said, "the time zone of the schedule"),
    }
}

fn known(fact: &Fact<std::sync::Arc<str>>, what: &str) -> Result<String, String> {
    match fact {
        Fact::Known(known) => Ok(known.value.to_string()),
        Fact::Unknown(unknown) => Err(format!("{what} is unknown: {}", unknown.why)),
        Fact::Absent => Err(format!("{what} is not set")),
    }
}

fn number(fact: &Fact<f64>) -> Result<Option<f64>, String> {
    match fact {
        Fact::Known(known) => Ok(Some(known.value)),
        Fact::Unknown(unknown) => Err(format!("a replica count of the schedule is unknown: {}", unknown.why)),
        Fact::Absent => Ok(None),
    }
}
