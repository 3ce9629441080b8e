//! Reads the sweeps of W&B that agents in the same tree run: their limit of runs, and whether they stop bad runs early.

use crate::inventory::{Fact, FactOrigin, FactValue, Inventory, Key, Resource};
use crate::source::{SourceFiles, Span, lines_with_offsets};

/// The name of the agent's program in `programs.toml`.
const AGENT: &str = "wandb";

/// Sets the limits of the search on each agent. They are unknown unless the tree contains exactly one sweep.
pub(super) fn follow_sweeps(inventory: &mut Inventory, sources: &SourceFiles, paths: &[String]) {
    let is_agent = |it: &&mut Resource| it.text(Key::Program) == Some(AGENT);
    let mut agents: Vec<&mut Resource> = inventory.resources.iter_mut().filter(is_agent).collect();
    if agents.is_empty() {
        return;
    }
    let names_sweep = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        name.contains("sweep") && [".yaml", ".yml"].iter().any(|ending| name.ends_with(ending))
    };
    let sweeps: Vec<Sweep> = paths.iter().filter(names_sweep).filter_map(|path| Sweep::read(path, sources)).collect();
    for agent in &mut agents {
        match sweeps.as_slice() {
            [sweep] => sweep.apply(agent),
            _ => {
                let why = "the files do not show which sweep of W&B it runs";
                let span = agent.fact(Key::Program).span().unwrap_or(agent.span);
                for key in [Key::Trials, Key::EarlyStopping] {
                    if agent.fact(key).is_absent() {
                        agent.set(key, Fact::unknown(why, span));
                    }
                }
            }
        }
    }
}

/// The settings of a sweep that decide when it ends.
struct Sweep {
    span: Span,
    tries_all: bool,
    run_cap: Option<(i64, Span)>,
    stops_early: bool,
}

impl Sweep {
    /// Reads a sweep's configuration; `None` if the file is something else.
    fn read(path: &str, sources: &SourceFiles) -> Option<Sweep> {
        let file = sources.open(path).ok()?;
        let text = sources.text(file);
        let (mut method, mut has_parameters, mut run_cap, mut stops_early) = (None, false, None, false);
        for (at, line) in lines_with_offsets(&text) {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.split('#').next().unwrap_or_default().trim();
            let span = Span::new(file, at, at + line.trim_end().len());
            match key {
                "method" => method = Some((value.trim_matches(['"', '\'']).to_owned(), span)),
                "parameters" => has_parameters = true,
                "run_cap" => run_cap = value.parse().ok().map(|cap| (cap, span)),
                "early_terminate" => stops_early = true,
                _ => {}
            }
        }
        let (method, span) = method.filter(|_| has_parameters)?;
        Some(Sweep { span, tries_all: method == "grid", run_cap, stops_early })
    }

    fn apply(&self, agent: &mut Resource) {
        if let Some((cap, span)) = self.run_cap.filter(|_| agent.fact(Key::Trials).is_absent()) {
            agent.set(Key::Trials, Fact::known(FactValue::Integer(cap), span, FactOrigin::Resolved));
        }
        // A grid ends after its last combination.
        if self.tries_all && agent.fact(Key::Trials).is_absent() {
            agent.set(Key::Trials, Fact::unknown("a grid ends after its last combination", self.span));
        }
        agent.set(Key::EarlyStopping, Fact::known(FactValue::Flag(self.stops_early), self.span, FactOrigin::Resolved));
    }
}
