//! Tests the additions to CEL: unknown and absent facts, budgets, and mistakes that a rule file must not contain.

use std::sync::Arc;

use super::super::{
    CelBudget, CelHost, CelMap, CelType, CelValue, ExpressionScope, Handle, Program, ScopeVariable, UnknownSubject,
    UnknownValue, VariableMeaning,
};

/// Names of a known, an absent and an unknown value.
struct Facts {
    values: Vec<(&'static str, CelType, CelValue)>,
}

impl CelHost for Facts {
    fn variable(&self, number: usize) -> CelValue {
        self.values[number].2.clone()
    }

    fn field(&self, _: Handle, _: usize) -> CelValue {
        CelValue::Null
    }
}

fn unknown(about: UnknownSubject, candidates: Vec<CelValue>) -> CelValue {
    CelValue::Unknown(Arc::new(UnknownValue {
        why: "nobody says it".into(),
        span: None,
        about,
        candidates,
        beginning: None,
    }))
}

fn facts() -> Facts {
    let open = Arc::new(UnknownValue {
        why: "tags".into(),
        span: None,
        about: UnknownSubject::Fact,
        candidates: Vec::new(),
        beginning: None,
    });
    let mut labels = CelMap::lenient(Some(open));
    labels.set("team", CelValue::text("search"));
    Facts {
        values: vec![
            ("yes", CelType::Flag, CelValue::Flag(true)),
            ("n", CelType::Integer, CelValue::Integer(3)),
            ("gib", CelType::Double, CelValue::Double(16.0)),
            ("name", CelType::Text, CelValue::text("a10")),
            ("no_flag", CelType::Flag, CelValue::Absent),
            ("no_n", CelType::Integer, CelValue::Absent),
            ("no_name", CelType::Text, CelValue::Absent),
            ("no_list", CelType::list(CelType::Text), CelValue::Absent),
            ("u_flag", CelType::Flag, unknown(UnknownSubject::Fact, Vec::new())),
            ("u_n", CelType::Integer, unknown(UnknownSubject::Fact, Vec::new())),
            ("u_price", CelType::Double, unknown(UnknownSubject::Price, Vec::new())),
            (
                "u_name",
                CelType::Text,
                unknown(UnknownSubject::Fact, vec![CelValue::text("g5.xlarge"), CelValue::text("g5.2xlarge")]),
            ),
            ("labels", CelType::map(CelType::Text, CelType::Text), CelValue::Map(Arc::new(labels))),
        ],
    }
}

fn scope(facts: &Facts) -> ExpressionScope<'_> {
    let variable = |(number, (name, holds, _)): (usize, &(&'static str, CelType, CelValue))| ScopeVariable {
        name,
        holds: holds.clone(),
        stands_for: VariableMeaning::Host(number),
    };
    ExpressionScope { variables: facts.values.iter().enumerate().map(variable).collect(), ..ExpressionScope::default() }
}

fn evaluate(text: &str) -> String {
    let facts = facts();
    let program = match Program::compile(text, &scope(&facts)) {
        Ok(program) => program,
        Err(problem) => {
            let at = text.get(problem.at.clone()).unwrap_or_default();
            return format!("[{at}] {} ({})", problem.message, problem.help.unwrap_or_default());
        }
    };
    match program.evaluate(&facts, &mut CelBudget::standard()).result {
        Ok(CelValue::Flag(flag)) => flag.to_string(),
        Ok(CelValue::Integer(n)) => n.to_string(),
        Ok(CelValue::Double(n)) => format!("{n:?}"),
        Ok(CelValue::Text(text)) => format!("'{text}'"),
        Ok(CelValue::Unknown(unknown)) if unknown.about == UnknownSubject::Price => "unknown price".to_owned(),
        Ok(CelValue::Unknown(_)) => "unknown".to_owned(),
        Ok(CelValue::Absent) => "absent".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(failure) if failure.is_exhausted => "exhausted".to_owned(),
        Err(failure) => format!("fails: {}", failure.message),
    }
}

#[test]
fn an_unknown_decides_nothing_and_hides_nothing() {
    for (text, result) in [
        ("false && u_flag", "false"),
        ("u_flag && false", "false"),
        ("true || u_flag", "true"),
        ("u_flag || true", "true"),
        ("true && u_flag", "unknown"),
        ("u_flag || false", "unknown"),
        ("!u_flag", "unknown"),
        ("u_n + 1 > 2", "unknown"),
        ("u_n == u_n", "unknown"),
        ("u_flag ? 1 : 2", "unknown"),
        ("[1, u_n].exists(x, x == 1)", "true"),
        ("[1, u_n].all(x, x == 1)", "unknown"),
        ("[2, u_n].all(x, x == 1)", "false"),
        ("1 in [1, u_n]", "true"),
        ("2 in [1, u_n]", "unknown"),
        ("size([u_n, u_n])", "2"),
        ("u_flag && 1 / 0 > 0", "unknown"),
        ("known(u_n)", "false"),
        ("known(n) && known(no_n)", "true"),
        ("u_price > 5.0", "unknown price"),
        ("u_price > 5.0 && u_flag", "unknown"),
        ("u_price > 5.0 && yes", "unknown price"),
    ] {
        assert_eq!(evaluate(text), result, "{text}");
    }
}

#[test]
fn what_can_only_be_a_few_things_decides_where_all_agree() {
    for (text, result) in [
        ("u_name == 'p5.48xlarge'", "false"),
        ("u_name != 'p5.48xlarge'", "true"),
        ("u_name == 'g5.xlarge'", "unknown"),
        ("u_name in ['g5.xlarge', 'g5.2xlarge']", "true"),
        ("u_name in ['g5.xlarge']", "unknown"),
        ("u_name.startsWith('g5.')", "true"),
        ("u_name.matches('^g5')", "true"),
        ("u_name.matches('2x')", "unknown"),
        ("u_name + 'x'", "unknown"),
    ] {
        assert_eq!(evaluate(text), result, "{text}");
    }
}

#[test]
fn what_the_text_does_not_say_is_null_that_never_fails() {
    for (text, result) in [
        ("no_name == 'x'", "false"),
        ("no_name != 'x'", "true"),
        ("no_name == null", "true"),
        ("no_n < 5", "false"),
        ("no_n > 5", "false"),
        ("!no_flag", "true"),
        ("no_flag || false", "false"),
        ("no_flag ? 1 : 2", "2"),
        ("no_n + 1", "absent"),
        ("no_n + 1 == 1", "false"),
        ("no_name.startsWith('x')", "false"),
        ("no_name in ['x']", "false"),
        ("'x' in no_list", "false"),
        ("size(no_list)", "0"),
        ("no_list.exists(x, x == 'y')", "false"),
        ("no_list.all(x, x == 'y')", "true"),
        ("labels.team", "'search'"),
        ("labels.owner == 'x'", "unknown"),
        ("'team' in labels", "true"),
        ("'owner' in labels", "unknown"),
        ("labels.exists(key, key == 'team')", "true"),
        ("labels.exists(key, key == 'owner')", "unknown"),
        ("has(labels.team)", "true"),
        ("has(labels.owner)", "unknown"),
    ] {
        assert_eq!(evaluate(text), result, "{text}");
    }
}

#[test]
fn numbers_that_are_written_suit_their_neighbours() {
    for (text, result) in
        [("gib * 2", "32.0"), ("2 * gib > 31", "true"), ("gib >= n", "true"), ("n / 2", "1"), ("double(n) / 2", "1.5")]
    {
        assert_eq!(evaluate(text), result, "{text}");
    }
}

#[test]
fn mistakes_are_found_before_anything_is_evaluated() {
    for (text, result) in [
        ("gibb > 1", "[gibb] there is no fact `gibb` (did you mean `gib`?)"),
        ("gib + 'x'", "[gib + 'x'] `+` cannot combine a double and a string (write `string(gib)`)"),
        ("gib - n", "[gib - n] `-` cannot combine a double and an int (write `double(n)`)"),
        ("name == 1", "[name == 1] `==` cannot combine a string and an int (write `string(1)`)"),
        ("name && yes", "[name] `&&` needs a bool, and this is a string ()"),
        ("name.startWith('a')", "[startWith] there is no function `startWith` (did you mean `startsWith`?)"),
        ("startsWith(name, 'a')", "[startsWith] there is no function `startsWith` (write `string.startsWith(string)`)"),
        (
            "name.startsWith(1)",
            "[startsWith] `startsWith` does not take (string, int) (valid calls: `string.startsWith(string)`)",
        ),
        ("n.exists(x, x > 1)", "[n] only lists and maps have members, and this is an int ()"),
        ("has(n)", "[n] `has` needs a fact or a field (write `has(a.b)`, or `'key' in map` for a key)"),
        ("n = 3", "[=] `=` has no meaning in an expression (write `==` to compare)"),
        ("n > ", "[] the expression ends where a value is expected ()"),
        ("(n > 1", "[] the expression ends where `)` is expected ()"),
        ("'a", "['a] the string has no closing quote (close it with ')"),
        ("name.matches('(')", "['('] the regular expression is invalid: unclosed group ()"),
        ("if > 1", "[if] `if` is a reserved word ()"),
        ("Foo{a: 1}", "[Foo] an expression cannot create messages (write a map: `{\"key\": value}`)"),
        ("name.size", "[size] a string has no field `size` ()"),
        ("99999999999999999999", "[99999999999999999999] the number does not fit 64 bits ()"),
    ] {
        assert_eq!(evaluate(text), result, "{text}");
    }
}

#[test]
fn nothing_runs_for_long_or_takes_much() {
    let thousand = "lists.range(1000)";
    for text in [
        format!("{thousand}.all(a, {thousand}.all(b, {thousand}.all(c, a + b + c >= 0)))"),
        "lists.range(1000000000).size() > 0".to_owned(),
        format!("{thousand}.map(a, {thousand}.map(b, [a, b])).size() > 0"),
        "['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'].map(a, a.replace('', a)).map(a, a.replace('', a)).map(a, a.replace('', a)).map(a, a.replace('', a)).map(a, a.replace('', a)) == []"
            .to_owned(),
    ] {
        assert_eq!(evaluate(&text), "exhausted", "{text}");
    }
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    assert!(evaluate(&deep).contains("nested deeper than 64 levels"));
    assert!(evaluate(&"-".repeat(3000)).contains("nested deeper"));
    assert!(evaluate(&format!("1{}", " + 1".repeat(900))).contains("nested deeper"));
    assert_eq!(evaluate(&vec!["yes"; 500].join(" && ")), "true");
    assert!(evaluate(&format!("yes {}", " ".repeat(5000))).contains("more than the limit of 4096"));
}
