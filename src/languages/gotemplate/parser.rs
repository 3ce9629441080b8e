//! Parses templates as Go's `text/template` does, with the same errors.

use std::ops::Range;
use std::rc::Rc;

use memchr::memmem;

use super::lexer::{self, PlacedToken, TemplateToken};
use super::syntax::{Branch, Pipeline, PipelineCommand, Template, TemplateExpression, TemplateNode};
use super::text::Text;

/// The limit on nested parentheses and blocks, above any real template.
const DEEPEST: usize = 100;

/// A syntax error and its place.
#[derive(Debug, Clone)]
pub(crate) struct ParseRefusal {
    pub(crate) at: usize,
    pub(crate) why: String,
}

/// Returns the template of a text and those that it defines. The first is that of the text itself.
pub(crate) fn parse(
    name: &str,
    source: &Text,
    is_function: impl Fn(&str) -> bool,
) -> Result<Vec<Template>, ParseRefusal> {
    let text = source.as_str();
    let mut parser = Parser {
        source,
        text,
        at: 0,
        trim_next: false,
        variables: vec!["".into()],
        defined: Vec::new(),
        is_function: &is_function,
        depth: 0,
        loops: 0,
    };
    let (nodes, end) = parser.list(&[])?;
    if let Some(end) = end {
        return Err(ParseRefusal { at: end.at, why: format!("unexpected {{{{{}}}}}", end.word) });
    }
    let main = Template { name: name.into(), source: source.clone(), nodes };
    let mut all = vec![main];
    all.append(&mut parser.defined);
    Ok(all)
}

struct Parser<'t> {
    source: &'t Text,
    text: &'t str,
    at: usize,
    trim_next: bool,
    /// The variables in scope; the first is the data itself.
    variables: Vec<Rc<str>>,
    defined: Vec<Template>,
    is_function: &'t dyn Fn(&str) -> bool,
    depth: usize,
    loops: usize,
}

/// The end of a list of nodes: `end` or `else`, with the words after it.
struct End {
    word: String,
    at: usize,
    tokens: Vec<PlacedToken>,
    range: Range<usize>,
}

type Parsed<T> = Result<T, ParseRefusal>;

fn refuse<T>(at: usize, why: impl Into<String>) -> Parsed<T> {
    Err(ParseRefusal { at, why: why.into() })
}

