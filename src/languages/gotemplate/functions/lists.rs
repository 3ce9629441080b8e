//! Implements functions of lists.

use super::super::compare::{same, truth};
use super::super::evaluate::BYTES_PER_STEP;
use super::super::failure::TemplateFailure;
use super::super::text::{TemplateCause, Text};
use super::super::value::{GoKind, GoValue};
use super::How::{Careful, Plain};
use super::math::to_int;
use super::{FunctionCall, FunctionOutcome, Reads, Row};

pub(super) const TABLE: &[Row] = &[
    ("list", "*a", Careful, |c| c.list(c.arguments.to_vec())),
    ("tuple", "*a", Careful, |c| c.list(c.arguments.to_vec())),
    ("append", "aa", Careful, append),
    ("mustAppend", "aa", Careful, append),
    ("push", "aa", Careful, append),
    ("mustPush", "aa", Careful, append),
    ("prepend", "aa", Careful, prepend),
    ("mustPrepend", "aa", Careful, prepend),
    ("first", "a", Careful, |c| Ok(c.items(0, "find first")?.first().cloned().unwrap_or_else(GoValue::nil))),
    ("mustFirst", "a", Careful, |c| Ok(c.items(0, "find first")?.first().cloned().unwrap_or_else(GoValue::nil))),
    ("last", "a", Careful, |c| Ok(c.items(0, "find last")?.last().cloned().unwrap_or_else(GoValue::nil))),
    ("mustLast", "a", Careful, |c| Ok(c.items(0, "find last")?.last().cloned().unwrap_or_else(GoValue::nil))),
    ("rest", "a", Careful, rest),
    ("mustRest", "a", Careful, rest),
    ("initial", "a", Careful, initial),
    ("mustInitial", "a", Careful, initial),
    ("reverse", "a", Careful, reverse),
    ("mustReverse", "a", Careful, reverse),
    ("uniq", "a", Careful, uniq),
    ("mustUniq", "a", Careful, uniq),
    ("without", "a*a", Careful, without),
    ("mustWithout", "a*a", Careful, without),
    ("compact", "a", Careful, compact),
    ("mustCompact", "a", Careful, compact),
    ("has", "aa", Careful, has),
    ("mustHas", "aa", Careful, has),
    ("slice", "a*a", Careful, slice),
    ("mustSlice", "a*a", Careful, slice),
    ("concat", "*a", Careful, |c| {
        let mut all = Vec::new();
        for number in 0..c.arguments.len() {
            all.extend(c.items(number, "concat")?);
        }
        c.list(all)
    }),
    ("chunk", "ia", Careful, chunk),
    ("mustChunk", "ia", Careful, chunk),
    ("sortAlpha", "a", Careful, |c| {
        let mut texts: Vec<Text> = c.texts(0)?;
        if let Some(cause) = texts.iter().find_map(Text::hole) {
            return Err(cause.clone().into());
        }
        texts.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        c.heap().texts(texts)
    }),
    ("until", "i", Plain, |c| steps(c, 0, c.int(0), if c.int(0) < 0 { -1 } else { 1 })),
    ("untilStep", "iii", Plain, |c| steps(c, c.int(0), c.int(1), c.int(2))),
];

fn append(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut items = c.items(0, "push")?;
    items.push(c.any(1));
    c.list(items)
}

fn prepend(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut items = vec![c.any(1)];
    items.extend(c.items(0, "prepend")?);
    c.list(items)
}

fn rest(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let items = c.items(0, "find rest")?;
    items.get(1..).map_or_else(|| c.list(Vec::new()), |rest| c.list(rest.to_vec()))
}

fn initial(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut items = c.items(0, "find initial")?;
    items.pop();
    c.list(items)
}

fn reverse(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut items = c.items(0, "find reverse")?;
    items.reverse();
    c.list(items)
}

/// Returns whether a list contains a value, or the cause if this is unknown.
fn among(c: &FunctionCall<'_, '_>, value: &GoValue, others: &[GoValue]) -> Result<bool, TemplateFailure> {
    let mut unknown: Option<TemplateCause> = None;
    // The comparison with a member ends at the first difference, so it costs at most the size of the value.
    let weight = value.weight(usize::from(u8::MAX), c.heap().left());
    c.evaluator.step((others.len() as u64).saturating_mul(1 + weight as u64 / BYTES_PER_STEP))?;
    for other in others {
        match same(value, other) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(TemplateFailure::Unknown(cause)) => unknown = Some(cause),
            Err(other) => return Err(other),
        }
    }
    unknown.map_or(Ok(false), |cause| Err(cause.into()))
}

fn uniq(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut kept: Vec<GoValue> = Vec::new();
    c.evaluator.read(c.arguments, Reads::All)?;
    for item in c.items(0, "find uniq")? {
        if !among(c, &item, &kept)? {
            kept.push(item);
        }
    }
    c.list(kept)
}

fn without(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut kept = Vec::new();
    c.evaluator.read(c.arguments, Reads::All)?;
    for item in c.items(0, "find without")? {
        if !among(c, &item, c.rest(1))? {
            kept.push(item);
        }
    }
    c.list(kept)
}

fn compact(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut kept = Vec::new();
    for item in c.items(0, "compact")? {
        if truth(&item)? {
            kept.push(item);
        }
    }
    c.list(kept)
}

fn has(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    if c.any(1).is_nil() {
        return Ok(false.into());
    }
    let items = c.items(1, "find has")?;
    Ok(among(c, &c.any(0), &items)?.into())
}

fn slice(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let items = c.items(0, "slice")?;
    if items.is_empty() {
        return Ok(GoValue::nil());
    }
    if let Some(cause) = c.rest(1).iter().find_map(GoValue::cause) {
        return Err(cause.clone().into());
    }
    let place = |number: usize, otherwise: usize| match c.arguments.get(number) {
        Some(value) => usize::try_from(to_int(value)).map_err(|_| TemplateFailure::from("slice index out of bounds")),
        None => Ok(otherwise),
    };
    let (from, to) = (place(1, 0)?, place(2, items.len())?);
    match items.get(from..to) {
        Some(part) => c.list(part.to_vec()),
        None => Err("slice index out of bounds".into()),
    }
}

fn chunk(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let size = usize::try_from(c.known_int(0)?).ok().filter(|size| *size > 0).ok_or("chunks must have a size")?;
    let items = c.items(1, "chunk")?;
    let chunks: Result<Vec<GoValue>, TemplateFailure> =
        items.chunks(size).map(|chunk| c.list(chunk.to_vec())).collect();
    c.list(chunks?)
}

fn steps(c: &FunctionCall<'_, '_>, start: i64, stop: i64, step: i64) -> FunctionOutcome {
    let mut items = Vec::new();
    let is_over = |at: i64| if stop < start { at <= stop } else { at >= stop };
    if step == 0 || (stop < start) != (step < 0) {
        return c.list(items);
    }
    let mut at = start;
    while !is_over(at) {
        c.evaluator.step(1)?;
        items.push(GoKind::Int(at).into());
        at = at.saturating_add(step);
    }
    c.list(items)
}
