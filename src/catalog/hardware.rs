//! The usable memory of accelerators, and the number formats that they multiply.

use super::Catalog;
use super::accelerator::squeezed;
use super::table::Cells;

/// The resources of an accelerator for a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcceleratorHardware<'c> {
    /// The canonical name.
    pub name: &'c str,
    /// The GiB that a framework can use with error correction, less than the nominal gigabytes.
    pub usable_gib: f64,
    pub bf16: bool,
    /// Whether there are kernels for 8-bit integers and packed 4-bit formats.
    pub int8: bool,
    /// Whether it multiplies 8-bit floating point natively. Others only store it.
    pub fp8: bool,
    /// Whether it multiplies 4-bit floating point natively.
    pub fp4: bool,
}

impl Catalog {
    /// Returns the hardware by its canonical name, a short spelling such as `A100-80`, or an alias. Returns `None` if
    /// the row of the accelerator has no usable memory.
    pub fn hardware(&self, name: &str) -> Option<AcceleratorHardware<'_>> {
        let table = self.block.table("accelerators");
        let by_spelling = || table.rows().find(|row| spelling({ *row }.text()).eq(spelling(name)));
        let by_alias = || self.row_of_alias(&spelling(name).collect::<String>());
        table.find(&[name]).or_else(by_spelling).or_else(by_alias).and_then(read)
    }
}

fn read(mut row: Cells<'_>) -> Option<AcceleratorHardware<'_>> {
    let name = row.text();
    row.skip_texts(3); // vendor, kind, architecture
    let (_year, _memory, usable_gib) = (row.number(), row.number(), row.number()?);
    for _speeds in 0..4 {
        row.number();
    }
    let formats = row.text();
    let multiplies = |format: &str| formats.split(' ').any(|it| it == format);
    Some(AcceleratorHardware {
        name,
        usable_gib,
        bf16: multiplies("bf16"),
        int8: multiplies("int8"),
        fp8: multiplies("fp8"),
        fp4: multiplies("fp4"),
    })
}

/// Returns the letters and digits of a name, without the unit of its memory.
fn spelling(name: &str) -> impl Iterator<Item = char> {
    let unit = name.len().checked_sub(2).and_then(|at| name.split_at_checked(at));
    squeezed(unit.filter(|(_, unit)| unit.eq_ignore_ascii_case("gb")).map_or(name, |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_lead_to_one_hardware() {
        let catalog = Catalog::embedded();
        for (name, canonical) in [
            ("A100-80", "A100-80GB"),
            ("RTX4090", "RTX-4090"),
            ("RTX6000ADA", "RTX-6000-Ada"),
            ("V100-16", "V100-16GB"),
            ("A6000", "RTX-A6000"),
            ("GH200-96", "GH200"),
            ("TITANRTX", "Titan-RTX"),
            ("A2", "A2"),
        ] {
            assert_eq!(catalog.hardware(name).map(|it| it.name), Some(canonical));
        }
        assert_eq!(catalog.hardware("TPU-v5e"), None);
        assert_eq!(catalog.accelerator("A2"), None);
    }
}
