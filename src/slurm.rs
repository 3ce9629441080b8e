//! Converts Slurm scripts to manifests for the Kubernetes front end.
//!
//! A script begins with comments that `sbatch` reads, such as `#SBATCH --gres=gpu:a100:4`. Comments that request
//! accelerators become an object of the kind `SlurmJob`, which `kinds.toml` defines. Each line of the object leads to
//! its line in the script. This module knows the syntax of the options and nothing of accelerators. Other forms, and
//! values that only a run determines, are reported as not evaluated.
//!
//! Options and time formats follow `sbatch(1)` of Slurm 25.05, 2026-11.

use std::collections::BTreeMap;

use crate::languages::yaml::quoted;
use crate::source::{FileId, Segment, SourceFiles, Span, file_name, lines_with_offsets};

/// The start of a line that `sbatch` reads.
pub(crate) const MARK: &[u8] = b"#SBATCH";
/// Supported options with their short forms.
const OPTIONS: [(&str, &str); 11] = [
    ("array", "a"),
    ("gpus", "G"),
    ("gpus-per-node", ""),
    ("gpus-per-task", ""),
    ("gres", ""),
    ("job-name", "J"),
    ("nodes", "N"),
    ("ntasks", "n"),
    ("ntasks-per-node", ""),
    ("partition", "p"),
    ("time", "t"),
];
/// Maximum number of devices on one machine, for options that Slurm counts for the whole job.
const MOST_OF_ONE_MACHINE: u64 = 8;

/// Returns the object of a script as a derived file; `None` if the script requests no accelerators in a supported form.
pub(crate) fn read(sources: &SourceFiles, path: &str) -> Option<FileId> {
    let file = sources.open(path).ok()?;
    let text = sources.text(file);
    let head = Head::read(&text, file);
    let asked = head.devices()?;
    let (text, segments) = head.object(path, &text, &asked)?;
    Some(sources.derive(path, text, segments))
}

/// The value of an option, and its line.
struct Given<'t> {
    value: &'t str,
    span: Span,
}

/// Devices of one machine.
struct Devices<'t> {
    count: String,
    /// The name in the cluster: `a100`.
    name: Option<&'t str>,
    span: Span,
    /// The number of machines, if the number of devices determines it.
    nodes: Option<u64>,
}

/// The comments before the first command.
struct Head<'t> {
    file: FileId,
    options: BTreeMap<&'static str, Given<'t>>,
    /// The comments that contain directives for gpulint.
    remarks: Vec<(&'t str, Span)>,
}

impl<'t> Head<'t> {
    fn read(text: &'t str, file: FileId) -> Head<'t> {
        let mut head = Head { file, options: BTreeMap::new(), remarks: Vec::new() };
        for (start, line) in lines_with_offsets(text) {
            let comment = line.trim_start_matches('\u{FEFF}').trim();
            if !comment.is_empty() && !comment.starts_with('#') {
                break;
            }
            let span = Span::new(file, start, start + line.trim_end().len());
            if let Some(at) = comment.find("gpulint:") {
                head.remarks.push((comment.get(at..).unwrap_or_default(), span));
            }
            let mark = comment.strip_prefix("#SBATCH").filter(|rest| rest.starts_with(char::is_whitespace));
            mark.into_iter().for_each(|rest| head.take(rest, span));
        }
        head
    }

    /// Reads the options of a line; the last of duplicate options wins.
    fn take(&mut self, line: &'t str, span: Span) {
        let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#')).peekable();
        while let Some(word) = words.next() {
            let (name, value) = match word.strip_prefix("--") {
                Some(long) => long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
                None => match word.strip_prefix('-').and_then(|rest| rest.split_at_checked(1)) {
                    Some((letter, value)) => (letter, Some(value).filter(|value| !value.is_empty())),
                    None => continue,
                },
            };
            let known = OPTIONS.iter().find(|(long, letter)| *long == name || !letter.is_empty() && *letter == name);
            let Some((long, _)) = known else { continue };
            let value = value.or_else(|| words.next_if(|next| !next.starts_with('-')));
            let value = value.map(|value| value.trim_matches(['"', '\''])).filter(|value| !value.is_empty());
            self.options.extend(value.map(|value| (*long, Given { value, span })));
        }
    }

    fn number(&self, option: &str) -> Option<u64> {
        self.options.get(option)?.value.parse().ok().filter(|number| *number > 0)
    }

    /// Returns the devices that the job requests on each machine.
    fn devices(&self) -> Option<Devices<'t>> {
        if let Some(given) = self.options.get("gpus-per-node") {
            let (name, count) = named_count(given.value);
            return Some(Devices { count: count.to_owned(), name, span: given.span, nodes: None });
        }
        if let Some(given) = self.options.get("gres") {
            let (name, count) = of_gres(given.value)?;
            return Some(Devices { count: count.to_owned(), name, span: given.span, nodes: None });
        }
        if let Some(given) = self.options.get("gpus-per-task") {
            let (name, count) = named_count(given.value);
            let count = count.parse::<u64>().ok()?.checked_mul(self.tasks_per_node()?)?;
            return Some(Devices { count: count.to_string(), name, span: given.span, nodes: None });
        }
        let given = self.options.get("gpus")?;
        let (name, count) = named_count(given.value);
        let all = count.parse::<u64>().ok()?;
        let nodes = match self.options.contains_key("nodes") {
            true => self.number("nodes")?,
            false if all <= MOST_OF_ONE_MACHINE => 1,
            false => return None,
        };
        let of_each = all.is_multiple_of(nodes).then(|| all / nodes)?;
        Some(Devices { count: of_each.to_string(), name, span: given.span, nodes: Some(nodes) })
    }

