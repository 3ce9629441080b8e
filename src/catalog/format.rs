//! Converts CSV tables into one block of bytes that can be searched without parsing.
//!
//! A block contains a pool of strings, the date of the newest price, and the tables, with rows of fixed width in the
//! order of their key columns. The build script includes this file to create the embedded block. The library uses it
//! for tables that are read at run time.

use crate::source::csv_records;

/// The type of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Text,
    /// A decimal number in millionths. Blank means unknown.
    Number,
}

/// The schema of a table in the catalog.
#[derive(Debug)]
pub(super) struct TableSchema {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, ColumnKind)],
    /// The number of leading columns that sort and find rows. With 0, rows stay in file order and the first match wins.
    pub(super) keys: usize,
}

/// The stored value of a blank number.
pub(super) const BLANK: i64 = i64::MIN;

use ColumnKind::{Number, Text};

/// The table of machines by accelerator.
pub(super) const MACHINES: &str = "machines";

/// All tables, in the order in which the block stores them.
pub(super) const SCHEMAS: &[TableSchema] = &[
    TableSchema {
        name: "prices",
        keys: 3,
        columns: &[
            ("provider", Text),
            ("machine", Text),
            ("region", Text),
            ("accelerator", Text),
            ("accelerator_count", Number),
            ("vcpus", Number),
            ("memory_gib", Number),
            ("on_demand_usd_per_hour", Number),
            ("spot_usd_per_hour", Number),
            ("reserved_1y_usd_per_hour", Number),
            ("reserved_3y_usd_per_hour", Number),
            ("as_of", Text),
            ("spot_as_of", Text),
            ("spot_basis", Text),
            ("spot_interruption", Text),
            ("reserved_basis", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
        ],
    },
    // This table has no file. It lists the machines in `prices` by accelerator, so that lookups need no full search.
    TableSchema { name: MACHINES, keys: 3, columns: &[("provider", Text), ("accelerator", Text), ("machine", Text)] },
    TableSchema {
        name: "accelerators",
        keys: 1,
        columns: &[
            ("accelerator", Text),
            ("vendor", Text),
            ("kind", Text),
            ("architecture", Text),
            ("year", Number),
            ("memory_gib", Number),
            ("usable_gib", Number),
            ("memory_bw_gbps", Number),
            ("fp32_tflops", Number),
            ("bf16_dense_tflops", Number),
            ("fp8_dense_tflops", Number),
            ("formats", Text),
            ("tdp_watts", Number),
            ("form_factor", Text),
            ("interconnect_gbps", Number),
            ("mig_max_instances", Number),
            ("processor", Text),
            ("assumed", Number),
            ("word", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
            ("unverified", Text),
        ],
    },
    TableSchema { name: "aliases", keys: 1, columns: &[("alias", Text), ("accelerator", Text), ("example", Text)] },
    TableSchema {
        name: "mig",
        keys: 2,
        columns: &[
            ("accelerator", Text),
            ("profile", Text),
            ("compute_slices", Number),
            ("compute_slices_total", Number),
            ("memory_gib", Number),
            ("max_instances", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "regions",
        keys: 2,
        columns: &[
            ("provider", Text),
            ("region", Text),
            ("base_region", Text),
            ("index", Number),
            ("low", Number),
            ("high", Number),
            ("types", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "sagemaker",
        keys: 0,
        columns: &[
            ("pattern", Text),
            ("factor", Number),
            ("evidence", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "commitments",
        keys: 5,
        columns: &[
            ("provider", Text),
            ("machine", Text),
            ("region", Text),
            ("product", Text),
            ("min_days", Number),
            ("max_days", Number),
            ("payment", Text),
            ("usd_per_hour", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
        ],
    },
    TableSchema {
        name: "gcp_components",
        keys: 2,
        columns: &[
            ("component", Text),
            ("region", Text),
            ("unit", Text),
            ("on_demand_usd", Number),
            ("spot_usd", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "gcp_guests",
        keys: 1,
        columns: &[
            ("accelerator", Text),
            ("component", Text),
            ("max_count", Number),
            ("retired_on", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "gcp_tpu",
        keys: 3,
        columns: &[
            ("accelerator", Text),
            ("variant", Text),
            ("region", Text),
            ("on_demand_usd_per_chip_hour", Number),
            ("spot_usd_per_chip_hour", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "gcp_tpu_machines",
        keys: 1,
        columns: &[
            ("machine", Text),
            ("accelerator", Text),
            ("variant", Text),
            ("chips", Number),
            ("vcpus", Number),
            ("memory_gib", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "efa",
        keys: 2,
        columns: &[
            ("provider", Text),
            ("machine", Text),
            ("interfaces", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    // Assumed speeds and durations of a cold start, and the sizes of container images.
    TableSchema {
        name: "startup",
        keys: 1,
        columns: &[
            ("term", Text),
            ("least", Number),
            ("expected", Number),
            ("most", Number),
            ("unit", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
        ],
    },
    TableSchema {
        name: "images",
        keys: 0,
        columns: &[
            ("pattern", Text),
            ("least_gib", Number),
            ("gib", Number),
            ("most_gib", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "licenses",
        keys: 2,
        columns: &[
            ("provider", Text),
            ("software", Text),
            ("usd_per_vcpu_hour", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "providers",
        keys: 1,
        columns: &[
            ("provider", Text),
            ("class", Text),
            ("assumed", Number),
            ("also", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "disks",
        keys: 4,
        columns: &[
            ("provider", Text),
            ("disk_type", Text),
            ("region", Text),
            ("up_to_gib", Number),
            ("usd_per_gib_month", Number),
            ("usd_per_month", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "disk_speed",
        keys: 5,
        columns: &[
            ("provider", Text),
            ("disk_type", Text),
            ("region", Text),
            ("meter", Text),
            ("above", Number),
            ("usd_per_month", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "families",
        keys: 0,
        columns: &[
            ("provider", Text),
            ("pattern", Text),
            ("accelerator", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    TableSchema {
        name: "retired",
        keys: 0,
        columns: &[
            ("provider", Text),
            ("pattern", Text),
            ("retired_on", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    // Prices that look wrong and are correct.
    TableSchema {
        name: "exceptions",
        keys: 0,
        columns: &[
            ("check", Text),
            ("provider", Text),
            ("pattern", Text),
            ("region", Text),
            ("reason", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    // Prices of models at public hosting services.
    TableSchema {
        name: "apis",
        keys: 2,
        columns: &[
            ("model", Text),
            ("host", Text),
            ("input_usd_per_million", Number),
            ("cached_usd_per_million", Number),
            ("output_usd_per_million", Number),
            ("batch_discount", Number),
            ("quantization", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    // The speed of servers: coefficients of the estimate, peak speeds of accelerators, and published measurements.
    TableSchema {
        name: "throughput",
        keys: 2,
        columns: &[
            ("term", Text),
            ("class", Text),
            ("value", Number),
            ("basis", Text),
            ("unit", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
        ],
    },
    TableSchema {
        name: "throughput_peaks",
        keys: 1,
        columns: &[
            ("device", Text),
            ("vendor", Text),
            ("memory_gb", Number),
            ("bandwidth_gb_per_s", Number),
            ("bf16_tflops", Number),
            ("fp8_tflops", Number),
            ("int8_tops", Number),
            ("fp4_tflops", Number),
            ("link_gb_per_s", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
        ],
    },
    TableSchema {
        name: "measured_throughput",
        keys: 0,
        columns: &[
            ("device", Text),
            ("devices", Number),
            ("publisher", Text),
            ("engine", Text),
            ("engine_version", Text),
            ("model", Text),
            ("tensor_parallel", Number),
            ("precision", Text),
            ("input_tokens", Number),
            ("output_tokens", Number),
            ("concurrency", Number),
            ("scenario", Text),
            ("output_tokens_per_s", Number),
            ("measured", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
        ],
    },
    // The range of shares of itself that a price has after a number of days, in nine of ten cases.
    TableSchema {
        name: "price_moves",
        keys: 3,
        columns: &[
            ("seller", Text),
            ("market", Text),
            ("days", Text),
            ("low", Number),
            ("high", Number),
            ("pairs", Number),
            ("from", Text),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
        ],
    },
    // The share of its peak that an accelerator reaches in training.
    TableSchema {
        name: "training_shares",
        keys: 2,
        columns: &[
            ("accelerator", Text),
            ("precision", Text),
            ("least_share", Number),
            ("middle_share", Number),
            ("most_share", Number),
            ("rows", Number),
            ("sources", Number),
            ("least_accelerators", Number),
            ("most_accelerators", Number),
            ("as_of", Text),
            ("source", Text),
            ("confidence", Text),
            ("notes", Text),
        ],
    },
];

impl TableSchema {
    pub(super) fn row_width(&self) -> usize {
        self.begin(self.columns.len())
    }

    /// Returns the position of a column in a row.
    pub(super) fn begin(&self, column: usize) -> usize {
        self.columns.iter().take(column).map(|(_, kind)| width(*kind)).sum()
    }
}

fn width(kind: ColumnKind) -> usize {
    match kind {
        ColumnKind::Text => 4,
        ColumnKind::Number => 8,
    }
}

/// The content of a table, and where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct CsvFile<'t> {
    /// The path of the file, for messages.
    pub path: &'t str,
    /// The name of a table, or of the provider whose prices the file contains.
    pub stem: &'t str,
    pub text: &'t str,
}

/// An error in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    pub path: String,
    /// The line number, counted from 1.
    pub line: usize,
    pub message: String,
}

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl std::error::Error for TableError {}

/// Creates the block. If the stem of a file is not a table, the file contains the prices of that provider, unless it
/// has a column `provider`. Columns can have any order and can be missing (blank). An unknown column is an error.
pub fn encode(files: &[CsvFile<'_>]) -> Result<Vec<u8>, TableError> {
    let mut pool = Pool::new();
    let mut tables: Vec<(&TableSchema, Vec<Row>)> = Vec::new();
    for schema in SCHEMAS {
        let mut rows = Vec::new();
        for file in files {
            let is_table = SCHEMAS.iter().any(|other| other.name == file.stem);
            if file.stem == schema.name || (schema.name == "prices" && !is_table) {
                read_rows(schema, file, &mut rows)?;
            }
        }
        if schema.name == MACHINES {
            rows = tables.first().map(|(_, prices)| machines(prices)).unwrap_or_default();
        }
        sort_rows(schema, &mut rows)?;
        tables.push((schema, rows));
    }
    let mut body = Vec::new();
    for (schema, rows) in &tables {
        body.extend((rows.len() as u32).to_le_bytes());
        for row in rows {
            for ((_, kind), cell) in schema.columns.iter().zip(&row.cells) {
                match kind {
                    ColumnKind::Text => body.extend(pool.intern(cell).to_le_bytes()),
                    // Reading the row already parsed every number.
                    ColumnKind::Number => body.extend(millionths(cell).unwrap_or(BLANK).to_le_bytes()),
                }
            }
        }
    }
    let newest = pool.intern(&newest(&tables));
    let mut block = (pool.bytes.len() as u32).to_le_bytes().to_vec();
    block.extend(pool.bytes);
    block.extend(newest.to_le_bytes());
    block.extend(body);
    Ok(block)
}

/// Returns a number that changes with the tables and columns, because blocks of another schema cannot be read.
pub fn schema_number() -> u64 {
    let names = SCHEMAS.iter().flat_map(|schema| {
        let columns = schema.columns.iter().map(|(name, kind)| (*name, *kind as u8));
        std::iter::once((schema.name, schema.keys as u8)).chain(columns)
    });
    let bytes = names.flat_map(|(name, number)| name.bytes().chain([number]));
    // FNV-1a
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the date of the newest price. It is stored, so that reports need not read all prices.
fn newest(tables: &[(&TableSchema, Vec<Row>)]) -> String {
    let prices = tables.iter().find(|(schema, _)| schema.name == "prices");
    let dates = prices.into_iter().flat_map(|(schema, rows)| {
        let column = schema.columns.iter().position(|(name, _)| *name == "as_of");
        rows.iter().filter_map(move |row| row.cells.get(column?))
    });
    dates.max().cloned().unwrap_or_default()
}

struct Row {
    cells: Vec<String>,
    path: String,
    line: usize,
}

fn read_rows(schema: &TableSchema, file: &CsvFile<'_>, rows: &mut Vec<Row>) -> Result<(), TableError> {
    let error = |line: usize, message: String| TableError { path: file.path.to_owned(), line, message };
    let mut records = csv_records(file.text);
    let header = match records.next() {
        Some((line, Ok(header))) => (line, header),
        Some((line, Err(message))) => return Err(error(line, message)),
        None => return Err(error(1, "the file is empty, and needs a header".into())),
    };
    let mut places = Vec::new();
    for name in &header.1 {
        match schema.columns.iter().position(|(column, _)| column == name) {
            Some(place) => places.push(place),
            None => {
                let known: Vec<_> = schema.columns.iter().map(|(column, _)| *column).collect();
                return Err(error(header.0, format!("column `{name}` is not one of {}", known.join(", "))));
            }
        }
    }
    for (line, record) in records {
        let record = record.map_err(|message| error(line, message))?;
        if record.len() != places.len() {
            return Err(error(
                line,
                format!("the line has {} cells, but the header has {}", record.len(), places.len()),
            ));
        }
        let mut cells = vec![String::new(); schema.columns.len()];
        if schema.name == "prices" && file.stem != "prices" {
            cells[0] = file.stem.to_owned();
        }
        for (place, cell) in places.iter().zip(record) {
            let (column, kind) = schema.columns[*place];
            if kind == ColumnKind::Number && !cell.is_empty() && millionths(&cell).is_none() {
                return Err(error(line, format!("`{cell}` is not a number for `{column}`")));
            }
            cells[*place] = cell;
        }
        rows.push(Row { cells, path: file.path.to_owned(), line });
    }
    Ok(())
}

/// Returns each machine of the sorted prices once.
fn machines(prices: &[Row]) -> Vec<Row> {
    let mut machines: Vec<Row> = Vec::new();
    for row in prices {
        let [provider, machine, _region, accelerator, ..] = row.cells.as_slice() else { continue };
        let cells = vec![provider.clone(), accelerator.clone(), machine.clone()];
        if machines.last().is_none_or(|last| last.cells != cells) {
            machines.push(Row { cells, path: row.path.clone(), line: row.line });
        }
    }
    machines
}

fn sort_rows(schema: &TableSchema, rows: &mut [Row]) -> Result<(), TableError> {
    if schema.keys == 0 {
        return Ok(());
    }
    let key = |row: &Row| -> Vec<(String, i64)> {
        row.cells[..schema.keys]
            .iter()
            .zip(schema.columns)
            .map(|(cell, (_, kind))| match kind {
                ColumnKind::Text => (cell.to_ascii_lowercase(), 0),
                ColumnKind::Number => (String::new(), millionths(cell).unwrap_or(BLANK)),
            })
            .collect()
    };
    rows.sort_by_cached_key(key);
    for pair in rows.windows(2) {
        if let [one, two] = pair
            && key(one) == key(two)
        {
            let named = two.cells[..schema.keys].join(" ");
            let message = format!("`{named}` is already in {}:{}", one.path, one.line);
            return Err(TableError { path: two.path.clone(), line: two.line, message });
        }
    }
    Ok(())
}

struct Pool {
    bytes: Vec<u8>,
    known: std::collections::HashMap<String, u32>,
}

impl Pool {
    /// Creates a pool with the empty string at position 0.
    fn new() -> Self {
        Pool { bytes: vec![0, 0], known: std::collections::HashMap::from([(String::new(), 0)]) }
    }

    fn intern(&mut self, text: &str) -> u32 {
        if let Some(at) = self.known.get(text) {
            return *at;
        }
        let mut end = text.len().min(usize::from(u16::MAX));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend((end as u16).to_le_bytes());
        self.bytes.extend(&text.as_bytes()[..end]);
        self.known.insert(text.to_owned(), at);
        at
    }
}

/// Converts a decimal number to millionths, rounded to the nearest. Returns `None` if the string is not a number.
pub(super) fn millionths(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let mut value: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    for place in 0..6 {
        let digit = fraction.as_bytes().get(place).map_or(0, |byte| byte - b'0');
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    if fraction.as_bytes().get(6).is_some_and(|byte| *byte >= b'5') {
        value = value.checked_add(1)?;
    }
    Some(if negative { -value } else { value })
}
