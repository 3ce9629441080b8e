//! Resolves calls to functions and checks their arguments.

use std::ops::Range;

use super::super::Problem;
use super::super::functions::{self, CelOverload};
use super::super::macros;
use super::super::program::{ExprNode, ProgramNode};
use super::super::syntax::{Expr, ExprName};
use super::super::types::CelType;
use super::super::value::CelValue;
use super::names::qualified;
use super::operands::adapt;
use super::{Lowered, Lowering, NameLiteral, NameUse, as_number};
use crate::languages::cel::nearest;
use crate::source::AdaptiveRegex;

impl Lowering<'_> {
    pub(super) fn call(&mut self, at: Range<usize>, of: Option<&Expr>, name: &ExprName, arguments: &[Expr]) -> Lowered {
        if let Some(lowered) = macros::lower(self, &at, of, name, arguments) {
            let (what, holds) = lowered?;
            return Ok((ProgramNode { what, at }, holds));
        }
        let mut nodes = Vec::with_capacity(arguments.len() + 1);
        let mut holds = Vec::with_capacity(arguments.len() + 1);
        let mut full_name = name.text.to_string();
        let mut is_method = of.is_some();
        if let Some(of) = of {
            match self.namespace(of, name) {
                Some(namespaced) => {
                    full_name = namespaced;
                    is_method = false;
                }
                None => {
                    let (node, kind) = self.lower(of)?;
                    nodes.push(node);
                    holds.push(kind);
                }
            }
        }
        for argument in arguments {
            let (node, kind) = self.lower(argument)?;
            let (node, kind) = as_number(node, kind);
            nodes.push(node);
            holds.push(kind);
        }
        let (candidates, gives) = self.overloads(&full_name, is_method, &mut nodes, &mut holds, name)?;
        self.note_arguments(&candidates, &nodes);
        if let (Some(problem), false) = (self.wrong_constants(&candidates, &nodes), self.scope.proven) {
            return Err(problem);
        }
        let what = match written_pattern(&full_name, &mut nodes, self.scope.proven) {
            Some(Ok((of, pattern))) => ExprNode::Matches(Box::new(of), Box::new(pattern)),
            Some(Err(problem)) => return Err(problem),
            None => ExprNode::Call(candidates.into(), nodes.into()),
        };
        Ok((ProgramNode { what, at }, if self.scope.unchecked { CelType::Any } else { gives }))
    }

    /// Records literal strings that are arguments of a host function.
    fn note_arguments(&mut self, candidates: &[&'static CelOverload], nodes: &[ProgramNode]) {
        let Some(function) = candidates.first().filter(|it| it.is_of_host()) else { return };
        for (place, node) in nodes.iter().enumerate() {
            if let ExprNode::Constant(CelValue::Text(text)) = &node.what {
                let to = NameUse::Argument(function.name, place);
                self.said.push(NameLiteral { to, text: text.clone(), at: node.at.clone() });
            }
        }
    }

    /// Returns why a function always fails on literal arguments.
    fn wrong_constants(&self, candidates: &[&'static CelOverload], nodes: &[ProgramNode]) -> Option<Problem> {
        if self.scope.unchecked {
            return None;
        }
        let values = nodes.iter().map(|node| match &node.what {
            ExprNode::Constant(value) => Some(value.clone()),
            _ => None,
        });
        let values = values.collect::<Option<Vec<CelValue>>>().filter(|values| !values.is_empty())?;
        let function = candidates.iter().find(|function| function.accepts(&values))?;
        let why = function.fails_on(&values)?;
        let written: Vec<&str> = nodes.iter().filter_map(|node| self.text.get(node.at.clone())).collect();
        let at = nodes.first()?.at.start..nodes.last()?.at.end;
        let problem = Problem::new(at, format!("`{}` always fails on {}: {why}", function.name, written.join(", ")));
        Some(match function.name {
            "timestamp" => {
                problem.with_help("write a date or a time: timestamp('2026-11-21'), timestamp('2026-11-21T08:00:00Z')")
            }
            "duration" => problem.with_help("write hours, minutes and seconds: duration('72h'), duration('1h30m')"),
            _ => problem,
        })
    }

    /// Returns `math.greatest` if `math` is not a variable.
    fn namespace(&self, of: &Expr, name: &ExprName) -> Option<String> {
        let prefix = qualified(of)?;
        let first = prefix.split('.').next()?;
        if self.locals.iter().any(|(local, _)| &**local == first) || self.variable(first, 0..0).is_some() {
            return None;
        }
        functions::is_namespace(&prefix, self.scope.functions).then(|| format!("{prefix}.{}", name.text))
    }

    fn overloads(
        &self,
        full_name: &str,
        is_method: bool,
        nodes: &mut [ProgramNode],
        holds: &mut [CelType],
        name: &ExprName,
    ) -> Result<(Vec<&'static CelOverload>, CelType), Problem> {
        let named: Vec<&'static CelOverload> =
            functions::all(self.scope.functions).filter(|f| f.name == full_name && f.is_method == is_method).collect();
        if named.is_empty() {
            return Err(unknown_function(full_name, is_method, name, self.scope.functions));
        }
        let fits = |holds: &[CelType]| -> Vec<&'static CelOverload> {
            named.iter().copied().filter(|function| function.accepts_types(holds)).collect()
        };
        let mut candidates = fits(holds);
        let given: Vec<String> = holds.iter().map(CelType::to_string).collect();
        if candidates.is_empty() {
            // An integer literal is converted if the function needs a double.
            for (node, kind) in nodes.iter_mut().zip(holds.iter_mut()) {
                adapt(node, kind, &CelType::Double);
            }
            candidates = fits(holds);
        }
        let Some(first) = candidates.first() else {
            let ways: Vec<String> = named.iter().map(|function| function.signature()).collect();
            let problem = Problem::new(name.at.clone(), format!("`{full_name}` does not take ({})", given.join(", ")));
            return Err(problem.with_help(format!("valid calls: {}", ways.join(" or "))));
        };
        let gives = first.result(holds);
        let agree = candidates.iter().all(|function| function.result(holds) == gives);
        Ok((candidates, if agree { gives } else { CelType::Any }))
    }
}

fn written_pattern(
    full_name: &str,
    nodes: &mut Vec<ProgramNode>,
    proven: bool,
) -> Option<Result<(ProgramNode, AdaptiveRegex), Problem>> {
    if full_name != "matches" || nodes.len() != 2 {
        return None;
    }
    let ExprNode::Constant(CelValue::Text(text)) = &nodes[1].what else { return None };
    if !proven && let Err(why) = functions::pattern(text) {
        return Some(Err(Problem::new(nodes[1].at.clone(), why)));
    }
    let pattern = AdaptiveRegex::new(&**text);
    nodes.pop();
    nodes.pop().map(|of| Ok((of, pattern)))
}

fn unknown_function(full_name: &str, is_method: bool, name: &ExprName, added: &'static [CelOverload]) -> Problem {
    let problem = Problem::new(name.at.clone(), format!("there is no function `{full_name}`"));
    if let Some(other) = functions::all(added).find(|f| f.name == full_name && f.is_method != is_method) {
        return problem.with_help(format!("write {}", other.signature()));
    }
    let names = functions::all(added).map(|f| f.name).chain(functions::MACROS.iter().map(|(name, _)| *name));
    match nearest(full_name, names) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help("`gpulint facts` lists the functions"),
    }
}
