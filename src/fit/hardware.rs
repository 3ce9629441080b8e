//! The usable memory and the supported precisions of accelerators.

/// The resources of an accelerator for a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcceleratorHardware {
    /// The canonical name.
    pub name: &'static str,
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

/// Returns the device by its canonical name or a common short spelling: `A100-80`, `RTX4090`, `RTX6000ADA`.
pub fn device(name: &str) -> Option<AcceleratorHardware> {
    let row = DEVICES.iter().find(|(known, ..)| squeezed(known).eq(squeezed(name)))?;
    let (name, usable_gib, bf16, fp8) = *row;
    let old = ["K80", "M60", "P4", "P40", "P100", "V100-16GB", "V100-32GB"].contains(&name);
    let fp4 = ["B200", "GB200", "B300", "GB300", "GB10", "RTX-PRO-4500", "RTX-PRO-6000", "RTX-5080", "RTX-5090"]
        .contains(&name);
    Some(AcceleratorHardware { name, usable_gib, bf16, int8: !old, fp8, fp4 })
}

/// Returns the letters and digits of a name, without the unit of its memory.
fn squeezed(name: &str) -> impl Iterator<Item = u8> + '_ {
    let unit = name.len().checked_sub(2).and_then(|at| name.split_at_checked(at));
    let name = unit.filter(|(_, unit)| unit.eq_ignore_ascii_case("gb")).map_or(name, |(name, _)| name);
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())
}

/// The name, usable GiB, bf16 and native fp8 of each device. The usable memory is what drivers report, minus the
/// memory of a CUDA context. Sources: logs of serving engines up to 2026-08, and for smaller and older cards the
/// drivers' totals.
const DEVICES: &[(&str, f64, bool, bool)] = &[
    ("K80", 11.2, false, false),
    ("M60", 7.4, false, false),
    ("P4", 7.4, false, false),
    ("P40", 22.3, false, false),
    ("P100", 15.8, false, false),
    ("T4", 14.6, false, false),
    ("T4G", 14.6, false, false),
    ("L4", 22.0, true, true),
    ("A2", 14.6, true, false),
    ("A10", 22.0, true, false),
    ("A10G", 22.0, true, false),
    ("A16", 14.8, true, false),
    ("A30", 23.6, true, false),
    ("A40", 44.4, true, false),
    ("L20", 44.5, true, true),
    ("L40", 44.4, true, true),
    ("L40S", 44.4, true, true),
    ("V100-16GB", 15.8, false, false),
    ("V100-32GB", 31.7, false, false),
    ("A100-40GB", 39.4, true, false),
    ("A100-80GB", 79.2, true, false),
    ("A100-80GB-PCIe", 79.2, true, false),
    ("A800-80GB", 79.2, true, false),
    ("H100-80GB", 79.1, true, true),
    ("H100-PCIe", 79.1, true, true),
    ("H100-NVL", 93.1, true, true),
    ("H100-96", 95.0, true, true),
    ("H100-MIG40", 39.3, true, true),
    ("H20", 95.1, true, true),
    ("H200", 139.8, true, true),
    ("H200-NVL", 139.8, true, true),
    ("GH200", 94.5, true, true),
    ("GH200-96", 94.5, true, true),
    ("B200", 178.4, true, true),
    ("GB200", 184.0, true, true),
    ("B300", 266.0, true, true),
    ("GB300", 276.0, true, true),
    ("GB10", 119.6, true, true),
    ("Quadro-RTX-4000", 7.7, false, false),
    ("Quadro-RTX-5000", 15.6, false, false),
    ("Quadro-RTX-6000", 23.4, false, false),
    ("Quadro-RTX-8000", 47.2, false, false),
    ("TITANRTX", 23.5, false, false),
    ("RTX-A4000", 15.6, true, false),
    ("RTX-A4500", 19.6, true, false),
    ("RTX-A5000", 23.5, true, false),
    ("RTX-A6000", 47.5, true, false),
    ("A6000", 47.5, true, false),
    ("RTX-4000-Ada", 19.5, true, true),
    ("RTX-5000-Ada", 31.3, true, true),
    ("RTX-6000-Ada", 47.5, true, true),
    ("RTX-PRO-4500", 31.3, true, true),
    ("RTX-PRO-6000", 95.0, true, true),
    ("RTX-3060", 11.7, true, false),
    ("RTX-3070", 7.7, true, false),
    ("RTX-3080", 9.7, true, false),
    ("RTX-3090", 23.6, true, false),
    ("RTX-4070", 11.7, true, true),
    ("RTX-4080", 15.7, true, true),
    ("RTX-4090", 23.6, true, true),
    ("RTX-5080", 15.6, true, true),
    ("RTX-5090", 31.4, true, true),
    ("MI210", 63.9, true, false),
    ("MI250", 63.9, true, false),
    ("MI250X", 63.9, true, false),
    ("MI300X", 191.5, true, true),
    ("MI325X", 255.5, true, true),
    ("MI350X", 287.5, true, true),
    ("MI355X", 287.5, true, true),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_lead_to_one_device() {
        for (name, canonical) in [
            ("A100-80", "A100-80GB"),
            ("RTX4090", "RTX-4090"),
            ("RTX6000ADA", "RTX-6000-Ada"),
            ("V100-16", "V100-16GB"),
        ] {
            assert_eq!(device(name).map(|device| device.name), Some(canonical));
        }
        assert_eq!(device("TPU-v5e"), None);
    }
}
