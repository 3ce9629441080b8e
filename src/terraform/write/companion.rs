//! Adds resources next to the one that they are about, such as the schedule of a group.
//!
//! The definition of a type has their code, with `<words>` for what depends on the block. Names follow from the name of
//! the block, and references and sizes are written as in the file.

use crate::inventory::{Declined, FactValue, Key, Resource};
use crate::languages::hcl::syntax::{Attribute, BlockNode, Expression, HclKind, TemplatePart, TraversalStepKind};
use crate::source::{Edit, FileId, Span};

use super::super::rows::{Companion, Literal, NeededBlock, Site};
use super::align::TextChange;
use super::{Pending, Result, TerraformWriter, insert, left_alone, literal};
use crate::terraform::code::module::ModuleCode;
use crate::terraform::functions::is_identifier;

/// The most names that are tried for a new resource.
const MOST_NAMES: usize = 9;

/// The most resources of a module that are searched for one that a companion needs.
const MOST_SEARCHED: usize = 500;

/// The longest name of a resource of Google Cloud.
const LONGEST_NAME: usize = 63;

/// A block that gets companions, in its code.
struct Target<'w, 'a> {
    writer: &'w TerraformWriter<'a>,
    site: &'w Site<'a>,
    code: &'w ModuleCode,
    node: &'w BlockNode,
    text: &'w str,
    /// The first part of the names of new resources.
    name: String,
    /// The hour at which work ends.
    hour: u32,
}

impl<'a> TerraformWriter<'a> {
    /// Returns the edits that add the resources by which a block gets a fact.
    pub(super) fn by_companion(
        &self,
        site: &Site<'a>,
        resource: &Resource,
        key: Key,
        value: &FactValue,
    ) -> Result<Vec<Edit>> {
        let kind = site.block().labels.first().map_or("this", String::as_str);
        let Some(companion) = site.companion(key) else {
            return Err(Declined::Inexpressible(format!("gpulint knows no {} of `{kind}`", key.name())));
        };
        let companion = companion.map_err(Declined::LeftAlone)?;
        if !resource.shifts.is_empty() {
            return left_alone("another schedule already changes its number");
        }
        let Some(hour) = hour_of(&value.to_string()) else {
            return left_alone(format!("a schedule `{value}` does not end on the same weekday on which it starts"));
        };
        let file = site.block().body.file;
        let path = self.sources.path(file);
        if !path.ends_with(".tf") && !path.ends_with(".tofu") {
            return left_alone("gpulint adds no resources to JSON");
        }
        let (code, text) = (self.library.module(&self.directory_of(file)), self.sources.text(file));
        let node = code.resources.iter().find(|node| node.header == site.block().span && !node.body.incomplete);
        let Some(node) = node else { return left_alone("its block was not found") };
        let name = free_name(&code, node, &companion.code)?;
        let target = Target { writer: self, site, code: &code, node, text: &text, name, hour };
        target.edits(companion, file)
    }
}

/// Returns the hour of `0 18 * * 1-5`, if it leaves time to work after the morning.
fn hour_of(cron: &str) -> Option<u32> {
    let hour = cron.strip_prefix("0 ")?.strip_suffix(" * * 1-5")?.parse().ok()?;
    (MORNING + 1..=23).contains(&hour).then_some(hour)
}

/// The hour at which work starts.
const MORNING: u32 = 8;

/// Returns the start of the names of new resources, for which no name is in use.
fn free_name(code: &ModuleCode, node: &BlockNode, template: &str) -> Result<String> {
    let own = node.label(1);
    if !is_identifier(own) {
        return left_alone("the name of its block is not valid in a reference");
    }
    let candidates = (1..=MOST_NAMES).map(|n| if n == 1 { own.to_owned() } else { format!("{own}{}{n}", joint(own)) });
    let headers = || template.lines().filter_map(|line| line.strip_prefix("resource \""));
    let is_free = |name: &String| {
        headers().filter_map(|header| header.split_once("\" \"")).all(|(kind, rest)| {
            let suffix = rest.strip_prefix("<label ").and_then(|rest| rest.split('>').next()).unwrap_or_default();
            code.resources.index(&format!("{kind}.{}", label(name, suffix))).is_none()
        })
    };
    match candidates.into_iter().find(is_free) {
        Some(name) => Ok(name),
        None => left_alone("the names of the resources to add are in use"),
    }
}

