//! The tools: each is a subcommand, with the options that only read. Their
//! descriptions come from `--help`. Arguments become a command line, so that the same checks apply to them.

use std::ffi::OsString;

use clap::CommandFactory;
use serde_json::{Map, Value, json};

use super::page::{ReportPage, USUAL_ENTRIES};
use super::parameters::{CommandLine, ParameterKind, ToolParameter, may, must};
use crate::cli::args::CliArguments;
use crate::diagnostic::nearest;

const MOST_ENTRIES: u64 = 200;
/// The default number of characters of a text answer.
pub(super) const USUAL_CHARS: usize = 8_000;
const MOST_CHARS: u64 = 20_000;

#[derive(Debug)]
pub(super) struct McpTool {
    pub(super) name: &'static str,
    title: &'static str,
    meaning: &'static str,
    verb: &'static [&'static str],
    parameters: &'static [&'static [ToolParameter]],
    pub(super) answer: ToolAnswer,
}

/// The kind of answer of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolAnswer {
    /// A report with this list on pages. `is_whole` keeps its entries complete.
    Report {
        list: &'static str,
        is_whole: bool,
    },
    Text,
}

/// The parameters that choose the input.
const INPUT: &[ToolParameter] = &[
    may("path", ParameterKind::Tree),
    may("var", ParameterKind::Pairs),
    may("var_file", ParameterKind::Paths),
    may("workspace", ParameterKind::Text),
    may("values", ParameterKind::Texts),
    may("exclude", ParameterKind::Texts),
    TODAY,
];
const TODAY: ToolParameter = may("today", ParameterKind::Text);
const SELECTION: &[ToolParameter] =
    &[may("select", ParameterKind::Texts), may("ignore", ParameterKind::Texts), may("profile", ParameterKind::Text)];

pub(super) const TOOLS: &[McpTool] = &[
    McpTool {
        name: "check",
        title: "Find GPU waste and its cost",
        meaning: "Reads the infrastructure files of the folder, finds GPUs and other accelerators, and lists findings \
                  with their cost, the most expensive first. `list: \"resources\"` lists the priced resources instead, `not_judged` the \
                  files and blocks that were not evaluated. Unknown amounts are null, never zero.",
        verb: &["check"],
        parameters: &[INPUT, SELECTION, &[may("min_confidence", ParameterKind::Text)]],
        answer: ToolAnswer::Report { list: "findings", is_whole: true },
    },
    McpTool {
        name: "price",
        title: "Look up the price of a machine or an accelerator",
        meaning: "Returns the prices of a machine type (g5.xlarge) or an accelerator (H100-80GB) from the catalog: clouds, regions, on \
                  demand, spot, reserved. With `hours`, compares the ways to buy that many hours.",
        verb: &["price"],
        parameters: &[&[
            may("name", ParameterKind::First("name")),
            may("provider", ParameterKind::Texts),
            may("region", ParameterKind::Text),
            may("count", ParameterKind::Number),
            may("memory", ParameterKind::Number),
            may("spot", ParameterKind::Flag),
            may("sort", ParameterKind::Text),
            may("run", ParameterKind::Text),
            may("hours", ParameterKind::Number),
            TODAY,
        ]],
        answer: ToolAnswer::Report { list: "", is_whole: true },
    },
    McpTool {
        name: "fit",
        title: "Check whether a model fits, and find the cheapest machine",
        meaning: "Checks whether a model fits into the memory of an accelerator or a machine, for serving or training, and lists the cheapest \
                  machines that it fits.",
        verb: &["fit"],
        parameters: &[&[
            may("model", ParameterKind::First("model")),
            may("params", ParameterKind::Text),
            may("accelerator", ParameterKind::Text),
            may("machine", ParameterKind::Text),
            may("count", ParameterKind::Number),
            may("provider", ParameterKind::Text),
            may("region", ParameterKind::Text),
            may("task", ParameterKind::Text),
            may("precision", ParameterKind::Text),
            may("cache_precision", ParameterKind::Text),
            may("context", ParameterKind::Text),
            may("batch_size", ParameterKind::Text),
            may("by", ParameterKind::Text),
            may("ttft", ParameterKind::Text),
            may("ms_per_token", ParameterKind::Number),
            may("load", ParameterKind::Text),
            may("tokens_per_day", ParameterKind::Text),
            may("input_tokens", ParameterKind::Text),
            may("output_tokens", ParameterKind::Text),
            may("concurrency", ParameterKind::Number),
            may("train_tokens", ParameterKind::Text),
            may("machines", ParameterKind::Number),
            may("method", ParameterKind::Text),
            may("optimizer", ParameterKind::Text),
            may("sharding", ParameterKind::Text),
            may("keep_activations", ParameterKind::Flag),
        ]],
        answer: ToolAnswer::Report { list: "options", is_whole: true },
    },
    McpTool {
        name: "explain",
        title: "Explain a price or a rule",
        meaning: "Explains step by step how the price of a resource is calculated, by the address that `check` reports; or returns the \
                  documentation of a rule, by its name.",
        verb: &["explain"],
        parameters: &[&[must("what", ParameterKind::First("what"))], INPUT],
        answer: ToolAnswer::Text,
    },
    McpTool {
        name: "what_if",
        title: "Compare with another machine, region, purchase or count",
        meaning: "Prices and checks the folder with changed resources, compared with today; files stay unchanged. `on` takes \
                  addresses from `check`; `set` takes the new values, and `case` takes several named variants to compare.",
        verb: &["what-if"],
        parameters: &[
            &[must("on", ParameterKind::Texts), may("set", ParameterKind::Pairs), may("case", ParameterKind::Cases)],
            INPUT,
            SELECTION,
        ],
        answer: ToolAnswer::Report { list: "cases", is_whole: false },
    },
    McpTool {
        name: "rules",
        title: "List all rules, and which run here",
        meaning: "Lists every rule in one sentence, and whether it runs with the settings of this folder. `explain` documents one rule.",
        verb: &["rules", "list"],
        parameters: &[INPUT, SELECTION],
        answer: ToolAnswer::Report { list: "", is_whole: true },
    },
];

