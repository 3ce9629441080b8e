//! Finds `kubectl scale` in the command of a container.

use crate::languages::shell::{HOLE, certain_commands};

use super::words::{base_name, is_command_flag, is_shell};

/// Workloads that a command scales.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleCommand {
    /// Kinds and names.
    pub targets: Vec<(&'static str, String)>,
    pub namespace: Option<String>,
    /// The number of replicas; `None` if only a run knows it.
    pub replicas: Option<f64>,
}

/// Programs that scale workloads.
const PROGRAMS: [&str; 2] = ["kubectl", "oc"];
/// Names of kinds on the command line, without a plural ending and a group.
const KINDS: [(&str, &str); 6] = [
    ("deployment", "Deployment"),
    ("deploy", "Deployment"),
    ("statefulset", "StatefulSet"),
    ("sts", "StatefulSet"),
    ("replicaset", "ReplicaSet"),
    ("rs", "ReplicaSet"),
];
/// The bytes of variables that a command may repeat.
const ROOM: usize = 1 << 16;

/// Returns the workloads that the command of a container scales. The words are those of `command` and `args`.
pub fn scale_commands(words: &[&str]) -> Vec<ScaleCommand> {
    let script = match words {
        [shell, rest @ ..] if is_shell(base_name(shell)) => {
            let flag = rest.iter().position(|word| is_command_flag(word));
            flag.and_then(|at| rest.get(at + 1)).map(|script| (*script).to_owned())
        }
        // The image may have kubectl as its entrypoint.
        ["scale", ..] => Some(format!("kubectl {}", in_quotes(words))),
        [script] => Some((*script).to_owned()),
        _ => Some(in_quotes(words)),
    };
    let commands = certain_commands(&script.unwrap_or_default(), &mut ROOM.clone());
    commands.iter().filter_map(|words| command(&words.iter().map(|it| it.text.as_str()).collect::<Vec<_>>())).collect()
}

fn in_quotes(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect::<Vec<_>>().join(" ")
}

fn command(words: &[&str]) -> Option<ScaleCommand> {
    let first = words.iter().position(|word| PROGRAMS.contains(&base_name(word)))?;
    let (mut plain, mut options) = (Vec::new(), Vec::new());
    let mut rest = words.iter().skip(first + 1);
    while let Some(word) = rest.next() {
        match word.strip_prefix('-').map(|option| option.trim_start_matches('-')) {
            None => plain.push(*word),
            Some(option) => match option.split_once('=') {
                Some(pair) => options.push(pair),
                None => options.extend(takes_value(option).then(|| (option, rest.next().copied().unwrap_or_default()))),
            },
        }
    }
    let named = plain.strip_prefix(&["scale"])?;
    let option = |names: [&str; 2]| options.iter().find(|(name, _)| names.contains(name)).map(|(_, value)| *value);
    let replicas = option(["replicas", "replicas"])?;
    let targets: Vec<_> = match named {
        [kind, names @ ..] if !kind.contains('/') => {
            let kind = kind_of(kind)?;
            names.iter().map(|name| (kind, (*name).to_owned())).collect()
        }
        pairs => pairs.iter().filter_map(|pair| pair.split_once('/')).filter_map(target).collect(),
    };
    let targets: Vec<_> = targets.into_iter().filter(|(_, name)| !name.contains(HOLE)).collect();
    let namespace = option(["n", "namespace"]);
    let is_known = namespace.is_none_or(|it| !it.contains(HOLE)) && !targets.is_empty();
    is_known.then(|| ScaleCommand { targets, namespace: namespace.map(str::to_owned), replicas: replicas.parse().ok() })
}

/// Returns whether an option takes the next word as its value.
fn takes_value(option: &str) -> bool {
    !["all", "all-namespaces", "A", "dry-run", "local", "record"].contains(&option)
}

fn target((kind, name): (&str, &str)) -> Option<(&'static str, String)> {
    Some((kind_of(kind)?, name.to_owned()))
}

/// Returns the kind of `deploy`, `deployments` and `deployment.apps`.
fn kind_of(written: &str) -> Option<&'static str> {
    let name = written.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let named = |wanted: &str| KINDS.iter().find(|(known, _)| *known == wanted).map(|(_, kind)| *kind);
    named(&name).or_else(|| named(name.strip_suffix('s')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_in_every_form() {
        let read = |words: &[&str]| {
            let all = scale_commands(words).into_iter().map(|it| {
                let targets: Vec<String> = it.targets.iter().map(|(kind, name)| format!("{kind}/{name}")).collect();
                let replicas = it.replicas.map_or("?".to_owned(), |count| count.to_string());
                format!("{} {} {replicas}", targets.join(","), it.namespace.as_deref().unwrap_or("-"))
            });
            all.collect::<Vec<_>>().join("; ")
        };
        for (words, expected) in [
            (&["kubectl", "scale", "deployment/a", "--replicas=0", "-n", "x"][..], "Deployment/a x 0"),
            (&["/bin/sh", "-c", "set -e; kubectl -n x scale deploy a b --replicas 3"], "Deployment/a,Deployment/b x 3"),
            (&["scale", "--replicas=0", "sts/a", "deployments.apps/b"], "StatefulSet/a,Deployment/b - 0"),
            (
                &["bash", "-ec", "N=2\noc scale rs/a --replicas=$N\nkubectl scale rs/b --replicas=$M"],
                "ReplicaSet/a - 2; ReplicaSet/b - ?",
            ),
            (&["kubectl", "scale", "nodepool/a", "--replicas=0"], ""),
            (&["kubectl", "scale", "deployment/$NAME", "--replicas=0"], "Deployment/$NAME - 0"),
            (&["sh", "-c", "kubectl scale deployment/$NAME --replicas=0"], ""),
            (&["sh", "-c", "echo kubectl delete deployment/a"], ""),
        ] {
            assert_eq!(read(words), expected, "{words:?}");
        }
    }
}
