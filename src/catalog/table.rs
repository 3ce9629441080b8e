//! The tables of a catalog as sorted rows in one block of bytes.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::format::{BLANK, ColumnKind, CsvFile, SCHEMAS, TableError, TableSchema, encode};
use super::money::Money;

/// All tables of one catalog as one block of bytes.
#[derive(Clone)]
pub(super) struct CatalogBlock {
    bytes: Bytes,
    /// The start, the number of rows and their width for each table, in the order of `SCHEMAS`.
    places: [(usize, usize, usize); SCHEMAS.len()],
    /// The first price of each provider. Its copies share it.
    providers: Arc<OnceLock<Vec<usize>>>,
}

#[derive(Clone)]
enum Bytes {
    Embedded(&'static [u8]),
    /// The bytes from a position on.
    Loaded(Arc<Vec<u8>>, usize),
}

impl CatalogBlock {
    pub(super) fn embedded(bytes: &'static [u8]) -> Self {
        Self::open(Bytes::Embedded(bytes))
    }

    pub(super) fn load(files: &[CsvFile<'_>]) -> Result<Self, TableError> {
        Ok(Self::of_bytes(encode(files)?, 0))
    }

    pub(super) fn of_bytes(bytes: Vec<u8>, begin: usize) -> Self {
        Self::open(Bytes::Loaded(bytes.into(), begin))
    }

    fn open(bytes: Bytes) -> Self {
        let block = bytes.as_slice();
        let mut at = 4 + read_u32(block, 0) as usize + 4;
        let places = std::array::from_fn(|index| {
            let rows = read_u32(block, at) as usize;
            let begin = at + 4;
            let width = SCHEMAS[index].row_width();
            at = begin + rows * width;
            (begin, rows, width)
        });
        CatalogBlock { bytes, places, providers: Arc::default() }
    }

    /// Returns the providers that have prices, in the order of the table.
    pub(super) fn providers(&self) -> Vec<&str> {
        let table = self.table("prices");
        let firsts = self.providers.get_or_init(|| {
            let next = |at: &usize| Some(table.range(&[table.row(*at).text()]).end.max(at + 1));
            std::iter::successors(Some(0), next).take_while(|at| *at < table.len()).collect()
        });
        firsts.iter().map(|first| table.row(*first).text()).collect()
    }

    fn pool(&self) -> &[u8] {
        let bytes = self.bytes.as_slice();
        bytes.get(4..4 + read_u32(bytes, 0) as usize).unwrap_or_default()
    }

    /// The date of the newest price.
    pub(super) fn newest(&self) -> &str {
        let behind = 4 + self.pool().len();
        Cells { pool: self.pool(), bytes: self.bytes.as_slice().get(behind..).unwrap_or_default() }.text()
    }

    /// Returns the table with this name. If there is none, which a test excludes, it returns an empty table.
    pub(super) fn table(&self, name: &str) -> FixedTable<'_> {
        let (bytes, pool) = (self.bytes.as_slice(), self.pool());
        let found = SCHEMAS.iter().zip(self.places).find(|(schema, _)| schema.name == name);
        let (schema, (begin, len, width)) = found.unwrap_or((&SCHEMAS[0], (0, 0, 1)));
        FixedTable { schema, pool, rows: bytes.get(begin..begin + len * width).unwrap_or_default(), width, len }
    }
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Embedded(bytes) => bytes,
            Bytes::Loaded(bytes, begin) => bytes.get(*begin..).unwrap_or_default(),
        }
    }
}

/// Rows of fixed width in the order of their key columns.
#[derive(Clone, Copy)]
pub(super) struct FixedTable<'c> {
    schema: &'static TableSchema,
    pool: &'c [u8],
    rows: &'c [u8],
    width: usize,
    len: usize,
}

impl<'c> FixedTable<'c> {
    pub(super) fn len(self) -> usize {
        self.len
    }

    /// Returns the cells of a row from the first column on. Beyond the last row, all cells are blank.
    pub(super) fn row(self, index: usize) -> Cells<'c> {
        let bytes = self.rows.get(index * self.width..(index + 1) * self.width).unwrap_or_default();
        Cells { pool: self.pool, bytes }
    }

    /// Returns the date of a row. Beyond the last row it is blank.
    pub(super) fn as_of(self, index: usize) -> &'c str {
        let column = self.schema.columns.iter().position(|(name, _)| *name == "as_of");
        let begin = column.map_or(self.width, |column| self.schema.begin(column));
        let Cells { pool, bytes } = self.row(index);
        Cells { pool, bytes: bytes.get(begin..).unwrap_or_default() }.text()
    }

    pub(super) fn rows(self) -> impl Iterator<Item = Cells<'c>> {
        (0..self.len).map(move |index| self.row(index))
    }

    /// Returns the rows whose first columns match these keys in any case. It works only for columns of text.
    pub(super) fn range(self, keys: &[&str]) -> Range<usize> {
        debug_assert!(keys.len() <= self.schema.keys);
        debug_assert!(self.schema.columns[..keys.len()].iter().all(|(_, kind)| *kind == ColumnKind::Text));
        let begin = self.first(|row| self.compare(row, keys) == Ordering::Less);
        let end = begin + self.after(begin).first(|row| self.after(begin).compare(row, keys) == Ordering::Equal);
        begin..end
    }

    pub(super) fn find(self, keys: &[&str]) -> Option<Cells<'c>> {
        let begin = self.first(|row| self.compare(row, keys) == Ordering::Less);
        (begin < self.len && self.compare(begin, keys) == Ordering::Equal).then(|| self.row(begin))
    }

    fn after(self, begin: usize) -> Self {
        FixedTable {
            rows: self.rows.get(begin * self.width..).unwrap_or_default(),
            len: self.len - begin.min(self.len),
            ..self
        }
    }

    /// Returns the first row for which `before` is false. Rows for which it is true must come first.
    fn first(self, before: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn compare(self, row: usize, keys: &[&str]) -> Ordering {
        let mut cells = self.row(row);
        for key in keys {
            match compare_bytes(cells.bytes(), key.as_bytes()) {
                Ordering::Equal => {}
                other => return other,
            }
        }
        Ordering::Equal
    }
}

