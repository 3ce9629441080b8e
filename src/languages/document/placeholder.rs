//! Recognizes values that another program fills in before a deployment.

use std::sync::Arc;

use regex::Regex;

use crate::languages::hcl::value::{Cause, HclValue};
use crate::source::{Span, static_regex};

/// Returns an unknown value if a given value contains a placeholder. The default inside of a placeholder applies only
/// if the program has no other value, so it is shown and not used.
pub(crate) fn filled_in(text: &str, at: Span) -> Option<HclValue> {
    has_placeholder(text).then(|| HclValue::unknown(format!("another program fills in `{text}`"), at))
}

/// Returns the given value of a parameter. If it is unknown, the allowed values are its candidates.
pub(crate) fn among_allowed(given: &HclValue, allowed: impl FnOnce() -> Vec<HclValue>) -> HclValue {
    match given.cause().filter(|it| it.candidates.is_empty()) {
        Some(cause) => HclValue::because(&Arc::new(Cause { candidates: allowed(), ..Cause::clone(cause) }), given.span),
        None => given.clone(),
    }
}

fn has_placeholder(text: &str) -> bool {
    text.len() <= LONGEST && PLACEHOLDER.is_match(text)
}

/// Longer values are scripts and documents, which have variables of their own.
const LONGEST: usize = 256;

static_regex!(
/// A word with a placeholder of `azd`, `envsubst`, a replacement task of a pipeline, a template engine or a script.
static PLACEHOLDER: Regex = concat!(
        r"^[^\s{}$#]*(?:\$\{[^{}]*\}|\$\([^()]*\)|#\{[^{}]*\}#?|\{\{[^{}]*\}\}|\$\{\{[^{}]*\}\}|\$[A-Za-z_]\w*",
        r"|\b__[A-Za-z]\w*__\b|<[A-Za-z][\w .-]*>|@@?[A-Z][A-Z0-9_]*@@?|%[A-Z][A-Z0-9_]*%)\S*$",
    ));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_unknown_and_plain_values_are_not() {
        for text in [
            "${GPU_VM_SIZE}",
            "${X=Standard_NC24ads_A100_v4}",
            "#{X}#",
            "#{ X }",
            "__X__",
            "Standard_NC${N}s_v3",
            "$(vmSize)",
            "{{ size }}",
            "${{ vars.SIZE }}",
            "p5.${SIZE:-48xlarge}",
            "$SIZE",
            "<your vm size>",
            "@SIZE@",
            "%SIZE%",
        ] {
            assert!(has_placeholder(text), "{text}");
        }
        for text in
            ["Standard_NC6s_v3", "a__b__c", "#!/bin/bash", "echo ${X}", "a <b", "10%", "me@example.com", "", "$5"]
        {
            assert!(!has_placeholder(text), "{text}");
        }
    }
}
