//! Finds the blocks that a block refers to, such as the template of a group or the target of a schedule.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::languages::hcl::value::{Cause, HclValue};
use crate::source::{FileId, Span};

use super::super::address::base;
use super::super::block::EvaluatedBlock;
use super::language::LinkWord;
use super::node::{PlacedValue, ValueNode};
use super::scope::RowScope;
use crate::inventory::row_path::{RowPath, Start};

/// All blocks, indexed by address and by type.
pub(in crate::terraform) struct BlockIndex<'a> {
    by_address: HashMap<&'a str, Vec<&'a EvaluatedBlock>>,
    by_type: HashMap<&'a str, Vec<&'a EvaluatedBlock>>,
    /// Blocks by the address that they refer to.
    referrers: HashMap<&'a str, Vec<(&'a EvaluatedBlock, Span)>>,
    /// Addresses of module calls that contain blocks.
    modules: HashSet<&'a str>,
    /// Resources by the start of their code. Instances share it.
    by_place: BTreeMap<(FileId, u32), Vec<&'a EvaluatedBlock>>,
    /// The targets of a link by their own names. The index is created for the first string that may be a name.
    by_name: RefCell<HashMap<*const LinkWord, Rc<ByName<'a>>>>,
}

type ByName<'a> = HashMap<String, Vec<&'a EvaluatedBlock>>;

