//! Finds the provider configuration of a resource.

use std::rc::Rc;
use std::sync::Arc;

use crate::languages::hcl::syntax::{BlockNode, Expression, HclKind, TraversalStepKind};
use crate::terraform::block::Provider;
use crate::terraform::code::clouds::CLOUDS;
use crate::terraform::code::modules::provider_of_source;

use super::{Instance, Repetition, RootEvaluator, Scope};

impl RootEvaluator<'_> {
    /// Returns the configuration that a resource uses: the one that `provider` names, or the default of its type.
    pub(super) fn provider_of(&self, module: &Rc<Instance>, node: &BlockNode) -> Option<Arc<Provider>> {
        let name = match node.body.attribute("provider") {
            Some(attribute) => provider_name(&attribute.expression)?,
            None => node.label(0).split('_').next()?.to_owned(),
        };
        self.provider(module, &name)
    }

    /// Returns the configuration that a module call passes on, for the provider of the module's resources.
    pub(super) fn provider_of_call(
        &self,
        module: &Rc<Instance>,
        node: &BlockNode,
        source: &str,
    ) -> Option<Arc<Provider>> {
        let Some(name) = provider_of_source(source) else {
            // If the source does not name a cloud, uses the only configuration.
            let mut clouds =
                CLOUDS.iter().map(|it| it.terraform).filter(|name| module.code.providers.get(name).is_some());
            let only = clouds.next().filter(|_| clouds.next().is_none())?;
            return self.provider(module, &given_provider(node, only).unwrap_or_else(|| only.to_owned()));
        };
        self.provider(module, &given_provider(node, &name).unwrap_or(name))
    }

    /// Returns the default configurations of clouds in a module.
    pub(in crate::terraform) fn clouds(&self, module: &Rc<Instance>) -> Vec<Arc<Provider>> {
        let names = CLOUDS.iter().map(|it| it.terraform).filter(|name| module.code.providers.get(name).is_some());
        names.filter_map(|name| self.provider(module, name)).collect()
    }

    /// Returns the configuration `aws` or `aws.west` of a module.
    fn provider(&self, module: &Rc<Instance>, name: &str) -> Option<Arc<Provider>> {
        module.providers.get(name, || self.work_out_provider(module, name)).ok().flatten()
    }

    fn work_out_provider(&self, module: &Rc<Instance>, name: &str) -> Option<Arc<Provider>> {
        let (kind, alias) = name.split_once('.').map_or((name, None), |(kind, alias)| (kind, Some(alias)));
        if let Some(node) = module.code.providers.get(name) {
            let block = self.block(node, Scope::of(module, &Repetition::Single), module);
            return Some(Arc::new(Provider {
                name: kind.to_owned(),
                alias: alias.map(str::to_owned),
                span: block.span,
                attributes: block.attributes,
                blocks: block.blocks,
            }));
        }
        let call = module.call.as_ref()?;
        match call.node().and_then(|node| given_provider(node, name)) {
            Some(given) => self.provider(&call.parent, &given),
            None if alias.is_none() => self.provider(&call.parent, name),
            None => None,
        }
    }
}

/// Returns the configuration that `providers = { name = … }` of a module call assigns to a name.
fn given_provider(node: &BlockNode, name: &str) -> Option<String> {
    let HclKind::Object(items) = &node.body.attribute("providers")?.expression.kind else { return None };
    let item = items.iter().find(|item| provider_name(&item.key).as_deref() == Some(name))?;
    provider_name(&item.value)
}

/// Returns the name `aws.west`, quoted or not.
fn provider_name(expression: &Expression) -> Option<String> {
    match &expression.kind {
        HclKind::Name(name) | HclKind::Text(name) => Some(name.to_string()),
        HclKind::Traversal(base, steps) => {
            let base = provider_name(base)?;
            match &steps.first()?.kind {
                TraversalStepKind::Attribute(alias) => Some(format!("{base}.{alias}")),
                _ => Some(base),
            }
        }
        _ => None,
    }
}
