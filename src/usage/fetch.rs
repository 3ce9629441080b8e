//! Queries a Prometheus API: first the available exporters, then one request per exporter and day, then owners.
//! gpulint processes the answers like saved ones. No other file of this module opens a network connection.

use std::collections::BTreeSet;

use super::answer::{self, Answered, MeterAnswer};
use super::gather::{MeterDays, UsageReport};
use super::import;
use super::owners::MOST_STEPS;
use super::request::{self, CLUSTERS, NAMES, OWNERS, UsageRequest, UsageWindow};
use super::table::{self, Exporter};
use crate::catalog::Catalog;
use crate::http::{
    Clock, Credential, Error, HttpClient, HttpErrorKind, HttpMethod, HttpOrigin, HttpRequest, HttpSettings,
};

/// The metrics server to query, and the connection settings.
pub struct Metering<'a> {
    pub address: &'a str,
    pub credential: Credential,
    pub http: HttpSettings,
    pub clock: &'a dyn Clock,
}

/// The result of querying a metrics server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FetchedMetrics {
    pub report: UsageReport,
    pub requests: usize,
    pub bytes: u64,
}

/// The time limit for all requests together.
const MOST_SECONDS: u64 = 30 * 60;

/// The most matchers in one request for series. Each matcher contains at most 100 names.
const MATCHERS_A_REQUEST: usize = 20;

/// These parameters make Thanos and VictoriaMetrics reject a query instead of returning a partial answer.
const WHOLE: [(&str, &str); 3] = [("partial_response", "false"), ("deny_partial_response", "1"), ("nocache", "1")];

struct Asking<'a> {
    client: HttpClient<'a>,
    clock: &'a dyn Clock,
    since: u64,
    requests: usize,
    bytes: u64,
    /// Whether the server accepts the parameters in `WHOLE`. Google's frontend rejects unknown parameters.
    knows_whole: bool,
}

/// Queries all days of a window and converts the answers into rows.
pub fn fetch(metering: &Metering<'_>, window: &UsageWindow, catalog: &Catalog) -> Result<FetchedMetrics, Error> {
    let origin = HttpOrigin::parse(metering.address, metering.http.allow_plain_http)?;
    let client = HttpClient::new(origin, metering.credential.clone(), metering.http.clone(), metering.clock)?;
    let since = metering.clock.now();
    let mut asking = Asking { client, clock: metering.clock, since, requests: 0, bytes: 0, knows_whole: true };
    let mut gathered = MeterDays::new(catalog, window.cluster.as_ref().map(|(_, name)| name.clone()));
    let names = asking.probe(window, &mut gathered)?;
    let refused = |why: String| Error::new(HttpErrorKind::Malformed, why);
    if let Some(why) = gathered.refusal() {
        return Err(refused(format!("{why}; select one with --cluster-label cluster=NAME")));
    }
    let is_metered = |it: &&Exporter| it.is_meter() && it.metrics.iter().any(|it| names.contains(it.name));
    if table::EXPORTERS.iter().any(|it| is_metered(&it)) {
        for request in request::of_days(window, &[], Some(&names)) {
            let answer = asking.answer(&request)?;
            take(&mut gathered, &request.name, &answer, window).map_err(refused)?;
        }
        asking.owners(window, &mut gathered)?;
    }
    if let Some(why) = gathered.refusal() {
        return Err(refused(why));
    }
    Ok(FetchedMetrics {
        report: gathered.report(window.from, window.to),
        requests: asking.requests,
        bytes: asking.bytes,
    })
}

fn take(gathered: &mut MeterDays<'_>, name: &str, answer: &MeterAnswer, window: &UsageWindow) -> Result<(), String> {
    let (exporter, day) = import::what(name, answer).map_err(|why| format!("{name}: {why}"))?;
    if answer.is_partial {
        gathered.lacks(format!("{}: the server's answer is incomplete", import::describe_import(&exporter, day)));
    }
    let is_meter = table::exporter(&exporter).is_some_and(Exporter::is_meter);
    if let (Answered::Samples(samples), true, None) = (&answer.said, is_meter, &window.cluster) {
        gathered.see_clusters(samples);
    }
    gathered.take(&exporter, day, &answer.said)
}

