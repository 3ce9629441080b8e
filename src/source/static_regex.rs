//! Regular expressions in the code. Each has its own test, so that an invalid one cannot reach a run.

/// Defines a static that is compiled at its first use, and a test that compiles it: `static_regex!(static NAME: Regex =
/// "text");`
macro_rules! static_regex {
    ($(#[$about:meta])* $vis:vis static $name:ident: $regex:ty = $text:expr) => {
        $(#[$about])*
        $vis static $name: std::sync::LazyLock<$regex> =
            std::sync::LazyLock::new(|| $crate::source::compiled(<$regex>::new(&$text)));

        #[cfg(test)]
        #[allow(non_snake_case, reason = "it is called as the static")]
        mod $name {
            #[test]
            fn compiles() {
                std::sync::LazyLock::force(&super::$name);
            }
        }
    };
}

pub(crate) use static_regex;

/// Returns an expression from the code, which a test has compiled.
pub(crate) fn compiled<R, E: std::fmt::Debug>(made: Result<R, E>) -> R {
    #[allow(clippy::unwrap_used, reason = "a test has compiled it")]
    made.unwrap()
}
