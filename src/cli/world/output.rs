//! Writes each format that was asked for to its file, whole or not at all.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::terminal::Stream;
use super::{kept, replace, secrets, serving};
use crate::cli::Failure;
use crate::cli::args::{Color, Output};
use crate::report::{
    Choice, Format, Most, Report, Style, harmless, not_judged, without_commands, without_marked, wrapped,
};

/// Renders each format that was asked for to its file or to standard output.
pub(in crate::cli) fn write(
    output: &Output,
    default: Format,
    render: impl Fn(Format, Style) -> Option<String>,
) -> Result<(), Failure> {
    if kept::is_keeping() {
        return keep(output, default, render);
    }
    for (format, file) in destinations(output, default)? {
        let style = if file.is_some() { Style::default() } else { style(output.color) };
        let Some(text) = render(format, style) else {
            return Err(Failure::new(format!("this subcommand does not support the format `{format}`")));
        };
        match file {
            Some(path) => save(&path, &logged(format, &text))?,
            None => {
                let text = logged(format, &text);
                let columns = style.columns.filter(|_| format == Format::Text);
                emit(&columns.map_or(text.clone(), |columns| Cow::Owned(wrapped(&text, columns))))?;
            }
        }
    }
    Ok(())
}

/// Each format as a file would get it, for whoever called the verb.
fn keep(output: &Output, default: Format, render: impl Fn(Format, Style) -> Option<String>) -> Result<(), Failure> {
    let formats = if output.formats.is_empty() { &[default][..] } else { &output.formats };
    for format in formats {
        let text = render(*format, Style::default());
        let text =
            text.ok_or_else(|| Failure::new(format!("this subcommand does not support the format `{format}`")))?;
        kept::report(*format, text);
    }
    Ok(())
}

/// A report as it may stand in the log of a pipeline, in the words of its format.
fn logged(format: Format, text: &str) -> Cow<'_, str> {
    match format {
        Format::Text | Format::Concise | Format::Csv | Format::Focus | Format::Markdown => without_commands(text),
        Format::Json | Format::Ndjson | Format::Sarif | Format::Gitlab => without_marked(text, "\\u0023"),
        Format::Junit => without_marked(text, "&#35;"),
        // These go to people who look, and to where they talk.
        Format::Slack | Format::Teams => leaving(text, "\\u0023"),
        Format::Html => leaving(text, "&#35;"),
        // These are commands.
        Format::Github | Format::Outputs => Cow::Borrowed(text),
    }
}

/// What leaves the machine: neither commands to a pipeline nor tokens.
fn leaving<'t>(text: &'t str, hash: &str) -> Cow<'t, str> {
    match secrets::without_forms(text) {
        Cow::Borrowed(text) => without_marked(text, hash),
        Cow::Owned(text) => Cow::Owned(without_marked(&text, hash).into_owned()),
    }
}

/// Each --output belongs to the --format before it.
fn destinations(output: &Output, default: Format) -> Result<Vec<(Format, Option<PathBuf>)>, Failure> {
    let mut all: Vec<(usize, Format, Option<PathBuf>)> =
        output.formats.iter().zip(&output.format_places).map(|(format, place)| (*place, *format, None)).collect();
    if all.is_empty() {
        all.push((0, default, None));
    }
    for (file, place) in output.outputs.iter().zip(&output.output_places) {
        let before = all.iter().rposition(|(format, ..)| format < place).unwrap_or(0);
        match all.get_mut(before) {
            Some((_, _, free @ None)) => *free = Some(file.clone()),
            _ => {
                return Err(Failure::new(format!("--output {} needs a --format before it", file.display()))
                    .with_help("write --format sarif --output a.sarif --format text"));
            }
        }
    }
    if all.iter().filter(|(_, _, file)| file.is_none()).count() > 1 {
        return Err(Failure::new("only one format can go to standard output")
            .with_help("write --format sarif --output a.sarif --format text"));
    }
    Ok(all.into_iter().map(|(_, format, file)| (format, file)).collect())
}

fn style(color: Color) -> Style {
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => Stream::Output.has_colors(),
    };
    let choice = Choice { most: Most::Screen, ..Choice::default() };
    let usual = Style::default();
    let columns = Stream::Output.columns().map(|columns| columns.max(NARROWEST));
    // As far as people can read a line.
    let width = columns.map_or(usual.width, |columns| columns.min(200));
    let plain = Stream::Output.is_terminal() && !Stream::Output.is_able();
    Style { color, plain, width, columns, choice }
}