impl Asking<'_> {
    /// Returns the names of the metrics in the window, and records the clusters.
    fn probe(&mut self, window: &UsageWindow, gathered: &mut MeterDays<'_>) -> Result<BTreeSet<String>, Error> {
        let mut names = BTreeSet::new();
        for request in request::probe(window) {
            let answer = match self.answer(&request) {
                Err(error) if error.status() == Some(400) && self.knows_whole => {
                    self.knows_whole = false;
                    self.answer(&request)?
                }
                answer => answer?,
            };
            if answer.is_partial {
                gathered.lacks(format!("{}: the server's answer is incomplete", request.name));
            }
            let Answered::Names(said) = answer.said else { continue };
            match request.name.as_str() {
                NAMES => names.extend(said),
                CLUSTERS => gathered.name_clusters(&said),
                _ => {}
            }
        }
        Ok(names)
    }

    /// Queries the owners of the pods that use devices, one level at a time. If none is found by name, it queries all
    /// owners.
    fn owners(&mut self, window: &UsageWindow, gathered: &mut MeterDays<'_>) -> Result<(), Error> {
        for _ in 0..MOST_STEPS {
            let wanted = gathered.owners.next(&gathered.holders());
            let before = wanted.len();
            if wanted.is_empty() {
                break;
            }
            for matchers in request::of_owned(window, &wanted).chunks(MATCHERS_A_REQUEST) {
                self.series(&request::series(OWNERS, window, matchers.to_vec()), gathered)?;
            }
            if gathered.owners.next(&gathered.holders()).len() == before {
                break;
            }
        }
        if gathered.owners.is_empty() && !gathered.holders().is_empty() {
            for request in request::of_owners(window) {
                self.series(&request, gathered)?;
            }
            return Ok(());
        }
        self.series(&request::of_nodes(window), gathered)
    }

    fn series(&mut self, request: &UsageRequest, gathered: &mut MeterDays<'_>) -> Result<(), Error> {
        let answer = self.answer(request)?;
        if answer.is_partial {
            gathered.lacks(format!("{}: the server's answer is incomplete", request.name));
        }
        if let Answered::Series(series) = &answer.said {
            gathered.take_series(series);
        }
        Ok(())
    }

    fn answer(&mut self, request: &UsageRequest) -> Result<MeterAnswer, Error> {
        if self.clock.now().saturating_sub(self.since) > MOST_SECONDS {
            let minutes = MOST_SECONDS / 60;
            return Err(Error::new(
                HttpErrorKind::TooLarge,
                format!("all answers together took more than {minutes} minutes"),
            ));
        }
        let mut parameters = request.parameters.clone();
        if self.knows_whole {
            parameters.extend(WHOLE.map(|(name, value)| (name, value.to_owned())));
        }
        let path: Vec<&str> = request.path.split('/').collect();
        let asked = match request.method {
            "GET" => {
                let request = HttpRequest::new(HttpMethod::Get, path);
                parameters.into_iter().fold(request, |request, (name, value)| request.query(name, value))
            }
            _ => HttpRequest::new(HttpMethod::Post, path).form(request::form(&parameters)).repeatable(),
        };
        self.requests += 1;
        // A server's error can quote series, whose labels contain names of pods and nodes.
        let plain = |error: Error| {
            Error::new(error.kind, format!("{}: {}", request.name, answer::server_error("", &error.message)))
        };
        let reply = self.client.send(&asked).map_err(plain)?;
        self.bytes += reply.body.len() as u64;
        MeterAnswer::read(&reply.body)
            .map_err(|why| Error::new(HttpErrorKind::Malformed, format!("{}: {}", request.name, why.message)))
    }
}
