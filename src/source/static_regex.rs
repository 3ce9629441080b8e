//! Regular expressions that are written in the code. One that does not compile fails a test of its own, and no run goes on
//! without what it would have found.

/// A static that is compiled when it is first used, and a test that compiles it:
/// `static_regex!(static NAME: Regex = "text");`
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

/// What is written in the code and compiled by a test.
pub(crate) fn compiled<R, E: std::fmt::Debug>(made: Result<R, E>) -> R {
    #[allow(clippy::unwrap_used, reason = "a test has compiled it")]
    made.unwrap()
}
