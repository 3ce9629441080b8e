//! Finds how a startup script ends its machine: a shutdown after the work, an exit trap, a request to the cloud.
//!
//! The script is read in the order in which it runs, with its functions, with the files that it writes and starts, and
//! with shells. Containers are not followed: a shutdown in a container does not stop its machine.

use std::collections::BTreeMap;

use crate::languages::shell::{self, HOLE, RunsWhen, Step};
use crate::source::Span;

use super::super::fact::{Fact, FactOrigin};
use super::super::key::{FactValue, Key};
use super::super::started_script::StoppableMachine;
use super::words::{PREFIXES, base_name, is_command_flag, is_shell};

/// The limit on steps and on nested scripts. Real scripts have less.
const MOST_STEPS: usize = 5_000;
const DEEPEST: usize = 6;
/// The limit on the characters of a command in a message.
const LONGEST_TEXT: usize = 60;

/// How a script ends its machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineEnd {
    /// The machine stops after its work, by this command.
    AfterWork(String),
    /// This command stops the machine at a time, or when a watcher decides it.
    ByTime(String),
    /// Unknown, for this reason.
    Unknown(String),
}

impl MachineEnd {
    /// Returns the fact about the end; `script` names the script that decides it.
    pub fn fact(self, script: &str, span: Span) -> (Key, Fact<FactValue>) {
        let inferred = |value, why: String| Fact::known(value, span, FactOrigin::Inferred(why.into()));
        match self {
            MachineEnd::AfterWork(command) => {
                let why = format!("{script} ends with `{command}`");
                (Key::EndsByItself, inferred(FactValue::Flag(true), why))
            }
            MachineEnd::ByTime(command) => {
                (Key::Schedule, inferred(FactValue::text(command), format!("set in {script}")))
            }
            MachineEnd::Unknown(why) => (Key::EndsByItself, Fact::unknown(format!("{script}: {why}"), span)),
        }
    }
}

/// Returns how a startup script ends its machine, and the paths of scripts that it starts and does not contain.
/// `files` are the files that the script has, by their names.
pub fn machine_end(
    script: &str,
    files: BTreeMap<String, String>,
    machine: &StoppableMachine,
) -> (Option<MachineEnd>, Vec<String>) {
    let mut walk = Walk { machine, files, functions: BTreeMap::new(), ends: Vec::new(), started: Vec::new(), steps: 0 };
    walk.script(script, Place { when: RunsWhen::Always, repeats: false, depth: 0 });
    let rank = |end: &&MachineEnd| match end {
        MachineEnd::AfterWork(_) => 0,
        MachineEnd::ByTime(_) => 1,
        MachineEnd::Unknown(_) => 2,
    };
    (walk.ends.iter().min_by_key(rank).cloned(), walk.started)
}

/// The conditions under which a part of a script runs.
#[derive(Clone, Copy)]
struct Place {
    when: RunsWhen,
    repeats: bool,
    depth: usize,
}

/// The effect of a command on its machine.
#[derive(Debug, PartialEq)]
enum Effect {
    ShutsDown,
    /// Shuts down after minutes, or at a time of day.
    ShutsDownLater,
    /// May leave the machine running.
    Halts,
    Cancels,
    /// Requests the end of the machine from the cloud or its group.
    IsRequested,
}

struct Walk<'m> {
    machine: &'m StoppableMachine,
    files: BTreeMap<String, String>,
    functions: BTreeMap<String, Vec<Step>>,
    ends: Vec<MachineEnd>,
    started: Vec<String>,
    steps: usize,
}

