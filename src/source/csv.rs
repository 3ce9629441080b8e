//! Reads and writes gpulint's own CSV files, in which each record is one line. The build script includes this file.

/// Returns the records of a CSV text, each with its line number. Cells can be quoted, with `""` for a quote. Blank
/// lines and lines that begin with `#` are skipped.
pub fn csv_records(text: &str) -> impl Iterator<Item = (usize, Result<Vec<String>, String>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().enumerate().filter_map(|(index, line)| {
        let blank = line.trim().is_empty() || line.starts_with('#');
        (!blank).then(|| (index + 1, csv_cells(line)))
    })
}

fn csv_cells(line: &str) -> Result<Vec<String>, String> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut cell = String::new();
            let mut after = quoted;
            loop {
                let (part, tail) = after.split_once('"').ok_or("a quoted cell is not closed on its line")?;
                cell.push_str(part);
                match tail.strip_prefix('"') {
                    Some(tail) => {
                        cell.push('"');
                        after = tail;
                    }
                    None => {
                        after = tail;
                        break;
                    }
                }
            }
            cells.push(cell);
            if after.is_empty() {
                return Ok(cells);
            }
            rest = after.strip_prefix(',').ok_or("characters follow a quoted cell")?;
        } else {
            match rest.split_once(',') {
                Some((cell, tail)) => {
                    cells.push(cell.trim().to_owned());
                    rest = tail;
                }
                None => {
                    cells.push(rest.trim().to_owned());
                    return Ok(cells);
                }
            }
        }
    }
}

/// Returns a cell that `csv_records` reads as the same text, except that control characters become blanks.
pub fn csv_cell(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let is_trimmed = text.trim().len() < text.len();
    if is_trimmed || text.contains([',', '"']) || text.starts_with('#') { csv_quoted(&text) } else { text }
}

/// Returns a line of cells that `csv_records` reads as the same texts.
pub fn csv_line<C: AsRef<str>>(cells: &[C]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell.as_ref())).collect();
    cells.join(",") + "\n"
}

/// Returns a cell in quotes.
pub fn csv_quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_line_and_is_read_as_it_was_written() {
        for cell in ["", "plain", "a,b", "say \"a\"", "#1", " blank ", "=1+1", "it's", "\u{a0}x"] {
            let (_, read) = csv_records(&format!("{},end", csv_cell(cell))).next().unwrap();
            assert_eq!(read.unwrap(), [cell, "end"]);
        }
        assert_eq!(csv_cell("a\nb\r\u{1b}[2J"), "a b  [2J");
        assert_eq!(csv_cell("plain"), "plain");
    }
}
