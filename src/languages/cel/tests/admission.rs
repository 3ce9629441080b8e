//! Evaluates translated conditions: they must hold exactly if the original certainly holds.

use std::sync::Arc;

use super::super::value::UnknownValue;
use super::super::{CelBudget, CelMap, CelValue, Kubernetes, ServerNames, ServerRecord, ServerScope, ServerValue};
use super::{Fixed, compile_unchecked};

/// Two facts, and an object.
struct TestNames;

impl ServerNames for TestNames {
    fn name(&self, name: &str) -> Option<Result<ServerValue, String>> {
        match name {
            "a" | "b" => Some(Ok(ServerValue::Possible(format!("values_of_{name}")))),
            "object" => Some(Ok(ServerValue::Plain("object".to_owned()))),
            _ => None,
        }
    }

    fn field(&self, _: &ServerRecord, field: &str) -> Result<ServerValue, String> {
        Err(field.to_owned())
    }
}

fn translate(text: &str) -> Result<String, String> {
    let names = ["a", "b", "object"].map(str::to_owned);
    let program = compile_unchecked(text, &names).map_err(|problem| problem.message)?;
    let parameters = CelMap::default();
    program.in_kubernetes(&ServerScope {
        parameters: &parameters,
        version: Kubernetes { minor: 34 },
        names: &TestNames,
    })
}

fn holds(text: &str, names: &[&str], values: &[CelValue]) -> bool {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let program = compile_unchecked(text, &names).unwrap_or_else(|problem| panic!("{text}: {}", problem.message));
    let host = Fixed { values: values.to_vec() };
    match program.evaluate(&host, &mut CelBudget::standard()).result {
        Ok(value) => matches!(value, CelValue::Flag(true)),
        Err(failure) => panic!("{text}: {}", failure.message),
    }
}

/// Values of a fact, each with the list of its possible values.
fn facts() -> Vec<(CelValue, CelValue)> {
    let unknown = |candidates: &[f64]| {
        let candidates = candidates.iter().map(|it| CelValue::Double(*it)).collect();
        CelValue::Unknown(Arc::new(UnknownValue { candidates, ..UnknownValue::new("a test", None) }))
    };
    let list = |values: &[f64]| CelValue::list(values.iter().map(|it| CelValue::Double(*it)));
    vec![
        (CelValue::Double(1.0), list(&[1.0])),
        (CelValue::Double(5.0), list(&[5.0])),
        (CelValue::Absent, CelValue::list([CelValue::Null])),
        (unknown(&[]), list(&[])),
        (unknown(&[1.0, 5.0]), list(&[1.0, 5.0])),
        (unknown(&[5.0, 6.0]), list(&[5.0, 6.0])),
    ]
}

#[test]
fn a_translated_condition_holds_exactly_if_the_original_certainly_does() {
    let conditions = [
        "a > 4.0",
        "!(a > 4.0)",
        "a != 5.0",
        "!(a in [1.0, 5.0])",
        "a == null",
        "a != null && b > 4.0",
        "!(a != null && b > 4.0)",
        "a > 4.0 || !(b <= 5.0)",
        "!(a > 4.0 || b > 4.0)",
        "a * b > 4.0",
        "!(a * 2.0 > 4.0)",
        "a > b",
        "a > 4.0 ? b > 4.0 : b < 4.0",
        "!(a > 4.0 ? b > 4.0 : b < 4.0)",
        "known(a) && !known(b)",
        "[1.0, 5.0].exists(x, x == a)",
        "![1.0, 5.0].exists(x, x == a)",
        "![1.0, 5.0].all(x, x < a)",
        "possible(a).exists(x, x > 4.0)",
        "!possible(a).exists(x, x > 5.0)",
        "possible(a).all(x, x > 4.0)",
        "!possible(a).all(x, x > 4.0)",
    ];
    for condition in conditions {
        let translated = translate(condition).unwrap();
        for (a, values_of_a) in facts() {
            for (b, values_of_b) in facts() {
                let expected = holds(condition, &["a", "b"], &[a.clone(), b.clone()]);
                let names = ["values_of_a", "values_of_b"];
                let found = holds(&translated, &names, &[values_of_a.clone(), values_of_b.clone()]);
                assert_eq!(found, expected, "{condition}: {translated}: {a:?}, {b:?}");
            }
        }
    }
}

#[test]
fn amounts_are_compared_as_quantities() {
    let text = translate("object.resources.limits['nvidia.com/gpu'] > 4").unwrap();
    assert!(text.contains("compareTo(quantity('4')) > 0"), "{text}");
    let text = translate("object.resources.limits['nvidia.com/gpu'] != 4").unwrap();
    assert!(text.starts_with("!(") && text.contains("== 0"), "{text}");
    assert!(translate("object.resources.limits.memory > '64Gi'").is_err());
    assert!(translate("object.resources.limits['a/b'] + 1 > 4").is_err());
}

#[test]
fn a_condition_about_a_fact_is_no_value() {
    assert!(translate("[1.0, 2.0].filter(x, x == a).size() > 1").is_err());
    assert!(translate("size([a > 4.0]) > 0").is_err());
    assert!(translate("c > 4.0").is_err());
}