impl Walk<'_> {
    fn script(&mut self, text: &str, place: Place) {
        if place.depth > DEEPEST {
            return;
        }
        let mut main = Vec::new();
        for step in shell::steps(text) {
            if let Some(document) = &step.document {
                let tee = step.words.iter().skip_while(|word| base_name(word) != "tee").skip(1);
                let targets = step.targets.iter().chain(tee.filter(|word| !word.starts_with('-')));
                self.files.extend(targets.map(|target| (base_name(target).to_owned(), document.clone())));
            }
            match &step.function {
                Some(name) => self.functions.entry(name.clone()).or_default().push(step),
                None => main.push(step),
            }
        }
        self.steps(&main, place);
    }

    fn steps(&mut self, steps: &[Step], place: Place) {
        for (at, step) in steps.iter().enumerate() {
            self.steps += 1;
            if self.steps > MOST_STEPS || place.depth > DEEPEST {
                return;
            }
            let when = place.when.max(step.when);
            let inside = Place { when, repeats: place.repeats || step.repeats, depth: place.depth + 1 };
            // A shutdown without work before it is a deadline.
            let is_last = at > 0 && at + 1 == steps.len();
            if when != RunsWhen::OnFailure && self.step(&step.words, inside, is_last) && when == RunsWhen::Always {
                return;
            }
        }
    }

    /// Follows one command. Returns true if no later command runs.
    fn step(&mut self, words: &[String], place: Place, is_last: bool) -> bool {
        let replaces = words.first().is_some_and(|word| word == "exec") && words.len() > 1;
        let words = without_prefixes(words);
        let Some(first) = words.first() else { return false };
        let arguments = words.get(1..).unwrap_or_default();
        match base_name(first) {
            "exit" => return true,
            "trap" => self.trap(arguments, place),
            "systemctl" => self.unit(arguments, place),
            "tmux" | "screen" | "su" | "runuser" => {
                let script = arguments.iter().find(|word| word.contains(' ')).cloned();
                script.iter().for_each(|script| self.script(script, place));
            }
            "source" | "." => self.file(arguments, place),
            name if is_shell(name) => match arguments.iter().position(|word| is_command_flag(word)) {
                Some(at) => arguments.get(at + 1).into_iter().for_each(|script| self.script(script, place)),
                None => self.file(arguments, place),
            },
            name => match self.functions.get(name).cloned() {
                Some(function) => self.steps(&function, place),
                None if first.contains('/') => self.file(words, place),
                None => {}
            },
        }
        if let Some(effect) = effect(words, self.machine) {
            self.record(&effect, words, place, is_last);
        }
        replaces
    }

    /// Follows `trap COMMAND EXIT`.
    fn trap(&mut self, arguments: &[String], place: Place) {
        if let Some((command, signals)) = arguments.split_first()
            && signals.iter().any(|signal| matches!(signal.as_str(), "EXIT" | "0"))
        {
            self.script(command, place);
        }
    }

    /// Follows a script file: one that the startup script contains, or one that it gets from elsewhere.
    fn file(&mut self, words: &[String], place: Place) {
        let Some(path) = words.iter().find(|word| !word.starts_with(['-', '+'])) else { return };
        match self.files.get(base_name(path)).cloned() {
            Some(text) => self.script(&text, place),
            None if path.ends_with(".sh") && place.when == RunsWhen::Always => self.started.push(path.clone()),
            None => {}
        }
    }

    /// Follows the commands of a systemd unit that the script writes and starts.
    fn unit(&mut self, arguments: &[String], place: Place) {
        const STARTS: [&str; 4] = ["start", "enable", "restart", "reenable"];
        let mut names = arguments.iter().filter(|word| !word.starts_with('-'));
        if !names.next().is_some_and(|verb| STARTS.contains(&verb.as_str())) {
            return;
        }
        for name in names {
            let (stem, is_timer) = match name.strip_suffix(".timer") {
                Some(stem) => (stem, true),
                None => (name.strip_suffix(".service").unwrap_or(name), false),
            };
            let Some(unit) = self.files.get(&format!("{stem}.service")).cloned() else { continue };
            let place = if is_timer { Place { when: RunsWhen::Perhaps, repeats: true, ..place } } else { place };
            for line in unit.lines().map(str::trim) {
                let Some((key, command)) = line.split_once('=') else { continue };
                let command = command.trim_start_matches(['-', '+', '!', '@', ':']);
                match (key, command) {
                    ("SuccessAction" | "OnSuccess", "poweroff" | "poweroff.target" | "poweroff-force") => {
                        self.script("poweroff", place);
                    }
                    ("ExecStart" | "ExecStartPost" | "ExecStop" | "ExecStopPost", _) => self.script(command, place),
                    _ => {}
                }
            }
        }
    }

    fn record(&mut self, effect: &Effect, words: &[String], place: Place, is_last: bool) {
        let text: String = words.join(" ").replace(HOLE, "…").chars().take(LONGEST_TEXT).collect();
        let is_of_system = *effect != Effect::IsRequested;
        if is_of_system && (self.machine.is_replaced || self.machine.shutdown_ends_cost == Some(false)) {
            return;
        }
        let end = match (effect, place.when) {
            (Effect::Cancels, _) => {
                return self.ends.retain(|end| !matches!(end, MachineEnd::ByTime(_)));
            }
            _ if is_of_system && self.machine.shutdown_ends_cost.is_none() => MachineEnd::Unknown(format!(
                "`{text}` shuts its system down, and it is unknown whether this ends its cost"
            )),
            (Effect::Halts, _) => {
                MachineEnd::Unknown(format!("`{text}` may leave the machine running: `poweroff` stops it"))
            }
            (Effect::ShutsDownLater, RunsWhen::Always) if !is_last => MachineEnd::ByTime(text),
            (_, RunsWhen::Always) => MachineEnd::AfterWork(text),
            (_, RunsWhen::Perhaps) if place.repeats => MachineEnd::ByTime(text),
            (_, _) => MachineEnd::Unknown(format!("a test decides whether `{text}` runs")),
        };
        self.ends.push(end);
    }
}

