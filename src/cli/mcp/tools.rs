//! What may be asked: each tool is a verb of the command line, with those of its options that read and none that writes. Their
//! meaning is what `--help` says. Arguments become a command line, so that they are judged as everybody's are.

use std::ffi::OsString;

use clap::CommandFactory;
use serde_json::{Map, Value, json};

use super::page::{ReportPage, USUAL_ENTRIES};
use super::parameters::{CommandLine, Kind, ToolParameter, may, must};
use crate::cli::args::Arguments;
use crate::diagnostic::nearest;

const MOST_ENTRIES: u64 = 200;
/// Characters of a page of text, where nobody says how many.
pub(super) const USUAL_CHARS: usize = 8_000;
const MOST_CHARS: u64 = 20_000;

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    title: &'static str,
    meaning: &'static str,
    verb: &'static [&'static str],
    parameters: &'static [&'static [ToolParameter]],
    pub(super) answer: ToolAnswer,
}

/// What the verb says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolAnswer {
    /// A report, of which this list is told page by page, its entries whole or as far as there is room.
    Report {
        list: &'static str,
        is_whole: bool,
    },
    Text,
}

/// What is read, and with which values.
const INPUT: &[ToolParameter] = &[
    may("path", Kind::Tree),
    may("var", Kind::Pairs),
    may("var_file", Kind::Paths),
    may("workspace", Kind::Text),
    may("values", Kind::Texts),
    may("exclude", Kind::Texts),
    TODAY,
];
const TODAY: ToolParameter = may("today", Kind::Text);
const SELECTION: &[ToolParameter] =
    &[may("select", Kind::Texts), may("ignore", Kind::Texts), may("profile", Kind::Text)];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        title: "What is wasteful, and what it costs",
        meaning: "Reads the infrastructure files of the folder, finds GPUs and other accelerators, and tells findings \
                  with the money they cost, the dearest first. `list: \"resources\"` pages through the bill instead, `not_judged` \
                  through what could not be judged. Amounts that are not known are null, never zero.",
        verb: &["check"],
        parameters: &[INPUT, SELECTION, &[may("min_confidence", Kind::Text)]],
        answer: ToolAnswer::Report { list: "findings", is_whole: true },
    },
    Tool {
        name: "price",
        title: "What a machine or an accelerator costs",
        meaning: "Looks a machine type (g5.xlarge) or an accelerator (H100-80GB) up in the price catalog: clouds, regions, on \
                  demand, spot, reserved. With `hours`, the ways to buy a planned run.",
        verb: &["price"],
        parameters: &[&[
            may("name", Kind::First("name")),
            may("provider", Kind::Texts),
            may("region", Kind::Text),
            may("count", Kind::Number),
            may("memory", Kind::Number),
            may("spot", Kind::Flag),
            may("sort", Kind::Text),
            may("run", Kind::Text),
            may("hours", Kind::Number),
            TODAY,
        ]],
        answer: ToolAnswer::Report { list: "", is_whole: true },
    },
    Tool {
        name: "fit",
        title: "Whether a model fits, and on what it is cheapest",
        meaning: "Whether a model fits into the memory of an accelerator or a machine, for serving or training, and the cheapest \
                  machines that hold it.",
        verb: &["fit"],
        parameters: &[&[
            may("model", Kind::First("model")),
            may("params", Kind::Text),
            may("accelerator", Kind::Text),
            may("machine", Kind::Text),
            may("count", Kind::Number),
            may("provider", Kind::Text),
            may("region", Kind::Text),
            may("task", Kind::Text),
            may("precision", Kind::Text),
            may("cache_precision", Kind::Text),
            may("context", Kind::Text),
            may("batch_size", Kind::Text),
            may("by", Kind::Text),
            may("ms_per_token", Kind::Number),
            may("tokens_per_day", Kind::Text),
            may("input_tokens", Kind::Text),
            may("output_tokens", Kind::Text),
            may("concurrency", Kind::Number),
            may("train_tokens", Kind::Text),
            may("machines", Kind::Number),
            may("method", Kind::Text),
            may("optimizer", Kind::Text),
            may("sharding", Kind::Text),
            may("keep_activations", Kind::Flag),
        ]],
        answer: ToolAnswer::Report { list: "options", is_whole: true },
    },
    Tool {
        name: "explain",
        title: "How a price came to be, or what a rule is about",
        meaning: "Step by step how the price of a resource came to be, by its address as `check` tells it; or the page of a rule, \
                  by its name.",
        verb: &["explain"],
        parameters: &[&[must("what", Kind::First("what"))], INPUT],
        answer: ToolAnswer::Text,
    },
    Tool {
        name: "what_if",
        title: "What another machine, region, purchase or count would cost",
        meaning: "Prices and judges the folder as if resources were otherwise, beside today; files stay as they are. `on` are \
                  addresses as `check` tells them; `set` says what they are to be, `case` several variants beside each other.",
        verb: &["what-if"],
        parameters: &[&[must("on", Kind::Texts), may("set", Kind::Pairs), may("case", Kind::Cases)], INPUT, SELECTION],
        answer: ToolAnswer::Report { list: "cases", is_whole: false },
    },
    Tool {
        name: "rules",
        title: "All rules, and which run here",
        meaning: "Every rule in a sentence, and whether it runs with the settings of this folder. `explain` has the page of one.",
        verb: &["rules", "list"],
        parameters: &[INPUT, SELECTION],
        answer: ToolAnswer::Report { list: "", is_whole: true },
    },
];

