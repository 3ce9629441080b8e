//! Finds changed values that a pipeline, script or settings file gives to the parameters of a template: Bicep, ARM and
//! CloudFormation.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::change::ChangedText;
use super::changed_files::ChangedFiles;
use super::commands::ChangedCommands;
use crate::front_ends::files;
use crate::inventory::RunKind;
use crate::source::{file_name, static_regex};

/// The parameters of templates with accelerators, by file name.
#[derive(Default)]
pub(super) struct TemplateParameters {
    of: BTreeMap<String, BTreeSet<String>>,
    /// The scripts and settings of deployments that gpulint evaluates, with the file names of their templates.
    evaluated: BTreeSet<(String, String)>,
}

impl TemplateParameters {
    pub(super) fn of(changed: &ChangedFiles) -> TemplateParameters {
        const ENDINGS: [&str; 6] = [".bicep", ".json", ".yaml", ".yml", ".template", ".j2"];
        let is_template = |path: &&String| ENDINGS.iter().any(|ending| path.ends_with(ending));
        let mut of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in changed.speaking.iter().filter(is_template) {
            let Some(text) = changed.head.text(path) else { continue };
            let found = USED.captures_iter(&text).filter_map(|it| it.iter().skip(1).flatten().next());
            let names: BTreeSet<String> = found.map(|it| it.as_str().to_owned()).collect();
            if !names.is_empty() {
                of.entry(file_name(path).to_owned()).or_default().extend(names);
            }
        }
        let mut evaluated = BTreeSet::new();
        for run in changed.states.after.inventory.runs.iter().filter(|run| run.kind == RunKind::Stack) {
            let callers = run.inputs.iter().filter(|path| files::may_call_deploy_tools(path));
            for caller in callers {
                evaluated.extend(run.inputs.iter().map(|it| (caller.to_string(), file_name(it).to_owned())));
            }
        }
        TemplateParameters { of, evaluated }
    }

    /// Returns the first parameter with another value, and its line.
    pub(super) fn given(&self, file: &ChangedText, commands: &ChangedCommands) -> Option<(usize, String)> {
        if self.of.is_empty() || !DEPLOYED.is_match(&file.is) {
            return None;
        }
        let named = self.of.iter().filter(|(name, _)| file.is.contains(name.as_str()));
        let is_evaluated = |name: &str| self.evaluated.contains(&(file.path.to_owned(), name.to_owned()));
        let (known, unknown): (Vec<_>, Vec<_>) = named.partition(|(name, _)| is_evaluated(name));
        let declares = |templates: &[(&String, &BTreeSet<String>)], name: &String| {
            templates.iter().any(|(_, parameters)| parameters.contains(name))
        };
        // gpulint evaluates a literal value, so its effect is known.
        let is_open = |value: &str| value.contains(['$', '`', '{', '%']);
        let is_relevant =
            |(name, value): &(String, String)| declares(&unknown, name) || is_open(value) && declares(&known, name);
        let given = |text: &str| -> Vec<(String, String)> {
            let found =
                [&KEYED, &GIVEN, &LISTED, &SWITCHED].into_iter().flat_map(|pattern| pattern.captures_iter(text));
            let pairs = found.filter_map(|it| {
                let value = it.get(2)?.as_str().trim_matches(['"', '\'', ']', ',', '}']).to_owned();
                Some((it.get(1)?.as_str().to_owned(), value))
            });
            pairs.filter(is_relevant).collect()
        };
        let before: BTreeSet<(String, String)> = given(&file.was).into_iter().collect();
        commands.new.iter().find_map(|command| {
            let text = command.text.trim_start();
            let mut pairs = given(&command.text).into_iter().filter(|_| !text.starts_with(['#', ';']));
            pairs
                .find(|pair| !before.contains(pair))
                .map(|(name, _)| (command.number, format!("the parameter `{name}`")))
        })
    }
}

static_regex!(
/// A parameter in Bicep, CloudFormation and ARM.
static USED: Regex = r#"(?m)^\s*param\s+(\w+)|!Ref\s+["']?(\w+)|["']?\bRef["']?\s*:\s*["']?(\w+)|\$\{(\w+)\}|parameters\(\s*'(\w+)'"#);
static_regex!(
/// Commands, steps and settings that deploy a template.
static DEPLOYED: Regex = r"(?im)\baz\s+(?:deployment|stack)\b|\barm-deploy\b|\bbicep-deploy\b|AzureResourceManagerTemplateDeployment|AzureResourceGroupDeployment|AzResourceGroupDeployment|\bcloudformation\s+(?:deploy|create-|update-)|aws-cloudformation|CloudFormation|template-file-path|\bsam\s+deploy\b|^\s*template(?:_path)?\s*:");
static_regex!(
/// A parameter and its value.
static GIVEN: Regex = r#"([A-Za-z_]\w*)["']?\s*=\s*("[^"]*"|'[^']*'|[^\s,]+)"#);
static_regex!(
    /// A parameter and its value in a map.
    static LISTED: Regex = r#"([A-Za-z_]\w*)["']?\s*:\s*("[^"]*"|'[^']*'|[^\s,]+)"#);
static_regex!(
/// A parameter and its value with keys of their own.
static KEYED: Regex = r#"ParameterKey["']?\s*[=:]\s*["']?(\w+)["']?[\s,]+["']?ParameterValue["']?\s*[=:]\s*("[^"]*"|'[^']*'|[^\s,]+)"#);
static_regex!(
/// A parameter as an option.
static SWITCHED: Regex = r#"-([A-Za-z_]\w*)\s+("[^"]*"|'[^']*'|[^\s,]+)"#);
