//! Finds accelerators in Terraform, Kubernetes, CloudFormation, ARM/Bicep and Pulumi files, prices them and reports
//! waste.
//!
//! `ARCHITECTURE.md` shows the modules and their dependencies. This file calls them in order.

pub mod admission;
mod analysis;
pub mod catalog;
pub mod cli;
mod commands;
mod compare;
pub mod config;
pub mod decide;
pub mod diagnostic;
pub mod fit;
pub mod fix;
pub mod forge;
mod front_ends;
pub mod http;
pub mod inventory;
pub mod kubernetes;
mod languages;
pub mod measured;
pub mod pricing;
pub mod refresh;
pub mod report;
pub mod resolve;
pub mod rules;
pub mod runs;
mod slurm;
pub mod source;
mod targets;
pub mod templates;
pub mod terraform;
pub mod usage;
pub mod what_if;

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::Catalog;
use inventory::WantedRaw;
use rules::{RuleContext, Rules};
use source::{Date, SourceFiles};

pub use analysis::{Analysis, AnalysisCache, RetainedResources};

/// The settings of all modules.
#[derive(Debug, Clone, Default)]
pub struct AnalysisSettings {
    pub terraform: terraform::TerraformOptions,
    pub kubernetes: kubernetes::KubernetesOptions,
    pub runs: runs::RunOptions,
    pub pricing: pricing::PricingSettings,
    pub measured: measured::UsageOptions,
    pub catalog: Catalog,
    pub rules: Arc<Rules>,
    /// The raw objects that rules need in addition to facts.
    pub raw: WantedRaw,
    /// Labels by which the user's workloads declare a fact: `acme.example/llm` → `model`.
    pub declaring_labels: BTreeMap<String, String>,
    /// The assumed load of servers without a label for it.
    pub traffic: Vec<resolve::Traffic>,
    /// The day from which ages and deadlines count.
    pub today: Option<Date>,
    /// The most that a month may cost. Findings then set the limits that are missing or too high.
    pub limit: Option<catalog::Money>,
    /// The what-if overrides.
    pub scenario: Option<Arc<dyn inventory::FactOverrides>>,
}

/// Reads the files at `paths` and returns the complete analysis. The result depends only on files and settings.
pub fn analyze(sources: &SourceFiles, paths: &[String], settings: &AnalysisSettings) -> Analysis {
    analyze_with(sources, paths, settings, &AnalysisCache::default())
}

/// The same, with a cache shared between states of the tree.
pub fn analyze_with(
    sources: &SourceFiles,
    paths: &[String],
    settings: &AnalysisSettings,
    cache: &AnalysisCache,
) -> Analysis {
    let read = front_ends::read(sources, paths, settings, cache);
    let front_ends::Reading { mut inventory, blocks, roots, plans, comments, plain, .. } = read;
    let tools = resolve::Tools {
        catalog: &settings.catalog,
        defaults: &settings.pricing.defaults,
        runs: &settings.runs,
        declaring_labels: &settings.declaring_labels,
        traffic: &settings.traffic,
        today: settings.today,
    };
    let left_out = resolve::complete(&mut inventory, sources, paths, &plain, &tools);
    let measured = measured::measure(&mut inventory, sources, &settings.measured, &settings.catalog, settings.today);
    let catalog = fit::with_configs_beside(&settings.catalog, &inventory, sources);
    let mut bill = pricing::bill(&inventory, &settings.catalog, &settings.pricing);
    pricing::count_dearer(&mut inventory, &mut bill);
    let fits = fit::assess_all(&inventory, &bill, &catalog, &settings.pricing);
    let world = RuleContext {
        inventory: &inventory,
        bill: &bill,
        fit: &fits,
        today: settings.today,
        delta: None,
        before: None,
        catalog: &catalog,
        pricing: &settings.pricing,
    };
    let judgement = settings.rules.judge(&world, sources);
    let mut findings = judgement.findings;
    findings.extend(settings.rules.unreadable(&inventory.diagnostics));
    if let Some(most) = settings.limit {
        let limits = pricing::new_limits(&inventory, &bill, most).limits;
        findings.extend(settings.rules.limit_findings(&limits, &inventory));
    }
    fix::plan(&mut findings, &inventory, sources, &front_ends::Writers::new(sources, &blocks, &roots));
    rules::combine_lacks(&inventory, &mut findings);
    Analysis {
        findings,
        undetermined: judgement.undetermined,
        totals: judgement.totals,
        broken_rules: judgement.failures,
        inventory,
        blocks,
        roots,
        plans,
        comments,
        bill,
        fits,
        left_out,
        measured,
    }
}
