//! Defines functions that rules have in addition to CEL: some for money, and those that need the catalog.

use super::raw::BLOCK;
use crate::languages::cel::ArgumentForm as T;
use crate::languages::cel::Gives as G;
use crate::languages::cel::{
    CelBudget, CelOverload, CelType, CelValue, Fault, function, method, method_of_host, of_host, pattern, wrong,
};
use crate::pricing::HOURS_PER_MONTH;

/// Functions about the evaluated resource come last, because rules about the repository have none.
const OF_ONE: usize = 4;

/// Returns the functions for a rule about one resource, or for a rule about everything.
pub(in crate::rules) fn functions(is_about_one: bool) -> &'static [CelOverload] {
    let count = if is_about_one { FUNCTIONS.len() } else { FUNCTIONS.len() - OF_ONE };
    FUNCTIONS.get(..count).unwrap_or_default()
}

pub(in crate::rules) static FUNCTIONS: [CelOverload; 15] = [
    of_host("usd", &[T::Number], G::Text, "formats dollars as a string: $1,234"),
    of_host(
        "between",
        &[T::Number, T::Number],
        G::Double,
        "an estimate between two numbers: the first, their mean and the second in turn, for the minimum, expected and maximum of `saves`",
    ),
    function(
        "month",
        &[T::Number],
        G::Double,
        |_, v| with_number(v, |n| CelValue::Double(n * HOURS_PER_MONTH)),
        "converts dollars per hour to dollars per month of 730 hours",
    ),
    method(
        "matches_any",
        &[T::Text, T::Texts],
        G::Flag,
        matches_any,
        "true if one of the regular expressions matches a part of the string",
    ),
    of_host(
        "fits",
        &[T::Text, T::Text, T::Number],
        G::Flag,
        "whether the model (first argument) fits on this number of the accelerator, served with its published settings",
    ),
    of_host(
        "price",
        &[T::Text, T::Text, T::Text],
        G::Double,
        "price of a machine in a region in dollars per hour, bought on-demand, spot or reserved",
    ),
    of_host(
        "alternatives",
        &[T::Record],
        G::Any,
        "cheaper configurations on which the resource's model fits, the cheapest first: [{machine, accelerator, count, hourly}]",
    ),
    of_host("linked", &[T::Record, T::Text], G::Flag, "true if the resource has a link of this kind"),
    method_of_host(
        "by",
        &[T::Record, T::Text],
        G::Host(shares),
        "delta.by(label): effect of a change for each value of a label: [{name, accelerators, monthly, resources}]; resources without the \
         label have no name",
    ),
    of_host(
        "references",
        &[T::Any],
        G::Host(blocks),
        "blocks that a block, or the block of a resource, refers to: through variables, locals, outputs and modules, known before apply",
    ),
    of_host("referenced_by", &[T::Any], G::Host(blocks), "blocks that refer to a block, or to the block of a resource"),
    of_host(
        "here",
        &[T::List],
        G::Same,
        "members of a list of resources, objects or blocks in the same deployment: one root with its variables, one chart with its values, one folder",
    ),
    of_host("same_root", &[T::List], G::Same, "members of a list that are applied from the same directory"),
    of_host("same_application", &[T::List], G::Same, "members of a list whose labels name the same application"),
    of_host(
        "same_namespace",
        &[T::List],
        G::Same,
        "members of a list in the same namespace; if none is set, those in the same deployment without a namespace",
    ),
];

fn shares() -> CelType {
    CelType::list(CelType::Any)
}

fn blocks() -> CelType {
    CelType::list(BLOCK.holds())
}

fn with_number(given: &[CelValue], make: impl Fn(f64) -> CelValue) -> Result<CelValue, Fault> {
    match given {
        [number] => number.as_number().map(make).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

fn matches_any(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::List(patterns)] = given else { return Err(wrong()) };
    for expression in patterns.iter() {
        let CelValue::Text(expression) = expression else { return Err(wrong()) };
        budget.spend(2000 + text.len() / 8)?;
        if pattern(expression)?.is_match(text) {
            return Ok(CelValue::Flag(true));
        }
    }
    Ok(CelValue::Flag(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::cel::{CelHost, ExpressionScope, Handle, Program};

    struct Nothing;

    impl CelHost for Nothing {
        fn variable(&self, _: usize) -> CelValue {
            CelValue::Absent
        }

        fn field(&self, _: Handle, _: usize) -> CelValue {
            CelValue::Absent
        }
    }

    #[test]
    fn money_is_summed_up() {
        let scope = ExpressionScope { functions: &FUNCTIONS, ..ExpressionScope::default() };
        let value = |text: &str| {
            let program = Program::compile(text, &scope).unwrap();
            program.evaluate(&Nothing, &mut CelBudget::standard()).result.unwrap()
        };
        assert_eq!(value("month(2)").as_number(), Some(1460.0));
    }
}
