//! Implements `format` and `formatlist`.

use crate::languages::go::{PrintVerb, WIDEST, digits, radix};
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue};

use super::encoding::write_json;
use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult, MANY, known, text};

pub(super) const TABLE: &[(&str, Arity, Function)] =
    &[("format", 1..=MANY, format_one), ("formatlist", 1..=MANY, format_list)];

fn format_one(a: &CallArguments<'_>) -> FunctionResult {
    let pattern = a.text(0)?;
    a.answer(formatted(&pattern, a.values.get(1..).unwrap_or_default())?)
}

/// Formats the string once for each element of the lists. The other arguments stay the same.
fn format_list(a: &CallArguments<'_>) -> FunctionResult {
    let pattern = a.text(0)?;
    let arguments = a.values.get(1..).unwrap_or_default();
    let mut length = None;
    for argument in arguments {
        if let HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) = &known(argument)?.data {
            match length {
                Some(length) if length != items.len() => return Err("the lists differ in length".into()),
                _ => length = Some(items.len()),
            }
        }
    }
    let Some(length) = length else {
        return a.answer_list(vec![HclValue::text(formatted(&pattern, arguments)?, a.span)]);
    };
    let mut result = Vec::new();
    for index in 0..length {
        let row: Vec<HclValue> =
            arguments.iter().map(|argument| argument.items().get(index).unwrap_or(argument).clone()).collect();
        let text = formatted(&pattern, &row)?;
        a.evaluator.budget.spend_bytes(text.len())?;
        result.push(HclValue::text(text, a.span));
    }
    a.answer_list(result)
}

fn formatted(pattern: &str, arguments: &[HclValue]) -> Result<String, FunctionFailure> {
    let mut result = String::new();
    let mut next = 0;
    let mut used = 0;
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            result.push('%');
            rest = after;
            continue;
        }
        let verb = TerraformVerb::parse(&mut rest, next)?;
        next = verb.argument + 1;
        used = used.max(next);
        let argument = arguments.get(verb.argument).ok_or("there are not enough arguments")?;
        result.push_str(&verb.apply(argument)?);
    }
    if used < arguments.len() {
        return Err("there are more arguments than format verbs".into());
    }
    result.push_str(rest);
    Ok(result)
}

/// A parsed format verb: `%-08.3[2]f`.
struct TerraformVerb {
    verb: PrintVerb,
    argument: usize,
    letter: char,
}

impl TerraformVerb {
    /// Parses the characters after a `%`.
    fn parse(rest: &mut &str, next: usize) -> Result<Self, FunctionFailure> {
        let mut starred = false;
        let verb = PrintVerb::read(rest, || {
            starred = true;
            None
        });
        let mut argument = next;
        if let Some(mut after) = rest.strip_prefix('[') {
            let index = digits(&mut after);
            *rest = after.strip_prefix(']').ok_or("an argument index has no `]`")?;
            argument = index.and_then(|index| index.checked_sub(1)).ok_or("an argument index counts from 1")?;
        }
        if starred || [verb.width, verb.precision].contains(&Some(WIDEST)) {
            return Err(format!("a width is `*`, or {WIDEST} or more").into());
        }
        let letter = rest.chars().next().ok_or("a `%` has no format verb")?;
        *rest = &rest[letter.len_utf8()..];
        Ok(TerraformVerb { verb, argument, letter })
    }

    fn apply(&self, argument: &HclValue) -> Result<String, FunctionFailure> {
        match &argument.data {
            HclData::Unknown(cause) => return Err(cause.clone().into()),
            HclData::Null => {
                let why = "Terraform does not define the format of null";
                return Err(FunctionFailure::Unknown(Cause::new(why, argument.span).into()));
            }
            _ => {}
        }
        match self.letter {
            'v' => self.as_is(argument),
            's' | 'q' => {
                let text = text(argument).map_err(|_| "`%s` needs a string")?;
                let mut text = match self.verb.precision {
                    Some(precision) => super::text::graphemes(&text).take(precision).collect(),
                    None => text.to_string(),
                };
                if self.letter == 'q' {
                    let mut quoted = String::new();
                    write_json(&HclValue::text(text, argument.span), &mut quoted)?;
                    text = quoted;
                }
                Ok(self.pad(&text))
            }
            't' => match argument.as_bool() {
                Some(flag) => Ok(flag.to_string()),
                None => Err("`%t` needs a boolean".into()),
            },
            'd' | 'b' | 'o' | 'x' | 'X' => self.integer(argument),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                let number = argument.as_number().ok_or("a number is needed")?;
                Ok(self.signed(number.is_negative(), &self.floating(&number)))
            }
            other => Err(format!("there is no format verb `%{other}`").into()),
        }
    }

    fn as_is(&self, argument: &HclValue) -> Result<String, FunctionFailure> {
        let text = match &argument.data {
            HclData::Text(text) if !self.verb.sharp => text.to_string(),
            HclData::Number(number) if !self.verb.sharp => shortest(number),
            _ => {
                let mut json = String::new();
                write_json(argument, &mut json)?;
                json
            }
        };
        Ok(self.pad(&text))
    }

    fn integer(&self, argument: &HclValue) -> Result<String, FunctionFailure> {
        let number = argument.as_number().filter(HclNumber::is_integer).ok_or("an integer is needed")?;
        let digits = match (self.letter, number.as_i64()) {
            ('d', _) => number.to_string().trim_start_matches('-').to_owned(),
            (letter, Some(n)) => radix(letter, n.unsigned_abs()).unwrap_or_default(),
            _ => return Err("this number is too large".into()),
        };
        Ok(self.signed(number.is_negative(), &digits))
    }

    /// Formats a number without its sign.
    fn floating(&self, number: &HclNumber) -> String {
        let magnitude = if number.is_negative() { number.negated() } else { number.clone() };
        let text = match (self.letter.to_ascii_lowercase(), self.verb.precision) {
            ('f', precision) => fixed(&magnitude, precision.unwrap_or(6)),
            ('e', precision) => scientific(&magnitude, precision.unwrap_or(6)),
            (_, None) => shortest(&magnitude),
            (_, Some(precision)) => general(&magnitude, precision.max(1)),
        };
        if self.letter.is_ascii_uppercase() { text.to_uppercase() } else { text }
    }

    fn signed(&self, negative: bool, digits: &str) -> String {
        self.verb.pad_number(self.verb.signed(format!("{}{digits}", if negative { "-" } else { "" })))
    }

    fn pad(&self, text: &str) -> String {
        let length = super::text::graphemes(text).count();
        match self.verb.zero && !self.verb.minus {
            true => "0".repeat(self.verb.missing(length)) + text,
            false => self.verb.pad(text, length),
        }
    }
}

