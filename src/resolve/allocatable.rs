//! Computes the part of a machine's memory and CPUs that pods can use. The system and the kubelet reserve the rest.

/// Each part of a machine's memory (GiB), with the share that is reserved. GKE's table is the most cautious of the
/// large providers, read in November 2026. <https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes>
const MEMORY: [(f64, f64); 5] = [(4.0, 0.25), (4.0, 0.20), (8.0, 0.10), (112.0, 0.06), (f64::INFINITY, 0.02)];

/// Each part of a machine's CPU cores, with the share that is reserved, from the same source.
const CPUS: [(f64, f64); 4] = [(1.0, 0.06), (1.0, 0.01), (2.0, 0.005), (f64::INFINITY, 0.0025)];

/// Pods are evicted before the last 100 MiB are used.
const EVICTION_GIB: f64 = 100.0 / 1024.0;

/// Returns the GiB of memory that all pods of a machine may request together.
pub fn allocatable_gib(machine_gib: f64) -> f64 {
    (machine_gib - kept(machine_gib, &MEMORY) - EVICTION_GIB).max(0.0)
}

/// Returns the CPUs that all pods of a machine may request together.
pub fn allocatable_cpus(machine_cpus: f64) -> f64 {
    machine_cpus - kept(machine_cpus, &CPUS)
}

fn kept(of: f64, parts: &[(f64, f64)]) -> f64 {
    let mut rest = of;
    let mut kept = 0.0;
    for (size, share) in parts {
        let here = rest.min(*size).max(0.0);
        kept += here * share;
        rest -= here;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values were computed by hand from the table.
    #[test]
    fn a_part_is_kept_for_the_system() {
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 0.01, "{got} is not {expected}");
        near(allocatable_gib(7.5), 7.5 - 1.7 - EVICTION_GIB);
        near(allocatable_gib(30.0), 30.0 - 3.44 - EVICTION_GIB);
        near(allocatable_gib(0.0), 0.0);
        near(allocatable_cpus(2.0), 1.93);
        near(allocatable_cpus(16.0), 15.89);
    }
}
