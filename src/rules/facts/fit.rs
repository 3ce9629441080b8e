//! Whether the declared model fits, and on what it would fit too.

use std::sync::LazyLock;

use super::money::{MONEY, Sum, money};
use super::speed::{ENDS, What, as_many, ends, gap, range, rate_share};
use super::table::{Records, rows};
use super::{FactContext, kinds, unknown_fact};
use crate::fit::tokens::Standing;
use crate::fit::{Alternative, Assessment, Choice, Fraction, PlacedModel};
use crate::inventory::{Fact, Key};
use crate::languages::cel::{CelValue, Type};
use crate::rules::format;

static CHOICE: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "choice",
        kinds::CHOICE,
        None,
        rows! {
            provider: Type::Text, "Who rents it out." => |asking, id| choice(asking, id, |it| CelValue::text(&*it.provider));
            machine: Type::Text, "The machine type." => |asking, id| choice(asking, id, |it| CelValue::text(&*it.machine));
            accelerator: Type::Text, "Its accelerator." => |asking, id| choice(asking, id, |it| CelValue::text(&*it.accelerator));
            count: Type::Double, "Accelerators that are paid for: of the machine, or of the pod's part of it." => |asking, id| choice(asking, id, |it| CelValue::Double(it.count));
            devices: Type::Double, "Accelerators of it that the workload uses." => |asking, id| choice(asking, id, |it| CelValue::Double(it.devices));
            memory_gib: Type::Double, "Memory of all accelerators that are paid for." => |asking, id| {
                let catalog = asking.world.catalog;
                choice(asking, id, |it| match catalog.accelerator(&it.accelerator) {
                    Some(known) => CelValue::Double(known.memory_gib * it.count),
                    None => CelValue::Absent,
                })
            };
            named: Type::Text, "For messages: the machine with its accelerators; these alone where no provider is known." => named;
            hourly: Type::Double, "Dollars an hour." => |asking, id| choice(asking, id, |it| CelValue::Double(it.per_hour.usd()));
            cost: MONEY.holds(), "As many of them as there are now, for as long as `bill.per` says." => |asking, id| match of_id(id) {
                Some((resource, alternative)) => money(asking, resource, Sum::Instead(alternative)),
                None => CelValue::Absent,
            };
            need_gib: Type::Double, "Memory that is needed of each accelerator." => |asking, id| choice(asking, id, |it| CelValue::Double(it.need_gib));
            budget_gib: Type::Double, "Memory that each accelerator has for it." => |asking, id| choice(asking, id, |it| CelValue::Double(it.budget_gib));
            tokens_per_s: ENDS.holds(), "Tokens that one of it writes in a second, where that is estimated." => |asking, id| number(asking, id, What::Rate);
            ms_per_token: ENDS.holds(), "Milliseconds between two tokens of one answer, where that is estimated." => |asking, id| number(asking, id, What::Pace);
            per_million_tokens: ENDS.holds(), "Dollars for a million tokens at full load, where that is estimated." => |asking, id| number(asking, id, What::AtFullLoad);
            rate_share: Type::Double, "Tokens that it writes in a second, as a share of what is written now; not known without both estimates." => |asking, id| beside(asking, id, rate_share);
            gap: Type::Double, "So many times what a token costs there it costs now, both at full load; not known without both estimates." => |asking, id| beside(asking, id, gap);
            as_many: Type::Double, "How many of it write as much as all present ones, by the low end of measured gaps." => |asking, id| beside(asking, id, as_many);
            speed_told: Type::Text, "For messages: how fast it is beside what there is, and whether a token costs more there; not known without both estimates." => beside_told;
            speed_share: Type::Double, "How fast its memory is read, as a share of that of the accelerators in use: tokens are answered about so much slower, or faster." => speed_share;
        },
    )
});

