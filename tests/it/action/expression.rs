//! Evaluates the parts of GitHub's expression language that `action.yml` uses: paths, strings, `==`, `!=`, `&&`, `||`,
//! `!`, `toJSON`.

use serde_json::Value;

/// Replaces each `${{ … }}` in a string.
pub(super) fn expand(text: &str, context: &Value) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (expression, after) = after.split_once("}}").expect("an expression without an end");
        out.push_str(before);
        out.push_str(&printed(&evaluate(expression, context)));
        rest = after;
    }
    out + rest
}

/// Returns whether a step runs.
pub(super) fn holds(condition: &str, context: &Value) -> bool {
    let inner = condition.trim().strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(condition);
    truthy(&evaluate(inner, context))
}

fn printed(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

fn evaluate(expression: &str, context: &Value) -> Value {
    let mut parser = Parser { rest: expression.trim(), context };
    let value = parser.or();
    assert!(parser.rest.is_empty(), "`{expression}` is not understood from `{}` on", parser.rest);
    value
}

struct Parser<'a> {
    rest: &'a str,
    context: &'a Value,
}

impl Parser<'_> {
    fn take(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn or(&mut self) -> Value {
        let mut value = self.and();
        while self.take("||") {
            let other = self.and();
            value = if truthy(&value) { value } else { other };
        }
        value
    }

    fn and(&mut self) -> Value {
        let mut value = self.equality();
        while self.take("&&") {
            let other = self.equality();
            value = if truthy(&value) { other } else { value };
        }
        value
    }

    fn equality(&mut self) -> Value {
        let value = self.unary();
        let negated = self.rest.starts_with("!=");
        if negated && self.take("!=") || self.take("==") {
            let other = self.unary();
            // A missing value equals the empty string.
            let same = printed(&value).eq_ignore_ascii_case(&printed(&other));
            return Value::Bool(same != negated);
        }
        value
    }

    fn unary(&mut self) -> Value {
        if self.take("!") {
            return Value::Bool(!truthy(&self.unary()));
        }
        if self.take("(") {
            let value = self.or();
            assert!(self.take(")"));
            return value;
        }
        if let Some(rest) = self.rest.strip_prefix('\'') {
            let (text, rest) = rest.split_once('\'').unwrap();
            self.rest = rest.trim_start();
            return Value::String(text.to_owned());
        }
        if self.take("toJSON(") {
            let value = self.or();
            assert!(self.take(")"));
            return Value::String(serde_json::to_string_pretty(&value).unwrap());
        }
        let end =
            self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !"._-*".contains(c)).unwrap_or(self.rest.len());
        let (path, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        assert!(!path.is_empty(), "nothing to read at `{}`", self.rest);
        read(self.context, path)
    }
}

/// `a.*.b` is the `b` of each item of `a`, or nothing if `a` does not exist.
fn read(context: &Value, path: &str) -> Value {
    let find =
        |value: &Value, path: &str| path.split('.').try_fold(value.clone(), |value, key| value.get(key).cloned());
    match path.split_once(".*.") {
        None => find(context, path).unwrap_or(Value::Null),
        Some((list, inner)) => {
            let items = find(context, list);
            let items = items.as_ref().and_then(Value::as_array).into_iter().flatten();
            items.filter_map(|item| find(item, inner)).collect()
        }
    }
}

#[test]
fn expressions_mean_what_github_says() {
    let context = serde_json::json!({ "inputs": { "a": "true", "b": "" }, "steps": { "x": { "outputs": {} } } });
    for (expression, expected) in [
        ("inputs.a == 'true'", true),
        ("inputs.a == 'TRUE' && inputs.b == ''", true),
        ("steps.x.outputs.missing != ''", false),
        ("inputs.b || inputs.a", true),
        ("!(inputs.a == 'true') || inputs.b", false),
    ] {
        assert_eq!(holds(&format!("${{{{ {expression} }}}}"), &context), expected, "{expression}");
    }
    assert_eq!(expand("x-${{ inputs.b || inputs.a }}-y", &context), "x-true-y");
}
