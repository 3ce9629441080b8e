//! AWS request signatures, version 4 (AWS documentation, 2026-11), for form requests.

use reqwest::Url;
use reqwest::blocking::Request;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use ring::hmac::{HMAC_SHA256, Key, sign as mac};

use super::error::{Error, HttpErrorKind};
use super::secret::AwsKeys;
use crate::source::{moment, sha256, to_hex};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const DATE: &str = "x-amz-date";
const SESSION: &str = "x-amz-security-token";

/// Adds the headers that prove the sender, the time and that the request was not changed. The signature covers no
/// query, so requests must not have one.
pub(super) fn sign(
    request: &mut Request,
    keys: &AwsKeys,
    region: &str,
    service: &str,
    unix_seconds: u64,
) -> Result<(), Error> {
    let far_off =
        || Error::new(HttpErrorKind::Unusable, "the clock of this machine is wrong, so requests cannot be signed");
    // The time has the form `20150830T123600Z`.
    let moment = moment(unix_seconds).ok_or_else(far_off)?.replace(['-', ':'], "");
    let day = moment.get(..8).unwrap_or_default();
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut headers = vec![("content-type", kind.to_owned()), ("host", host(request.url())), (DATE, moment.clone())];
    if let Some(session) = &keys.session {
        headers.push((SESSION, session.expose().to_owned()));
    }
    headers.retain(|(_, value)| !value.is_empty());
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let body = request.body().and_then(|body| body.as_bytes()).unwrap_or_default();
    let (method, path) = (request.method().as_str(), request.url().path());
    let canonical = format!("{method}\n{path}\n\n{lines}\n{names}\n{}", to_hex(&sha256(body)));
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let text = format!("{ALGORITHM}\n{moment}\n{scope}\n{}", to_hex(&sha256(canonical.as_bytes())));
    let first = format!("AWS4{}", keys.secret.expose()).into_bytes();
    let key = [day, region, service, "aws4_request"].iter().fold(first, |key, part| hmac(&key, part));
    let signature = to_hex(&hmac(&key, &text));
    let proof = format!("{ALGORITHM} Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", keys.id);
    set(request, HeaderName::from_static(DATE), &moment)?;
    if let Some(session) = &keys.session {
        set(request, HeaderName::from_static(SESSION), session.expose())?;
    }
    set(request, AUTHORIZATION, &proof)
}

fn set(request: &mut Request, name: HeaderName, value: &str) -> Result<(), Error> {
    let unusable = |_| Error::new(HttpErrorKind::Unusable, "an AWS key contains an invalid character");
    let mut value = HeaderValue::from_str(value).map_err(unusable)?;
    value.set_sensitive(true);
    request.headers_mut().insert(name, value);
    Ok(())
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    mac(&Key::new(HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// Returns the host as the header has it: with the port, if it is not the default.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::super::secret::Secret;
    use super::*;

    fn signed(session: Option<Secret>) -> Request {
        let mut request = Request::new(reqwest::Method::POST, Url::parse("https://example.amazonaws.com/").unwrap());
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, form);
        *request.body_mut() = Some("Param1=value1".into());
        let secret = Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let keys = AwsKeys { id: "AKIDEXAMPLE".to_owned(), secret, session };
        // The time is 2015-08-30, 12:36.
        sign(&mut request, &keys, "us-east-1", "service", 1_440_938_160).unwrap();
        request
    }

    /// The request is the case `post-x-www-form-urlencoded` of the test suite that AWS publishes for this signature.
    #[test]
    fn a_form_is_signed_as_aws_signs_it() {
        let request = signed(None);
        assert_eq!(request.headers()[DATE], "20150830T123600Z");
        assert_eq!(
            request.headers()[AUTHORIZATION],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
    }

    #[test]
    fn a_session_is_signed_as_well_and_nothing_shows_a_secret() {
        let request = signed(Some(Secret::new("lent-for-an-hour")));
        assert_eq!(request.headers()[SESSION], "lent-for-an-hour");
        let proof = request.headers()[AUTHORIZATION].to_str().unwrap();
        assert!(proof.contains("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,"), "{proof}");
        let shown = format!("{request:?}");
        assert!(!shown.contains("lent") && !shown.contains("wJalr") && !shown.contains("Signature"), "{shown}");
    }
}