impl Parser<'_> {
    /// Parses nodes up to one of these words, or to the end of the text.
    fn list(&mut self, ends: &[&str]) -> Parsed<(Vec<TemplateNode>, Option<End>)> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return refuse(self.at, format!("blocks are nested more than {DEEPEST} deep"));
        }
        let mut nodes = Vec::new();
        loop {
            let Some(found) = self.text.get(self.at..).and_then(|rest| memmem::find(rest.as_bytes(), b"{{")) else {
                let rest = self.literal(self.text.len(), false);
                nodes.extend(rest);
                self.at = self.text.len();
                self.depth -= 1;
                return match ends.is_empty() {
                    true => Ok((nodes, None)),
                    false => refuse(self.at, "unexpected EOF"),
                };
            };
            let open = self.at + found;
            let after = self.text.get(open + 2..).unwrap_or_default();
            let trims =
                after.starts_with('-') && after.get(1..).is_some_and(|it| it.starts_with([' ', '\t', '\r', '\n']));
            nodes.extend(self.literal(open, trims));
            let inside = open + 2 + if trims { 2 } else { 0 };
            if self.text.get(inside..).is_some_and(|it| it.starts_with("/*")) {
                self.comment(inside)?;
                continue;
            }
            let lexed = lexer::action(self.text, if trims { inside - 1 } else { inside })
                .or_else(|(at, why)| refuse(at, why))?;
            self.at = lexed.end;
            self.trim_next = lexed.trims;
            if let Some(end) = self.action(lexed.tokens, open..lexed.end, &mut nodes)? {
                let known = ends.contains(&end.word.as_str()) || ends.is_empty();
                self.depth -= 1;
                return if known {
                    Ok((nodes, Some(end)))
                } else {
                    refuse(end.at, format!("unexpected {{{{{}}}}}", end.word))
                };
            }
        }
    }

    /// Parses text up to an action, trimmed as the actions around it require.
    fn literal(&mut self, end: usize, trims: bool) -> Option<TemplateNode> {
        const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];
        let (mut start, mut end) = (self.at, end);
        let text = self.text.get(start..end)?;
        if std::mem::take(&mut self.trim_next) {
            start += text.len() - text.trim_start_matches(BLANK).len();
        }
        if trims {
            let text = self.text.get(start..end)?;
            end -= text.len() - text.trim_end_matches(BLANK).len();
        }
        (start < end).then_some(TemplateNode::Text(start..end))
    }

    fn comment(&mut self, start: usize) -> Parsed<()> {
        let rest = self.text.get(start..).unwrap_or_default();
        let Some(length) = rest.get(2..).and_then(|rest| memmem::find(rest.as_bytes(), b"*/")) else {
            return refuse(start, "unclosed comment");
        };
        let after = rest.get(length + 4..).unwrap_or_default();
        let blanks = after.len() - after.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let end = start + length + 4;
        if after.starts_with("}}") {
            self.at = end + 2;
        } else if blanks > 0 && after.get(blanks..).is_some_and(|it| it.starts_with("-}}")) {
            self.at = end + blanks + 3;
            self.trim_next = true;
        } else {
            return refuse(start, "comment ends before closing delimiter");
        }
        Ok(())
    }

    fn action(
        &mut self,
        tokens: Vec<PlacedToken>,
        range: Range<usize>,
        nodes: &mut Vec<TemplateNode>,
    ) -> Parsed<Option<End>> {
        let Some(PlacedToken { token, .. }) = tokens.first() else {
            return refuse(range.start, "missing value for command");
        };
        let TemplateToken::Word(word) = token.clone() else {
            nodes.push(TemplateNode::Action(self.pipeline(&tokens, range, "command")?));
            return Ok(None);
        };
        let rest = || tokens.get(1..).unwrap_or_default().to_vec();
        match word.as_str() {
            "end" | "else" => {
                if word == "end" && tokens.len() > 1 {
                    return refuse(range.start, "unexpected words in {{end}}");
                }
                return Ok(Some(End { word, at: range.start, tokens: rest(), range }));
            }
            "if" | "with" | "range" => {
                let node = self.block(&word, &rest(), range)?;
                nodes.push(node);
            }
            "break" | "continue" => {
                if self.loops == 0 {
                    return refuse(range.start, format!("{{{{{word}}}}} outside {{{{range}}}}"));
                }
                nodes.push(if word == "break" { TemplateNode::Break } else { TemplateNode::Continue });
            }
            "define" => self.define(&rest(), range)?,
            "block" => nodes.push(self.block_template(&rest(), range)?),
            "template" => {
                let (name, words) = self.name(&rest(), &range)?;
                let data = match words.is_empty() {
                    true => None,
                    false => Some(self.pipeline(&words, range.clone(), "template clause")?),
                };
                nodes.push(TemplateNode::Template { name, data, range });
            }
            _ => nodes.push(TemplateNode::Action(self.pipeline(&tokens, range, "command")?)),
        }
        Ok(None)
    }

    /// Parses `if`, `with` or `range` up to its `end`.
    fn block(&mut self, word: &str, words: &[PlacedToken], range: Range<usize>) -> Parsed<TemplateNode> {
        let known = self.variables.len();
        let pipeline = self.pipeline_in(words, range, word, word == "range")?;
        let is_loop = usize::from(word == "range");
        self.loops += is_loop;
        let (then, end) = self.list(&["end", "else"])?;
        self.loops -= is_loop;
        let mut otherwise = Vec::new();
        if let Some(end) = end.filter(|end| end.word == "else") {
            match end.tokens.first().map(|it| &it.token) {
                None => {
                    let (nodes, last) = self.list(&["end", "else"])?;
                    if let Some(last) = last.filter(|last| last.word == "else") {
                        return refuse(last.at, "expected end; found {{else}}");
                    }
                    otherwise = nodes;
                }
                Some(TemplateToken::Word(again)) if again == word && word != "range" => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return refuse(end.at, format!("blocks are nested more than {DEEPEST} deep"));
                    }
                    let rest = end.tokens.get(1..).unwrap_or_default().to_vec();
                    otherwise = vec![self.block(word, &rest, end.range)?];
                    self.depth -= 1;
                }
                Some(_) => return refuse(end.at, "unexpected words in {{else}}"),
            }
        }
        self.variables.truncate(known);
        let branch = Branch { pipeline, then, otherwise };
        Ok(match word {
            "if" => TemplateNode::If(branch),
            "with" => TemplateNode::With(branch),
            _ => TemplateNode::Range(branch),
        })
    }

    fn name(&self, words: &[PlacedToken], range: &Range<usize>) -> Parsed<(Rc<str>, Vec<PlacedToken>)> {
        match words.split_first() {
            Some((PlacedToken { token: TemplateToken::Text(name), .. }, rest)) => {
                Ok((name.as_str().into(), rest.to_vec()))
            }
            _ => refuse(range.start, "the name of a template must be a string"),
        }
    }

    fn define(&mut self, words: &[PlacedToken], range: Range<usize>) -> Parsed<()> {
        if self.depth > 1 {
            return refuse(range.start, "unexpected {{define}}");
        }
        let (name, rest) = self.name(words, &range)?;
        if !rest.is_empty() {
            return refuse(range.start, "unexpected words in define clause");
        }
        self.body(name, range)
    }

    fn body(&mut self, name: Rc<str>, range: Range<usize>) -> Parsed<()> {
        let outer = std::mem::replace(&mut self.variables, vec!["".into()]);
        let loops = std::mem::take(&mut self.loops);
        let (nodes, end) = self.list(&["end"])?;
        self.loops = loops;
        self.variables = outer;
        drop(end);
        let template = Template { name: name.clone(), source: self.source.clone(), nodes };
        match self.defined.iter_mut().find(|known| known.name == name) {
            Some(known) if known.is_empty() => *known = template,
            Some(_) if template.is_empty() => {}
            Some(_) => return refuse(range.start, format!("multiple definition of template {name:?}")),
            None => self.defined.push(template),
        }
        Ok(())
    }

    fn block_template(&mut self, words: &[PlacedToken], range: Range<usize>) -> Parsed<TemplateNode> {
        let (name, rest) = self.name(words, &range)?;
        let data = self.pipeline(&rest, range.clone(), "block clause")?;
        self.body(name.clone(), range.clone())?;
        Ok(TemplateNode::Template { name, data: Some(data), range })
    }

    fn pipeline(&mut self, words: &[PlacedToken], range: Range<usize>, context: &str) -> Parsed<Pipeline> {
        self.pipeline_in(words, range, context, false)
    }

    fn pipeline_in(
        &mut self,
        words: &[PlacedToken],
        range: Range<usize>,
        context: &str,
        ranges: bool,
    ) -> Parsed<Pipeline> {
        let mut reader = Reader { words, at: 0, range: range.clone(), parser: self, depth: 0 };
        let (variables, assigns) = reader.declarations(ranges)?;
        if !assigns {
            // The pipeline is parsed first, because it cannot use the variables that it assigns.
            let pipeline = reader.commands(context)?;
            self.variables.extend(variables.iter().cloned());
            return Ok(Pipeline { range, assigns, variables, commands: pipeline });
        }
        for name in &variables {
            reader.known(name)?;
        }
        let commands = reader.commands(context)?;
        Ok(Pipeline { range, assigns, variables, commands })
    }
}

