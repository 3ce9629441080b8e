//! Measures price lookups: `cargo bench --bench prices`.
//!
//! Opens the embedded tables, then looks up every machine in every region that lists it, by name and in another case,
//! and in an unknown region. A machine by its name and its price in a region are two lookups.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its measurements")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use gpulint::catalog::Catalog;

/// The fastest of several rounds counts, because other work on the machine only adds time.
const ROUNDS: usize = 15;

fn main() {
    let opened = fastest(|| {
        for _ in 0..1000 {
            black_box(Catalog::embedded());
        }
    }) / 1000;
    println!("open the tables         {:>8} ns", opened.as_nanos());
    let catalog = Catalog::embedded();
    let rows: Vec<(String, String, String)> = catalog
        .offers()
        .map(|it| (it.machine.provider.to_string(), it.machine.name.to_string(), it.region.to_owned()))
        .collect();
    println!("rows                    {:>8}", rows.len());
    let upper: Vec<_> = rows.iter().map(|(p, name, region)| (p.clone(), name.to_uppercase(), region.clone())).collect();
    let nowhere: Vec<_> =
        rows.iter().map(|(provider, name, _)| (provider.clone(), name.clone(), "atlantis-1".to_owned())).collect();
    for (what, keys) in [("listed", &rows), ("listed, upper case", &upper), ("estimated", &nowhere)] {
        let machines: Vec<_> =
            keys.iter().map(|(provider, name, _)| catalog.machine(provider, name).unwrap()).collect();
        let found = fastest(|| {
            for (provider, name, _) in keys {
                black_box(catalog.machine(provider, name));
            }
        });
        let priced = fastest(|| {
            for (machine, (_, _, region)) in machines.iter().zip(keys) {
                black_box(catalog.quote(machine, region));
            }
        });
        let each = |all: Duration| all.as_nanos() / keys.len() as u128;
        println!("{what:<23} {:>8} ns a machine by its name, {:>5} ns its price", each(found), each(priced));
    }
}

fn fastest(mut run: impl FnMut()) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        run();
        started.elapsed()
    });
    times.min().unwrap_or_default()
}
