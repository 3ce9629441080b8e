//! The single address to which a client sends its requests.

use reqwest::Url;

use super::error::{Error, HttpErrorKind};

/// The scheme, host, port and base path of an interface, such as `https://host/api/v3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOrigin {
    base: Url,
}

impl HttpOrigin {
    /// Parses an address. Rejects one that could expose a credential or cannot be an interface.
    pub fn parse(address: &str, allow_plain_http: bool) -> Result<Self, Error> {
        // The message does not contain the address, because it may include a password.
        let base = Url::parse(address.trim()).map_err(|cause| {
            Error::new(HttpErrorKind::Unusable, format!("the API address is not a valid URL: {cause}"))
        })?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err(Error::new(HttpErrorKind::Unusable, "the API address contains a user or a password"));
        }
        let host = base.host_str().unwrap_or_default().to_owned();
        match base.scheme() {
            "https" => {}
            "http" if allow_plain_http || is_loopback(&base) => {}
            "http" => {
                let message = format!("http://{host} would send the token without encryption");
                return Err(Error::new(HttpErrorKind::Unusable, message));
            }
            other => {
                return Err(Error::new(
                    HttpErrorKind::Unusable,
                    format!("the API address must start with https, not `{other}`"),
                ));
            }
        }
        Ok(HttpOrigin { base })
    }

    /// Returns an address below the base. Each segment is escaped, so that a name cannot lead to another path.
    pub(super) fn address(&self, segments: &[&str], query: &[(&str, String)]) -> Result<Url, Error> {
        let mut url = self.base.clone();
        url.set_fragment(None);
        url.set_query(None);
        for segment in segments {
            // The URL standard resolves these segments even if they are escaped.
            if segment.is_empty() || matches!(*segment, "." | "..") {
                return Err(Error::new(
                    HttpErrorKind::Unusable,
                    format!("`{segment}` cannot be part of an API address"),
                ));
            }
        }
        url.path_segments_mut()
            .map_err(|()| Error::new(HttpErrorKind::Unusable, "the API address cannot have a path"))?
            .pop_if_empty()
            .extend(segments);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query.iter().map(|(name, value)| (*name, value.as_str())));
        }
        Ok(url)
    }

    /// Resolves a link in an answer of this origin.
    pub(super) fn join(&self, link: &str) -> Option<Url> {
        self.base.join(link).ok()
    }

    pub(super) fn owns(&self, url: &Url) -> bool {
        url.scheme() == self.base.scheme()
            && url.host_str() == self.base.host_str()
            && url.port_or_known_default() == self.base.port_or_known_default()
            && url.username().is_empty()
            && url.password().is_none()
    }

    /// Returns this origin with another path: GitHub Enterprise has both `/api/v3` and `/api/graphql`.
    pub fn with_path(&self, path: &str) -> Self {
        let mut base = self.base.clone();
        base.set_path(path);
        HttpOrigin { base }
    }

    pub fn path(&self) -> &str {
        self.base.path()
    }

    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_climb_out_of_its_place() {
        let origin = HttpOrigin::parse("https://example.org/api/v3/", false).unwrap();
        let url = origin.address(&["repos", "a/b", "c?d#e"], &[("page", "2".to_owned())]).unwrap();
        assert_eq!(url.as_str(), "https://example.org/api/v3/repos/a%2Fb/c%3Fd%23e?page=2");
        assert!(origin.address(&["repos", ".."], &[]).is_err());
    }

    #[test]
    fn a_token_does_not_travel_in_the_clear() {
        assert!(HttpOrigin::parse("http://example.org", false).is_err());
        assert!(HttpOrigin::parse("http://example.org", true).is_ok());
        assert!(HttpOrigin::parse("http://127.0.0.1:8080", false).is_ok());
        assert!(HttpOrigin::parse("http://[::1]:8080", false).is_ok());
        assert!(HttpOrigin::parse("http://localhost.example.org", false).is_err());
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let error = HttpOrigin::parse("https://bot:hunter2@example.org", false).unwrap_err();
        assert!(!error.message.contains("hunter2"));
        let error = HttpOrigin::parse("https://bot:hunter2@exa mple.org", false).unwrap_err();
        assert!(!error.message.contains("hunter2"));
    }

    #[test]
    fn another_port_or_scheme_is_another_place() {
        let origin = HttpOrigin::parse("https://example.org/api", false).unwrap();
        let owns = |address: &str| origin.owns(&Url::parse(address).unwrap());
        assert!(owns("https://example.org:443/elsewhere"));
        assert!(!owns("http://example.org/api"));
        assert!(!owns("https://example.org:8443/api"));
        assert!(!owns("https://example.org.evil.test/api"));
        assert!(!owns("https://user@example.org/api"));
    }
}
