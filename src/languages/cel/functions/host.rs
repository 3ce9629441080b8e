//! What only the host can answer: whether a model fits, what a machine costs.

use super::Gives as G;
use super::Takes as T;
use super::{Ask, Function, Run, function, wrong};

pub(super) fn functions() -> Vec<Function> {
    let ask = |name, takes, gives, ask, meaning| Function {
        run: Run::Host(ask),
        ..function(name, takes, gives, |_, _| Err(wrong()), meaning)
    };
    vec![
        ask(
            "fits",
            &[T::Text, T::Text, T::Number],
            G::Flag,
            Ask::Fits,
            "whether the model (named first) fits so many of the accelerator, served as it comes",
        ),
        ask(
            "price",
            &[T::Text, T::Text, T::Text],
            G::Double,
            Ask::Price,
            "dollars an hour of a machine in a region, bought on-demand, spot or reserved",
        ),
        ask(
            "alternatives",
            &[T::Record],
            G::Any,
            Ask::Alternatives,
            "cheaper configurations on which the resource's model fits, the cheapest first: \
             [{machine, accelerator, count, hourly}]",
        ),
        ask("linked", &[T::Record, T::Text], G::Flag, Ask::Linked, "the resource has a link of this kind"),
    ]
}
