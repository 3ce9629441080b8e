//! Defines one row of `gpulint-usage.csv`: the usage of one workload or group of machines over some days.
//!
//! An empty cell means that the value was not measured; zero is `0`. The columns are one table, which the reader, the
//! writer and the messages use.

use std::fmt::Write;

pub use super::lines::UsageError;
use super::lines::read_rows;
use crate::diagnostic::nearest;
use crate::source::{Date, csv_cell};

/// The first line of a file of this version.
pub const HEADER: &str = "# gpulint usage 1";

/// The default file name.
pub const FILE_NAME: &str = "gpulint-usage.csv";

/// The kind of rows about the monitoring system itself. While it ran, a workload that it did not see did not run.
pub const OBSERVER: &str = "Observer";

/// The maximum number of characters of one string.
const LONGEST: usize = 253;

/// Decimal digits in the file.
const DIGITS: i32 = 3;

/// Stores a cell in a row, or returns an error.
type Setter = fn(&mut UsageRow, String) -> Result<(), String>;

macro_rules! columns {
    (
        texts { $($text:ident $text_meaning:literal;)+ }
        numbers { $($number:ident $most:expr, $number_meaning:literal;)+ }
    ) => {
        /// The metrics of one workload.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct UsageRow {
            $(#[doc = $text_meaning] pub $text: String,)+
            /// The first day, and the day after the last.
            pub from: Date,
            pub to: Date,
            $(#[doc = $number_meaning] pub $number: Option<f64>,)+
            /// The line of the row; 0 if the row was not read from a file.
            pub line: usize,
        }

        impl UsageRow {
            /// The columns with their meaning.
            pub const COLUMNS: &'static [(&'static str, &'static str)] = &[
                $((stringify!($text), $text_meaning),)+
                ("from", "The first day, such as 2027-01-31."),
                ("to", "The day after the last one."),
                $((stringify!($number), $number_meaning),)+
            ];

            /// Returns the function that stores a cell of a column.
            fn setter(column: &str) -> Option<Setter> {
                Some(match column {
                    $(stringify!($text) => |row, cell| {
                        row.$text = text(stringify!($text), cell)?;
                        Ok(())
                    },)+
                    "from" => |row, cell| {
                        row.from = day("from", &cell)?;
                        Ok(())
                    },
                    "to" => |row, cell| {
                        row.to = day("to", &cell)?;
                        Ok(())
                    },
                    $(stringify!($number) => |row, cell| {
                        row.$number = number(stringify!($number), &cell, $most)?;
                        Ok(())
                    },)+
                    _ => return None,
                })
            }

            fn cells(&self) -> Vec<String> {
                vec![
                    $(csv_cell(&self.$text.chars().take(LONGEST).collect::<String>()),)+
                    self.from.to_string(),
                    self.to.to_string(),
                    $(self.$number.map(written).unwrap_or_default(),)+
                ]
            }
        }
    };
}

columns! {
    texts {
        cluster "The cluster or account, as named in the settings.";
        namespace "The namespace of a workload.";
        kind "Deployment, Job, NodePool, Instance, Endpoint, Notebook, …; Observer: the monitoring system itself ran.";
        name "The name of the workload or group of machines.";
        container "The container; empty for the whole workload.";
        accelerator "The accelerator that ran.";
        source "The source of the metric, such as dcgm:GR_ENGINE_ACTIVE.";
        note "A note for people; gpulint ignores it.";
    }
    numbers {
        gpus 1e6, "Accelerators per pod or machine.";
        days 10_000.0, "Days with samples.";
        gpu_hours 1e12, "Accelerator hours with samples, of all replicas.";
        coverage 1.0, "Hours with samples, as a share of the hours of the window.";
        busy 1.0, "Mean share of the time that an accelerator worked.";
        busy_max 1.0, "The highest value of `busy`.";
        idle 1.0, "Share of five-minute samples below 2% busy.";
        sm_active 1.0, "Mean share of the compute units of an accelerator that worked.";
        tensor_active 1.0, "Mean share of cycles in which matrix units worked.";
        memory_peak_gib 1e6, "The peak memory of one accelerator, in GiB.";
        requests_per_s 1e12, "Requests per second.";
        tokens_per_s 1e12, "Tokens per second.";
        running_max 1e12, "The most concurrent requests, of all replicas.";
        waiting_max 1e12, "The most waiting requests.";
        kv_peak 1.0, "The highest share of the key-value cache in use.";
        preemptions 1e12, "Requests that were preempted for lack of memory.";
        replicas 1e9, "The mean number of pods or machines over time.";
        unallocated 1.0, "For machines: share of accelerator hours without a pod.";
        shared 1.0, "1 if several workloads share each accelerator.";
        runs 1e12, "Runs of a job that ended in the window.";
        failed_gpu_hours 1e12, "Accelerator hours of the runs that failed.";
        wait_hours 1e9, "Mean hours from the submission of a run to its start.";
    }
}

