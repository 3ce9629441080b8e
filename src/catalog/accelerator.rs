//! The properties of an accelerator: its memory, vendor, speed and names.

use super::Catalog;
use super::table::Cells;

/// The properties of one kind of accelerator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accelerator<'c> {
    /// The canonical name, such as `A100-80GB`.
    pub name: &'c str,
    /// The vendor: nvidia, amd, aws, google, intel or qualcomm.
    pub vendor: &'c str,
    /// The kind: gpu, asic, tpu, or inference for accelerators that cannot train models.
    pub kind: &'c str,
    pub architecture: &'c str,
    pub year: u16,
    /// The memory of one whole device.
    pub memory_gib: f64,
    pub bandwidth_gb_per_second: Option<f64>,
    pub bf16_tflops: Option<f64>,
    pub fp8_tflops: Option<f64>,
    pub watts: Option<f64>,
    /// The bandwidth to neighboring devices, or 0 if only the bus connects them.
    pub interconnect_gb_per_second: Option<f64>,
    /// The maximum number of MIG instances, or 0 if the device cannot be partitioned.
    pub mig_instances: u32,
    /// The processor architecture of its machines, if it is not x86-64.
    pub processor: &'c str,
    /// The position, cheapest first, among the accelerators that a pod without a named accelerator may mean.
    pub assumed: Option<f64>,
}

/// A slice of an accelerator that is sold or scheduled separately.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcceleratorSlice<'c> {
    pub accelerator: &'c str,
    /// The name of the profile, such as `1g.10gb`.
    pub profile: &'c str,
    pub memory_gib: f64,
    /// The maximum number of instances of this profile on one device: one of them is 1/n of the device.
    pub max_instances: u32,
}

impl Catalog {
    /// Returns an accelerator by its canonical name, or by any name that clouds, labels and drivers use.
    pub fn accelerator(&self, name: &str) -> Option<Accelerator<'_>> {
        if let Some(found) = self.block.table("accelerators").find(&[name]).and_then(read_listed) {
            return Some(found);
        }
        let mut key = squeeze(name);
        for _ in 0..3 {
            if let Some(found) = self.squeezed(&key) {
                return Some(found);
            }
            match simpler(&key) {
                Some(rest) => key = rest.to_owned(),
                None => break,
            }
        }
        self.by_words(name)
    }

    fn squeezed(&self, key: &str) -> Option<Accelerator<'_>> {
        if let Some(row) = self.row_of_alias(key) {
            return read_listed(row);
        }
        // Most names are found above. A name with another first letter needs no further comparison.
        let first = *key.as_bytes().first()?;
        let rows = self.block.table("accelerators").rows();
        let rows = rows.filter(|row| { *row }.begins_with(first) && squeezed({ *row }.text()).eq(key.chars()));
        { rows }.find_map(read_listed)
    }

    /// Returns the row of the accelerator with this alias, as [`squeezed`] writes it.
    pub(super) fn row_of_alias(&self, alias: &str) -> Option<Cells<'_>> {
        let mut row = self.block.table("aliases").find(&[alias])?;
        row.text();
        self.block.table("accelerators").find(&[row.text()])
    }

    /// Finds names such as `NVIDIA-H100-SXM4-80GB` or `l4-24gb`. The form of the board is ignored.
    fn by_words(&self, name: &str) -> Option<Accelerator<'_>> {
        let lower = name.to_ascii_lowercase();
        let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty() && !is_generic_word(word)).collect();
        if matches!(words.as_slice(), [only] if is_version(only)) && !lower.contains("tpu") {
            return None;
        }
        if let Some(found) = self.squeezed(&words.concat()) {
            return Some(found);
        }
        let (memory, rest): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|word| gibibytes(word).is_some());
        let memory = memory.first().and_then(|word| gibibytes(word))?;
        self.squeezed(&rest.concat()).filter(|found| found.memory_gib == memory)
    }

    pub fn accelerators(&self) -> impl Iterator<Item = Accelerator<'_>> {
        self.block.table("accelerators").rows().filter_map(read_listed)
    }

    /// Returns all spellings of accelerators in lower-case letters and digits, each with the canonical name.
    pub fn accelerator_spellings(&self) -> Vec<(String, &str)> {
        let aliases = self.block.table("aliases").rows().filter_map(|mut row| {
            let alias = row.text();
            Some((alias.to_owned(), self.row_of_alias(alias).and_then(read_listed)?.name))
        });
        let own = self.accelerators().map(|it| (squeeze(it.name), it.name));
        let mut all: Vec<(String, &str)> = aliases.chain(own).collect();
        all.sort();
        all.dedup_by(|a, b| a.0 == b.0);
        all
    }

    /// Returns a slice of an accelerator. `profile` can be `mig-1g.10gb`, `1g.10gb` or `1g.10gb+me`.
    pub fn mig(&self, accelerator: &str, profile: &str) -> Option<AcceleratorSlice<'_>> {
        let profile = profile_of(profile);
        self.block.table("mig").find(&[accelerator, &profile]).map(read_slice)
    }

    /// Returns the slices into which an accelerator can be partitioned.
    pub fn slices_of<'c>(&'c self, accelerator: &str) -> impl Iterator<Item = AcceleratorSlice<'c>> + use<'c> {
        let accelerator = accelerator.to_owned();
        self.block.table("mig").rows().map(read_slice).filter(move |slice| slice.accelerator == accelerator)
    }

    /// Returns the slices of this profile on all accelerators.
    pub fn slices(&self, profile: &str) -> Vec<AcceleratorSlice<'_>> {
        let profile = profile_of(profile);
        self.block.table("mig").rows().map(read_slice).filter(|slice| slice.profile == profile).collect()
    }
}

