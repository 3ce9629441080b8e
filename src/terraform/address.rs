//! Parses Terraform addresses: `module.a["x"].aws_instance.b[0]`.

/// The suffix of the address of a repeated declaration, before its number. Names in Terraform contain no blanks, so it
/// is unique.
const AGAIN: &str = " (declaration ";

/// Returns the name or address of a block that is declared again.
pub(super) fn declared_again(name: &str, number: usize) -> String {
    format!("{name}{AGAIN}{number})")
}

/// Returns the outermost repeated declaration around an address, and the number of the declaration.
pub(super) fn declaration(address: &str) -> Option<(&str, usize)> {
    let (declared, rest) = address.split_once(AGAIN)?;
    Some((declared, rest.split_once(')')?.0.parse().ok()?))
}

/// Iterates over the address itself and the blocks that contain it, outermost first, without the key of the last part.
pub(super) fn around(address: &str) -> impl Iterator<Item = &str> {
    let ends = address.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
    ends.chain([address.len()]).filter_map(|end| address.get(..end))
}

/// Returns an address without the key of its last part.
pub(super) fn base(address: &str) -> &str {
    if !address.ends_with(']') {
        return address;
    }
    // Keys may contain any characters. The opening bracket of the last key follows the name of the block.
    let mut quoted = false;
    let mut open = None;
    for (at, c) in address.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => open = Some(at),
            '.' if !quoted => open = None,
            _ => {}
        }
    }
    open.and_then(|at| address.get(..at)).unwrap_or(address)
}

/// Splits a reference at its dots. A key stays with the part before it.
pub(super) fn parts(reference: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quoted) = (Vec::new(), 0, 0usize, false);
    for (at, c) in reference.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            '.' if !quoted && depth == 0 => {
                parts.push(&reference[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&reference[from..]);
    parts
}

pub(super) fn without_key(part: &str) -> &str {
    part.split_once('[').map_or(part, |(name, _)| name)
}

/// Returns `module.a.module.b` for `module.a["x"].module.b[0]`.
pub(crate) fn without_keys(address: &str) -> String {
    parts(address).into_iter().map(without_key).collect::<Vec<_>>().join(".")
}

/// Returns `module.a["x"]` and `b[0]` for `module.a["x"].module.b[0]`.
pub(super) fn split_call(address: &str) -> Option<(&str, &str)> {
    let call = parts(address).pop().filter(|it| !it.is_empty())?;
    let parent = address.strip_suffix(call)?.strip_suffix("module.")?;
    Some((parent.strip_suffix('.').unwrap_or(parent), call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_cut_off_an_address() {
        assert_eq!(base("a.b"), "a.b");
        assert_eq!(base("a.b[0]"), "a.b");
        assert_eq!(base(r#"module.m["x.y"].a.b["k[1].z"]"#), r#"module.m["x.y"].a.b"#);
        assert_eq!(base(r#"module.m["x"]"#), "module.m");
    }

    #[test]
    fn addresses_say_which_declaration_they_are_of() {
        let twice = declared_again("module.a", 2);
        assert_eq!(declaration(&format!("{twice}[0].aws_x.y")), Some(("module.a", 2)));
        assert_eq!(declaration("module.a.aws_x.y"), None);
        assert!(around("module.a[0].aws_x.y").any(|it| it == "module.a"));
        assert!(!around("module.ab.aws_x.y").any(|it| it == "module.a"));
    }

    #[test]
    fn addresses_of_modules_are_taken_apart() {
        let address = r#"module.a["x.y"].module.b[0]"#;
        assert_eq!(without_keys(address), "module.a.module.b");
        assert_eq!(split_call(address), Some((r#"module.a["x.y"]"#, "b[0]")));
        assert_eq!(split_call("module.a"), Some(("", "a")));
        assert_eq!(split_call(""), None);
        assert_eq!(parts(r#"aws_x.y["k.z"].id"#), ["aws_x", r#"y["k.z"]"#, "id"]);
    }
}
