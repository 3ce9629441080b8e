//! Defines the commit under review, for links.

/// The commit under review, for links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewCommit {
    url: String,
}

impl ReviewCommit {
    /// Returns the address of the repository's files at the commit; no character of it can end a link in Markdown.
    pub fn new(url: &str) -> Option<ReviewCommit> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/%:@+=,".contains(c);
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        (is_web && url.chars().all(plain)).then(|| ReviewCommit { url: url.trim_end_matches('/').to_owned() })
    }

    /// Returns the address of a subdirectory; none if its name is not valid in an address.
    pub(crate) fn below(&self, directory: &str) -> Option<ReviewCommit> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/@+=,".contains(c);
        let url = format!("{}/{directory}", self.url);
        directory.chars().all(plain).then(|| ReviewCommit { url: url.trim_end_matches('/').to_owned() })
    }

    /// Returns the address without a final slash.
    pub(in crate::report) fn url(&self) -> &str {
        &self.url
    }
}