    /// Returns the number of tasks on each machine. The default is one.
    fn tasks_per_node(&self) -> Option<u64> {
        let (of_node, all) = (self.options.get("ntasks-per-node"), self.options.get("ntasks"));
        match (of_node, all) {
            (Some(_), _) => self.number("ntasks-per-node"),
            (None, None) => Some(1),
            (None, Some(_)) => {
                let nodes = if self.options.contains_key("nodes") { self.number("nodes")? } else { 1 };
                self.number("ntasks").filter(|all| all.is_multiple_of(nodes)).map(|all| all / nodes)
            }
        }
    }

    /// Returns the job as an object, with the place of each line.
    fn object(&self, path: &str, script: &str, asked: &Devices<'_>) -> Option<(String, Vec<Segment>)> {
        let mut out = Writer::default();
        for (remark, span) in &self.remarks {
            out.line(&format!("# {}", printable(remark)), *span);
        }
        let of = |option: &str| self.options.get(option);
        out.line("apiVersion: slurm/v1", asked.span);
        out.line("kind: SlurmJob", asked.span);
        out.line("metadata:", asked.span);
        let stem = file_name(path).split('.').next().unwrap_or_default();
        let (name, span) = of("job-name").map_or((stem, asked.span), |given| (given.value, given.span));
        out.value("  name", name, span);
        out.line("spec:", asked.span);
        let (nodes, span) = self.nodes(asked)?;
        out.line(&format!("  nodes: {nodes}"), span);
        if let Some((given, copies)) = of("array").and_then(|given| Some((given, copies(given.value)?))) {
            out.line("  leastCopies: 1", given.span);
            out.line(&format!("  mostCopies: {copies}"), given.span);
        }
        if let Some(name) = asked.name {
            out.value("  accelerator", name, asked.span);
        }
        if let Some(given) = of("partition") {
            out.value("  partition", given.value, given.span);
        }
        if let Some((given, limit)) = of("time").and_then(|given| Some((given, limit(given.value)?))) {
            out.value("  timeLimitSeconds", &limit, given.span);
        }
        out.line("  resources:", asked.span);
        out.line("    limits:", asked.span);
        out.value(&format!("      {}", device(asked.name)), &asked.count, asked.span);
        out.line("  command: [bash, -c]", asked.span);
        out.line("  args:", asked.span);
        out.line("  - |2", asked.span);
        for (start, line) in lines_with_offsets(script) {
            let span = Span::new(self.file, start, start + line.trim_end().len());
            out.line(&format!("    {}", printable(line.trim_end())), span);
        }
        Some((out.text, out.segments))
    }