/// Reads the words of one pipeline.
struct Reader<'p, 'w, 't> {
    words: &'w [PlacedToken],
    at: usize,
    range: Range<usize>,
    parser: &'p mut Parser<'t>,
    depth: usize,
}

impl Reader<'_, '_, '_> {
    fn peek(&self) -> Option<&PlacedToken> {
        self.words.get(self.at)
    }

    fn token(&self, ahead: usize) -> Option<&TemplateToken> {
        self.words.get(self.at + ahead).map(|it| &it.token)
    }

    fn place(&self) -> usize {
        self.peek().map_or(self.range.end.saturating_sub(2), |it| it.range.start)
    }

    fn declarations(&mut self, ranges: bool) -> Parsed<(Vec<Rc<str>>, bool)> {
        let mut variables: Vec<Rc<str>> = Vec::new();
        let start = self.at;
        while let Some(TemplateToken::Variable(name)) = self.token(0).cloned() {
            let contiguous =
                self.words.get(self.at + 1).is_some_and(|it| !it.spaced && matches!(it.token, TemplateToken::Field(_)));
            if contiguous {
                break;
            }
            variables.push(name.as_str().into());
            match self.token(1) {
                Some(TemplateToken::Declare | TemplateToken::Assign) => {
                    let assigns = self.token(1) == Some(&TemplateToken::Assign);
                    self.at += 2;
                    if variables.len() > if ranges { 2 } else { 1 } {
                        return refuse(self.place(), "too many declarations");
                    }
                    return Ok((variables, assigns));
                }
                Some(TemplateToken::Comma) if ranges => self.at += 2,
                _ => break,
            }
        }
        self.at = start;
        Ok((Vec::new(), false))
    }

    fn known(&self, name: &str) -> Parsed<()> {
        match self.parser.variables.iter().any(|known| **known == *name) {
            true => Ok(()),
            false => refuse(self.place(), format!("undefined variable \"${name}\"")),
        }
    }

    /// Parses up to the end of the words or a closing parenthesis.
    fn commands(&mut self, context: &str) -> Parsed<Vec<PipelineCommand>> {
        let mut commands: Vec<PipelineCommand> = Vec::new();
        loop {
            let start = self.place();
            let words = self.command()?;
            // A `|` without a command after it is an error, but only one.
            if words.is_empty() && !commands.is_empty() && !matches!(self.token(0), Some(TemplateToken::Pipe)) {
                break;
            }
            if words.is_empty() {
                return refuse(start, format!("missing value for {context}"));
            }
            let is_callable = matches!(
                words.first(),
                Some(
                    TemplateExpression::Function(_)
                        | TemplateExpression::Field(_)
                        | TemplateExpression::Variable(..)
                        | TemplateExpression::Chain(..)
                )
            );
            if !commands.is_empty() && !is_callable {
                return refuse(start, "non executable command in pipeline");
            }
            commands.push(PipelineCommand { words });
            match self.token(0) {
                Some(TemplateToken::Pipe) => self.at += 1,
                None | Some(TemplateToken::Close) => break,
                Some(_) => return refuse(self.place(), format!("unexpected words in {context}")),
            }
        }
        if self.depth == 0 && self.at < self.words.len() {
            return refuse(self.place(), "unexpected right paren");
        }
        Ok(commands)
    }

    fn command(&mut self) -> Parsed<Vec<TemplateExpression>> {
        let mut words: Vec<TemplateExpression> = Vec::new();
        while let Some(next) = self.peek() {
            if matches!(next.token, TemplateToken::Pipe | TemplateToken::Close) {
                break;
            }
            if !words.is_empty() && !next.spaced {
                return refuse(next.range.start, "expected a space before this word");
            }
            words.push(self.operand()?);
        }
        Ok(words)
    }

    fn operand(&mut self) -> Parsed<TemplateExpression> {
        let Some(PlacedToken { token, range, .. }) = self.peek().cloned() else {
            return refuse(self.place(), "missing operand");
        };
        self.at += 1;
        let term = match token {
            TemplateToken::Dot => TemplateExpression::Dot,
            TemplateToken::Field(name) => TemplateExpression::Field(vec![name.as_str().into()]),
            TemplateToken::Variable(name) => {
                self.known(&name)?;
                TemplateExpression::Variable(name.as_str().into(), Vec::new())
            }
            TemplateToken::Text(text) => TemplateExpression::Text(self.written(&text, &range)),
            TemplateToken::Int(number) => TemplateExpression::Int(number),
            TemplateToken::Float(number) => TemplateExpression::Float(number),
            TemplateToken::Open => self.parenthesis(range.start)?,
            TemplateToken::Word(word) => match word.as_str() {
                "true" => TemplateExpression::Flag(true),
                "false" => TemplateExpression::Flag(false),
                "nil" => TemplateExpression::Nil,
                "if" | "else" | "end" | "range" | "with" | "define" | "block" | "template" | "break" | "continue" => {
                    return refuse(range.start, format!("unexpected <{word}>"));
                }
                name if (self.parser.is_function)(name) => TemplateExpression::Function(name.into()),
                name => return refuse(range.start, format!("function {name:?} not defined")),
            },
            TemplateToken::Close
            | TemplateToken::Pipe
            | TemplateToken::Declare
            | TemplateToken::Assign
            | TemplateToken::Comma => {
                return refuse(range.start, "unexpected sign in operand");
            }
        };
        self.chain(term, range.start)
    }

    /// Returns a string of the template, with its place in the file.
    fn written(&self, text: &str, range: &Range<usize>) -> Text {
        let (start, end) = (range.start + 1, range.end - 1);
        match self.parser.text.get(start..end) == Some(text) {
            true => self.parser.source.slice(start, end),
            false => text.into(),
        }
    }

    fn parenthesis(&mut self, start: usize) -> Parsed<TemplateExpression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return refuse(start, format!("parentheses are nested more than {DEEPEST} deep"));
        }
        let (variables, assigns) = self.declarations(false)?;
        let commands = self.commands("parenthesized pipeline")?;
        if self.token(0) != Some(&TemplateToken::Close) {
            return refuse(start, "unclosed left paren");
        }
        let end = self.place() + 1;
        self.at += 1;
        self.depth -= 1;
        self.parser.variables.extend(variables.iter().filter(|_| !assigns).cloned());
        Ok(TemplateExpression::Pipeline(Box::new(Pipeline { range: start..end, assigns, variables, commands })))
    }

    /// Parses fields that follow without a space.
    fn chain(&mut self, term: TemplateExpression, start: usize) -> Parsed<TemplateExpression> {
        let mut fields: Vec<Rc<str>> = Vec::new();
        while let Some(PlacedToken { token: TemplateToken::Field(name), spaced: false, .. }) = self.peek() {
            fields.push(name.as_str().into());
            self.at += 1;
        }
        if fields.is_empty() {
            return Ok(term);
        }
        Ok(match term {
            TemplateExpression::Field(mut names) => {
                names.extend(fields);
                TemplateExpression::Field(names)
            }
            TemplateExpression::Variable(name, mut names) => {
                names.extend(fields);
                TemplateExpression::Variable(name, names)
            }
            TemplateExpression::Pipeline(_) | TemplateExpression::Function(_) => {
                TemplateExpression::Chain(Box::new(term), fields)
            }
            _ => return refuse(start, "unexpected . after term"),
        })
    }
}
