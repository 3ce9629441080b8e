//! `extends`: a page that is made of a built-in one. What it does not say, the other says; `params` and `match` are
//! merged key by key, and `when` is a further condition.

use super::fields::Fields;
use super::{front_matter, meant};
use crate::rules::set::built_in;
use crate::rules::yaml::{self, PageName, PageValue};

/// What is never taken over: the page's own name, and what says something about its own text.
const OWN: [&str; 4] = ["name", "since", "untested", "extends"];

/// Fields whose entries are merged, the page's own first.
const MERGED: [&str; 2] = ["params", "match"];

pub(super) fn inherit(fields: &mut Fields<'_>) {
    let Some(node) = fields.take("extends") else { return };
    let PageValue::Text(base) = &node.value else {
        fields.wrong(&node.at, "`extends` is the name of a built-in rule", None);
        return;
    };
    let Some(text) = built_in().find(|(name, _)| **name == **base).map(|(_, text)| text) else {
        let name = PageName { text: base.clone(), at: node.at.clone() };
        let known: Vec<&str> = built_in().map(|(name, _)| name).collect();
        let help =
            meant(&name, known.iter().copied()).unwrap_or_else(|| "`gpulint rules list` shows them all".to_owned());
        fields.wrong(&node.at, format!("there is no built-in rule `{}`", base.escape_debug()), Some(help));
        return;
    };
    // built-in pages are proven to load
    let Ok(front) = front_matter(text) else { return };
    let Ok(yaml::PageNode { value: PageValue::Map(entries), .. }) = yaml::parse(text.get(front).unwrap_or_default())
    else {
        return;
    };
    if entries
        .iter()
        .any(|(name, node)| name.text == "for" && matches!(&node.value, PageValue::Text(it) if it == "text"))
    {
        let help = "it says something about text that cannot be read".to_owned();
        fields.wrong(&node.at, format!("`{base}` has no condition that could be tightened"), Some(help));
        return;
    }
    let entries = entries.into_owned().into_iter().filter(|(name, _)| !OWN.contains(&&*name.text)).collect();
    fields.inherit(base, &node.at, entries, &MERGED);
}
