//! Matches `%{ if }` and `%{ for }` of templates with their ends.

use std::sync::Arc;

use crate::source::Span;

use super::cursor::{Parse, Parser};
use super::template::HclToken;
use super::{Expression, HclKind, HclName, TemplatePart};

/// An open directive, and the parts before it.
struct Frame {
    open: Open,
    span: Span,
    before: Vec<TemplatePart>,
}

enum Open {
    If(Expression),
    Else(Expression, Vec<TemplatePart>),
    For { key_name: Option<HclName>, value_name: HclName, collection: Expression },
}

impl Parser<'_> {
    /// Matches directives with their ends.
    pub(super) fn assemble(&mut self, tokens: Vec<HclToken>) -> Parse<Vec<TemplatePart>> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut parts: Vec<TemplatePart> = Vec::new();
        let mut literal = String::new();
        for token in tokens {
            if let HclToken::Literal(text) = &token {
                literal.push_str(text);
                continue;
            }
            push_literal(&mut parts, &mut literal);
            let (open, span) = match token {
                HclToken::Literal(_) => continue,
                HclToken::Interpolation(expression) => {
                    parts.push(TemplatePart::Interpolation(expression));
                    continue;
                }
                HclToken::If(condition, span) => (Open::If(condition), span),
                HclToken::For { key_name, value_name, collection, span } => {
                    (Open::For { key_name, value_name, collection }, span)
                }
                HclToken::Else(span) | HclToken::EndIf(span) | HclToken::EndFor(span) => {
                    self.close_directive(&token, span, &mut stack, &mut parts)?;
                    continue;
                }
            };
            if stack.len() as u32 + self.depth >= self.deepest {
                return self.fail_in(super::cursor::too_deep(self.deepest), span);
            }
            stack.push(Frame { open, span, before: std::mem::take(&mut parts) });
        }
        push_literal(&mut parts, &mut literal);
        match stack.pop() {
            Some(frame) => self.fail_in("this template directive has no end", frame.span),
            None => Ok(parts),
        }
    }

    fn close_directive(
        &mut self,
        token: &HclToken,
        span: Span,
        stack: &mut Vec<Frame>,
        parts: &mut Vec<TemplatePart>,
    ) -> Parse<()> {
        let Some(frame) = stack.pop() else {
            return self.fail_in("no template directive is open here", span);
        };
        let inner = std::mem::replace(parts, frame.before);
        let part = match (frame.open, token) {
            (Open::If(condition), HclToken::Else(_)) => {
                let before = std::mem::take(parts);
                stack.push(Frame { open: Open::Else(condition, inner), span: frame.span, before });
                return Ok(());
            }
            (Open::If(condition), HclToken::EndIf(_)) => TemplatePart::If { condition, yes: inner, no: Vec::new() },
            (Open::Else(condition, yes), HclToken::EndIf(_)) => TemplatePart::If { condition, yes, no: inner },
            (Open::For { key_name, value_name, collection }, HclToken::EndFor(_)) => {
                TemplatePart::For { key_name, value_name, collection, body: inner }
            }
            _ => return self.fail_in("this template directive does not match the open one", span),
        };
        parts.push(part);
        Ok(())
    }
}

fn push_literal(parts: &mut Vec<TemplatePart>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(TemplatePart::Literal(Arc::from(literal.as_str())));
        literal.clear();
    }
}

/// Returns the parts as an expression: a plain string if there is no interpolation.
pub(super) fn template(mut parts: Vec<TemplatePart>) -> HclKind {
    match parts.len() {
        0 => return HclKind::Text(Arc::from("")),
        1 => {
            if let Some(TemplatePart::Literal(text)) = parts.first() {
                return HclKind::Text(text.clone());
            }
        }
        _ => {}
    }
    parts.shrink_to_fit();
    HclKind::Template(parts.into_boxed_slice())
}

/// Removes the common indentation of all lines after `<<-`. Lines with only spaces do not count.
pub(super) fn remove_indentation(tokens: &mut [HclToken]) {
    let mut common = usize::MAX;
    let mut at_line_start = true;
    let mut starts = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let HclToken::Literal(text) = token else {
            if std::mem::take(&mut at_line_start) {
                common = 0;
            }
            continue;
        };
        if at_line_start {
            let blanks = text.chars().take_while(|c| c.is_whitespace()).count();
            let blank_line = text.ends_with('\n') && text.trim_start().is_empty();
            if !blank_line {
                common = common.min(blanks);
                starts.push(index);
            }
        }
        at_line_start = text.ends_with('\n');
    }
    for index in starts {
        if let Some(HclToken::Literal(text)) = tokens.get_mut(index) {
            let cut = text.char_indices().nth(common).map_or(text.len(), |(at, _)| at);
            text.drain(..cut);
        }
    }
}