pub(super) static FIT: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "fit",
        kinds::FIT,
        None,
        rows! {
            model: Type::Text, "The model as the table of models names it." => |asking, id| of_assessment(asking, id, |it| CelValue::text(&*it.model));
            task: Type::Text, "What is done with it: serve, embed, diffusion, speech or train." => |asking, id| of_assessment(asking, id, |it| CelValue::text(it.task.name()));
            params_b: Type::Double, "Billions of parameters." => |asking, id| of_assessment(asking, id, |it| CelValue::Double(it.params_b));
            precision: Type::Text, "Of the weights as they are held." => |asking, id| of_assessment(asking, id, |it| CelValue::text(it.precision));
            context: Type::Double, "Tokens that must be held; the model's whole window where nothing limits them." => |asking, id| of_assessment(asking, id, |it| CelValue::Double(it.context));
            window_assumed: Type::Flag, "Nothing says how many tokens these are: 8192 are assumed." => |asking, id| of_assessment(asking, id, |it| CelValue::Flag(it.window_assumed));
            concurrent: Type::Double, "Requests that it is told to answer at a time." => |asking, id| of_assessment(asking, id, |it| it.concurrent.map_or(CelValue::Absent, CelValue::Double));
            verdict: Type::Text, "fits, borderline or does-not-fit." => |asking, id| placed(asking, id, |it| CelValue::text(it.verdict.name()));
            refuses: Type::Flag, "It will not start: a server that needs all of this at once." => |asking, id| placed(asking, id, |it| CelValue::Flag(it.refuses));
            devices: Type::Double, "Accelerators that one copy of the model uses." => |asking, id| placed(asking, id, |it| CelValue::Double(it.devices));
            need_gib: Type::Double, "Memory that is needed of each accelerator." => |asking, id| placed(asking, id, |it| CelValue::Double(it.need_gib));
            budget_gib: Type::Double, "Memory that each accelerator has for it." => |asking, id| placed(asking, id, |it| CelValue::Double(it.budget_gib));
            fits_in_eight_bits: Type::Flag, "It does not fit, and with weights in eight bits it would." => |asking, id| placed(asking, id, |it| CelValue::Flag(it.fits_in_eight_bits));
            smallest: CHOICE.holds(), "The cheapest that fits with a margin, where it costs less." => |asking, id| alternative(asking, id, Alternative::Smallest);
            quantized: CHOICE.holds(), "The cheapest with weights in eight bits, where that is cheaper still." => |asking, id| alternative(asking, id, Alternative::Quantized);
            halved: CHOICE.holds(), "The cheapest with weights in 16 bits instead of 32, where that is cheaper still." => |asking, id| alternative(asking, id, Alternative::Halved);
            limited: CHOICE.holds(), "The cheapest with a context of 8,192 tokens, where nothing limits it and that is cheaper still." => |asking, id| alternative(asking, id, Alternative::Limited);
            larger: CHOICE.holds(), "The cheapest that fits with a margin, where it does not fit." => |asking, id| alternative(asking, id, Alternative::Larger);
            narrower: CHOICE.holds(), "Fewer of the same accelerators for each copy of the model, and so more copies, where these write more together." => |asking, id| alternative(asking, id, Alternative::Narrower);
            per_token: CHOICE.holds(), "The other accelerator of the same provider that writes a token for the least money, where it costs half as much again now." => |asking, id| alternative(asking, id, Alternative::PerToken);
            fits_limited: Type::Flag, "It does not fit, and with a limit of 8,192 tokens it would." => |asking, id| placed(asking, id, |it| CelValue::Flag(it.fits_limited));
            fraction: Type::Text, "The smallest slice of the same accelerator that would hold it, a MIG profile." => |asking, id| fraction(asking, id, |it| CelValue::text(&*it.profile));
            fraction_instances: Type::Double, "How many of these slices one accelerator has." => |asking, id| fraction(asking, id, |it| CelValue::Double(f64::from(it.instances)));
            fraction_gib: Type::Double, "Memory that such a slice has for it." => |asking, id| fraction(asking, id, |it| CelValue::Double(it.budget_gib));
        },
    )
});

fn number(asking: &FactContext<'_>, id: u32, what: What) -> CelValue {
    of_id(id).map_or(CelValue::Absent, |(resource, which)| ends(asking, resource, Some(which), what))
}

