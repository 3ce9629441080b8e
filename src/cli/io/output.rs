//! Writes each requested format to its file, completely or not at all.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::terminal::OutputStream;
use super::{captured_output, replace, secrets, serving};
use crate::cli::Failure;
use crate::cli::args::{ColorChoice, Output};
use crate::report::{
    EntryChoice, Format, FormatSyntax, Most, Report, ReportStyle, harmless, not_judged, without_commands,
    without_marked, wrapped, wrapped_markdown,
};

/// Renders each requested format to its file or to standard output.
pub(in crate::cli) fn write(
    output: &Output,
    default: Format,
    render: impl Fn(Format, ReportStyle) -> Option<String>,
) -> Result<(), Failure> {
    if captured_output::is_keeping() {
        return keep(output, default, render);
    }
    for (format, file) in destinations(output, default)? {
        let style = if file.is_some() { ReportStyle::default() } else { style(output.color) };
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

/// Captures each format for the caller, as a file would contain it.
fn keep(
    output: &Output,
    default: Format,
    render: impl Fn(Format, ReportStyle) -> Option<String>,
) -> Result<(), Failure> {
    let formats = if output.formats.is_empty() { &[default][..] } else { &output.formats };
    for format in formats {
        let text = render(*format, ReportStyle::default());
        let text =
            text.ok_or_else(|| Failure::new(format!("this subcommand does not support the format `{format}`")))?;
        captured_output::report(*format, text);
    }
    Ok(())
}

/// Returns a report that is safe in the log of a pipeline, without tokens if it leaves the machine.
fn logged(format: Format, text: &str) -> Cow<'_, str> {
    let row = format.row();
    match if row.leaves_machine { secrets::without_forms(text) } else { Cow::Borrowed(text) } {
        Cow::Borrowed(text) => escape_commands(row.syntax, text),
        Cow::Owned(text) => Cow::Owned(escape_commands(row.syntax, &text).into_owned()),
    }
}

/// Escapes commands to the pipeline.
fn escape_commands(syntax: FormatSyntax, text: &str) -> Cow<'_, str> {
    match syntax {
        FormatSyntax::Text | FormatSyntax::Csv | FormatSyntax::Markdown => without_commands(text),
        FormatSyntax::Json | FormatSyntax::JsonLines => without_marked(text, "\\u0023"),
        FormatSyntax::Xml | FormatSyntax::Html => without_marked(text, "&#35;"),
        FormatSyntax::Commands => Cow::Borrowed(text),
    }
}

/// Assigns each --output to the --format before it.
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

fn style(color: ColorChoice) -> ReportStyle {
    let color = match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => OutputStream::Output.has_colors(),
    };
    let choice = EntryChoice { most: Most::Screen, ..EntryChoice::default() };
    let usual = ReportStyle::default();
    let columns = OutputStream::Output.columns().map(|columns| columns.max(NARROWEST));
    // Longer lines are hard to read.
    let width = columns.map_or(usual.width, |columns| columns.min(200));
    let plain = OutputStream::Output.is_terminal() && !OutputStream::Output.is_able();
    ReportStyle { color, plain, width, columns, choice }
}

/// The minimum number of columns. With fewer, tables are not readable.
const NARROWEST: usize = 40;

/// The maximum number of columns of a paragraph.
const WIDEST_PARAGRAPH: usize = 100;

pub(in crate::cli) fn errors_in_color() -> bool {
    !captured_output::is_keeping() && OutputStream::Errors.has_colors()
}

/// Writes a file completely or not at all.
pub(in crate::cli) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("`{}` cannot be written: {error}", path.display()));
    if path == Path::new("/dev/stdout") {
        return emit(text);
    }
    // A link stays a link, and pipes and devices are written to directly.
    let real = &real(path).map_err(failed)?;
    if let Some(there) = replace::leads_outside(path, real) {
        let message =
            format!("gpulint does not write `{}`: a symbolic link leads out of the repository", path.display());
        return Err(Failure::new(message).with_help(format!("to write there, pass --output {}", there.display())));
    }
    let before = fs::metadata(real).ok();
    // Files in this directory are open streams of a process.
    let is_stream = path.starts_with("/dev") || path.starts_with("/proc");
    if is_stream || before.as_ref().is_some_and(|it| !it.is_file()) {
        return fs::write(real, text).map_err(failed);
    }
    let is_there = before.is_some();
    replace::replace(real, text.as_bytes(), before.map(|it| it.permissions())).or_else(|error| {
        // Only the file itself can be written: it is a mount, or its directory belongs to another user.
        let is_locked = matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy);
        if is_there && is_locked { fs::write(real, text).map_err(failed) } else { Err(failed(error)) }
    })
}

