use std::fs;
use std::io::{self, IsTerminal, Write};

use super::Failure;
use super::args::{Color, Output};
use crate::report::{Format, Style};

/// Renders each format that was asked for to its file or to standard output.
pub(super) fn write(output: &Output, default: Format, render: impl Fn(Format, Style) -> String) -> Result<(), Failure> {
    let formats = if output.formats.is_empty() { vec![default] } else { output.formats.clone() };
    for (index, format) in formats.iter().enumerate() {
        match output.outputs.get(index) {
            Some(path) => fs::write(path, render(*format, Style::default()))
                .map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))?,
            None => print(&render(*format, style(output.color)))?,
        }
    }
    Ok(())
}

fn style(color: Color) -> Style {
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    Style { color }
}

/// Writes to standard output. Whoever reads it may stop reading: that is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("the report cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error; nobody is left to tell when that fails.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
