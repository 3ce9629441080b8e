//! Converts between editor addresses and paths of this system.

use std::path::{Path, PathBuf};

use url::Url;

/// Returns the file of an address, or `None` for an address that is not a file.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok()?;
    if url.scheme() != "file" {
        return None;
    }
    // Some editors write the colon of a drive as `%3A`.
    let url = match url.path().replacen("%3A", ":", 1).replacen("%3a", ":", 1) {
        path if cfg!(windows) && path != url.path() => Url::parse(&format!("file://{path}")).ok()?,
        _ => url,
    };
    url.to_file_path().ok()
}

pub(super) fn uri_of(path: &Path) -> Option<String> {
    Url::from_file_path(path).ok().map(String::from)
}

/// Returns the path with links followed. If the file does not exist yet, the links in its directory are followed.
pub(super) fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let parent = path.parent().map(real);
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn addresses_lead_to_files_and_back() {
        for (uri, path) in [
            ("file:///a/b%20c.tf", "/a/b c.tf"),
            ("file:///a/b+c.tf", "/a/b+c.tf"),
            ("file:///a/b%23c%3F.tf", "/a/b#c?.tf"),
            ("file:///a/%C3%A9.tf", "/a/é.tf"),
            ("file://localhost/a", "/a"),
        ] {
            assert_eq!(path_of(uri).as_deref(), Some(Path::new(path)), "{uri}");
            let back = uri_of(Path::new(path)).unwrap_or_default();
            assert_eq!(path_of(&back).as_deref(), Some(Path::new(path)), "{back}");
        }
        for other in ["untitled:Untitled-1", "git:/a/b.tf?x", "https://a/b.tf", "", "a/b"] {
            assert_eq!(path_of(other), None, "{other}");
        }
    }
}
