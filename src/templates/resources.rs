//! Applies the resource definitions to the blocks of documents.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::inventory::{Fact, FactOverrides, ReadBy, Resource, RunId};
use crate::languages::document::{DocResource, DocValue, Presence};
use crate::languages::hcl::value::HclValue;
use crate::source::Span;
use crate::terraform::{self, EvaluatedAttribute, EvaluatedAttributes, EvaluatedBlock, Provider};

use super::blocks;
use super::names::TypeNaming;
use super::reading::TemplateReading;

/// The prefix of metadata that suppresses a rule; Kubernetes annotations use the same words.
const IGNORES: &str = "gpulint.dev/ignore.";

/// The resources of one provider in a deployment.
pub(super) struct ProviderResources {
    /// The name of the provider in resource definitions.
    pub(super) provider: &'static str,
    /// The settings of all resources: the region.
    pub(super) settings: Vec<(String, HclValue)>,
    pub(super) resources: Vec<DocResource>,
}

/// The place of the document that declares the resources.
pub(super) struct DocumentPlace<'d> {
    pub(super) run: &'d RunId,
    /// The whole document.
    pub(super) span: Span,
    /// The places of nested documents with a message.
    pub(super) reported: &'d BTreeSet<Span>,
}

impl ProviderResources {
    /// Adds the machines and requests of the resources.
    pub(super) fn add(
        &self,
        table: &dyn TypeNaming,
        DocumentPlace { run, span, reported }: DocumentPlace<'_>,
        adjust: Option<&dyn FactOverrides>,
        reading: &mut TemplateReading,
    ) {
        let provider = Arc::new(self.configured(span));
        let made = self.resources.iter().map(|it| (it, blocks::block(it, table, &provider)));
        let (off, on): (Vec<_>, Vec<_>) = made.partition(|(it, _)| matches!(it.presence, Presence::Never(_)));
        let on: Vec<_> = on.into_iter().map(|(_, block)| block).collect();
        let off: Vec<_> = off.into_iter().map(|(_, block)| block).collect();
        let missing = on.iter().filter(|it| it.keyword == "module" && !reported.contains(&it.span));
        reading.inventory.diagnostics.extend(missing.map(not_at_hand));
        let adjust = adjust.map(|adjust| (adjust, run));
        let mut found = terraform::resources((&on, &off), ReadBy::Template, adjust);
        let by_address: HashMap<&str, &DocResource> = self.resources.iter().map(|it| (&*it.address, it)).collect();
        for resource in &mut found {
            resource.run = Some(run.clone());
            if let Some(declared) = by_address.get(&*resource.declared.block) {
                resource.kind = declared.kind.to_string();
                add_remarks(resource, declared);
            }
        }
        reading.inventory.resources.extend(found);
        reading.inventory.unlisted.extend(terraform::unlisted(&on));
        reading.blocks.extend(on);
    }

    fn configured(&self, place: Span) -> Provider {
        let settings = self.settings.iter().map(|(name, value)| {
            let (value, span) = (value.clone(), value.span);
            (name.clone(), EvaluatedAttribute { value, span, expression: span, literal: true, beginning: None })
        });
        let attributes: EvaluatedAttributes = settings.collect();
        Provider { name: self.provider.to_owned(), alias: None, span: place, attributes, blocks: Vec::new() }
    }
}

/// Returns the diagnostic for a nested template that is not in the tree.
fn not_at_hand(block: &EvaluatedBlock) -> Diagnostic {
    let source = block.source.as_deref().filter(|it| !it.is_empty()).unwrap_or("unknown");
    let message = format!("the template of `{}` is not in this repository (its location is {source})", block.address);
    let help = "add the directory that contains the template to the command";
    Diagnostic::note(message, block.span)
        .with_help(help)
        .skipping(SkipKind::MissingTemplate, "template not in this repository")
}

/// Adds suppressions from the metadata of a resource.
fn add_remarks(resource: &mut Resource, declared: &DocResource) {
    let said = declared.remarks.iter().filter(|(key, _)| key.starts_with(IGNORES));
    let said = said.map(|(key, doc)| (key.to_string(), remark(doc)));
    resource.labels.entries.extend(said);
}

fn remark(doc: &DocValue) -> Fact<Arc<str>> {
    match doc.value().as_text() {
        Some(text) => Fact::written(text.as_ref().into(), doc.at),
        None => Fact::unknown("the comment is not plain text", doc.at),
    }
}