/// The kind of a row that only `Catalog::hardware` reads, because its name can mean other things in files.
const UNLISTED: &str = "unlisted";

/// Returns the accelerator of a row, unless only estimates of memory use the row.
fn read_listed(row: Cells<'_>) -> Option<Accelerator<'_>> {
    Some(read(row)).filter(|it| it.kind != UNLISTED)
}

fn read(mut row: Cells<'_>) -> Accelerator<'_> {
    let (name, vendor, kind, architecture) = (row.text(), row.text(), row.text(), row.text());
    let (year, memory, _usable, bandwidth) = (row.number(), row.number(), row.number(), row.number());
    let (_fp32, bf16, fp8, _formats, watts) = (row.number(), row.number(), row.number(), row.text(), row.number());
    row.skip_texts(1);
    let (interconnect, mig, processor, assumed) = (row.number(), row.number(), row.text(), row.number());
    Accelerator {
        name,
        vendor,
        kind,
        architecture,
        year: year.unwrap_or_default() as u16,
        memory_gib: memory.unwrap_or_default(),
        bandwidth_gb_per_second: bandwidth,
        bf16_tflops: bf16,
        fp8_tflops: fp8,
        watts,
        interconnect_gb_per_second: interconnect,
        mig_instances: mig.unwrap_or_default() as u32,
        processor,
        assumed,
    }
}

fn read_slice(mut row: Cells<'_>) -> AcceleratorSlice<'_> {
    let (accelerator, profile) = (row.text(), row.text());
    row.number();
    row.number();
    let (memory, most) = (row.number(), row.number());
    AcceleratorSlice {
        accelerator,
        profile,
        memory_gib: memory.unwrap_or_default(),
        max_instances: most.map_or(1, |most| most.max(1.0) as u32),
    }
}

fn squeeze(name: &str) -> String {
    squeezed(name).collect()
}

/// Returns the letters and digits of a name in lower case, for comparisons.
pub(super) fn squeezed(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase())
}

/// Returns the name without a vendor's prefix or a driver's suffix.
fn simpler(key: &str) -> Option<&str> {
    for suffix in DRIVER_SUFFIXES {
        if let Some(rest) = key.strip_suffix(suffix) {
            return Some(rest);
        }
    }
    // This matches names such as `NVIDIA-A100-SXM4-40GB-MIG-1g.5gb`.
    if let Some((before, _)) = key.split_once("mig").filter(|(before, _)| !before.is_empty()) {
        return Some(before);
    }
    BRANDS.iter().find_map(|brand| key.strip_prefix(brand))
}

/// Suffixes that a driver adds to the name of an accelerator.
pub const DRIVER_SUFFIXES: [&str; 2] = ["shared", "vws"];

/// Brands in front of the name of an accelerator.
pub const BRANDS: [&str; 7] = ["nvidia", "tesla", "geforce", "amd", "instinct", "intel", "google"];

/// Words for the form of a board.
pub const BOARDS: [&str; 13] =
    ["sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "oam", "dgxs", "hgx", "hbm2", "hbm2e", "hbm3", "hbm3e"];

/// Whether a word is a version such as `v3` or `v5e`. It means a TPU only if the rest of the name says so:
/// `gpu-standard-v3` is a third version.
pub(super) fn is_version(word: &str) -> bool {
    let rest = word.strip_prefix(['v', 'V']).unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_digit()) && rest.len() <= 2
}

/// Whether a word is a brand or the form of a board, which does not identify the chip.
fn is_generic_word(word: &str) -> bool {
    word == "gpu" || BRANDS.contains(&word) || BOARDS.contains(&word)
}

fn gibibytes(word: &str) -> Option<f64> {
    word.strip_suffix("gb").or_else(|| word.strip_suffix('g'))?.parse::<u16>().ok().map(f64::from)
}

fn profile_of(written: &str) -> String {
    let lower = written.to_ascii_lowercase();
    let profile = lower.strip_prefix("mig-").unwrap_or(&lower);
    let profile = profile.split_once('+').map_or(profile, |(before, _)| before);
    profile.strip_suffix(".me").unwrap_or(profile).to_owned()
}
