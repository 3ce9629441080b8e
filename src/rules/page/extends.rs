//! Handles `extends`, by which a rule is based on a built-in one. It inherits the fields that it does not set.
//! `params` and `match` are merged key by key, and `when` is an additional condition.

use super::fields::PageFields;
use super::{front_matter, meant};
use crate::rules::set::built_in;
use crate::rules::yaml::{self, PageName, PageValue};

/// Fields that are never inherited: the rule's own name, and fields about its own file.
const OWN: [&str; 4] = ["name", "since", "untested", "extends"];

/// Fields whose entries are merged; the rule's own entries come first.
const MERGED: [&str; 2] = ["params", "match"];

pub(super) fn inherit(fields: &mut PageFields<'_>) {
    let Some(node) = fields.take("extends") else { return };
    let PageValue::Text(base) = &node.value else {
        fields.wrong(&node.at, "`extends` must name a built-in rule", None);
        return;
    };
    let Some(text) = built_in().find(|(name, _)| **name == **base).map(|(_, text)| text) else {
        let name = PageName { text: base.clone(), at: node.at.clone() };
        let known: Vec<&str> = built_in().map(|(name, _)| name).collect();
        let help =
            meant(&name, known.iter().copied()).unwrap_or_else(|| "`gpulint rules list` shows all rules".to_owned());
        fields.wrong(&node.at, format!("there is no built-in rule `{}`", base.escape_debug()), Some(help));
        return;
    };
    // A test proves that built-in rule files load.
    let Ok(front) = front_matter(text) else { return };
    let Ok(yaml::PageNode { value: PageValue::Map(entries), .. }) = yaml::parse(text.get(front).unwrap_or_default())
    else {
        return;
    };
    if entries
        .iter()
        .any(|(name, node)| name.text == "for" && matches!(&node.value, PageValue::Text(it) if it == "text"))
    {
        let help = "it reports files that gpulint cannot read".to_owned();
        fields.wrong(&node.at, format!("`{base}` has no condition to extend"), Some(help));
        return;
    }
    let entries = entries.into_owned().into_iter().filter(|(name, _)| !OWN.contains(&&*name.text)).collect();
    fields.inherit(base, &node.at, entries, &MERGED);
}