/// Adds the version line to rows under their heading, as examples contain them.
pub fn of_rows(rows: &str) -> String {
    format!("{HEADER}\n{rows}")
}

impl UsageRow {
    /// Returns text such as `prod/serving/Deployment/llama`, for people.
    pub fn shown(&self) -> String {
        let parts = [&self.cluster, &self.namespace, &self.kind, &self.name].into_iter().filter(|it| !it.is_empty());
        parts.map(String::as_str).collect::<Vec<_>>().join("/")
    }

    /// Returns the identity that must be unique: the same workload, measured by the same source over the same days.
    pub fn identity(&self) -> String {
        let UsageRow { cluster, namespace, kind, name, container, source, accelerator, .. } = self;
        let parts = [cluster, namespace, kind, name, container, source, accelerator];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        format!("{}\n{}\n{}", parts.join("\n"), self.from, self.to)
    }
}

/// Returns the rows of a file, and the errors of other rows. A file of another version, or with an unknown column, is
/// an error as a whole.
pub fn read(text: &str) -> Result<(Vec<UsageRow>, Vec<UsageError>), UsageError> {
    read_rows(text, HEADER, columns, |columns, cells, line| row(columns, cells, line))
}

fn columns(heading: &[String]) -> Result<Vec<Setter>, String> {
    let mut found = Vec::new();
    for name in heading {
        let known = UsageRow::COLUMNS.iter().map(|(name, _)| *name);
        let Some(column) = known.clone().find(|it| it == name) else {
            let near = nearest(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("unknown column `{}`{near}", crate::diagnostic::shortened(name.clone())));
        };
        if found.contains(&column) {
            return Err(format!("the column `{column}` appears twice"));
        }
        found.push(column);
    }
    for needed in ["kind", "name", "from", "to", "source"] {
        if !found.contains(&needed) {
            return Err(format!("the column `{needed}` is missing"));
        }
    }
    Ok(found.into_iter().filter_map(UsageRow::setter).collect())
}

fn row(columns: &[Setter], cells: Vec<String>, line: usize) -> Result<UsageRow, String> {
    if cells.len() != columns.len() {
        return Err(format!("{} cells, but the heading has {}", cells.len(), columns.len()));
    }
    let mut row = UsageRow { line, ..UsageRow::default() };
    for (set, cell) in columns.iter().zip(cells) {
        set(&mut row, cell)?;
    }
    match (row.kind.is_empty() || row.name.is_empty(), row.to <= row.from) {
        (true, _) => Err("a row needs `kind` and `name`".to_owned()),
        (_, true) => Err(format!("`to` ({}) is not after `from` ({})", row.to, row.from)),
        _ => Ok(row),
    }
}

fn text(column: &str, cell: String) -> Result<String, String> {
    if cell.len() <= LONGEST && cell.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return Ok(cell);
    }
    if cell.chars().any(char::is_control) {
        return Err(format!("`{column}` contains a control character"));
    }
    match cell.chars().count() > LONGEST {
        true => Err(format!("`{column}` is longer than {LONGEST} characters")),
        false => Ok(cell),
    }
}

fn day(column: &str, cell: &str) -> Result<Date, String> {
    cell.parse().map_err(|_| {
        let cell = crate::diagnostic::shortened(cell.to_owned());
        format!("`{column}` is not a date such as 2027-01-31: `{cell}`")
    })
}

/// Parses a number; returns `None` if the cell is empty.
fn number(column: &str, cell: &str, most: f64) -> Result<Option<f64>, String> {
    if cell.is_empty() {
        return Ok(None);
    }
    let value: Option<f64> = cell.parse().ok().filter(|it: &f64| it.is_finite());
    match value {
        Some(value) if (0.0..=most).contains(&value) => Ok(Some(value)),
        Some(_) if most == 1.0 => Err(format!("`{column}` must be a share from 0 to 1, not `{cell}`")),
        _ => {
            let cell = crate::diagnostic::shortened(cell.to_owned());
            Err(format!("`{column}` is not a number from 0 to {most}: `{cell}`"))
        }
    }
}

