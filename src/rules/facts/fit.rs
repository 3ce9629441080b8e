//! Whether the declared model fits, and on what it would fit too.

use std::sync::LazyLock;

use super::money::{MONEY, Sum, money};
use super::table::{Records, rows};
use super::{Asking, kinds, unknown_fact};
use crate::fit::{Assessment, Choice};
use crate::inventory::Fact;
use crate::rules::cel::{Type, Value};

static CHOICE: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "choice",
        kinds::CHOICE,
        None,
        rows! {
            provider: Type::Text, "Who rents it out." => |asking, id| choice(asking, id, |it| Value::text(&*it.provider));
            machine: Type::Text, "The machine type." => |asking, id| choice(asking, id, |it| Value::text(&*it.machine));
            accelerator: Type::Text, "Its accelerator." => |asking, id| choice(asking, id, |it| Value::text(&*it.accelerator));
            count: Type::Double, "Accelerators that are paid for: of the machine, or of the pod's part of it." => |asking, id| choice(asking, id, |it| Value::Double(it.count));
            devices: Type::Double, "Accelerators of it that the workload uses." => |asking, id| choice(asking, id, |it| Value::Double(it.devices));
            hourly: Type::Double, "Dollars an hour." => |asking, id| choice(asking, id, |it| Value::Double(it.per_hour.usd()));
            monthly: MONEY.holds(), "As many of them as there are now, for a month." => |asking, id| money(asking, id / 2, if id.is_multiple_of(2) { Sum::Smallest } else { Sum::Quantized });
            need_gib: Type::Double, "Memory that is needed of each accelerator." => |asking, id| choice(asking, id, |it| Value::Double(it.need_gib));
            budget_gib: Type::Double, "Memory that each accelerator has for it." => |asking, id| choice(asking, id, |it| Value::Double(it.budget_gib));
        },
    )
});

pub(super) static FIT: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "fit",
        kinds::FIT,
        None,
        rows! {
            verdict: Type::Text, "fits, borderline or does-not-fit." => |asking, id| of(asking, id, |it| Value::text(it.verdict.name()));
            refuses: Type::Flag, "It will not start: a server that needs all of this at once." => |asking, id| of(asking, id, |it| Value::Flag(it.refuses));
            model: Type::Text, "The model as the table of models names it." => |asking, id| of(asking, id, |it| Value::text(&*it.model));
            params_b: Type::Double, "Billions of parameters." => |asking, id| of(asking, id, |it| Value::Double(it.params_b));
            precision: Type::Text, "Of the weights as they are held." => |asking, id| of(asking, id, |it| Value::text(it.precision));
            context: Type::Double, "Tokens that must be held; the model's whole window where nothing limits them." => |asking, id| of(asking, id, |it| Value::Double(it.context));
            devices: Type::Double, "Accelerators that one copy of the model uses." => |asking, id| of(asking, id, |it| Value::Double(it.devices));
            need_gib: Type::Double, "Memory that is needed of each accelerator." => |asking, id| of(asking, id, |it| Value::Double(it.need_gib));
            budget_gib: Type::Double, "Memory that each accelerator has for it." => |asking, id| of(asking, id, |it| Value::Double(it.budget_gib));
            smallest: CHOICE.holds(), "The cheapest that fits with a margin, where it costs less." => |asking, id| of(asking, id, |it| match it.smallest {
                Some(_) => CHOICE.value(id * 2),
                None => Value::Absent,
            });
            quantized: CHOICE.holds(), "The cheapest with weights in eight bits, where that is cheaper still." => |asking, id| of(asking, id, |it| match it.quantized {
                Some(_) => CHOICE.value(id * 2 + 1),
                None => Value::Absent,
            });
            fraction: Type::Text, "The smallest slice of the same accelerator that would hold it, a MIG profile." => |asking, id| of(asking, id, |it| match &it.fraction {
                Some(fraction) => Value::text(&*fraction.profile),
                None => Value::Absent,
            });
            fraction_instances: Type::Double, "How many of these slices one accelerator has." => |asking, id| of(asking, id, |it| match &it.fraction {
                Some(fraction) => Value::Double(f64::from(fraction.instances)),
                None => Value::Absent,
            });
        },
    )
});

pub(super) fn all() -> [&'static Records; 2] {
    [&CHOICE, &FIT]
}

/// The record of a resource, where its model is known.
pub(super) fn fit(asking: &Asking<'_>, id: u32) -> Value {
    of(asking, id, |_| FIT.value(id))
}

fn of(asking: &Asking<'_>, id: u32, read: impl Fn(&Assessment) -> Value) -> Value {
    match asking.world.fit.get(id as usize) {
        Some(Fact::Known(known)) => read(&known.value),
        Some(Fact::Unknown(unknown)) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        Some(Fact::Absent) | None => Value::Absent,
    }
}

/// Each resource has two choices: the smallest as it is, and the smallest with quantized weights.
fn choice(asking: &Asking<'_>, id: u32, read: impl Fn(&Choice) -> Value) -> Value {
    of(asking, id / 2, |it| {
        let chosen = if id.is_multiple_of(2) { &it.smallest } else { &it.quantized };
        chosen.as_ref().map_or(Value::Absent, &read)
    })
}