/// In fewer columns nothing can be said.
const NARROWEST: usize = 40;

pub(in crate::cli) fn errors_in_color() -> bool {
    !kept::is_keeping() && Stream::Errors.has_colors()
}

/// Writes a file as a whole or not at all.
pub(in crate::cli) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("`{}` cannot be written: {error}", path.display()));
    if path == Path::new("/dev/stdout") {
        return emit(text);
    }
    // A link stays a link, and a pipe or a device is written to as it is.
    let real = &real(path).map_err(failed)?;
    if let Some(there) = replace::leads_outside(path, real) {
        let message =
            format!("gpulint does not write `{}`: a symbolic link leads out of the repository", path.display());
        return Err(Failure::new(message).with_help(format!("to write there, pass --output {}", there.display())));
    }
    let before = fs::metadata(real).ok();
    // What the system calls a file there is somebody's open stream.
    let is_stream = path.starts_with("/dev") || path.starts_with("/proc");
    if is_stream || before.as_ref().is_some_and(|it| !it.is_file()) {
        return fs::write(real, text).map_err(failed);
    }
    let is_there = before.is_some();
    replace::replace(real, text.as_bytes(), before.map(|it| it.permissions())).or_else(|error| {
        // Only the file itself may be written: it is mounted, or its directory belongs to somebody else.
        let is_locked = matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy);
        if is_there && is_locked { fs::write(real, text).map_err(failed) } else { Err(failed(error)) }
    })
}

/// The path with links followed; the file itself need not be there yet.
fn real(path: &Path) -> io::Result<PathBuf> {
    let directory = |path: &Path| path.parent().map_or(PathBuf::new(), Path::to_owned);
    // A link that leads to what is not there yet would be written through.
    let path = fs::read_link(path).map_or_else(|_| path.to_owned(), |target| directory(path).join(target));
    path.canonicalize().or_else(|error| {
        let directory = directory(&path);
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { &directory };
        Ok(directory.canonicalize()?.join(path.file_name().ok_or(error)?))
    })
}

/// Writes text to standard output that may quote what others wrote: names, paths, lines of files.
pub(in crate::cli) fn print(text: &str) -> Result<(), Failure> {
    emit(&without_commands(&harmless(text)))
}

/// Writes text that a program may read, byte for byte; a terminal gets it as `print` writes it.
pub(in crate::cli) fn print_exact(text: &str) -> Result<(), Failure> {
    if Stream::Output.is_terminal() { print(text) } else { emit(text) }
}

/// Writes what is harmless already to standard output. Whoever reads it may stop reading: that is no failure.
fn emit(text: &str) -> Result<(), Failure> {
    if kept::printed(text) {
        return Ok(());
    }
    // There standard output speaks a protocol, and nothing else.
    if serving::folder().is_some() {
        tell(text);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    match out.write_all(Stream::Output.legible(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("gpulint cannot write the report: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error that may quote what others wrote; nobody is left to tell when that fails.
pub(in crate::cli) fn complain(text: &str) {
    let text = harmless(text);
    if !kept::complained(&text) {
        tell(&text);
    }
}

/// Writes a message of the protocol that a server speaks: a line. Nobody may be left to read it.
pub(in crate::cli) fn send(message: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}").and_then(|()| out.flush())
}

/// Tells what was not judged beside an answer that lists none of it: that something is not in it does not mean that it is not there.
pub(in crate::cli) fn complain_of_unjudged(report: &Report<'_>) {
    if let Some(said) = not_judged(report) {
        complain(&format!("{said}; list: `gpulint cost`"));
    }
}

/// Tells why a run failed; its lines may have colours, and hold nothing else that a terminal obeys.
pub(in crate::cli) fn complain_of(failure: &Failure) {
    tell(&failure.to_string());
}

fn tell(text: &str) {
    let text = without_commands(text);
    let text =
        Stream::Errors.columns().map_or(text.clone(), |columns| Cow::Owned(wrapped(&text, columns.max(NARROWEST))));
    let _ = writeln!(io::stderr().lock(), "{}", Stream::Errors.legible(&text));
}
