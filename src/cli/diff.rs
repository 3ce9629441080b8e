use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::args::{Diff, Input};
use super::gate::Gate;
use super::git::Base;
use super::session::Session;
use super::{Failure, Outcome, discover, output, place};
use crate::Analysis;
use crate::decide::{self, Decided};
use crate::inventory::ResourceId;
use crate::pricing::{ChangeKind, Delta, Side, delta};
use crate::report::{self, Difference, Format, Head, Verdict};
use crate::rules::World;

pub(super) fn run(arguments: &Diff) -> Result<Outcome, Failure> {
    let mut head = Session::judging(&arguments.input, &arguments.selection)?;
    let mut notes = Vec::new();
    let base = earlier(arguments, &mut head, &mut notes)?;
    let gate = Gate::of(&arguments.threshold, &head.config);
    let (before, mut after) = (base.analyze_all(), head.analyze_all());
    demand_whole(&base)?;
    let change = delta(side(&base, &before), side(&head, &after));
    judge_change(&head, &mut after, &change);
    let (base, head) = (State::of(&base, before, &gate), State::of(&head, after, &gate));
    let delta = delta(base.side(), head.side());
    let compared = decide::compare(base.identities(Some), head.identities(|id| earlier_self(&delta, id)));
    let (new, unchanged, fixed) =
        (head.chosen(&compared.new), head.chosen(&compared.unchanged), base.chosen(&compared.fixed));
    let blocked = new.iter().any(|decided| gate.stops(decided));
    let difference = Difference {
        before: base.session.report(&base.analysis, &base.findings),
        after: head.session.report(&head.analysis, &head.findings),
        delta: &delta,
        new,
        unchanged,
        fixed,
        base: arguments.base.clone(),
        head: arguments.files_url.clone().map(|url| Head { url }),
        notes,
        verdict: Verdict { blocked, setting: gate.setting.clone() },
    };
    output::write(&arguments.output, Format::Text, |format, style| report::difference(format, &difference, style))?;
    head.session.demand_whole_rules(&head.analysis)?;
    if blocked {
        return Ok(Outcome::Failed);
    }
    // A change that removes the last file was checked too.
    if base.session.files.is_empty() { Ok(head.session.outcome(&head.analysis)) } else { Ok(Outcome::Passed) }
}

fn side<'a>(session: &'a Session, analysis: &'a Analysis) -> Side<'a> {
    Side { sources: &session.sources, inventory: &analysis.inventory, bill: &analysis.bill }
}

/// What rules say about the change as a whole, as findings of its later state.
fn judge_change(head: &Session, after: &mut Analysis, delta: &Delta) {
    let world = World {
        inventory: &after.inventory,
        bill: &after.bill,
        fit: &after.fits,
        today: Some(head.today),
        delta: Some(delta),
        catalog: &head.settings.catalog,
        pricing: &head.settings.pricing,
    };
    let judgement = head.settings.rules.judge_change(&world);
    after.findings.extend(judgement.findings);
    after.undetermined.extend(judgement.undetermined);
    after.broken_rules.extend(judgement.failures);
}

/// A base of which parts are missing would make everything in them look new.
fn demand_whole(base: &Session) -> Result<(), Failure> {
    match base.missing() {
        None => Ok(()),
        Some(missing) => Err(Failure::new(format!("this partial clone does not hold `{missing}` of the base"))
            .with_help("fetch the base as a whole: git fetch --refetch --no-filter origin")),
    }
}

/// One state of the tree, read and judged.
struct State<'a> {
    session: &'a Session,
    analysis: Analysis,
    findings: Vec<Decided>,
}

impl<'a> State<'a> {
    fn of(session: &'a Session, analysis: Analysis, gate: &Gate) -> State<'a> {
        let (analysis, decision) = session.decide(analysis);
        let mut findings = decision.findings;
        findings.retain(|decided| gate.shows(decided));
        State { session, analysis, findings }
    }

    fn side(&self) -> Side<'_> {
        side(self.session, &self.analysis)
    }

    /// Those that nobody has accepted.
    fn chosen(&self, places: &[usize]) -> Vec<&Decided> {
        places.iter().filter_map(|at| self.findings.get(*at)).filter(|decided| decided.counts()).collect()
    }

    /// What makes a finding the same in both states: its rule and its resource, or its file where it has none.
    fn identities(&self, resource: impl Fn(ResourceId) -> Option<ResourceId>) -> Vec<(String, String)> {
        let mut unpaired: HashMap<ResourceId, usize> = HashMap::new();
        let identity = |decided: &Decided| {
            let finding = &decided.finding;
            let about = match finding.resource {
                Some(id) => match resource(id) {
                    Some(earlier) => format!("resource {}", earlier.0),
                    None => {
                        let next = unpaired.len();
                        format!("new {}", unpaired.entry(id).or_insert(next))
                    }
                },
                None => match &finding.piece {
                    Some(piece) => format!("{} {}", self.session.sources.path(finding.span.file), piece.address),
                    None => self.session.sources.path(finding.span.file),
                },
            };
            (finding.rule.clone(), about)
        };
        self.findings.iter().map(identity).collect()
    }
}

/// The earlier self of a resource. One that became another machine, or more of them, has none: what is said about it is
/// news.
fn earlier_self(delta: &Delta, id: ResourceId) -> Option<ResourceId> {
    let change = delta.changes.iter().find(|change| change.after == Some(id))?;
    change.before.filter(|_| change.kind != ChangeKind::Changed)
}

/// The state that the change started from.
fn earlier(arguments: &Diff, head: &mut Session, notes: &mut Vec<String>) -> Result<Session, Failure> {
    let path = Path::new(&arguments.base);
    if path.is_dir() || path.is_file() {
        let input = Input { paths: vec![PathBuf::from(path)], ..arguments.input.clone() };
        return Session::judging(&input, &arguments.selection);
    }
    let repository = head.root.clone();
    if place::repository(&repository) != Some(&repository) {
        return Err(Failure::new(format!("`{}` is no directory, and there is no git repository here", arguments.base))
            .with_help("run it in one repository, or compare with a directory: --base DIR"));
    };
    let base = Base::find(&repository, &arguments.base)?;
    notes.extend(base.note.clone());
    let tree = base.tree()?;
    let submodules = tree.submodules();
    let inside = |file: &str| {
        submodules.iter().any(|it| file.strip_prefix(it.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    if head.files.iter().any(|file| inside(file)) {
        notes.push(format!("submodules are not compared: {}", submodules.join(", ")));
        head.leave_out("it belongs to a submodule, which git does not show in the base", inside);
    }
    let present: BTreeSet<&str> = head.files.iter().map(String::as_str).collect();
    let named = |file: &str| head.named.iter().any(|it| it.is_empty() || file == it || is_below(file, it));
    let wanted = |file: &&str| {
        discover::is_candidate(Path::new(file))
            && (head.reads_all() || named(file))
            // What is on the disk and was not found there is ignored by git's own rules.
            && (present.contains(file) || !repository.join(file).exists())
    };
    let files: Vec<String> = tree.files().filter(wanted).map(str::to_owned).collect();
    let missing = tree.missing();
    Ok(head
        .at(tree, files)
        .with_missing(move || missing.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()))
}

fn is_below(file: &str, directory: &str) -> bool {
    file.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}
