//! Writes the definition of a kind as a line, from which a run parses what it needs. The build script includes this file, too.

/// Returns the line of a kind: its name, the letters of its properties, the kinds that it borrows, and its definition.
pub(super) fn line(kind: &str, row: &toml::Table) -> Result<String, serde_json::Error> {
    let borrowed = row.get("borrows").and_then(|borrows| borrows.get("kinds"));
    let borrowed = texts(borrowed).join(" ");
    Ok(format!("{kind}\t{}\t{borrowed}\t{}", properties(row), serde_json::to_string(row)?))
}

pub(super) fn texts(list: Option<&toml::Value>) -> Vec<&str> {
    list.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

/// Returns a letter for each property by which the search selects kinds. A unit test compares them with the definitions.
fn properties(row: &toml::Table) -> String {
    let list = |key: &str| row.get(key).and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let is = |key: &str| row.get(key).and_then(toml::Value::as_bool).unwrap_or(false);
    let any = |key: &str, parts: &[&str]| {
        let is_set = |part: &toml::Value| part.as_array().is_none_or(|items| !items.is_empty());
        list(key).iter().any(|it| parts.iter().any(|part| it.get(part).is_some_and(is_set)))
    };
    let relates = row.get("relates").is_some_and(|it| it.get("beside").and_then(toml::Value::as_bool) != Some(true));
    let is_joined = ["scales", "generates", "substitutes"].iter().any(|key| row.contains_key(*key))
        || ["grants", "unfollowed"].iter().any(|key| !list(key).is_empty())
        || relates
        || any("values", &["chart", "files", "from"]);
    let asks = any("pods", &["amount", "keys", "devices", "claims"])
        || !list("machines").is_empty()
        || row.contains_key("borrows");
    let describes = ["pods", "machines", "holds", "values"].iter().any(|key| !list(key).is_empty());
    let has = !list("has").is_empty();
    let all = [('s', is("schema")), ('c', is("claimed")), ('j', is_joined), ('a', asks), ('d', describes), ('h', has)];
    all.into_iter().filter(|(_, holds)| *holds).map(|(letter, _)| letter).collect()
}