/// Returns the character between the words of names: a hyphen if the name has only hyphens.
fn joint(name: &str) -> char {
    if name.contains('-') && !name.contains('_') { '-' } else { '_' }
}

fn label(name: &str, suffix: &str) -> String {
    format!("{name}{}{suffix}", joint(name))
}

/// Returns an expression for the region of a zone.
fn region_of(zone: &str) -> String {
    format!("join(\"-\", slice(split(\"-\", {zone}), 0, 2))")
}

impl<'a> Target<'_, 'a> {
    fn edits(&self, companion: &'static Companion, file: FileId) -> Result<Vec<Edit>> {
        let mut pending = Pending::default();
        self.ignore_changes(companion, &mut pending)?;
        for (name, value) in &companion.attach {
            if self.node.body.attribute(name).is_some() || self.node.body.blocks(name).next().is_some() {
                return left_alone(format!("`{name}` is already set"));
            }
            let value = self.filled(value, companion)?;
            pending.addition(self.node.span()).add(std::slice::from_ref(name), &Literal::Code(value));
        }
        let mut edits = self.writer.finish(self.site, pending)?;
        edits.push(self.after(file, &self.resources(companion)?));
        Ok(edits)
    }

    /// Lets Terraform ignore the arguments that the new resources change, so that no plan differs because of them.
    fn ignore_changes(&self, companion: &'static Companion, pending: &mut Pending) -> Result<()> {
        if companion.ignores.is_empty() {
            return Ok(());
        }
        let name = "ignore_changes".to_owned();
        let Some(lifecycle) = self.node.body.blocks("lifecycle").next() else {
            let list = Literal::Code(format!("[{}]", companion.ignores.join(", ")));
            pending.addition(self.node.span()).add(&["lifecycle".to_owned(), name], &list);
            return Ok(());
        };
        let Some(there) = lifecycle.body.attribute(&name) else {
            let list = Literal::Code(format!("[{}]", companion.ignores.join(", ")));
            pending.addition(lifecycle.span()).add(&[name], &list);
            return Ok(());
        };
        let text = self.text.get(there.expression.span.range()).unwrap_or_default();
        let HclKind::List(items) = &there.expression.kind else {
            // The only other value is `all`.
            return Ok(());
        };
        let is_there = |wanted: &&String| {
            let shown = |item: &Expression| self.text.get(item.span.range()).unwrap_or_default().trim_matches('"');
            items.iter().any(|item| shown(item) == wanted.as_str() || wanted.starts_with(&format!("{}[", shown(item))))
        };
        let missing: Vec<&str> = companion.ignores.iter().filter(|it| !is_there(it)).map(String::as_str).collect();
        match items.last() {
            _ if missing.is_empty() => Ok(()),
            Some(last) if !text.contains('\n') => {
                let at = last.span.end as usize;
                let new = format!(", {}", missing.join(", "));
                pending.change(last.span.file, TextChange { at: at..at, text: new });
                Ok(())
            }
            _ => left_alone("its `ignore_changes` has several lines"),
        }
    }

    /// Returns the code of the new resources, with the same number of instances as the block.
    fn resources(&self, companion: &'static Companion) -> Result<String> {
        let metas = self.metas()?;
        let mut lines = Vec::new();
        for line in companion.code.trim().lines() {
            let Some(line) = self.line(line, companion)? else { continue };
            let is_header = line.starts_with("resource ");
            lines.push(line);
            if is_header && !metas.is_empty() {
                lines.extend(metas.iter().cloned());
                lines.push(String::new());
            }
        }
        Ok(lines.join("\n"))
    }

    /// Returns the lines that set the same meta-arguments as in the block.
    fn metas(&self) -> Result<Vec<String>> {
        let there: Vec<&Attribute> =
            ["count", "for_each", "provider"].iter().filter_map(|name| self.node.body.attribute(name)).collect();
        let width = there.iter().map(|it| it.name.text.len()).max().unwrap_or_default();
        there
            .into_iter()
            .map(|it| Ok(format!("  {:width$} = {}", it.name.text, self.written(&it.expression)?)))
            .collect()
    }

    /// Returns the edit that adds code after the block, separated by blank lines.
    fn after(&self, file: FileId, code: &str) -> Edit {
        let end = self.node.body.span.end as usize;
        let line_end = insert::end_of_line(self.text, end);
        // The end of the block itself counts as a part of the block.
        let at = if self.text.get(end..line_end).is_some_and(|rest| rest.trim().is_empty()) { end } else { line_end };
        let mut new = format!("\n\n{code}");
        let rest = self.text.get(line_end..).unwrap_or_default();
        let next = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        if !next.lines().next().unwrap_or_default().trim().is_empty() {
            new.push('\n');
        }
        if insert::line_break(self.text, self.node.body.span.start as usize) == "\r\n" {
            new = new.replace('\n', "\r\n");
        }
        Edit { span: Span::new(file, at, at), replacement: new }
    }

    /// Returns a line with its words filled in; `None` if an optional word has no value.
    fn line(&self, line: &str, companion: &'static Companion) -> Result<Option<String>> {
        if line.contains("<region>") && self.node.body.attribute("zone").is_none() {
            let region = self.site.block().provider.as_ref().and_then(|it| it.attributes.get("region"));
            return match region {
                Some(_) => Ok(None),
                None => left_alone("neither its zone nor the region of the provider is set in the configuration"),
            };
        }
        self.filled(line, companion).map(Some)
    }

    fn filled(&self, text: &str, companion: &'static Companion) -> Result<String> {
        let mut result = String::with_capacity(text.len() + 32);
        let mut rest = text;
        while let Some((before, word)) = rest.split_once('<') {
            let (word, after) = word.split_once('>').unwrap_or((word, ""));
            result.push_str(before);
            result.push_str(&self.word(word, companion)?);
            rest = after;
        }
        result.push_str(rest);
        Ok(result)
    }

    fn word(&self, word: &str, companion: &'static Companion) -> Result<String> {
        match word.split_once(' ').unwrap_or((word, "")) {
            ("morning", _) => Ok(MORNING.to_string()),
            ("evening", _) => Ok(self.hour.to_string()),
            ("target", _) => Ok(format!("{}.{}{}", self.node.label(0), self.node.label(1), self.index())),
            ("label", suffix) => Ok(label(&self.name, suffix)),
            ("index", _) => Ok(self.index().to_owned()),
            ("set", paths) => self.argument(paths),
            ("name", suffix) => self.name_with(suffix),
            ("region", _) => self.region(),
            ("needed", _) => self.needed(companion.needs.as_ref()),
            _ => left_alone(format!("gpulint knows no value of `{word}`")),
        }
    }

    /// Returns the key by which an instance of the block and of its companion are the same.
    fn index(&self) -> &'static str {
        let has = |name: &str| self.node.body.attribute(name).is_some();
        match (has("count"), has("for_each")) {
            (true, _) => "[count.index]",
            (_, true) => "[each.key]",
            _ => "",
        }
    }

    /// Returns the expression of the first of these arguments that is set: `desired_capacity|min_size`.
    fn argument(&self, paths: &str) -> Result<String> {
        for path in paths.split('|') {
            let mut body = &self.node.body;
            let mut steps = path.split('.').peekable();
            while let Some(step) = steps.next() {
                if steps.peek().is_none() {
                    if let Some(found) = body.attribute(step).filter(|it| !matches!(it.expression.kind, HclKind::Null))
                    {
                        return self.written(&found.expression);
                    }
                } else if let Some(block) = body.blocks(step).next() {
                    body = &block.body;
                } else {
                    break;
                }
            }
        }
        left_alone(format!("its `{}` is not set in the block", paths.replace('|', "` or `")))
    }

    /// Returns an expression as it is in the file.
    fn written(&self, expression: &Expression) -> Result<String> {
        let text = self.text.get(expression.span.range()).unwrap_or_default();
        match text.is_empty() || text.contains('\n') || expression.span.file != self.node.body.span.file {
            true => left_alone("an argument that the new resource needs has several lines"),
            false => Ok(text.to_owned()),
        }
    }

    /// Returns the name of the block with a suffix, as an expression.
    fn name_with(&self, suffix: &str) -> Result<String> {
        let Some(name) = self.node.body.attribute("name") else { return left_alone("its `name` is not set") };
        let text = self.written(&name.expression)?;
        match &name.expression.kind {
            HclKind::Text(name) => {
                self.writer.demand_one_caller(&self.code.directory)?;
                let name = format!("{name}-{suffix}");
                if name.len() > LONGEST_NAME {
                    return left_alone("its name is too long for another name that contains it");
                }
                Ok(literal::quoted(&Literal::Text(name)))
            }
            HclKind::Template(_) if text.starts_with('"') && text.ends_with('"') => {
                Ok(format!("{}-{suffix}\"", &text[..text.len() - 1]))
            }
            _ => Ok(format!("\"${{{text}}}-{suffix}\"")),
        }
    }

    /// Returns the region of the block's zone, as an expression.
    fn region(&self) -> Result<String> {
        let Some(zone) = self.node.body.attribute("zone") else { return left_alone("its `zone` is not set") };
        match &zone.expression.kind {
            HclKind::Text(zone) => match zone.rsplit_once('-') {
                Some((region, _)) => Ok(literal::quoted(&Literal::Text(region.to_owned()))),
                None => left_alone(format!("its zone `{zone}` is in no region")),
            },
            HclKind::Template(parts) => match &**parts {
                // `"${var.region}-a"`
                [TemplatePart::Interpolation(region), TemplatePart::Literal(rest)]
                    if rest.starts_with('-') && !rest.contains(['.', '/']) && rest.matches('-').count() == 1 =>
                {
                    self.written(region)
                }
                _ => Ok(region_of(&self.written(&zone.expression)?)),
            },
            _ => Ok(region_of(&self.written(&zone.expression)?)),
        }
    }

    /// Returns the reference to the resource that a companion needs.
    fn needed(&self, needs: Option<&NeededBlock>) -> Result<String> {
        let Some(needs) = needs else { return left_alone("gpulint does not know what the new resource needs") };
        let own = |node: &&BlockNode| node.label(0) == needs.to && &*node.keyword.text == "resource";
        let is_one = |node: &&BlockNode| ["count", "for_each"].iter().all(|it| node.body.attribute(it).is_none());
        let suits = |node: &&BlockNode| self.suits(node, needs);
        let searched = self.code.resources.iter().take(MOST_SEARCHED);
        let mut found = searched.filter(own).filter(is_one).filter(suits);
        match (found.next(), found.next()) {
            (Some(node), None) => Ok(format!("{}.{}", node.label(0), node.label(1))),
            _ => left_alone(needs.why.clone()),
        }
    }

    /// Returns whether a block and its surroundings contain the strings.
    fn suits(&self, node: &BlockNode, needs: &NeededBlock) -> bool {
        let below: Vec<&BlockNode> = self.referred(node);
        let own: String = below.iter().copied().chain([node]).map(|it| self.source_of(it)).collect();
        if !needs.says.iter().all(|text| own.contains(text.as_str())) {
            return false;
        }
        let users = self
            .code
            .resources
            .iter()
            .take(MOST_SEARCHED)
            .filter(|user| self.referred(user).iter().any(|it| it.header == node.header));
        let around: String =
            users.flat_map(|user| self.referred(user).into_iter().chain([user])).map(|it| self.source_of(it)).collect();
        needs.around.iter().all(|text| own.contains(text.as_str()) || around.contains(text.as_str()))
    }

    /// Returns the resources and data sources to which a block refers.
    fn referred(&self, node: &BlockNode) -> Vec<&BlockNode> {
        let mut found = Vec::new();
        node.body.each_reference(&mut |first, steps, _| {
            let names: Vec<&str> = steps
                .iter()
                .map_while(|step| match &step.kind {
                    TraversalStepKind::Attribute(name) => Some(&**name),
                    _ => None,
                })
                .take(2)
                .collect();
            let key = match (first, names.as_slice()) {
                ("data", [kind, name]) => format!("data.{kind}.{name}"),
                (kind, [name, ..]) => format!("{kind}.{name}"),
                _ => return,
            };
            found.extend(self.code.resources.get(&key));
        });
        found
    }

    fn source_of(&self, node: &BlockNode) -> String {
        let span = node.span();
        self.writer.sources.text(span.file).get(span.range()).unwrap_or_default().to_owned()
    }
}