/// Removes `sudo -u user`, `timeout 8h`, assignments and similar words before a command.
fn without_prefixes(words: &[String]) -> &[String] {
    const WITH_VALUE: [&str; 6] = ["-u", "-g", "--user", "--group", "-k", "-s"];
    let (mut at, mut is_prefixed) = (0, false);
    while let Some(word) = words.get(at) {
        let name = base_name(word);
        at += match name {
            "timeout" => {
                let options = words.get(at + 1..).unwrap_or_default();
                2 + options.iter().take_while(|word| word.starts_with('-')).count()
            }
            _ if PREFIXES.contains(&name) => 1,
            _ if is_prefixed && WITH_VALUE.contains(&word.as_str()) => 2,
            _ if is_prefixed && word.starts_with('-') => 1,
            _ if shell::assignment(word).is_some() => 1,
            _ => break,
        };
        is_prefixed = true;
    }
    words.get(at..).unwrap_or_default()
}

fn effect(words: &[String], machine: &StoppableMachine) -> Option<Effect> {
    let (first, arguments) = words.split_first()?;
    let has = |texts: &[&str]| arguments.iter().any(|word| texts.contains(&word.as_str()));
    match base_name(first) {
        "shutdown" if has(&["-c"]) => Some(Effect::Cancels),
        "shutdown" if has(&["-r", "--reboot", "-k", "--help"]) => None,
        "shutdown" => {
            let is_later = |word: &String| {
                let minutes = word.strip_prefix('+').unwrap_or(word);
                word.contains(':')
                    || minutes.parse::<u32>().map_or(minutes.contains(['$', HOLE]), |minutes| minutes > 0)
            };
            let is_later = arguments.iter().any(is_later);
            Some(if is_later { Effect::ShutsDownLater } else { Effect::ShutsDown })
        }
        "poweroff" if !has(&["--help", "--reboot", "-w", "--wtmp-only"]) => Some(Effect::ShutsDown),
        "halt" if has(&["-p", "--poweroff"]) => Some(Effect::ShutsDown),
        "halt" if !has(&["--help", "--reboot", "-w", "--wtmp-only"]) => Some(Effect::Halts),
        "init" | "telinit" if has(&["0"]) => Some(Effect::ShutsDown),
        "systemctl" if has(&["poweroff", "poweroff.target"]) => Some(Effect::ShutsDown),
        "systemctl" if has(&["halt", "halt.target"]) => Some(Effect::Halts),
        _ => requests_end(words, machine).then_some(Effect::IsRequested),
    }
}

