//! Collects the variables of a policy: named expressions that its condition shares.

use std::cell::RefCell;

/// The variables of a policy, each after those that it uses.
#[derive(Debug, Default)]
pub(super) struct PolicyVariables {
    all: RefCell<Vec<(String, String)>>,
}

impl PolicyVariables {
    /// Returns the expression that names a variable, and defines the variable at its first use.
    pub(super) fn get(&self, name: &str, define: impl FnOnce() -> String) -> String {
        let is_known = self.all.borrow().iter().any(|(known, _)| known == name);
        if !is_known {
            let expression = define();
            self.all.borrow_mut().push((name.to_owned(), expression));
        }
        format!("variables.{name}")
    }

    /// Returns names and expressions.
    pub(super) fn into_list(self) -> Vec<(String, String)> {
        self.all.into_inner()
    }
}

/// Formats strings as a list.
pub(super) fn list<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(crate::languages::cel::quoted).collect();
    format!("[{}]", texts.join(", "))
}

/// Formats pairs of a string and an expression as a map.
pub(super) fn map<'t>(entries: impl IntoIterator<Item = (&'t str, String)>) -> String {
    let entries: Vec<String> =
        entries.into_iter().map(|(key, value)| format!("{}: {value}", crate::languages::cel::quoted(key))).collect();
    format!("{{{}}}", entries.join(", "))
}