/// A call as a command line, and the requested part of the answer.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) words: Vec<OsString>,
    pub(super) page: ReportPage,
}

impl McpTool {
    pub(super) fn named(name: &str) -> Option<&'static McpTool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    fn parameters(&self) -> impl Iterator<Item = &'static ToolParameter> {
        self.parameters.iter().copied().flatten()
    }

    /// Returns the description of the tool for clients.
    pub(super) fn describe(&self) -> Value {
        let program = CliArguments::command();
        let verb = self.verb.iter().try_fold(&program, |command, name| command.find_subcommand(name));
        let option = |it: &ToolParameter| (it.name.to_owned(), it.schema(verb));
        let properties: Map<String, Value> = self.parameters().map(option).chain(self.paging()).collect();
        let required: Vec<&str> = self.parameters().filter(|it| it.is_required).map(|it| it.name).collect();
        let mut told = json!({
            "name": self.name,
            "title": self.title,
            "description": self.meaning,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
        });
        if let (ToolAnswer::Report { .. }, Value::Object(told)) = (self.answer, &mut told) {
            told.insert("outputSchema".to_owned(), self.answer_schema());
        }
        told
    }

    fn paging(&self) -> Vec<(String, Value)> {
        let (what, usual, most) = match self.answer {
            ToolAnswer::Report { .. } => ("entries", USUAL_ENTRIES, MOST_ENTRIES),
            ToolAnswer::Text => ("characters", USUAL_CHARS, MOST_CHARS),
        };
        let number = |least: u64, most: Option<u64>, meaning: String| {
            let mut schema = json!({ "type": "integer", "minimum": least, "description": meaning });
            if let (Some(most), Value::Object(schema)) = (most, &mut schema) {
                schema.insert("maximum".to_owned(), json!(most));
            }
            schema
        };
        let limit = number(1, Some(most), format!("Maximum number of {what} to return [default: {usual}]"));
        let offset = number(0, None, format!("Number of {what} to skip: `next_offset` of the previous answer"));
        let mut paging = vec![("limit".to_owned(), limit), ("offset".to_owned(), offset)];
        if let ToolAnswer::Report { list, .. } = self.answer
            && !list.is_empty()
        {
            let meaning = format!("The list of the report to which limit and offset apply [default: {list}]");
            paging.push(("list".to_owned(), json!({ "type": "string", "description": meaning })));
        }
        paging
    }

