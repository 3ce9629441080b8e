//! An HTTP client for one origin, with retries and with limits of time and size.

use std::cell::Cell;
use std::error::Error as _;
use std::io::Read;
use std::rc::Rc;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{NoProxy, Proxy, Url};
use serde_json::Value;

use super::error::{Error, HttpErrorKind};
use super::pace::{self, Clock};
use super::reply::Reply;
use super::secret::{AwsKeys, Credential, Redactor, Secret};
use super::signature;
use super::target::HttpOrigin;
use super::{HttpSettings, Proxies};

/// A renamed repository answers with one redirect, and a mirror in front of it with a second one.
const MOST_REDIRECTS: u32 = 4;
/// The maximum number of headers. GitHub sends a fifth of it.
const MOST_HEADERS: usize = 128;
/// The maximum size of a refusal, which normally is one sentence. A larger one could fill the memory.
const LONGEST_REFUSAL_BYTES: u64 = 1 << 20;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpMethod {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl HttpMethod {
    pub fn name(self) -> &'static str {
        match self {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Put => "PUT",
            HttpMethod::Patch => "PATCH",
            HttpMethod::Delete => "DELETE",
        }
    }

    /// Whether sending the request twice has the same effect as sending it once.
    fn is_repeatable(self) -> bool {
        self != HttpMethod::Post
    }
}

/// A request to the origin.
#[derive(Debug, Clone)]
pub struct HttpRequest<'a> {
    pub method: HttpMethod,
    pub path: Vec<&'a str>,
    pub query: Vec<(&'a str, String)>,
    pub accept: &'a str,
    pub headers: Vec<(&'static str, &'static str)>,
    pub json: Option<Value>,
    /// The form fields, already encoded.
    pub form: Option<String>,
    /// Whether the request can be sent twice without another effect, such as a query that uses POST.
    pub repeatable: bool,
}

/// Reads an answer while it arrives. If an attempt breaks off, the next one starts with the first byte again.
pub type Sink<'s> = &'s mut dyn FnMut(&mut dyn Read) -> std::io::Result<()>;

impl<'a> HttpRequest<'a> {
    pub fn new(method: HttpMethod, path: impl Into<Vec<&'a str>>) -> Self {
        let path = path.into();
        let repeatable = method.is_repeatable();
        HttpRequest {
            method,
            path,
            query: Vec::new(),
            accept: "application/json",
            headers: Vec::new(),
            json: None,
            form: None,
            repeatable,
        }
    }

    /// Marks the request as a query without side effects, whatever its method.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    #[must_use]
    pub fn query(mut self, name: &'a str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    #[must_use]
    pub fn form(mut self, coded: String) -> Self {
        self.form = Some(coded);
        self
    }

    #[must_use]
    pub fn json(mut self, body: Value) -> Self {
        self.json = Some(body);
        self
    }
}

pub struct HttpClient<'a> {
    inner: reqwest::blocking::Client,
    origin: HttpOrigin,
    credential: Credential,
    redactor: Redactor,
    settings: HttpSettings,
    clock: &'a dyn Clock,
    /// The bytes of all stored answers, from all paths.
    kept_bytes: Rc<Cell<u64>>,
}

impl<'a> HttpClient<'a> {
    pub fn new(
        origin: HttpOrigin,
        credential: Credential,
        settings: HttpSettings,
        clock: &'a dyn Clock,
    ) -> Result<Self, Error> {
        // The only possible error is that a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut redactor = Redactor::default();
        if let Some(secret) = credential.secret() {
            redactor.learn(secret.expose());
        }
        if let Credential::Aws { keys: AwsKeys { session: Some(session), .. }, .. } = &credential {
            redactor.learn(session.expose());
        }
        settings.headers.iter().for_each(|(_, value)| redactor.learn(value.expose()));
        let mut builder = reqwest::blocking::Client::builder()
            .user_agent(settings.user_agent.as_str())
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(settings.connect_timeout)
            .http1_max_headers(MOST_HEADERS)
            .no_proxy();
        for proxy in proxies(&settings.proxies, &mut redactor)? {
            builder = builder.proxy(proxy);
        }
        let inner = builder.build().map_err(|cause| {
            let causes = redactor.clean(&causes(&cause));
            Error::new(HttpErrorKind::Unusable, format!("gpulint cannot prepare a connection: {causes}"))
        })?;
        if let Credential::Basic { user, password } = &credential {
            encoded(user, password, &inner).iter().for_each(|text| redactor.learn(text));
        }
        Ok(HttpClient { inner, origin, credential, redactor, settings, clock, kept_bytes: Rc::default() })
    }