/// The target of a link.
#[derive(Debug, Clone)]
pub(super) enum Linked<'a> {
    Blocks(Vec<(&'a EvaluatedBlock, Span)>),
    /// The configuration names something that it does not contain.
    Outside(Span),
}

/// The maximum number of blocks between a reference and its target.
const LONGEST_CHAIN: usize = 3;

impl<'a> BlockIndex<'a> {
    pub(in crate::terraform) fn new(blocks: &'a [EvaluatedBlock], switched_off: &'a [EvaluatedBlock]) -> Self {
        let all = || blocks.iter().chain(switched_off);
        let modules = all().filter_map(|block| module_of(block).strip_suffix('.')).collect();
        let (by_address, by_type, referrers) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (by_place, by_name) = (BTreeMap::new(), RefCell::default());
        let mut index = BlockIndex { by_address, by_type, referrers, modules, by_place, by_name };
        for block in all().filter(|it| matches!(it.keyword.as_str(), "resource" | "data" | "module")) {
            index.by_address.entry(base(&block.address)).or_default().push(block);
            if let Some(kind) = block.labels.first().filter(|_| block.keyword == "resource") {
                index.by_type.entry(kind).or_default().push(block);
                index.by_place.entry((block.body.file, block.body.start)).or_default().push(block);
            }
            for (to, span) in &block.references {
                index.referrers.entry(base(to)).or_default().push((block, *span));
            }
        }
        index
    }

    /// Returns whether the code of this module call was read, so that its blocks are in the index.
    pub(super) fn is_expanded(&self, call: &EvaluatedBlock) -> bool {
        self.modules.contains(call.address.as_str())
    }

    /// Returns how many blocks refer to this one. Each instance counts once.
    pub(in crate::terraform) fn users(&self, address: &str) -> usize {
        let users = self.referrers.get(base(address)).into_iter().flatten();
        users.map(|(block, _)| block.span).collect::<HashSet<_>>().len()
    }

    /// Returns the blocks that refer to this one.
    pub(super) fn referrers(&self, address: &str) -> impl Iterator<Item = &'a EvaluatedBlock> {
        self.referrers.get(base(address)).into_iter().flatten().map(|(block, _)| *block)
    }

    /// Returns the instances of the block with this address, which has no key.
    pub(in crate::terraform) fn instances(&self, address: &str) -> &[&'a EvaluatedBlock] {
        self.by_address.get(address).map_or(&[], Vec::as_slice)
    }

    /// Returns the block with this address, if there is exactly one.
    pub(in crate::terraform) fn only(&self, address: &str) -> Option<&'a EvaluatedBlock> {
        let all = self.by_address.get(base(address))?;
        let mut exact = all.iter().filter(|block| block.address == address);
        exact.next().copied().filter(|_| exact.next().is_none())
    }

    /// Returns the target of a link; `None` if the configuration has no such link.
    pub(super) fn follow(&self, scope: &RowScope<'a>, link: &'static LinkWord) -> Option<Linked<'a>> {
        if link.back {
            let of: Vec<&EvaluatedBlock> = match link.of.as_deref().map(|name| scope.links.get(name)) {
                None => vec![scope.block],
                Some(Some(Linked::Blocks(blocks))) => blocks.iter().map(|(block, _)| *block).collect(),
                Some(_) => Vec::new(),
            };
            let all = of.iter().filter_map(|block| self.referrers.get(base(&block.address)));
            let referrers = all.flatten().copied();
            let there = |it: &EvaluatedBlock| !it.is_none() || scope.block.is_none();
            let mut found: Vec<_> = referrers.filter(|(it, _)| there(it) && is_one_of(it, &link.to.0)).collect();
            if found.is_empty() && link.of.is_none() {
                let places: Vec<ValueNode<'a>> = link.at.0.iter().flat_map(|path| scope.find(path)).collect();
                found = self.named(scope, link, &places);
            }
            return (!found.is_empty()).then(|| Linked::Blocks(same_key(scope.block, found)));
        }
        let places: Vec<ValueNode<'a>> = link.at.0.iter().flat_map(|path: &RowPath| scope.find(path)).collect();
        if places.is_empty() && !link.at.0.is_empty() {
            return None;
        }
        let led: Vec<_> = places.iter().flat_map(|place| self.led(scope.block, place, link, 0)).collect();
        if !led.is_empty() {
            return Some(Linked::Blocks(same_key(scope.block, led)));
        }
        let named = self.named(scope, link, &places);
        if !named.is_empty() {
            return Some(Linked::Blocks(named));
        }
        let inside = |span: &Span| places.is_empty() || places.iter().any(|node| node.extent().contains(*span));
        let mut found = self.referred(scope.block, link, &inside, 0);
        if found.is_empty() {
            // If the source of a value is hidden, the only reference to that type is the target.
            found = self.referred(scope.block, link, &|_| true, 0);
        }
        match places.first() {
            _ if !found.is_empty() => Some(Linked::Blocks(same_key(scope.block, found))),
            Some(place) => Some(Linked::Outside(place.span())),
            None => None,
        }
    }

    /// Returns the blocks that a value came from, through any number of variables and modules: a block that computes
    /// it, or one that contains it.
    fn led(
        &self,
        from: &'a EvaluatedBlock,
        place: &ValueNode<'a>,
        link: &'static LinkWord,
        depth: usize,
    ) -> Vec<(&'a EvaluatedBlock, Span)> {
        let ValueNode::Value(held) = place else { return Vec::new() };
        let mut causes: Vec<&Cause> = Vec::new();
        if let Some(cause) = held.value.any_cause() {
            causes.push(cause);
            causes.extend(cause.candidates.iter().filter_map(HclValue::any_cause).map(|cause| &**cause));
        }
        let mut ends: Vec<&'a EvaluatedBlock> = Vec::new();
        for computed in causes.into_iter().filter_map(|cause| cause.computed_by.as_ref()) {
            let all = self.by_address.get(base(&computed.address)).map(Vec::as_slice).unwrap_or_default();
            let exact: Vec<&EvaluatedBlock> =
                all.iter().copied().filter(|end| end.address == *computed.address).collect();
            ends.extend(if exact.is_empty() { all.to_vec() } else { exact });
        }
        if !from.body.contains(held.value.span) {
            let around = self.around(held.value.span, link);
            // The code of a module exists once for all of its calls.
            let here: Vec<&EvaluatedBlock> =
                around.iter().copied().filter(|block| module_of(block) == module_of(from)).collect();
            ends.extend(if here.is_empty() { around } else { here });
        }
        self.reached(ends, place.span(), link, depth)
    }

    /// Returns the resources of the link's types whose code contains a position.
    fn around(&self, span: Span, link: &'static LinkWord) -> Vec<&'a EvaluatedBlock> {
        let upto = (span.file, 0)..=(span.file, span.start);
        let nearest = self.by_place.range(upto).next_back().map(|(_, blocks)| blocks.as_slice()).unwrap_or_default();
        let kinds = link.to.0.iter().chain(&link.through.0);
        let of_kind = kinds.flat_map(|kind| nearest.iter().copied().filter(move |it| it.labels.first() == Some(kind)));
        of_kind.filter(|block| block.body.contains(span)).collect()
    }

    fn referred(
        &self,
        block: &'a EvaluatedBlock,
        link: &'static LinkWord,
        inside: &dyn Fn(&Span) -> bool,
        depth: usize,
    ) -> Vec<(&'a EvaluatedBlock, Span)> {
        let mut found: Vec<(&'a EvaluatedBlock, Span)> = Vec::new();
        for (to, span) in block.references.iter().filter(|(_, span)| inside(span)) {
            let ends = self.by_address.get(base(to)).cloned().unwrap_or_default();
            found.extend(self.reached(ends, *span, link, depth));
        }
        unique(found)
    }

    /// Returns the targets of a link, also through the types in between.
    fn reached(
        &self,
        ends: Vec<&'a EvaluatedBlock>,
        span: Span,
        link: &'static LinkWord,
        depth: usize,
    ) -> Vec<(&'a EvaluatedBlock, Span)> {
        let mut found = Vec::new();
        for end in ends {
            if is_one_of(end, &link.to.0) {
                found.push((end, span));
            } else if is_one_of(end, &link.through.0) && depth < LONGEST_CHAIN {
                let attributes = end.attributes.values().map(|it| ValueNode::Value(PlacedValue::of(it)));
                let led = attributes.flat_map(|place| self.led(end, &place, link, depth + 1));
                let mut further: Vec<_> = led.chain(self.referred(end, link, &|_| true, depth + 1)).collect();
                if further.is_empty() {
                    further = self.called_by(end, link);
                }
                found.extend(further.into_iter().map(|(end, _)| (end, span)));
            }
        }
        unique(found)
    }

    /// Returns targets whose name is in an argument of a block in between.
    fn called_by(&self, between: &'a EvaluatedBlock, link: &'static LinkWord) -> Vec<(&'a EvaluatedBlock, Span)> {
        let names = self.names(link);
        let texts = between.attributes.iter().filter(|(name, _)| name.as_str() != "name");
        let texts = texts.filter_map(|(_, it)| Some((it.value.as_text()?, it.span)));
        let ends = texts.filter_map(|(text, span)| Some((names.get(text.as_ref())?, span)));
        ends.flat_map(|(ends, span)| ends.iter().map(move |end| (*end, span)))
            .filter(|(end, _)| is_one_of(end, &link.to.0))
            .collect()
    }

    /// Returns targets whose name is written where a reference could be, preferring those of the same module.
    fn named(
        &self,
        scope: &RowScope<'a>,
        link: &'static LinkWord,
        places: &[ValueNode<'a>],
    ) -> Vec<(&'a EvaluatedBlock, Span)> {
        let mut found = Vec::new();
        for place in places.iter().flat_map(|place| place.clone().keyed_elements()).map(|(_, place)| place) {
            let Some(text) = place.text() else { continue };
            let names = self.names(link);
            let within = link.patterns.0.iter().find_map(|pattern| pattern.first_group(&text));
            let ends = names.get(within.as_deref().unwrap_or(&text)).into_iter().flatten().copied().collect();
            found.extend(self.reached(ends, place.span(), link, 0));
        }
        let here: Vec<_> = found.iter().copied().filter(|(it, _)| module_of(it) == module_of(scope.block)).collect();
        unique(if here.is_empty() { found } else { here })
    }

    fn names(&self, link: &'static LinkWord) -> Rc<ByName<'a>> {
        let make = || {
            let mut all = ByName::new();
            let kinds = link.to.0.iter().chain(&link.through.0);
            for end in kinds.filter_map(|kind| self.by_type.get(kind.as_str())).flatten() {
                let written = link.by.0.iter().flat_map(|path| RowScope::of(end).find(path));
                let names: BTreeSet<String> = written.filter_map(|node| node.text()).chain(called(end)).collect();
                for name in names {
                    all.entry(name).or_default().push(*end);
                }
            }
            Rc::new(all)
        };
        self.by_name.borrow_mut().entry(std::ptr::from_ref(link)).or_insert_with(make).clone()
    }
}

/// Returns the names that the provider uses. A plan contains them for existing resources.
fn called(block: &EvaluatedBlock) -> impl Iterator<Item = String> {
    let names = ["id", "arn", "self_link", "self_link_unique"].into_iter();
    names.filter_map(|name| Some(block.attributes.get(name)?.value.as_text()?.into_owned()))
}

fn unique(found: Vec<(&EvaluatedBlock, Span)>) -> Vec<(&EvaluatedBlock, Span)> {
    let mut seen: HashSet<*const EvaluatedBlock> = HashSet::new();
    found.into_iter().filter(|(block, _)| seen.insert(std::ptr::from_ref(*block))).collect()
}

/// Returns the links of a definition that a block has. Links that start at the end of another link come last.
pub(super) fn follow_all<'a>(
    index: &BlockIndex<'a>,
    scope: &mut RowScope<'a>,
    links: &'static BTreeMap<String, LinkWord>,
) {
    let (late, early): (Vec<_>, Vec<_>) = links
        .iter()
        .partition(|(_, word)| word.of.is_some() || word.at.0.iter().any(|path| matches!(path.start, Start::Link(_))));
    for (name, word) in early.into_iter().chain(late) {
        if word.unless.as_ref().is_some_and(|other| scope.links.contains_key(other.as_str())) {
            continue;
        }
        if let Some(linked) = index.follow(scope, word) {
            scope.links.insert(name, linked);
        }
    }
}

/// Returns whether a block has one of these kinds: a resource type, `data.` and a type, or `module`.
fn is_one_of(block: &EvaluatedBlock, kinds: &[String]) -> bool {
    let Some(label) = block.labels.first() else { return false };
    kinds.iter().any(|kind| match block.keyword.as_str() {
        "resource" => kind == label,
        "data" => kind.strip_prefix("data.") == Some(label),
        "module" => kind == "module",
        _ => false,
    })
}

/// Returns the instance with the same key, if both blocks have `count` or `for_each`.
fn same_key<'a>(block: &EvaluatedBlock, found: Vec<(&'a EvaluatedBlock, Span)>) -> Vec<(&'a EvaluatedBlock, Span)> {
    let key =
        |block: &'_ EvaluatedBlock| block.address.get(base(&block.address).len()..).unwrap_or_default().to_owned();
    let own = key(block);
    let same: Vec<_> = found.iter().copied().filter(|(end, _)| !own.is_empty() && key(end) == own).collect();
    if same.is_empty() { found } else { same }
}

/// Returns the module path of a block such as `module.a["x"].`; empty in the root module.
pub(in crate::terraform) fn module_of(block: &EvaluatedBlock) -> &str {
    block.reference().and_then(|own| base(&block.address).strip_suffix(&own)).unwrap_or_default()
}