    fn nodes(&self, asked: &Devices<'_>) -> Option<(String, Span)> {
        if let Some(nodes) = asked.nodes {
            return Some((nodes.to_string(), asked.span));
        }
        let Some(given) = self.options.get("nodes") else {
            let tasks = self.number("ntasks").zip(self.number("ntasks-per-node"));
            return Some((tasks.map_or(1, |(all, of_node)| all.div_ceil(of_node)).to_string(), asked.span));
        };
        // `2-4` means at least two machines, so the minimum counts.
        let least = given.value.split('-').next().unwrap_or(given.value);
        Some((quoted(least), given.span))
    }
}

/// Splits `a100:4` and `4`, the values of `--gpus` and similar options.
fn named_count(value: &str) -> (Option<&str>, &str) {
    match value.rsplit_once(':') {
        Some((name, count)) => (Some(name), count),
        None => (None, value),
    }
}

/// Returns the devices of `gpu:a100:4,license:1`; `None` if there are none or several kinds.
fn of_gres(value: &str) -> Option<(Option<&str>, &str)> {
    let mut asked = value.split(',').filter_map(|entry| {
        let rest = entry.trim_start_matches("gres/").strip_prefix("gpu")?;
        rest.is_empty().then_some(rest).or_else(|| rest.strip_prefix([':', '=']))
    });
    let first = asked.next()?;
    if asked.next().is_some() {
        return None;
    }
    // Removes the sockets of the devices: `gpu:2(S:0-1)`.
    let first = first.split('(').next().unwrap_or_default();
    let is_count = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '$' || c == '{');
    Some(match first.rsplit_once(':') {
        Some((name, count)) => (Some(name), count),
        None if first.is_empty() => (None, "1"),
        None if is_count(first) => (None, first),
        None => (Some(first), "1"),
    })
}

/// Returns the resource key for pods. Slices have NVIDIA's names, `a100_3g.20gb` or `3g.20gb`.
fn device(name: Option<&str>) -> String {
    let name = name.unwrap_or_default().to_ascii_lowercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    let is_slice = last.ends_with("gb")
        && last
            .split_once("g.")
            .is_some_and(|(parts, _)| !parts.is_empty() && parts.bytes().all(|b| b.is_ascii_digit()));
    let is_of_amd = name.trim_start_matches("amd_").trim_start_matches("instinct_").starts_with("mi");
    match (is_slice, is_of_amd) {
        (true, _) => format!("nvidia.com/mig-{last}"),
        (false, true) => "amd.com/gpu".to_owned(),
        (false, false) => "nvidia.com/gpu".to_owned(),
    }
}