    /// Returns a client with the same credential and connections for another path of the same origin.
    #[must_use]
    pub fn at(&self, path: &str) -> HttpClient<'a> {
        HttpClient {
            inner: self.inner.clone(),
            origin: self.origin.with_path(path),
            credential: self.credential.clone(),
            redactor: self.redactor.clone(),
            settings: self.settings.clone(),
            clock: self.clock,
            kept_bytes: self.kept_bytes.clone(),
        }
    }

    pub fn origin(&self) -> &HttpOrigin {
        &self.origin
    }

    /// Waits before another attempt. The delay grows with the number of failures.
    pub fn pause(&self, attempt: u32) {
        self.clock.sleep(pace::backoff(attempt, self.clock));
    }

    /// Sends the request until there is an answer. Repeats it only if it is repeatable or cannot have taken effect.
    pub fn send(&self, request: &HttpRequest) -> Result<Reply, Error> {
        let url = self.origin.address(&request.path, &request.query)?;
        self.send_to(request, url, None)
    }

    /// Requests an address that the origin returned, such as the next page.
    pub fn follow_link(&self, link: &str) -> Result<Reply, Error> {
        self.send_to(&HttpRequest::new(HttpMethod::Get, []), self.linked(link)?, None)
    }

    /// Requests such an address, and reads the answer while it arrives, without storing it.
    pub fn stream_link(&self, link: &str, sink: Sink<'_>) -> Result<Reply, Error> {
        self.send_to(&HttpRequest::new(HttpMethod::Get, []), self.linked(link)?, Some(sink))
    }

    fn linked(&self, link: &str) -> Result<Url, Error> {
        let unusable =
            || Error::new(HttpErrorKind::Malformed, format!("{} returned an invalid address", self.origin.host()));
        let url = self.origin.join(link).ok_or_else(unusable)?;
        if self.origin.owns(&url) {
            return Ok(url);
        }
        let to = self.redactor.clean(url.host_str().unwrap_or("another place"));
        Err(Error::new(
            HttpErrorKind::Redirected,
            format!("{} refers to {to}, and gpulint does not connect to other hosts", self.origin.host()),
        ))
    }

    /// Returns the time until the deadline of all requests.
    fn time_left(&self) -> Duration {
        let left = self.settings.deadline.map(|deadline| deadline.saturating_sub(self.clock.now()));
        left.map_or(Duration::MAX, Duration::from_secs)
    }

    fn send_to(&self, request: &HttpRequest, url: Url, mut sink: Option<Sink<'_>>) -> Result<Reply, Error> {
        if self.time_left().is_zero() {
            let message = format!("{} did not answer in time: gpulint sends it no more requests", self.origin.host());
            return Err(Error::new(HttpErrorKind::Interrupted, message));
        }
        let mut waited = Duration::ZERO;
        let mut attempt = 0;
        loop {
            let (outcome, delay) = match self.follow(request, url.clone(), &mut sink) {
                Ok(reply) if reply.is_success() => return Ok(reply),
                Ok(reply) => {
                    let delay = self.delay_after(&reply, request.repeatable, attempt);
                    (self.refusal(request, &reply, delay), delay)
                }
                Err(error) => {
                    let again = error.kind == HttpErrorKind::Unreachable
                        || error.kind == HttpErrorKind::Interrupted && request.repeatable;
                    (error, again.then(|| pace::backoff(attempt, self.clock)))
                }
            };
            attempt += 1;
            let Some(delay) = delay else { return Err(outcome) };
            waited += delay;
            if attempt >= self.settings.attempts || waited > self.settings.patience || delay >= self.time_left() {
                return Err(outcome);
            }
            self.clock.sleep(delay);
        }
    }

    fn delay_after(&self, reply: &Reply, repeatable: bool, attempt: u32) -> Option<Duration> {
        // The server did not carry out a request that exceeds the rate limit, so even a POST can be repeated.
        if let Some(delay) = pace::limited(reply, attempt, self.clock) {
            return Some(delay);
        }
        let passing = matches!(reply.status, 408 | 500 | 502 | 503 | 504);
        (passing && repeatable)
            .then(|| pace::named_delay(reply, self.clock).unwrap_or_else(|| pace::backoff(attempt, self.clock)))
    }

    fn refusal(&self, request: &HttpRequest, reply: &Reply, delay: Option<Duration>) -> Error {
        let asked = format!("{} {}", request.method.name(), self.redactor.clean(&request.path.join("/")));
        let limited = matches!(reply.status, 403 | 429).then_some(delay).flatten();
        if let Some(delay) = limited {
            let seconds = delay.as_secs();
            let message = format!("{} limits the rate and asks to wait {seconds} s ({asked})", self.origin.host());
            return Error::new(HttpErrorKind::RateLimited, message);
        }
        let said = self.redactor.clean(&explanation(reply));
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        let message = format!("{} answered {} to {asked}{said}", self.origin.host(), reply.status);
        Error::new(HttpErrorKind::Status(reply.status), message)
    }

    /// Makes one attempt. It follows redirects within the origin and does not change the method.
    fn follow(&self, request: &HttpRequest, mut url: Url, sink: &mut Option<Sink<'_>>) -> Result<Reply, Error> {
        for _ in 0..=MOST_REDIRECTS {
            let reply = self.exchange(request, &url, sink)?;
            let moved =
                matches!(reply.status, 301 | 307 | 308) || reply.status == 302 && request.method == HttpMethod::Get;
            let Some(location) = reply.header(LOCATION.as_str()).filter(|_| moved) else {
                if (300..400).contains(&reply.status) {
                    let message =
                        format!("{} answered {} without an address to redirect to", self.origin.host(), reply.status);
                    return Err(Error::new(HttpErrorKind::Redirected, message));
                }
                return Ok(reply);
            };
            let next = url.join(location).map_err(|_| {
                Error::new(HttpErrorKind::Redirected, format!("{} redirects to an invalid address", self.origin.host()))
            })?;
            if !self.origin.owns(&next) {
                let to = self.redactor.clean(next.host_str().unwrap_or("another place"));
                let message = format!(
                    "{} redirects to {to}, and gpulint does not send the token to another host",
                    self.origin.host()
                );
                return Err(Error::new(HttpErrorKind::Redirected, message));
            }
            url = next;
        }
        Err(Error::new(HttpErrorKind::Redirected, format!("{} redirects too often", self.origin.host())))
    }

    fn exchange(&self, request: &HttpRequest, url: &Url, sink: &mut Option<Sink<'_>>) -> Result<Reply, Error> {
        let method = match request.method {
            HttpMethod::Get => reqwest::Method::GET,
            HttpMethod::Post => reqwest::Method::POST,
            HttpMethod::Put => reqwest::Method::PUT,
            HttpMethod::Patch => reqwest::Method::PATCH,
            HttpMethod::Delete => reqwest::Method::DELETE,
        };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, header_value(request.accept, false)?);
        for (name, value) in &request.headers {
            headers.insert(HeaderName::from_static(name), header_value(value, false)?);
        }
        for (name, value) in &self.settings.headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| Error::new(HttpErrorKind::Unusable, "a header has an invalid name"))?;
            headers.insert(name, header_value(value.expose(), true)?);
        }
        let mut builder = self.inner.request(method, url.clone());
        match &self.credential {
            Credential::Anonymous | Credential::Aws { .. } => {}
            Credential::Bearer(token) => drop(headers.insert(AUTHORIZATION, prefixed("Bearer", token)?)),
            Credential::Token(token) => drop(headers.insert(AUTHORIZATION, prefixed("token", token)?)),
            Credential::Header { name, value } => {
                headers.insert(HeaderName::from_static(name), header_value(value.expose(), true)?);
            }
            Credential::Basic { user, password } => builder = builder.basic_auth(user, Some(password.expose())),
        }
        builder = builder.headers(headers);
        if let Some(body) = &request.json {
            builder = builder.json(body);
        }
        if let Some(body) = &request.form {
            builder = builder.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body.clone());
        }
        // A timeout of the client would start again with each received piece, so the request has its own.
        let mut built = builder
            .timeout(self.settings.timeout.min(self.time_left()))
            .build()
            .map_err(|cause| self.failure(&cause, HttpErrorKind::Unusable))?;
        if let Credential::Aws { keys, region, service } = &self.credential {
            signature::sign(&mut built, keys, region, service, self.clock.now())?;
        }
        let response = self.inner.execute(built).map_err(|cause| {
            let kind = if cause.is_connect() { HttpErrorKind::Unreachable } else { HttpErrorKind::Interrupted };
            self.failure(&cause, kind)
        })?;
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect();
        let body = self.receive(response, (200..300).contains(&status), sink)?;
        Ok(Reply { status, headers, body })
    }

    /// Reads an answer to its end or to the size limit.
    fn receive(&self, response: impl Read, is_success: bool, sink: &mut Option<Sink<'_>>) -> Result<Vec<u8>, Error> {
        let HttpSettings { max_reply_bytes, max_stream_bytes, max_total_bytes, .. } = self.settings;
        let streams = is_success && sink.is_some();
        let left = max_total_bytes.saturating_sub(self.kept_bytes.get());
        let limit = match is_success {
            true if streams => max_stream_bytes,
            true => max_reply_bytes.min(left),
            false => max_reply_bytes.min(left).min(LONGEST_REFUSAL_BYTES),
        };
        let mut body = Vec::new();
        let mut response = response.take(limit + 1);
        let read = match sink {
            Some(sink) if streams => sink(&mut response),
            _ => response.read_to_end(&mut body).map(drop),
        };
        self.kept_bytes.set(self.kept_bytes.get().saturating_add(body.len() as u64));
        // The limit is used up, so the answer is too long.
        if response.limit() == 0 {
            let host = self.origin.host();
            let message = if limit == left && !streams {
                format!("the answers of {host} have more than {} MiB in all", max_total_bytes >> 20)
            } else {
                format!("the answer of {host} has more than {} MiB", limit >> 20)
            };
            return Err(Error::new(HttpErrorKind::TooLarge, message));
        }
        read.map_err(|cause| {
            let kind = if cause.kind() == std::io::ErrorKind::InvalidData {
                HttpErrorKind::Malformed
            } else {
                HttpErrorKind::Interrupted
            };
            let is_late =
                cause.get_ref().and_then(|it| it.downcast_ref::<reqwest::Error>()).is_some_and(|it| it.is_timeout());
            let what = if is_late { "did not answer in time" } else { "broke off its answer" };
            let cause = self.redactor.clean(&cause.to_string());
            Error::new(kind, format!("{} {what}: {cause}", self.origin.host()))
        })?;
        Ok(body)
    }

    fn failure(&self, cause: &reqwest::Error, kind: HttpErrorKind) -> Error {
        let what = if cause.is_timeout() {
            "did not answer in time"
        } else if kind == HttpErrorKind::Unreachable {
            "cannot be reached"
        } else {
            "broke off"
        };
        let causes = self.redactor.clean(&causes(cause));
        Error::new(kind, format!("{} {what}: {causes}", self.origin.host()))
    }
}

