//! Splits scripts into commands: a command continues on the next line after a backslash. Commands are compared without
//! the options that change no machine.

use std::collections::BTreeSet;

use regex::Regex;

use super::change::{ChangedLine, ChangedText, FileRole, lines};
use super::words::is_naming;
use crate::languages::shell::printed::without_printed;
use crate::source::static_regex;

/// The most lines of one command.
const MOST_LINES: usize = 200;

/// A command with all of its lines.
#[derive(Debug)]
pub(super) struct ShellCommand {
    /// The first line, from 0.
    pub(super) first: usize,
    /// The last line.
    pub(super) last: usize,
    /// The line to report: the first line, or the first changed one.
    pub(super) number: usize,
    pub(super) text: String,
}

impl ShellCommand {
    /// Returns the command as a line at the reported place.
    pub(super) fn as_line(&self) -> ChangedLine<'_> {
        ChangedLine { number: self.number, start: 0, text: &self.text }
    }
}

/// Returns the commands of a script. Each line belongs to one command.
pub(super) fn commands(text: &str) -> Vec<ShellCommand> {
    let mut all: Vec<ShellCommand> = Vec::new();
    let mut continues = false;
    for line in lines(text) {
        let is_comment = line.text.trim_start().starts_with('#');
        let more = line.text.trim_end().strip_suffix('\\').filter(|_| !is_comment);
        let part = more.unwrap_or(line.text);
        match all.last_mut().filter(|it| continues && it.last - it.first < MOST_LINES) {
            Some(command) => {
                command.text.push(' ');
                command.text.push_str(part.trim());
                command.last = line.number;
            }
            None => all.push(ShellCommand {
                first: line.number,
                last: line.number,
                number: line.number,
                text: part.to_owned(),
            }),
        }
        continues = more.is_some();
    }
    all
}

/// The commands that a change adds and removes.
pub(super) struct ChangedCommands {
    pub(super) new: Vec<ShellCommand>,
    pub(super) gone: Vec<ShellCommand>,
    /// All commands of the later state.
    pub(super) all: Vec<ShellCommand>,
}

impl ChangedCommands {
    /// Leaves out commands that only moved, or whose change affects no machine.
    pub(super) fn of(file: &ChangedText) -> ChangedCommands {
        let (was, is) = (executed(file, &file.was), executed(file, &file.is));
        let with_lines = |text: &str, numbers: BTreeSet<usize>| {
            let changed = commands(text).into_iter().filter_map(|command| {
                let number = *numbers.range(command.first..=command.last).next()?;
                Some(ShellCommand { number, ..command })
            });
            changed.collect::<Vec<_>>()
        };
        let gone = with_lines(&was, file.gone_lines().map(|line| line.number).collect());
        let mut new = with_lines(&is, file.new_lines().map(|line| line.number).collect());
        let moved: BTreeSet<String> = gone.iter().map(|it| without_idle_options(&it.text)).collect();
        new.retain(|it| !moved.contains(&without_idle_options(&it.text)));
        ChangedCommands { new, gone, all: commands(&is) }
    }

    /// Returns true if a script runs the same commands in the same order, and only options changed their places.
    pub(super) fn are_equal(file: &ChangedText) -> bool {
        let plain = |text: &str| -> Vec<String> {
            commands(text).iter().map(|it| ordered(it.text.split_whitespace().collect()).join(" ")).collect()
        };
        !file.is.is_empty() && plain(&file.was) == plain(&file.is)
    }

    /// Returns true if every change is in a comment, a message, or an option that affects no machine.
    pub(super) fn affect_nothing(&self) -> bool {
        let is_idle = |it: &ShellCommand| {
            let text = without_idle_options(&it.text);
            // Schedulers read some comments: `#SBATCH`, `#PBS`, `#$`.
            let comment = text
                .strip_prefix('#')
                .filter(|rest| !rest.starts_with(|c: char| c.is_ascii_uppercase() || "$!-".contains(c)));
            text.is_empty() || comment.is_some() || matches!(text.as_str(), "echo" | "printf")
        };
        let kept: BTreeSet<String> = self.all.iter().map(|it| without_idle_options(&it.text)).collect();
        let is_kept = |it: &ShellCommand| kept.contains(&without_idle_options(&it.text));
        self.new.iter().all(is_idle) && self.gone.iter().all(|it| is_idle(it) || is_kept(it))
    }
}

