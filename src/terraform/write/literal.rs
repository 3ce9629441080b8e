//! Formats scalars in Terraform syntax.

use super::super::rows::Literal;

/// Formats a scalar as an expression.
pub(super) fn quoted(literal: &Literal) -> String {
    match literal {
        Literal::Number(code) | Literal::Code(code) => code.clone(),
        Literal::Flag(flag) => flag.to_string(),
        Literal::Text(text) => in_quotes(text),
    }
}

/// Formats a scalar as the replacement of another one. Quoted values stay quoted.
pub(super) fn in_place_of(old: &str, literal: &Literal) -> String {
    if old.starts_with('"') { in_quotes(&literal.to_string()) } else { quoted(literal) }
}

fn in_quotes(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for c in text.chars() {
        match c {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            c => result.push(c),
        }
    }
    result.push('"');
    result.replace("${", "$${").replace("%{", "%%{")
}

/// Returns whether a key needs no quotes.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_template_is_escaped() {
        assert_eq!(quoted(&Literal::Text("a\"${b}".into())), "\"a\\\"$${b}\"");
        assert_eq!(in_place_of("\"0\"", &Literal::Number("1".into())), "\"1\"");
        assert_eq!(in_place_of("0", &Literal::Number("1".into())), "1");
    }
}