/// Returns the inner causes, which explain the error. The outermost one only repeats the address.
fn causes(error: &reqwest::Error) -> String {
    let mut texts = Vec::new();
    let mut cause = error.source();
    while let Some(inner) = cause {
        texts.push(inner.to_string());
        cause = inner.source();
    }
    texts.dedup();
    if texts.is_empty() { error.to_string() } else { texts.join(": ") }
}

/// Returns the explanation of a refusal: `message` with `errors` (GitHub), `error` (GitLab, Bitbucket), else the body.
fn explanation(reply: &Reply) -> String {
    let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(&reply.body) else {
        let text = reply.text();
        // An HTML page is of no use in a log.
        return if text.trim_start().starts_with('<') { String::new() } else { text };
    };
    let said = ["message", "error", "error_description"].iter().filter_map(|name| object.get(*name)).map(error_text);
    let details = object.get("errors").map(error_text);
    said.chain(details).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

fn error_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(object) => match object.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => value.to_string(),
        },
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn header_value(text: &str, secret: bool) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        // The message does not contain the string, because it may be the token.
        Error::new(HttpErrorKind::Unusable, "the token contains an invalid character, such as a line break")
    })?;
    value.set_sensitive(secret);
    Ok(value)
}

fn prefixed(scheme: &str, token: &Secret) -> Result<HeaderValue, Error> {
    header_value(&format!("{scheme} {}", token.expose()), true)
}