/// Commands of clouds that stop or delete a machine, each up to the machine.
const ENDS_MACHINE: [&[&str]; 15] = [
    &["aws", "ec2", "terminate-instances"],
    &["aws", "ec2", "stop-instances"],
    &["az", "vm", "deallocate"],
    &["az", "vm", "delete"],
    &["doctl", "compute", "droplet", "delete"],
    &["gcloud", "compute", "instances", "delete"],
    &["gcloud", "compute", "instances", "stop"],
    &["gcloud", "compute", "instances", "suspend"],
    &["hcloud", "server", "delete"],
    &["linode-cli", "linodes", "delete"],
    &["oci", "compute", "instance", "terminate"],
    &["runpodctl", "remove", "pod"],
    &["runpodctl", "stop", "pod"],
    &["vastai", "destroy", "instance"],
    &["vastai", "stop", "instance"],
];
/// Commands that remove a machine from its group, or end the group, each with an argument that must follow.
const ENDS_IN_GROUP: [(&[&str], &str); 6] = [
    (&["aws", "autoscaling", "terminate-instance-in-auto-scaling-group"], "--should-decrement-desired-capacity"),
    (&["aws", "autoscaling", "set-desired-capacity"], "--desired-capacity 0"),
    (&["aws", "autoscaling", "update-auto-scaling-group"], "--desired-capacity 0"),
    (&["aws", "autoscaling", "delete-auto-scaling-group"], ""),
    (&["gcloud", "compute", "instance-groups", "managed", "delete-instances"], ""),
    (&["gcloud", "compute", "instance-groups", "managed", "resize"], "--size 0"),
];

/// Returns true if a command asks the cloud to end this machine.
fn requests_end(words: &[String], machine: &StoppableMachine) -> bool {
    // Options of the program may come before the verb: `aws --region eu-west-1 ec2 stop-instances`.
    let rest_of = |verb: &[&str]| {
        let (program, verbs) = verb.split_first()?;
        words.first().filter(|word| base_name(word) == *program)?;
        let at =
            words.windows(verbs.len()).position(|window| window.iter().zip(verbs).all(|(word, verb)| word == verb))?;
        words.get(at + verbs.len()..)
    };
    if machine.is_replaced {
        return ENDS_IN_GROUP.iter().any(|(verb, option)| {
            rest_of(verb).is_some_and(|rest| option.is_empty() || rest.join(" ").replace('=', " ").contains(option))
        });
    }
    ENDS_MACHINE.iter().any(|verb| rest_of(verb).is_some_and(|rest| names_machine(rest, machine)))
}