/// Returns the path with links followed. The file itself need not exist.
fn real(path: &Path) -> io::Result<PathBuf> {
    let directory = |path: &Path| path.parent().map_or(PathBuf::new(), Path::to_owned);
    // A write goes through a link, even if its target does not exist.
    let path = fs::read_link(path).map_or_else(|_| path.to_owned(), |target| directory(path).join(target));
    path.canonicalize().or_else(|error| {
        let directory = directory(&path);
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { &directory };
        Ok(directory.canonicalize()?.join(path.file_name().ok_or(error)?))
    })
}

/// Prints text that can contain foreign names, paths and lines of files.
pub(in crate::cli) fn print(text: &str) -> Result<(), Failure> {
    emit(&without_commands(&harmless(text)))
}

/// Prints Markdown. On a terminal, paragraphs are as wide as it is, but not too wide to read.
pub(in crate::cli) fn print_markdown(text: &str) -> Result<(), Failure> {
    print_within(text, WIDEST_PARAGRAPH, wrapped_markdown)
}

/// Prints lines. On a terminal, sentences that are longer than a line break between words.
pub(in crate::cli) fn print_lines(text: &str) -> Result<(), Failure> {
    print_within(text, usize::MAX, wrapped)
}

fn print_within(text: &str, widest: usize, wrap: fn(&str, usize) -> String) -> Result<(), Failure> {
    let text = harmless(text);
    let text = match OutputStream::Output.columns() {
        Some(columns) => wrap(&text, columns.clamp(NARROWEST, widest)),
        None => text,
    };
    emit(&without_commands(&text))
}

/// Prints text for programs, byte for byte. On a terminal, it works like `print`.
pub(in crate::cli) fn print_exact(text: &str) -> Result<(), Failure> {
    if OutputStream::Output.is_terminal() { print(text) } else { emit(text) }
}

/// Prints text that was already made safe. A closed pipe is not a failure.
fn emit(text: &str) -> Result<(), Failure> {
    if captured_output::printed(text) {
        return Ok(());
    }
    // In a server, standard output carries the protocol only.
    if serving::folder().is_some() {
        print_message(text);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    match out.write_all(OutputStream::Output.legible(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("gpulint cannot write the report: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line to standard error that can contain foreign text. Errors of the write are ignored.
pub(in crate::cli) fn complain(text: &str) {
    let text = harmless(text);
    if !captured_output::complained(&text) {
        print_message(&text);
    }
}

/// Sends one line of a server's protocol. Fails if the client has gone.
pub(in crate::cli) fn send(message: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}").and_then(|()| out.flush())
}

/// Sends a message whose protocol frames it. Fails if the client has gone.
pub(in crate::cli) fn frame(write: impl FnOnce(&mut io::StdoutLock<'static>) -> io::Result<()>) -> io::Result<()> {
    write(&mut io::stdout().lock())
}

/// Reports entries that were not evaluated next to output that does not list them, so that the output does not look
/// complete.
pub(in crate::cli) fn complain_of_unjudged(report: &Report<'_>) {
    if let Some(said) = not_judged(report) {
        complain(&format!("{said}; list: `gpulint cost`"));
    }
}

/// Prints a failure. Its lines can contain colors, but no other control sequences.
pub(in crate::cli) fn complain_of(failure: &Failure) {
    print_message(&failure.to_string());
}

fn print_message(text: &str) {
    let text = without_commands(text);
    let text = OutputStream::Errors
        .columns()
        .map_or(text.clone(), |columns| Cow::Owned(wrapped(&text, columns.max(NARROWEST))));
    let _ = writeln!(io::stderr().lock(), "{}", OutputStream::Errors.legible(&text));
}