/// How an alternative stands to what there is.
type Beside = fn(&FactContext<'_>, u32, Alternative) -> Option<f64>;

fn beside(asking: &FactContext<'_>, id: u32, read: Beside) -> CelValue {
    of_id(id).and_then(|(resource, which)| read(asking, resource, which)).map_or(CelValue::Absent, CelValue::Double)
}

/// What is lost with an alternative, in the words of messages.
fn beside_told(asking: &FactContext<'_>, id: u32) -> CelValue {
    let told = of_id(id).and_then(|(resource, which)| {
        let share = rate_share(asking, resource, which)?;
        let pace = range(asking, resource, Some(which), What::Pace)?;
        let written = match share {
            share if share < 0.995 => format!("about {} % of the tokens a second", (share * 100.0).round()),
            share if share < 1.1 => "as many tokens a second".to_owned(),
            share => format!("about {} times as many tokens a second", format::rounded(share)),
        };
        let (fastest, slowest) = (format::rounded(pace.floor), format::rounded(pace.ceiling));
        let dearer = match Standing::of(1.0 / gap(asking, resource, which)?) {
            Standing::Dearer => "; each costs more there",
            Standing::ProbablyDearer => "; each probably costs more there",
            Standing::AboutTheSame | Standing::Cheapest => "",
        };
        Some(format!("writes {written} at full load, one every {fastest} to {slowest} ms of an answer{dearer}"))
    });
    told.map_or(CelValue::Absent, CelValue::text)
}

/// Answers are as fast as weights are read: both sides by the memory bandwidth of the devices that they use.
fn speed_share(asking: &FactContext<'_>, id: u32) -> CelValue {
    let bandwidth = |name: &str| asking.world.catalog.accelerator(name)?.bandwidth_gb_per_second;
    let now = of_id(id).and_then(|(resource, _)| {
        let name = asking.world.inventory.resources.get(resource as usize)?.text(Key::Accelerator)?;
        let placed = asking.world.fit.get(resource as usize)?.value()?.placed.value()?;
        Some(bandwidth(name)? * placed.devices)
    });
    choice(asking, id, |it| match (now, bandwidth(&it.accelerator)) {
        (Some(now), Some(then)) if now > 0.0 => CelValue::Double(then * it.devices / now),
        _ => CelValue::Absent,
    })
}

/// `g6.2xlarge with 1 L4`, or `1 L4` where the machine would be one of a cloud that nobody spoke of.
fn named(asking: &FactContext<'_>, id: u32) -> CelValue {
    let elsewhere = of_id(id)
        .and_then(|(resource, _)| asking.world.inventory.resources.get(resource as usize))
        .is_some_and(|resource| resource.text(Key::Provider).is_none());
    choice(asking, id, |it| {
        let devices = format!("{} {}", format::number(it.count), it.accelerator);
        CelValue::text(if elsewhere { devices } else { format!("{} with {devices}", it.machine) })
    })
}

pub(super) fn all() -> [&'static Records; 2] {
    [&CHOICE, &FIT]
}

/// The record of a resource, where its model is known.
pub(super) fn fit(asking: &FactContext<'_>, id: u32) -> CelValue {
    of_assessment(asking, id, |_| FIT.value(id))
}

pub(super) fn of_assessment(asking: &FactContext<'_>, id: u32, read: impl Fn(&Assessment) -> CelValue) -> CelValue {
    asking.world.fit.get(id as usize).map_or(CelValue::Absent, |fact| inside(fact, read))
}

fn placed(asking: &FactContext<'_>, id: u32, read: impl Fn(&PlacedModel) -> CelValue) -> CelValue {
    of_assessment(asking, id, |it| inside(&it.placed, &read))
}

fn inside<T>(fact: &Fact<T>, read: impl Fn(&T) -> CelValue) -> CelValue {
    match fact {
        Fact::Known(known) => read(&known.value),
        Fact::Unknown(unknown) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        Fact::Absent => CelValue::Absent,
    }
}

fn fraction(asking: &FactContext<'_>, id: u32, read: impl Fn(&Fraction) -> CelValue) -> CelValue {
    placed(asking, id, |it| it.fraction.as_ref().map_or(CelValue::Absent, &read))
}

/// Each resource has as many choices as there are alternatives.
const CHOICES: u32 = Alternative::ALL.len() as u32;

fn alternative(asking: &FactContext<'_>, id: u32, which: Alternative) -> CelValue {
    let place = Alternative::ALL.iter().position(|it| *it == which).unwrap_or(0);
    placed(asking, id, |it| match it.instead.contains_key(&which) {
        true => CHOICE.value(id * CHOICES + place as u32),
        false => CelValue::Absent,
    })
}

/// The resource and the alternative of a choice.
fn of_id(id: u32) -> Option<(u32, Alternative)> {
    Some((id / CHOICES, *Alternative::ALL.get((id % CHOICES) as usize)?))
}

fn choice(asking: &FactContext<'_>, id: u32, read: impl Fn(&Choice) -> CelValue) -> CelValue {
    let Some((resource, which)) = of_id(id) else { return CelValue::Absent };
    placed(asking, resource, |it| it.instead.get(&which).map_or(CelValue::Absent, &read))
}
