//! What a deployer changes about what it deploys, or how often it deploys it, where nobody here follows it: told.

use std::collections::HashMap;

use crate::inventory::Unjudged;
use crate::source::{Sources, Span};

use crate::kubernetes::objects::chart;
use crate::kubernetes::objects::object::Object;
use crate::kubernetes::rows::table::Row;
use crate::kubernetes::text::filter::{self, Matter};

/// What changes of numbers and of accelerators speak of.
const WORDS: [&str; 8] = ["replicas", "gpu", "nvidia", "accelerator", "instance", "parallelism", "count", "limits"];

/// Deployers so far, by the directory that they deploy.
#[derive(Default)]
pub(in crate::kubernetes) struct Deployed {
    first: HashMap<String, String>,
}

impl Deployed {
    /// What is told of an object, as a whole: where nothing of the tree has accelerators, only what names some.
    pub(in crate::kubernetes) fn tell(
        &mut self,
        sources: &Sources,
        object: &Object<'_>,
        row: &Row,
        has_accelerators: bool,
    ) -> Vec<Unjudged> {
        let address = object.address();
        let matters = |span: Span, what: &str| {
            let text = sources.snippet(span);
            let speaks = || WORDS.iter().any(|word| text.to_ascii_lowercase().contains(word));
            let is_open = !matches!(what, "components" | "patches" | "postRenderers" | "replicas") || speaks();
            (has_accelerators && is_open) || filter::look(text.as_bytes()) == Matter::Asks
        };
        let path_of = |span: Span| sources.path(sources.origin(span).file);
        let changes = row.unfollowed.iter().filter_map(|path| {
            let node = path.first(object.root)?;
            let is_there = !(node.items().is_empty() && node.entries().is_empty() && node.text().is_none());
            let what = path.last_key().unwrap_or_default();
            (is_there && matters(node.span, what)).then(|| {
                let reason = format!("{address} changes what it deploys by `{what}`, which is not followed here");
                Unjudged::new(path_of(node.span), reason).about(&address).at(node.span)
            })
        });
        let mut told: Vec<Unjudged> = changes.collect();
        for layers in &row.values {
            let Some(chart) = layers.chart.as_ref().filter(|_| has_accelerators) else { continue };
            for place in layers.each.as_ref().map_or_else(|| vec![object.root], |each| nodes(each.all(object.root))) {
                let Some(node) = chart.first(place) else { continue };
                let Some(directory) =
                    node.text().map(|path| path.trim_start_matches("./").trim_end_matches('/').to_owned())
                else {
                    continue;
                };
                // A chart is rendered for each of its releases.
                if directory.is_empty() || directory.contains(['{', '$']) || chart::is_at(sources, &directory) {
                    continue;
                }
                let is_here = !sources.tree().list(&directory).is_empty();
                let first = self.first.entry(directory.clone()).or_insert_with(|| address.clone());
                if is_here && *first != address {
                    let reason = format!("{address} deploys `{directory}` once more than {first}: it is counted once");
                    told.push(Unjudged::new(path_of(node.span), reason).about(&address).at(node.span));
                }
            }
        }
        told.truncate(3);
        told
    }
}

fn nodes<'t>(found: Vec<crate::kubernetes::rows::path::Match<'t>>) -> Vec<&'t crate::yaml::Node> {
    found.into_iter().map(|it| it.node).collect()
}