/// The last columns are about runs. They are absent if no row has one, so that earlier versions can read the file.
const COLUMNS_OF_RUNS: usize = 3;

/// Writes rows as a file, sorted: the same rows give the same bytes.
pub fn write(rows: &[UsageRow]) -> String {
    let has_runs = rows.iter().any(|row| row.runs.is_some());
    let count = UsageRow::COLUMNS.len() - if has_runs { 0 } else { COLUMNS_OF_RUNS };
    let names: Vec<&str> = UsageRow::COLUMNS.iter().take(count).map(|(name, _)| *name).collect();
    let cells = |row: &UsageRow| row.cells().into_iter().take(count).collect::<Vec<_>>().join(",");
    let mut lines: Vec<String> = rows.iter().map(cells).collect();
    lines.sort();
    lines.dedup();
    let mut text = format!("{HEADER}\n{}\n", names.join(","));
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Rounds to three digits, so that measuring the same days again gives the same bytes.
fn written(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scale = DIGITS - 1 - value.abs().log10().floor() as i32;
    let rounded = match scale {
        scale if scale >= 0 => (value * 10f64.powi(scale)).round() / 10f64.powi(scale),
        scale => (value / 10f64.powi(-scale)).round() * 10f64.powi(-scale),
    };
    let text = format!("{:.*}", usize::try_from(scale.max(0)).unwrap_or(0), rounded);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> UsageRow {
        UsageRow {
            cluster: "prod".to_owned(),
            kind: "Deployment".to_owned(),
            name: "a, \"b\"".to_owned(),
            source: "by hand".to_owned(),
            from: "2026-11-08".parse().unwrap(),
            to: "2026-11-22".parse().unwrap(),
            busy: Some(0.071_23),
            gpu_hours: Some(1_340.2),
            idle: Some(0.0),
            ..UsageRow::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_written_the_same() {
        let text = write(&[sample(), sample()]);
        let (rows, wrong) = read(&text).unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((row.busy, row.gpu_hours, row.idle, row.busy_max), (Some(0.0712), Some(1340.0), Some(0.0), None));
        assert_eq!(row.name, "a, \"b\"");
        assert_eq!(write(&rows), text);
    }

    #[test]
    fn numbers_have_three_digits() {
        let all = [0.0, 1.0, 0.071_234, 1_340.2, 12_345_678.0, 0.999_9, 99.95, 1e-9];
        let shown: Vec<String> = all.into_iter().map(written).collect();
        assert_eq!(shown, ["0", "1", "0.0712", "1340", "12300000", "1", "100", "0.000000001"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_hides_nothing_else() {
        let file = |heading: &str, lines: &str| read(&format!("{HEADER}\n{heading}\n{lines}"));
        let heading = "kind,name,from,to,source,busy";
        let (rows, wrong) = file(
            heading,
            "Job,a,2026-11-01,2026-11-02,x,0.5\nJob,b,2026-11-01,2026-11-02,x,50\nJob,c,2026-11-02,2026-11-01,x,\n\
             Job,d,2026-11-01,2026-11-02,x,NaN\nJob,,2026-11-01,2026-11-02,x,\nJob,e,2026-11-01,2026-11-02,x\n",
        )
        .unwrap();
        assert_eq!(rows.len(), 1);
        let told: Vec<(usize, &str)> = wrong.iter().map(|it| (it.line, it.message.as_str())).collect();
        assert_eq!(
            told,
            [
                (4, "`busy` must be a share from 0 to 1, not `50`"),
                (5, "`to` (2026-11-01) is not after `from` (2026-11-02)"),
                (6, "`busy` is not a number from 0 to 1: `NaN`"),
                (7, "a row needs `kind` and `name`"),
                (8, "5 cells, but the heading has 6"),
            ]
        );
        let refused = |heading: &str| file(heading, "").unwrap_err().message;
        assert_eq!(refused("kind,name,from,to,source,buzy"), "unknown column `buzy`; did you mean `busy`?");
        assert_eq!(refused("kind,name,from,to"), "the column `source` is missing");
        assert!(read("kind,name\n").unwrap_err().message.contains("this version of gpulint cannot read the file"));
    }
}
