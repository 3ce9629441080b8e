//! `gpulint rules test`: runs every example of every rule file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::bench::Bench;
use super::proof::{Proof, prove, prove_condition};
use crate::cli::args::{InputArguments, Output, Selection};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::config::setting;
use crate::report::{self, Format};
use crate::rules::PageText;

/// The pause between two checks for changed files.
const PAUSE: Duration = Duration::from_millis(300);

/// A rule file with the results of its examples.
struct Tested {
    path: String,
    name: String,
    untested: bool,
    proofs: Vec<Proof>,
}

/// The options of the test.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestsAsked {
    /// Whether rule files must have examples of every kind.
    pub(super) require: bool,
    /// Whether to show the reasons of each result, and unneeded parts of conditions.
    pub(super) why: bool,
}

pub(super) fn run(
    directories: &[PathBuf],
    asked: TestsAsked,
    watch: bool,
    output: &Output,
) -> Result<ExitStatus, Failure> {
    if !watch {
        return once(directories, asked, output);
    }
    let mut before = None;
    loop {
        let now = state(directories)?;
        if before.as_ref() != Some(&now) {
            before = Some(now);
            // A rule file that does not load is reported, and stays watched.
            if let Err(failure) = once(directories, asked, output) {
                output::complain_of(&failure);
            }
        }
        std::thread::sleep(PAUSE);
    }
}

fn once(directories: &[PathBuf], asked: TestsAsked, output: &Output) -> Result<ExitStatus, Failure> {
    let (session, own_pages) = pages(directories)?;
    let tested: Vec<Tested> = own_pages
        .iter()
        .filter_map(|own| {
            let page = session.settings.rules.pages().iter().find(|page| *page.text == *own.text)?;
            let bench = Bench::new(&session, page, &own_pages);
            let require = asked.require && !page.untested;
            let mut proofs = prove(&bench, require);
            if asked.why && proofs.iter().all(|proof| proof.wrong.is_empty()) {
                proofs.extend(prove_condition(&bench, require));
            }
            let path = session.scope.paths.show(&own.path);
            Some(Tested { path, name: page.name.clone(), untested: page.untested, proofs })
        })
        .collect();
    output::write(output, Format::Text, |format, _style| match format {
        Format::Text => Some(text(&tested, asked.why)),
        Format::Junit => Some(junit(&tested)),
        _ => None,
    })?;
    session.demand_whole_rules(&crate::Analysis::default())?;
    let failed = tested.iter().flat_map(|page| &page.proofs).any(|proof| !proof.wrong.is_empty());
    Ok(if failed { ExitStatus::Failed } else { ExitStatus::Passed })
}

/// Returns the rule files to test: those of the given directories, or else the configured ones.
fn pages(directories: &[PathBuf]) -> Result<(Session, Vec<PageText>), Failure> {
    let input = if directories.is_empty() { InputArguments::here() } else { InputArguments::without_settings() };
    let selection = Selection { rules: directories.to_vec(), ..Selection::default() };
    let session = Session::rules_only(&input, &selection)?;
    let own = session.policy.own_pages.clone();
    if own.is_empty() {
        return Err(Failure::new("no rule files to test").with_help(
            "pass the directory of rule files, set `rules-dir` in gpulint.toml, or write a rule file with `gpulint rules new`",
        ));
    }
    Ok((session, own))
}

/// Returns when each file changed last.
fn state(directories: &[PathBuf]) -> Result<BTreeMap<PathBuf, SystemTime>, Failure> {
    let mut all = BTreeMap::new();
    let mut named: Vec<PathBuf> = directories.to_vec();
    if named.is_empty() {
        let session = Session::settings_only(&InputArguments::here())?;
        named.extend(
            session
                .policy
                .config
                .texts(setting!("rules-dir"))
                .iter()
                .map(|(path, _)| PathBuf::from(session.scope.paths.show(path))),
        );
    }
    for directory in named {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            if let Ok(changed) = entry.metadata().and_then(|metadata| metadata.modified()) {
                all.insert(entry.path(), changed);
            }
        }
    }
    let settings = Path::new(crate::config::FILE_NAME);
    if let Ok(changed) = settings.metadata().and_then(|metadata| metadata.modified()) {
        all.insert(settings.to_owned(), changed);
    }
    Ok(all)
}

fn text(tested: &[Tested], why: bool) -> String {
    let mut text = String::new();
    let (mut passed, mut failed) = (0, 0);
    for page in tested {
        for proof in &page.proofs {
            if proof.wrong.is_empty() {
                // Notes about the condition are not examples.
                passed += usize::from(proof.is_example);
                if why && !proof.why.is_empty() {
                    let _ = writeln!(text, "{}:{} {} ({})", page.path, proof.line, page.name, proof.title);
                    proof.why.iter().for_each(|line| _ = writeln!(text, "  {}", report::one_line(line)));
                }
                continue;
            }
            failed += 1;
            let _ = writeln!(text, "FAILED {}:{} {} ({})", page.path, proof.line, page.name, proof.title);
            for line in &proof.wrong {
                let _ = writeln!(text, "  {}", report::one_line(line));
            }
        }
    }
    for page in tested.iter().filter(|page| page.untested) {
        let _ = writeln!(text, "untested {} {}", page.path, page.name);
    }
    let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let (pages, examples) = (count(tested.len(), "rule file"), count(passed + failed, "example"));
    let _ = writeln!(text, "{pages}, {examples}: {passed} passed, {failed} failed");
    text
}

fn junit(tested: &[Tested]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for page in tested {
        let name = report::xml(&page.path);
        let failures = page.proofs.iter().filter(|proof| !proof.wrong.is_empty()).count();
        let counted = page.proofs.iter().filter(|proof| proof.is_example || !proof.wrong.is_empty());
        let (tests, skipped) = (counted.count(), usize::from(page.untested));
        let tests = tests + skipped;
        let counts = format!("tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\"");
        let _ = writeln!(xml, "  <testsuite name=\"{name}\" {counts}>");
        for proof in page.proofs.iter().filter(|proof| proof.is_example || !proof.wrong.is_empty()) {
            let case = report::xml(&format!("{} line {}: {}", page.name, proof.line, proof.title));
            let place = format!("file=\"{name}\" line=\"{}\"", proof.line);
            let _ = write!(xml, "    <testcase classname=\"{name}\" name=\"{case}\" {place}>");
            if let Some(first) = proof.wrong.first() {
                let (message, body) = (report::xml(first), report::xml(&proof.wrong.join("\n")));
                let _ = write!(xml, "<failure message=\"{message}\">{body}</failure>");
            }
            xml.push_str("</testcase>\n");
        }
        if page.untested {
            let case = report::xml(&page.name);
            let _ = writeln!(xml, "    <testcase classname=\"{name}\" name=\"{case}\"><skipped/></testcase>");
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}