    /// Returns the JSON schema of an answer. It omits the schema of the report, which is as long as an answer.
    fn answer_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "summary": { "type": "string" },
                "left_out": {
                    "type": "array",
                    "description": "lists of the report that were cut: get the rest with `list` and `offset`",
                    "items": { "type": "object", "required": ["list", "total", "offset", "shown", "next_offset"] },
                },
                "texts_cut": { "type": "integer" },
                "notes": { "type": "array", "items": { "type": "string" } },
                "report": { "description": format!("`gpulint {} --format json`", self.verb.join(" ")) },
            },
            "required": ["summary", "left_out", "texts_cut", "notes", "report"],
        })
    }

    /// Converts the arguments of a client into a command line, or returns their error.
    pub(super) fn ask(&self, arguments: &Map<String, Value>) -> Result<ToolCall, String> {
        let page = self.page(arguments)?;
        let paging: Vec<String> = self.paging().into_iter().map(|(name, _)| name).collect();
        let names = || self.parameters().map(|it| it.name).chain(paging.iter().map(String::as_str));
        if let Some(unknown) = arguments.keys().find(|key| !names().any(|name| name == key.as_str())) {
            let near = nearest(unknown, names()).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
            let all: Vec<&str> = names().collect();
            let unknown: String = unknown.chars().take(100).collect();
            return Err(format!(
                "`{}` has no argument `{unknown}`.{near} Its arguments are: {}",
                self.name,
                all.join(", ")
            ));
        }
        let mut line = CommandLine::default();
        for parameter in self.parameters() {
            match arguments.get(parameter.name) {
                None | Some(Value::Null) if parameter.is_required => {
                    return Err(format!("`{}` needs the argument `{}`", self.name, parameter.name));
                }
                None | Some(Value::Null) => {}
                Some(value) => {
                    parameter.add_to_line(value, &mut line).map_err(|why| format!("`{}`: {why}", parameter.name))?
                }
            }
        }
        let mut words: Vec<OsString> = vec!["gpulint".into()];
        words.extend(self.verb.iter().map(OsString::from));
        if let ToolAnswer::Report { .. } = self.answer {
            words.extend(["--format=json", "--format=text"].map(OsString::from));
        }
        if self.name == "check" {
            words.push("--quiet".into());
        }
        words.extend(line.options);
        // All following words are positional arguments.
        words.push("--".into());
        words.extend(line.first.into_iter().chain(line.tree));
        Ok(ToolCall { words, page })
    }

    fn page(&self, arguments: &Map<String, Value>) -> Result<ReportPage, String> {
        let number = |name: &str, least: u64, most: u64, usual: usize| match arguments.get(name) {
            None | Some(Value::Null) => Ok(usual),
            Some(value) => {
                let said = value.as_u64().filter(|it| (least..=most).contains(it));
                let said = said.and_then(|it| usize::try_from(it).ok());
                said.ok_or_else(|| format!("`{name}`: expected a whole number from {least} to {most}"))
            }
        };
        let (list, is_whole, usual, most) = match self.answer {
            ToolAnswer::Report { list, is_whole } => (list, is_whole, USUAL_ENTRIES, MOST_ENTRIES),
            ToolAnswer::Text => ("", true, USUAL_CHARS, MOST_CHARS),
        };
        let list = match arguments.get("list") {
            None | Some(Value::Null) => list,
            Some(wished) => wished.as_str().ok_or("`list`: expected the name of a list")?,
        };
        Ok(ReportPage {
            list: list.to_owned(),
            limit: number("limit", 1, most, usual)?,
            offset: number("offset", 0, u64::from(u32::MAX), 0)?,
            is_whole,
        })
    }
}