/// Returns the digits of a non-negative number, and the position of the decimal point: 0.00123 is ("123", -2).
fn decimal(number: &HclNumber) -> (Vec<u8>, i64) {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let point = whole.len() as i64 - (all.len() - digits.len()) as i64;
    (digits.trim_end_matches('0').bytes().collect(), if digits.is_empty() { 0 } else { point })
}

/// Returns the first digits, rounded half to even. The decimal point moves if rounding adds a digit.
fn rounded(digits: &[u8], point: i64, keep: i64) -> (Vec<u8>, i64) {
    let Ok(keep) = usize::try_from(keep) else { return (Vec::new(), point) };
    let Some(next) = digits.get(keep) else { return (digits.to_vec(), point) };
    let mut kept = digits[..keep].to_vec();
    let odd = kept.last().is_some_and(|digit| (digit - b'0') % 2 == 1);
    let up = *next > b'5' || *next == b'5' && (digits.len() > keep + 1 || odd);
    if up {
        while let Some(last) = kept.pop() {
            if last < b'9' {
                kept.push(last + 1);
                return (kept, point);
            }
        }
        return (vec![b'1'], point + 1);
    }
    (kept, point)
}

fn at(digits: &[u8], index: i64) -> char {
    usize::try_from(index).ok().and_then(|index| digits.get(index)).map_or('0', |digit| char::from(*digit))
}

fn fixed(number: &HclNumber, precision: usize) -> String {
    let (digits, point) = decimal(number);
    let (digits, point) = rounded(&digits, point, point + precision as i64);
    let mut text: String = (0..point.max(0)).map(|index| at(&digits, index)).collect();
    if text.is_empty() {
        text.push('0');
    }
    if precision > 0 {
        text.push('.');
        text.extend((point..point + precision as i64).map(|index| at(&digits, index)));
    }
    text
}

fn scientific(number: &HclNumber, precision: usize) -> String {
    let (digits, point) = decimal(number);
    let (digits, point) = rounded(&digits, point, 1 + precision as i64);
    let mut text = at(&digits, 0).to_string();
    if precision > 0 {
        text.push('.');
        text.extend((1..=precision as i64).map(|index| at(&digits, index)));
    }
    let exponent = if digits.is_empty() { 0 } else { point - 1 };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{text}e{sign}{:02}", exponent.abs())
}

/// Formats with as many digits as necessary; with an exponent below -4 and from 6 on.
fn shortest(number: &HclNumber) -> String {
    let magnitude = if number.is_negative() { number.negated() } else { number.clone() };
    let sign = if number.is_negative() { "-" } else { "" };
    let (digits, point) = decimal(&magnitude);
    let exponent = point - 1;
    let text = if !digits.is_empty() && !(-4..6).contains(&exponent) {
        scientific(&magnitude, digits.len().saturating_sub(1))
    } else {
        magnitude.to_string()
    };
    format!("{sign}{text}")
}

fn general(number: &HclNumber, precision: usize) -> String {
    let (all, point) = decimal(number);
    let (digits, point) = rounded(&all, point, precision as i64);
    let exponent = point - 1;
    let limit = if precision > all.len() && all.len() as i64 >= point { all.len() as i64 } else { precision as i64 };
    let kept: Vec<u8> = String::from_utf8_lossy(&digits).trim_end_matches('0').bytes().collect();
    if !digits.is_empty() && (exponent < -4 || exponent >= limit) {
        return scientific(number, kept.len().saturating_sub(1));
    }
    fixed(number, usize::try_from(kept.len() as i64 - point).unwrap_or(0))
}
