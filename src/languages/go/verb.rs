//! Parses the verbs of `printf`, such as `%-08.3f`, and applies their flags to numbers.

/// The limit on the width, above any real text; a larger width is an attack.
pub(crate) const WIDEST: usize = 10_000;

/// The part between a `%` and its letter.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct PrintVerb {
    pub(crate) minus: bool,
    pub(crate) plus: bool,
    pub(crate) zero: bool,
    pub(crate) space: bool,
    pub(crate) sharp: bool,
    pub(crate) width: Option<usize>,
    pub(crate) precision: Option<usize>,
}

impl PrintVerb {
    /// Parses the part after a `%`, up to the letter; `given` returns the number for a `*`.
    pub(crate) fn read(rest: &mut &str, mut given: impl FnMut() -> Option<usize>) -> PrintVerb {
        let mut verb = PrintVerb::default();
        while let Some(flag) = rest.chars().next() {
            match flag {
                '-' => verb.minus = true,
                '+' => verb.plus = true,
                '0' => verb.zero = true,
                ' ' => verb.space = true,
                '#' => verb.sharp = true,
                _ => break,
            }
            *rest = &rest[1..];
        }
        let mut number = |rest: &mut &str| match rest.strip_prefix('*') {
            Some(after) => {
                *rest = after;
                given().map(|it| it.min(WIDEST))
            }
            None => digits(rest),
        };
        verb.width = number(rest);
        if let Some(after) = rest.strip_prefix('.') {
            *rest = after;
            verb.precision = Some(number(rest).unwrap_or(0));
        }
        verb
    }

    /// Returns digits with a sign, as the flags require.
    pub(crate) fn signed(self, number: String) -> String {
        match number.starts_with('-') {
            false if self.plus => format!("+{number}"),
            false if self.space => format!(" {number}"),
            _ => number,
        }
    }

    /// Pads a number to the width, with zeros after its sign.
    pub(crate) fn pad_number(self, number: String) -> String {
        let digits = number.trim_start_matches(['-', '+', ' ']);
        match self.zero && !self.minus {
            true => {
                let (sign, missing) = (&number[..number.len() - digits.len()], self.missing(number.chars().count()));
                format!("{sign}{}{digits}", "0".repeat(missing))
            }
            false => self.pad(&number, number.chars().count()),
        }
    }

    /// Pads text of a given length to the width with spaces.
    pub(crate) fn pad(self, text: &str, length: usize) -> String {
        let blanks = " ".repeat(self.missing(length));
        if self.minus { format!("{text}{blanks}") } else { format!("{blanks}{text}") }
    }

    pub(crate) fn missing(self, length: usize) -> usize {
        self.width.unwrap_or(0).saturating_sub(length)
    }
}

/// Consumes a number at the start of a text; larger numbers become `WIDEST`.
pub(crate) fn digits(rest: &mut &str) -> Option<usize> {
    let (digits, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    *rest = after;
    (!digits.is_empty()).then(|| digits.parse().unwrap_or(WIDEST).min(WIDEST))
}

/// Formats a whole number in the base of a verb.
pub(crate) fn radix(letter: char, magnitude: u64) -> Option<String> {
    Some(match letter {
        'd' => magnitude.to_string(),
        'b' => format!("{magnitude:b}"),
        'o' => format!("{magnitude:o}"),
        'x' => format!("{magnitude:x}"),
        'X' => format!("{magnitude:X}"),
        _ => return None,
    })
}

/// Formats with an exponent of at least two digits.
pub(crate) fn scientific(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{mantissa}e{sign}{exponent:0>2}")
}