/// Returns true if the arguments name this machine: by a variable, by the output of a command, or by its own name.
fn names_machine(arguments: &[String], machine: &StoppableMachine) -> bool {
    const OF_OTHERS: [&str; 10] = [
        "--zone",
        "--region",
        "--project",
        "--profile",
        "--resource-group",
        "-g",
        "--output",
        "--query",
        "--subscription",
        "--compartment-id",
    ];
    let mut is_other = false;
    arguments.iter().any(|word| {
        let value_of_other = std::mem::replace(&mut is_other, OF_OTHERS.contains(&word.as_str()));
        let (option, value) = word.split_once('=').unwrap_or(("", word));
        !value_of_other
            && !OF_OTHERS.contains(&option)
            && (value.contains(['$', HOLE]) || machine.names.iter().any(|name| name == value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(script: &str, machine: &StoppableMachine) -> Option<MachineEnd> {
        machine_end(script, BTreeMap::new(), machine).0
    }

    fn single() -> StoppableMachine {
        StoppableMachine { shutdown_ends_cost: Some(true), is_replaced: false, names: vec!["trainer".into()] }
    }

    #[test]
    fn work_ends_its_machine() {
        for script in [
            "python train.py; shutdown -h now",
            "python train.py && sudo poweroff",
            "python train.py || true\n/sbin/shutdown -h now || true",
            "poweroff -f",
            "train; init 0",
            "train; sudo systemctl poweroff -i",
            "trap 'shutdown -h now' EXIT\npython train.py",
            "stop() {\n  aws s3 sync /out s3://b\n  shutdown now\n}\ntrap stop EXIT\ntrain",
            "function finish { sudo poweroff; }\ntrain\nfinish",
            "train\nshutdown -h +2",
            "if python train.py; then\n  echo done\n  shutdown -P now\nelse\n  echo failed\nfi",
            "ID=$(curl -s http://169.254.169.254/latest/meta-data/instance-id)\ntrain\naws ec2 terminate-instances --instance-ids $ID",
            "aws --region us-east-1 ec2 stop-instances --instance-ids \"$(ec2metadata --instance-id)\"",
            "gcloud --quiet compute instances delete $(hostname) --zone us-central1-a",
            "gcloud compute instances stop trainer --zone=$ZONE",
            "bash -c 'python train.py; sudo shutdown now'",
            "sudo -u ubuntu -i bash -lc \"train\" ; sudo shutdown",
            "cat > /root/run.sh <<'E'\ntrain\npoweroff\nE\nchmod +x /root/run.sh\nnohup /root/run.sh > /var/log/run 2>&1 &",
            "tee /etc/systemd/system/train.service <<E\n[Service]\nExecStart=/opt/train\nExecStopPost=+/sbin/shutdown now\nE\nsystemctl enable --now train",
            "tmux new-session -d 'python train.py; sudo shutdown -h now'",
            "(train; shutdown -h now) &",
        ] {
            assert!(
                matches!(end(script, &single()), Some(MachineEnd::AfterWork(_))),
                "{script}: {:?}",
                end(script, &single())
            );
        }
    }

    #[test]
    fn other_words_do_not_end_it() {
        for script in [
            "train # then shutdown -h now",
            "echo 'run: shutdown -h now'",
            "train || shutdown -h now",
            "if ! train; then shutdown -h now; fi",
            "cleanup() { shutdown -h now; }\ntrain",
            "trap 'shutdown -h now' ERR\ntrain",
            "shutdown -c",
            "shutdown +600; train; shutdown -c; sleep 1",
            "shutdown -r now",
            "exec python server.py\nshutdown -h now",
            "docker run img sh -c 'train; poweroff'",
            "aws ec2 terminate-instances --instance-ids i-0123456789abcdef0",
            "gcloud compute instances delete worker --zone $ZONE",
            "cat > /root/stop.sh <<E\nshutdown -h now\nE\ntrain",
            "systemctl enable poweroff-button.service",
        ] {
            assert_eq!(end(script, &single()), None, "{script}");
        }
    }

    #[test]
    fn deadlines_watchers_and_tests_are_apart() {
        let of = |script: &str| end(script, &single());
        assert!(matches!(of("shutdown -h +1440\ntrain"), Some(MachineEnd::ByTime(_))));
        assert!(matches!(of("#!/bin/sh\nshutdown -h +240\n"), Some(MachineEnd::ByTime(_))));
        assert!(matches!(of("shutdown 23:00\ntrain"), Some(MachineEnd::ByTime(_))));
        let watcher = "while true; do\n if [ $(busy) -lt 5 ]; then shutdown -h now; fi\n sleep 60\ndone";
        assert!(matches!(of(watcher), Some(MachineEnd::ByTime(_))));
        assert!(matches!(of("train\n[ \"$STOP\" = 1 ] && poweroff"), Some(MachineEnd::Unknown(_))));
        assert!(matches!(of("train\nhalt"), Some(MachineEnd::Unknown(_))));
    }

    #[test]
    fn the_provider_and_the_group_decide_whether_a_shutdown_ends_the_cost() {
        let billed = StoppableMachine { shutdown_ends_cost: Some(false), ..StoppableMachine::default() };
        assert_eq!(end("train; poweroff", &billed), None);
        assert!(matches!(end("az vm deallocate --ids $ID", &billed), Some(MachineEnd::AfterWork(_))));
        assert!(matches!(end("poweroff", &StoppableMachine::default()), Some(MachineEnd::Unknown(_))));
        let group = StoppableMachine { is_replaced: true, ..single() };
        assert_eq!(end("train; poweroff; aws ec2 terminate-instances --instance-ids $ID", &group), None);
        let last = "aws autoscaling set-desired-capacity --auto-scaling-group-name a --desired-capacity 0";
        assert!(matches!(end(last, &group), Some(MachineEnd::AfterWork(_))));
    }

    #[test]
    fn scripts_from_elsewhere_are_named() {
        let script = "aws s3 cp s3://b/run.sh /opt/run.sh\nchmod +x /opt/run.sh\n/opt/run.sh --epochs 3";
        assert_eq!(machine_end(script, BTreeMap::new(), &single()).1, ["/opt/run.sh"]);
    }

    #[test]
    fn scripts_that_start_each_other_end() {
        let files = BTreeMap::from([("a.sh".to_owned(), "bash a.sh\n".repeat(200))]);
        machine_end("f() { f; f; }\nf\nbash a.sh", files, &single());
    }
}