/// A question as a command line, and how much of the answer is wanted.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) words: Vec<OsString>,
    pub(super) page: ReportPage,
}

impl Tool {
    pub(super) fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    fn parameters(&self) -> impl Iterator<Item = &'static ToolParameter> {
        self.parameters.iter().copied().flatten()
    }

    /// How the tool is told to a client.
    pub(super) fn describe(&self) -> Value {
        let program = Arguments::command();
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
        let limit = number(1, Some(most), format!("The most {what} to tell [default: {usual}]"));
        let offset = number(0, None, format!("The {what} to leave out before: `next_offset` of the answer before"));
        let mut paging = vec![("limit".to_owned(), limit), ("offset".to_owned(), offset)];
        if let ToolAnswer::Report { list, .. } = self.answer
            && !list.is_empty()
        {
            let meaning = format!("The list of the report that limit and offset are about [default: {list}]");
            paging.push(("list".to_owned(), json!({ "type": "string", "description": meaning })));
        }
        paging
    }

    /// The form of an answer. What a report holds is described by files that are as long as answers.
    fn answer_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "summary": { "type": "string" },
                "left_out": {
                    "type": "array",
                    "description": "lists of the report that are not whole: ask for the rest by `list` and `offset`",
                    "items": { "type": "object", "required": ["list", "total", "offset", "shown", "next_offset"] },
                },
                "texts_cut": { "type": "integer" },
                "notes": { "type": "array", "items": { "type": "string" } },
                "report": { "description": format!("`gpulint {} --format json`", self.verb.join(" ")) },
            },
            "required": ["summary", "left_out", "texts_cut", "notes", "report"],
        })
    }

    /// The arguments of a client as a command line; what is wrong with them otherwise.
    pub(super) fn ask(&self, arguments: &Map<String, Value>) -> Result<ToolCall, String> {
        let page = self.page(arguments)?;
        let paging: Vec<String> = self.paging().into_iter().map(|(name, _)| name).collect();
        let names = || self.parameters().map(|it| it.name).chain(paging.iter().map(String::as_str));
        if let Some(unknown) = arguments.keys().find(|key| !names().any(|name| name == key.as_str())) {
            let near = nearest(unknown, names()).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
            let all: Vec<&str> = names().collect();
            let unknown: String = unknown.chars().take(100).collect();
            return Err(format!("`{}` has no argument `{unknown}`.{near} It has: {}", self.name, all.join(", ")));
        }
        let mut line = CommandLine::default();
        for parameter in self.parameters() {
            match arguments.get(parameter.name) {
                None | Some(Value::Null) if parameter.is_required => {
                    return Err(format!("`{}` needs the argument `{}`", self.name, parameter.name));
                }
                None | Some(Value::Null) => {}
                Some(value) => parameter.say(value, &mut line).map_err(|why| format!("`{}`: {why}", parameter.name))?,
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
        // What follows begins with no option, whatever it is.
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
                said.ok_or_else(|| format!("`{name}`: a whole number from {least} to {most} is expected"))
            }
        };
        let (list, is_whole, usual, most) = match self.answer {
            ToolAnswer::Report { list, is_whole } => (list, is_whole, USUAL_ENTRIES, MOST_ENTRIES),
            ToolAnswer::Text => ("", true, USUAL_CHARS, MOST_CHARS),
        };
        let list = match arguments.get("list") {
            None | Some(Value::Null) => list,
            Some(wished) => wished.as_str().ok_or("`list`: the name of a list is expected")?,
        };
        Ok(ReportPage {
            list: list.to_owned(),
            limit: number("limit", 1, most, usual)?,
            offset: number("offset", 0, u64::from(u32::MAX), 0)?,
            is_whole,
        })
    }
}