/// Returns the password as the header encodes it, because a server may repeat it in this form.
fn encoded(user: &str, password: &Secret, client: &reqwest::blocking::Client) -> Option<String> {
    let request = client.get("http://localhost").basic_auth(user, Some(password.expose())).build().ok()?;
    let sent = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    Some(sent.split_once(' ')?.1.to_owned())
}

fn proxies(settings: &Proxies, redactor: &mut Redactor) -> Result<Vec<Proxy>, Error> {
    let except = settings.except.as_deref().and_then(NoProxy::from_string);
    let mut found = Vec::new();
    for (address, scheme) in [(&settings.https, "https"), (&settings.http, "http")] {
        let Some(address) = address.as_ref().filter(|address| !address.is_empty()) else { continue };
        let unusable = |why: &str| Error::new(HttpErrorKind::Unusable, format!("the proxy for {scheme} {why}"));
        // Most tools also accept `proxy:3128`.
        let text = address.expose();
        let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&text).map_err(|_| unusable("is not a valid address"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unusable(&format!("has the scheme `{}`, which gpulint does not support", url.scheme())));
        }
        if let Some(password) = url.password() {
            redactor.learn(password);
        }
        let proxy = if scheme == "https" { Proxy::https(url) } else { Proxy::http(url) };
        found.push(proxy.map_err(|_| unusable("cannot be used"))?.no_proxy(except.clone()));
    }
    Ok(found)
}