/// Returns a shell script without the strings that it only prints; other files unchanged.
fn executed(file: &ChangedText, text: &str) -> String {
    let is_shell = file.role == FileRole::Script
        && ([".sh", ".bash"].iter().any(|ending| file.path.ends_with(ending)) || text.starts_with("#!"));
    if is_shell { without_printed(text) } else { text.to_owned() }
}

/// Returns a command without options that affect no machine, without variables whose values are names, and without the
/// words by which a shell repeats it until it succeeds.
pub(super) fn without_idle_options(text: &str) -> String {
    let text = IDLE_OPTIONS.replace_all(text, "");
    let text = GIVEN_NAMES.replace_all(&text, |found: &regex::Captures| match found.get(1) {
        Some(name) if is_naming(name.as_str()) => String::new(),
        _ => found.get(0).map(|it| it.as_str().to_owned()).unwrap_or_default(),
    });
    let text = REPEATED.replace_all(&text, "");
    let text = ENDED.replace_all(&text, "");
    ordered(text.split_whitespace().collect()).join(" ")
}

/// Returns the words of a command with adjacent options in alphabetical order, each with its value. A repeated
/// option keeps its place, because the last one counts. Options do not pass arguments, quotes or other commands.
fn ordered(words: Vec<&str>) -> Vec<&str> {
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for word in words {
        match groups.last_mut() {
            Some(group) if !is_option(word) => group.push(word),
            _ => groups.push(vec![word]),
        }
    }
    let parts = groups.chunk_by_mut(|one, other| is_movable(one) && is_movable(other));
    for part in parts {
        let name = |group: &Vec<&str>| Some(group.first()?.split('=').next()?.to_owned());
        let names: BTreeSet<String> = part.iter().filter_map(name).collect();
        if names.len() == part.len() {
            part.sort();
        }
    }
    groups.into_iter().flatten().collect()
}

fn is_option(word: &str) -> bool {
    word.starts_with("--") && word.len() > 2
}

/// Returns true for an option with at most one value, without anything that begins or ends a command or a string.
fn is_movable(group: &[&str]) -> bool {
    let joins = |word: &&str| {
        let is_open = |quote: char| word.matches(quote).count() % 2 == 1;
        word.contains([';', '|', '&', '<', '>', '(', ')', '`']) || is_open('"') || is_open('\'')
    };
    let values = group.get(1..).unwrap_or_default();
    group.first().is_some_and(|word| is_option(word))
        && values.len() <= 1
        && values.iter().all(|word| !word.starts_with('-'))
        && !group.iter().any(joins)
}

/// Returns the lines of here-documents whose opening command satisfies a condition.
pub(super) fn documents(all: &[ShellCommand], is_meant: impl Fn(&str) -> bool) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    let mut open: Option<(&str, bool)> = None;
    for command in all {
        match open {
            Some((end, _)) if command.text.trim() == end => open = None,
            Some((_, is_taken)) => lines.extend((command.first..=command.last).filter(|_| is_taken)),
            None => {
                let found = HERE.captures(&command.text).and_then(|it| it.get(1));
                open = found.map(|it| (it.as_str(), is_meant(&command.text)));
            }
        }
    }
    lines
}

static_regex!(
/// Options of deploy tools that change how they work, and not what they deploy; options that only name something.
static IDLE_OPTIONS: Regex = concat!(
        r"\s--?(?:parallelism|lock-timeout|request-timeout|timeout|field-manager|history-max|labels|tag-specifications|description|user-agent)[= ][^\s\\]+",
        r"|\s--?(?:lock|refresh|validate|input)=(?:true|false)\b",
        r"|\s--?(?:server-side|force-conflicts|no-color|compact-warnings|wait|wait-for-jobs|atomic|debug|quiet|no-cli-pager)(?:=(?:true|false))?\b",
    ));