/// Returns how many jobs of an array run at once at most: all of `0-15`, eight of `0-99%8`.
fn copies(value: &str) -> Option<u64> {
    let (elements, at_once) = value.split_once('%').map_or((value, None), |(all, most)| (all, Some(most)));
    let of_range = |range: &str| {
        let (range, step) = range.split_once(':').unwrap_or((range, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let step = number(step).filter(|step| *step > 0)?;
        Some(number(last)?.checked_sub(number(first)?)? / step + 1)
    };
    let all = elements.split(',').try_fold(0_u64, |sum, range| sum.checked_add(of_range(range)?))?;
    let most = at_once.map_or(Some(all), |most| most.parse().ok())?;
    Some(all.min(most)).filter(|copies| *copies > 0)
}

/// Returns seconds for `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours` and their extended forms.
/// Other text is returned unchanged; `None` means no limit.
fn limit(value: &str) -> Option<String> {
    if ["unlimited", "infinite", "0", "-1"].iter().any(|word| value.eq_ignore_ascii_case(word)) {
        return None;
    }
    let seconds = || {
        let (days, clock) = match value.split_once('-') {
            Some((days, clock)) => (Some(days.parse::<u64>().ok()?), clock),
            None => (None, value),
        };
        let parts: Vec<u64> = clock.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let units: &[u64] = match (days, parts.len()) {
            (Some(_), 1..=3) | (None, 3) => &[3600, 60, 1],
            (None, 1 | 2) => &[60, 1],
            _ => return None,
        };
        let clock =
            parts.iter().zip(units).try_fold(0, |sum: u64, (part, unit)| sum.checked_add(part.checked_mul(*unit)?))?;
        days.unwrap_or(0).checked_mul(86_400)?.checked_add(clock)
    };
    Some(seconds().map_or_else(|| value.to_owned(), |seconds| seconds.to_string()))
}

/// Removes characters that YAML does not allow.
fn printable(text: &str) -> String {
    let is_other = |c: char| c.is_control() && c != '\t' || matches!(c, '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}');
    text.chars().map(|c| if is_other(c) { ' ' } else { c }).collect()
}

#[derive(Default)]
struct Writer {
    text: String,
    segments: Vec<Segment>,
}

impl Writer {
    /// Writes a line with its origin. No line equals its origin byte by byte, so that no fix writes there.
    fn line(&mut self, line: &str, origin: Span) {
        self.segments.push(Segment { start: self.text.len() as u32, origin, linear: false });
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn value(&mut self, key: &str, value: &str, origin: Span) {
        self.line(&format!("{key}: {}", quoted(value)), origin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(head: &str) -> Option<(String, Option<String>, u64)> {
        let sources = SourceFiles::new(crate::source::MemoryTree::new().with("a.sbatch", head));
        let file = sources.open("a.sbatch").unwrap();
        let head = Head::read(head, file);
        let found = head.devices()?;
        let nodes = head.nodes(&found)?.0.trim_matches('"').parse().unwrap_or(0);
        Some((found.count.clone(), found.name.map(str::to_owned), nodes))
    }

    #[test]
    fn options_are_read_as_sbatch_reads_them() {
        for (head, count, name, nodes) in [
            ("#!/bin/bash\n#SBATCH --gres=gpu:a100:4 --nodes=2 # all\n", "4", Some("a100"), 2),
            ("#SBATCH -N2\n#SBATCH --gpus-per-node h100:8\n", "8", Some("h100"), 2),
            ("#SBATCH --gres=gpu:v100\n", "1", Some("v100"), 1),
            ("#SBATCH --gres=license:1,gpu:2(S:0-1)\n", "2", None, 1),
            ("#SBATCH --gres=gpu\n#SBATCH -N 2-4\n", "1", None, 2),
            ("#SBATCH -G 16\n#SBATCH -N 4\n", "4", None, 4),
            ("#SBATCH --gpus=2\n", "2", None, 1),
            ("#SBATCH --gpus-per-task=1 --ntasks-per-node=4 -n 8\n", "4", None, 2),
            ("#SBATCH --gres=gpu:1\n#SBATCH --gres=gpu:2\n", "2", None, 1),
            ("#SBATCH --gres=gpu:${GPUS}\n", "${GPUS}", None, 1),
        ] {
            assert_eq!(devices(head), Some((count.to_owned(), name.map(str::to_owned), nodes)), "{head}");
        }
        for head in [
            "echo\n#SBATCH --gres=gpu:1\n",
            "#SBATCHED --gres=gpu:1\n",
            "##SBATCH --gres=gpu:1\n",
            "#SBATCH --gpus=64\n",
            "#SBATCH --gres=gpu:a100:1,gpu:v100:1\n",
            "#SBATCH --gres\n",
            "#SBATCH -\n#SBATCH --\n",
        ] {
            assert_eq!(devices(head), None, "{head}");
        }
    }

    #[test]
    fn times_and_arrays_have_several_forms() {
        for (text, seconds) in [
            ("30", Some("1800")),
            ("30:10", Some("1810")),
            ("2:00:00", Some("7200")),
            ("2-0", Some("172800")),
            ("1-12:30", Some("131400")),
            ("UNLIMITED", None),
            ("0", None),
            ("${TIME}", Some("${TIME}")),
            ("99999999999999999999", Some("99999999999999999999")),
        ] {
            assert_eq!(limit(text).as_deref(), seconds, "{text}");
        }
        for (text, most) in [
            ("0-15", Some(16)),
            ("1,3,5-9:2", Some(5)),
            ("0-99%8", Some(8)),
            ("5-1", None),
            ("x", None),
            ("0-9:0", None),
        ] {
            assert_eq!(copies(text), most, "{text}");
        }
    }

    #[test]
    fn slices_and_other_makers_have_their_own_keys() {
        for (name, key) in [
            ("a100", "nvidia.com/gpu"),
            ("nvidia_a100_3g.20gb", "nvidia.com/mig-3g.20gb"),
            ("mi250x", "amd.com/gpu"),
            ("tesla", "nvidia.com/gpu"),
        ] {
            assert_eq!(device(Some(name)), key, "{name}");
        }
    }
}
