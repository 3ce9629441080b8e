//! Parses answers of a Prometheus API, in the formats of servers and of promtool.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::http::has_more_values;

/// The labels of one series.
pub(super) type SeriesLabels = BTreeMap<String, String>;

/// The most values in one answer. 13,000 accelerators have about four million, and a parsed value takes more memory
/// than its source.
const MOST_VALUES: usize = 5_000_000;

/// One value of a metric, with its labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) labels: SeriesLabels,
    pub(super) value: f64,
    /// The evaluation time of the request, in seconds since 1970.
    pub(super) at: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answered {
    Samples(Vec<Sample>),
    Series(Vec<SeriesLabels>),
    Names(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct MeterAnswer {
    pub(super) said: Answered,
    /// Whether the server left out a part of the answer.
    pub(super) is_partial: bool,
}

/// The reason why gpulint cannot use an answer. If it is not final, the file may have another tool's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) message: String,
    pub(super) is_final: bool,
}

#[derive(Deserialize)]
struct Envelope<T> {
    status: String,
    data: T,
    #[serde(default)]
    warnings: Option<Vec<serde::de::IgnoredAny>>,
    #[serde(default, rename = "isPartial")]
    is_partial: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vector {
    result_type: String,
    result: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    metric: SeriesLabels,
    value: (f64, String),
}

#[derive(Deserialize)]
struct Refusal {
    status: String,
    #[serde(default, rename = "errorType")]
    kind: String,
    #[serde(default)]
    error: String,
}

impl MeterAnswer {
    /// Parses an answer. The error message repeats no names from the answer.
    pub(super) fn read(text: &[u8]) -> Result<MeterAnswer, Unread> {
        let refused = |message: String| Unread { message, is_final: true };
        if has_more_values(text, MOST_VALUES) {
            return Err(refused(format!("the answer has more than {MOST_VALUES} values")));
        }
        if let Ok(refusal) = serde_json::from_slice::<Refusal>(text)
            && refusal.status == "error"
        {
            return Err(refused(format!("the server refused: {}", server_error(&refusal.kind, &refusal.error))));
        }
        if let Some(answer) = enveloped::<Vector>(text, |it| it.samples()) {
            return answer.map_err(refused);
        }
        if let Some(answer) = enveloped::<Vec<SeriesLabels>>(text, |it| Ok(Answered::Series(it))) {
            return answer.map_err(refused);
        }
        if let Some(answer) = enveloped::<Vec<String>>(text, |it| Ok(Answered::Names(it))) {
            return answer.map_err(refused);
        }
        // promtool writes only the list inside the answer.
        if let Ok(items) = serde_json::from_slice::<Vec<Item>>(text) {
            return samples(items)
                .map(|it| MeterAnswer { said: Answered::Samples(it), is_partial: false })
                .map_err(refused);
        }
        if let Ok(series) = serde_json::from_slice::<Vec<SeriesLabels>>(text) {
            return Ok(MeterAnswer { said: Answered::Series(series), is_partial: false });
        }
        let message = "it is not an answer to an instant query or a series query".to_owned();
        Err(Unread { message, is_final: false })
    }

    /// Whether the answer has the form of a Prometheus API. Other tools also write lists of strings.
    pub(super) fn is_of_prometheus(&self) -> bool {
        match &self.said {
            Answered::Series(series) => series.first().is_none_or(|it| it.contains_key("__name__")),
            _ => true,
        }
    }
}

fn enveloped<T: DeserializeOwned>(
    text: &[u8],
    said: impl Fn(T) -> Result<Answered, String>,
) -> Option<Result<MeterAnswer, String>> {
    let envelope: Envelope<T> = serde_json::from_slice(text).ok()?;
    let is_partial = envelope.is_partial || envelope.warnings.is_some_and(|it| !it.is_empty());
    if envelope.status != "success" {
        return Some(Err("the answer has neither the status success nor error".to_owned()));
    }
    Some(said(envelope.data).map(|said| MeterAnswer { said, is_partial }))
}

impl Vector {
    fn samples(self) -> Result<Answered, String> {
        if self.result_type != "vector" {
            return Err("it is an answer to a range query: use an instant query".to_owned());
        }
        Ok(Answered::Samples(samples(self.result)?))
    }
}

fn samples(items: Vec<Item>) -> Result<Vec<Sample>, String> {
    let sample = |item: Item| {
        let value = item.value.1.parse::<f64>().map_err(|_| "it contains a value that is not a number".to_owned())?;
        Ok(Sample { labels: item.metric, value, at: item.value.0 })
    };
    items.into_iter().map(sample).collect()
}

/// Returns a server's error message up to the first quoted series, because its labels contain names of pods and
/// nodes.
pub(super) fn server_error(kind: &str, error: &str) -> String {
    let plain: String = error.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let plain = plain.split(['{', '"']).next().unwrap_or_default().trim().to_owned();
    let plain: String = plain.chars().take(160).collect();
    let kind: String = kind.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '_').take(40).collect();
    match (kind.is_empty(), plain.is_empty()) {
        (true, true) => "without a reason".to_owned(),
        (false, true) => kind,
        (true, false) => plain,
        (false, false) => format!("{kind}: {plain}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<MeterAnswer, String> {
        MeterAnswer::read(text.as_bytes()).map_err(|it| it.message)
    }

    #[test]
    fn both_forms_of_an_answer_are_read() {
        let item = r#"[{"metric":{"pod":"a"},"value":[1,"0.5"]}]"#;
        let whole =
            read(&format!(r#"{{"status":"success","data":{{"resultType":"vector","result":{item}}}}}"#)).unwrap();
        assert_eq!(whole, read(item).unwrap());
        let series = read(r#"{"status":"success","data":[{"pod":"a"}],"warnings":["cut"]}"#).unwrap();
        assert!(series.is_partial && matches!(series.said, Answered::Series(_)));
        assert_eq!(read("[]").unwrap().said, Answered::Samples(Vec::new()));
    }

    #[test]
    fn what_is_no_answer_is_refused_without_the_names_in_it() {
        let matched = r#"{"status":"error","errorType":"execution","error":"found duplicate series {pod=\"secret\"}"}"#;
        assert_eq!(read(matched).unwrap_err(), "the server refused: execution: found duplicate series");
        let range = r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#;
        assert!(read(range).unwrap_err().contains("range query"));
        assert!(
            read(r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}"#)
                .unwrap_err()
                .contains("not a number")
        );
        assert!(read("<html>").is_err());
    }
}