static_regex!(
/// A variable or chart value with its value.
static GIVEN_NAMES: Regex = r#"\s--?(?:var|set|set-string)[\s=]+["']?([A-Za-z_][\w.-]*)=[\w.:/@-]*["']?"#);
static_regex!(
/// Words before a command that repeat it until it succeeds, or that test its result.
static REPEATED: Regex = r"^\s*(?:(?:until|if|!|time|timeout\s+\d\w*|retry(?:\s+[\d-]\S*)*)\s+)+");
static_regex!(
/// Words behind a command that use its result.
static ENDED: Regex = r"\s*(?:;\s*(?:do|then)|&&\s*(?:break|exit\s+0|return(?:\s+0)?)|\|\|\s*(?:true|break|exit\s+\d+|sleep\s+\d+))(?:\s*;\s*(?:do|then))?\s*;?\s*$");
static_regex!(
/// The start of a here-document.
static HERE: Regex = r#"<<-?\s*["']?([A-Za-z_]\w*)["']?"#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_deploy_nothing_else_do_not_count() {
        for (was, is, is_same) in [
            ("kubectl apply -k a", "kubectl apply --server-side --force-conflicts -k a", true),
            ("terraform plan -parallelism=10 -var n=1", "terraform plan -parallelism=30 -var n=1", true),
            ("helm upgrade a c --timeout 5m -f x.yaml", "helm upgrade a c --timeout 9m --wait -f x.yaml", true),
            ("terraform apply -var image_tag=v1.2", "terraform apply -var 'image_tag=v1.3'", true),
            ("helm upgrade a c --set image.tag=1", "helm upgrade a c --set image.tag=2", true),
            ("terraform apply", "  terraform apply && break", true),
            ("terraform apply", "until terraform apply; do", true),
            ("terraform apply", "if ! terraform apply || exit 1; then", true),
            ("terraform apply -var n=1", "terraform apply -var n=2", false),
            ("terraform apply -var n=1", "terraform apply -var n=1 -var-file=big.tfvars", false),
            ("kubectl apply -k a", "kubectl apply -k b", false),
            ("terraform plan", "terraform plan -target=x", false),
            ("run --max_step 50 --hf_token x", "run --hf_token x --max_step 50", true),
            ("run --min=1 --max 8", "run --max 8 --min=1", true),
            ("run --min 1 --max 8", "run --min 8 --max 1", false),
            ("run --nodes 1 --nodes 64", "run --nodes 64 --nodes 1", false),
            ("run --a 1 --b; run --c 2", "run --b; run --c 2 --a 1", false),
            ("run $((A/2)) --a 1 --b 2", "run $((A/2)) --b 2 --a 1", true),
            ("run --a 1 x --b 2", "run --b 2 x --a 1", false),
            ("run --a \"x --b y\" --c z", "run --a \"x --c z --b y\"", false),
        ] {
            assert_eq!(without_idle_options(was) == without_idle_options(is), is_same, "{was} → {is}");
        }
    }

    #[test]
    fn commands_continue_behind_backslashes() {
        let text = "a \\\n  -b \\\n  c\n# d \\\ne\n";
        let told: Vec<(usize, usize, String)> =
            commands(text).into_iter().map(|it| (it.first, it.last, it.text.trim().to_owned())).collect();
        let expected = [(0, 2, "a  -b c"), (3, 3, "# d \\"), (4, 4, "e")];
        assert_eq!(told, expected.map(|(first, last, text)| (first, last, text.to_owned())));
    }

    #[test]
    fn only_options_change_their_places() {
        for (was, is, is_same) in [
            ("run \\\n --a 1 \\\n --b 2\n", "run \\\n --b 2 \\\n --a 1\n", true),
            ("N=1\nN=64\n", "N=64\nN=1\n", false),
            ("echo 1\n", "echo 64\n", false),
            ("echo 1\n", "", false),
        ] {
            let file = ChangedText::changed_lines("a.sh", was, is);
            assert_eq!(ChangedCommands::are_equal(&file), is_same, "{was} → {is}");
        }
    }

    #[test]
    fn directives_of_schedulers_are_no_comments() {
        for (was, is, is_idle) in [
            ("# a\nx\n", "# b\nx\n", true),
            ("#SBATCH --nodes=1\nx\n", "#SBATCH --nodes=64\nx\n", false),
            ("x --labels a=b\n", "x --labels a=c\n", true),
            ("x\n", "x\nx\n", false),
        ] {
            let file = ChangedText::changed_lines("a.sh", was, is);
            assert_eq!(ChangedCommands::of(&file).affect_nothing(), is_idle, "{was} → {is}");
        }
    }

    #[test]
    fn documents_end_at_their_word() {
        let all = commands("helm upgrade a b -f - <<'E'\nn: 1\nE\ncat <<F\nn: 2\nF\n");
        assert_eq!(documents(&all, |text| text.contains("helm")), BTreeSet::from([1]));
    }
}