/// Compares in ASCII order, ignoring case.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    compare_bytes(one.as_bytes(), other.as_bytes())
}

fn compare_bytes(one: &[u8], other: &[u8]) -> Ordering {
    for (one, other) in one.iter().zip(other) {
        if one != other {
            let ordering = one.to_ascii_lowercase().cmp(&other.to_ascii_lowercase());
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
    }
    one.len().cmp(&other.len())
}

/// Reads the cells of one row from left to right.
#[derive(Clone, Copy)]
pub(super) struct Cells<'c> {
    pool: &'c [u8],
    bytes: &'c [u8],
}

impl<'c> Cells<'c> {
    pub(super) fn text(&mut self) -> &'c str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }

    /// Skips as many texts.
    pub(super) fn skip_texts(&mut self, number: usize) {
        self.bytes = self.bytes.get(4 * number..).unwrap_or_default();
    }

    /// Returns whether the next text begins with this letter, in any case.
    pub(super) fn begins_with(&mut self, letter: u8) -> bool {
        self.bytes().first().is_some_and(|first| first.eq_ignore_ascii_case(&letter))
    }

    fn bytes(&mut self) -> &'c [u8] {
        let at = read_u32(self.bytes, 0) as usize;
        self.bytes = self.bytes.get(4..).unwrap_or_default();
        let len = self.pool.get(at..at + 2).map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
        self.pool.get(at + 2..at + 2 + len).unwrap_or_default()
    }

    /// Returns the next number in millionths.
    pub(super) fn millionths(&mut self) -> Option<i64> {
        let (cell, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(i64::from_le_bytes(*cell)).filter(|value| *value != BLANK)
    }

    pub(super) fn number(&mut self) -> Option<f64> {
        self.millionths().map(|value| value as f64 / 1e6)
    }

    pub(super) fn money(&mut self) -> Option<Money> {
        self.millionths().map(Money::from_micros)
    }
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

/// Whether a pattern matches a name, ignoring case. `*` matches any text, and `#` matches one or more digits.
pub fn covers(pattern: &str, name: &str) -> bool {
    covers_bytes(pattern.as_bytes(), name.as_bytes())
}

fn covers_bytes(pattern: &[u8], name: &[u8]) -> bool {
    // The position to continue from if the rest after the last `*` does not match.
    let mut retry: Option<(&[u8], &[u8])> = None;
    let (mut pattern, mut name) = (pattern, name);
    loop {
        let matched = match (pattern.split_first(), name.split_first()) {
            (Some((b'*', rest)), _) => {
                retry = Some((rest, name));
                pattern = rest;
                true
            }
            (Some((b'#', rest)), Some((first, _))) if first.is_ascii_digit() => {
                let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
                pattern = rest;
                name = &name[digits..];
                true
            }
            (Some((wanted, rest)), Some((first, tail))) if wanted.eq_ignore_ascii_case(first) => {
                pattern = rest;
                name = tail;
                true
            }
            (None, None) => return true,
            _ => false,
        };
        if !matched {
            match retry {
                Some((rest, from)) if !from.is_empty() => {
                    retry = Some((rest, &from[1..]));
                    pattern = rest;
                    name = &from[1..];
                }
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_names() {
        for (pattern, name, expected) in [
            ("p#*", "p7.48xlarge", true),
            ("p#*", "px", false),
            ("Standard_NC*_T4_v3", "standard_nc64as_t4_V3", true),
            ("Standard_NC*_T4_v3", "Standard_NC24ads_A100_v4", false),
            ("g#-gpu-*", "g12-gpu-rtx", true),
            ("ml.*", "ml.p5.48xlarge", true),
            ("*gb*x", "a100-80gb.8x", true),
            ("*", "", true),
            ("a", "", false),
        ] {
            assert_eq!(covers(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_long_pattern_ends_soon() {
        assert!(!covers(&"*a".repeat(200), &"a".repeat(199)));
    }

    #[test]
    fn every_table_is_in_the_embedded_block() {
        let block = CatalogBlock::embedded(include_bytes!(concat!(env!("OUT_DIR"), "/catalog.bin")));
        for schema in SCHEMAS {
            assert!(block.table(schema.name).len() > 0, "{} is empty", schema.name);
        }
    }
}
