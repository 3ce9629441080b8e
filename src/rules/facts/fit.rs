//! Provides facts about the declared model: whether it fits, and on which other machines it would fit.

use std::sync::LazyLock;

use super::money::{MONEY, MoneySum, money};
use super::replacement::{LoadBasis, Replacement, SpeedBasis};
use super::speed::{ENDS, SpeedNumber, as_many, ends, gap, range, rate_share};
use super::table::{Records, rows};
use super::{FactContext, kinds, unknown_fact, unknown_price};
use crate::fit::tokens::CostComparison;
use crate::fit::{Assessment, FitAlternative, FitChoice, Fraction, PlacedModel};
use crate::inventory::{Fact, Key};
use crate::languages::cel::{CelType, CelValue};
use crate::rules::format;

static CHOICE: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "choice",
        kinds::CHOICE,
        None,
        rows! {
            provider: CelType::Text, "Provider that rents out the machine." => |asking, id| choice(asking, id, |it| CelValue::text(&*it.provider));
            machine: CelType::Text, "Machine type." => |asking, id| choice(asking, id, |it| CelValue::text(&*it.machine));
            accelerator: CelType::Text, "Accelerator of the machine." => |asking, id| choice(asking, id, |it| CelValue::text(&*it.accelerator));
            count: CelType::Double, "Accelerators that are paid for: all of the machine, or the pod's part of them." => |asking, id| choice(asking, id, |it| CelValue::Double(it.count));
            devices: CelType::Double, "Accelerators that the workload uses." => |asking, id| choice(asking, id, |it| CelValue::Double(it.devices));
            memory_gib: CelType::Double, "Memory of all accelerators that are paid for, in GiB." => |asking, id| {
                let catalog = asking.world.catalog;
                choice(asking, id, |it| match catalog.accelerator(&it.accelerator) {
                    Some(known) => CelValue::Double(known.memory_gib * it.count),
                    None => CelValue::Absent,
                })
            };
            named: CelType::Text, "For messages: the machine with its accelerators, or only the accelerators if no provider is known." => named;
            hourly: CelType::Double, "Price in dollars per hour." => |asking, id| choice(asking, id, |it| CelValue::Double(it.per_hour.usd()));
            cost: MONEY.holds(), "Cost of the machines that do the current work (see `machines`), for the period in `bill.per`. If the load \
             is unknown, the maximum is the cost at full load." => |asking, id| match of_id(id) {
                Some((resource, alternative)) => money(asking, resource, MoneySum::Instead(alternative)),
                None => CelValue::Absent,
            };
            machines: CelType::Double, "Number of machines that do the current work: by the load in `fit.load`, and by tokens per second or \
             else by the hardware. If the load is unknown: as many as now. Unknown if the speed of one side is unknown." => |asking, id| replaced(asking, id, |it| CelValue::Double(it.machines()));
            fleet: CelType::Text, "For messages: the machines that do the current work, such as `14 × g6.xlarge (1 L4)`." => fleet;
            fleet_note: CelType::Text, "For messages: the load and the comparison that `fleet` is counted by." => fleet_note;
            need_gib: CelType::Double, "Memory that the workload needs on each accelerator, in GiB." => |asking, id| choice(asking, id, |it| CelValue::Double(it.need_gib));
            budget_gib: CelType::Double, "Memory that each accelerator offers the workload, in GiB." => |asking, id| choice(asking, id, |it| CelValue::Double(it.budget_gib));
            tokens_per_s: ENDS.holds(), "Estimate of the tokens that one machine generates per second." => |asking, id| number(asking, id, SpeedNumber::Rate);
            ms_per_token: ENDS.holds(), "Estimate of the milliseconds between two tokens of one answer." => |asking, id| number(asking, id, SpeedNumber::Pace);
            per_million_tokens: ENDS.holds(), "Estimate of the dollars per million tokens at full load." => |asking, id| number(asking, id, SpeedNumber::AtFullLoad);
            rate_share: CelType::Double, "Tokens per second, as a share of what is generated now. Unknown without both estimates." => |asking, id| beside(asking, id, rate_share);
            gap: CelType::Double, "Cost of a token now, divided by its cost there, both at full load. Unknown without both estimates." => |asking, id| beside(asking, id, gap);
            as_many: CelType::Double, "Number of machines that generate as many tokens as all current ones, by the low end of measured gaps." => |asking, id| beside(asking, id, as_many);
            speed_told: CelType::Text, "For messages: its speed compared with the current one, and whether a token costs more there. Unknown \
             without both estimates." => alternative_losses;
            speed_share: CelType::Double, "Memory bandwidth, as a share of the bandwidth of the accelerators in use. Tokens are generated at \
             about this share of the current speed." => speed_share;
        },
    )
});

pub(super) static FIT: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "fit",
        kinds::FIT,
        None,
        rows! {
            model: CelType::Text, "Name of the model as the files write it, or in the table of models if they contain a path." => model;
            task: CelType::Text, "Task of the model: serve, embed, diffusion, speech or train." => |asking, id| of_assessment(asking, id, |it| CelValue::text(it.task.name()));
            params_b: CelType::Double, "Size of the model in billions of parameters." => |asking, id| of_assessment(asking, id, |it| CelValue::Double(it.params_b));
            precision: CelType::Text, "Precision of the weights in memory." => |asking, id| of_assessment(asking, id, |it| CelValue::text(it.precision));
            context: CelType::Double, "Tokens of context that the cache must hold. If nothing limits them: the model's whole window." => |asking, id| of_assessment(asking, id, |it| CelValue::Double(it.context));
            window_assumed: CelType::Flag, "True if no limit on tokens is set, so that 8192 are assumed." => |asking, id| of_assessment(asking, id, |it| CelValue::Flag(it.window_assumed));
            concurrent: CelType::Double, "Largest number of requests that the server answers at a time, as configured." => |asking, id| of_assessment(asking, id, |it| it.concurrent.map_or(CelValue::Absent, CelValue::Double));
            load: CelType::Text, "What is known about the load: traffic (declared or measured tokens per day), measured (utilization), run \
             (work that ends), fleet (three or more replicas, or autoscaled to as many), else unknown." => load;
            verdict: CelType::Text, "Result: fits, borderline or does-not-fit." => |asking, id| placed(asking, id, |it| CelValue::text(it.verdict.name()));
            refuses: CelType::Flag, "True if the program will not start: a server that needs all of this memory at once." => |asking, id| placed(asking, id, |it| CelValue::Flag(it.refuses));
            devices: CelType::Double, "Accelerators that one copy of the model uses." => |asking, id| placed(asking, id, |it| CelValue::Double(it.devices));
            need_gib: CelType::Double, "Memory that the workload needs on each accelerator, in GiB." => |asking, id| placed(asking, id, |it| CelValue::Double(it.need_gib));
            weights_gib: CelType::Double, "Weights of one copy of the model in their precision, in GiB." => |asking, id| placed(asking, id, |it| {
                it.breakdown.get("weights").map_or(CelValue::Absent, |weights| CelValue::Double(weights * it.devices))
            });
            budget_gib: CelType::Double, "Memory that each accelerator offers the workload, in GiB." => |asking, id| placed(asking, id, |it| CelValue::Double(it.budget_gib));
            fits_in_eight_bits: CelType::Flag, "True if the model does not fit as it is, and fits with 8-bit weights." => |asking, id| placed(asking, id, |it| CelValue::Flag(it.fits_in_eight_bits));
            smallest: CHOICE.holds(), "Cheapest machine on which the model fits with a margin. Not set if it is not cheaper." => |asking, id| alternative(asking, id, FitAlternative::Smallest);
            quantized: CHOICE.holds(), "Cheapest machine with 8-bit weights. Not set if it is not cheaper still." => |asking, id| alternative(asking, id, FitAlternative::Quantized);
            halved: CHOICE.holds(), "Cheapest machine with 16-bit instead of 32-bit weights. Not set if it is not cheaper still." => |asking, id| alternative(asking, id, FitAlternative::Halved);
            limited: CHOICE.holds(), "Cheapest machine with a context of 8,192 tokens. Not set if something limits the context, or if it is \
             not cheaper still." => |asking, id| alternative(asking, id, FitAlternative::Limited);
            larger: CHOICE.holds(), "If the model does not fit: the cheapest machine on which it fits with a margin." => |asking, id| alternative(asking, id, FitAlternative::Larger);
            narrower: CHOICE.holds(), "Fewer of the same accelerators for each copy of the model, and so more copies. Set if these generate \
             more tokens together." => |asking, id| alternative(asking, id, FitAlternative::Narrower);
            per_token: CHOICE.holds(), "Another accelerator of the same provider with the lowest cost per token. Set if a token now costs \
             at least half as much again." => |asking, id| alternative(asking, id, FitAlternative::PerToken);
            promise: CelType::Text, "Whether the current pods or machines hold the declared limit on latency or load: holds (surely), misses (surely) or open. Not \
             set without such a limit." => promise;
            promised: CelType::Text, "For messages: the declared limits, such as `20 requests/s, TTFT ≤ 500 ms`." => promised;
            holding: CHOICE.holds(), "Cheapest machine of the same provider and region that surely holds the declared limit on latency or load; `machines` is \
             the number that it needs." => |asking, id| alternative(asking, id, FitAlternative::Holding);
            fits_limited: CelType::Flag, "True if the model does not fit as it is, and fits with a limit of 8,192 tokens." => |asking, id| placed(asking, id, |it| CelValue::Flag(it.fits_limited));
            fraction: CelType::Text, "Smallest slice (MIG profile) of the same accelerator that is large enough for the model." => |asking, id| fraction(asking, id, |it| CelValue::text(&*it.profile));
            fraction_instances: CelType::Double, "Number of these slices on one accelerator." => |asking, id| fraction(asking, id, |it| CelValue::Double(f64::from(it.instances)));
            fraction_gib: CelType::Double, "Memory that such a slice offers the workload, in GiB." => |asking, id| fraction(asking, id, |it| CelValue::Double(it.budget_gib));
        },
    )
});

fn number(asking: &FactContext<'_>, id: u32, what: SpeedNumber) -> CelValue {
    of_id(id).map_or(CelValue::Absent, |(resource, which)| ends(asking, resource, Some(which), what))
}

/// A ratio of an alternative to the current machine.
type Beside = fn(&FactContext<'_>, u32, FitAlternative) -> Option<f64>;

fn beside(asking: &FactContext<'_>, id: u32, read: Beside) -> CelValue {
    of_id(id).and_then(|(resource, which)| read(asking, resource, which)).map_or(CelValue::Absent, CelValue::Double)
}

/// Describes for messages the disadvantages of an alternative.
fn alternative_losses(asking: &FactContext<'_>, id: u32) -> CelValue {
    let told = of_id(id).and_then(|(resource, which)| {
        let share = rate_share(asking, resource, which)?;
        let pace = range(asking, resource, Some(which), SpeedNumber::Pace)?;
        let written = match share {
            share if share < 0.995 => format!("about {}% as many tokens per second", (share * 100.0).round()),
            share if share < 1.1 => "as many tokens per second".to_owned(),
            share => format!("about {} times as many tokens per second", format::rounded(share)),
        };
        let (fastest, slowest) = (format::rounded(pace.floor), format::rounded(pace.ceiling));
        let dearer = match CostComparison::of(1.0 / gap(asking, resource, which)?) {
            CostComparison::Dearer => "; a token costs more there",
            CostComparison::ProbablyDearer => "; a token probably costs more there",
            CostComparison::AboutTheSame | CostComparison::Cheapest => "",
        };
        Some(format!(
            "generates {written} at full load, one token of an answer every {fastest} to {slowest} ms{dearer}"
        ))
    });
    told.map_or(CelValue::Absent, CelValue::text)
}

/// Returns the relative speed of an alternative: its memory bandwidth compared with that of the devices in use. Tokens
/// are generated as fast as weights are read.
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

/// Returns `g6.2xlarge (1 L4)`. If the resource has no known provider, only `1 L4`.
fn named(asking: &FactContext<'_>, id: u32) -> CelValue {
    let elsewhere = of_id(id)
        .and_then(|(resource, _)| asking.world.inventory.resources.get(resource as usize))
        .is_some_and(|resource| resource.text(Key::Provider).is_none());
    choice(asking, id, |it| {
        let devices = format!("{} {}", format::number(it.count), it.accelerator);
        CelValue::text(if elsewhere { devices } else { format!("{} ({devices})", it.machine) })
    })
}

/// Reads the machines that replace all current ones. Unknown if their number is.
fn replaced(asking: &FactContext<'_>, id: u32, read: impl Fn(&Replacement) -> CelValue) -> CelValue {
    let found = of_id(id).and_then(|(resource, which)| Replacement::of(asking, resource, which));
    found.as_ref().map_or_else(|| unknown_price("the speed of one side, or the number of machines, is unknown"), read)
}

/// Returns `14 × g6.xlarge (1 L4)`, or for a range of numbers `2.1 × g6.xlarge (1 L4) per replica`.
fn fleet(asking: &FactContext<'_>, id: u32) -> CelValue {
    let CelValue::Text(one) = named(asking, id) else { return CelValue::Absent };
    replaced(asking, id, |it| {
        CelValue::text(match it.machines() {
            _ if it.count.floor != it.count.ceiling && it.each > 1.0 => {
                format!("{} × {one} per replica", format::rounded(it.each))
            }
            _ if it.count.floor != it.count.ceiling => one.to_string(),
            1.0 => one.to_string(),
            many => format!("{} × {one}", format::number(many)),
        })
    })
}

/// Describes for messages how the machines are counted.
fn fleet_note(asking: &FactContext<'_>, id: u32) -> CelValue {
    replaced(asking, id, |it| {
        let most = it.machines_most().filter(|most| *most > it.machines() && it.count.floor == it.count.ceiling);
        let most = most.map(format::number);
        let by_tokens = it.full.is_some_and(|it| it.basis == SpeedBasis::Tokens);
        let by = if by_tokens { "" } else { " by memory and arithmetic, because its token rate is unknown" };
        CelValue::text(match (it.load, most) {
            (LoadBasis::Traffic, _) => "for the known traffic".to_owned(),
            (LoadBasis::Measured(_), None) => format!("for the measured load{by}"),
            (LoadBasis::Measured(_), Some(most)) => format!("for the measured load{by}, at most {most}"),
            (LoadBasis::Run | LoadBasis::Fleet, None) => format!("for the same output{by}"),
            (LoadBasis::Run | LoadBasis::Fleet, Some(most)) => format!("for the same output{by}, at most {most}"),
            (LoadBasis::Unknown, None) => "if it is fast enough".to_owned(),
            (LoadBasis::Unknown, Some(most)) => {
                format!("if it is fast enough, or up to {most} for the same output at full load{by}")
            }
        })
    })
}

fn load(asking: &FactContext<'_>, id: u32) -> CelValue {
    let resource = asking.world.inventory.resources.get(id as usize);
    let known = resource.and_then(|it| Some(LoadBasis::of(it, asking.item(id)?)));
    known.map_or(CelValue::Absent, |it| CelValue::text(it.name()))
}

pub(super) fn all() -> [&'static Records; 2] {
    [&CHOICE, &FIT]
}

/// Returns the record of a resource with a known model.
pub(super) fn fit(asking: &FactContext<'_>, id: u32) -> CelValue {
    of_assessment(asking, id, |_| FIT.value(id))
}

/// Returns whether the promise holds, or the reason why there is no estimate.
fn promise(asking: &FactContext<'_>, id: u32) -> CelValue {
    let span = asking.world.inventory.resources.get(id as usize).map(|it| it.span);
    placed(asking, id, |it| match (it.promise.map(|it| it.verdict), span) {
        (Some(Ok(verdict)), _) => CelValue::text(verdict.name()),
        (Some(Err(why)), Some(span)) => unknown_fact(&why.into(), span, Vec::new()),
        _ => CelValue::Absent,
    })
}

fn promised(asking: &FactContext<'_>, id: u32) -> CelValue {
    of_assessment(asking, id, |it| {
        let answer = it.lengths.1;
        let goal = it.placed.value().and_then(|it| it.promise).map(|it| it.goal);
        goal.map_or(CelValue::Absent, |goal| CelValue::text(goal.format_limits(answer)))
    })
}

/// Returns the user's name of the model, not the name of the base model that describes it.
fn model(asking: &FactContext<'_>, id: u32) -> CelValue {
    let resource = asking.world.inventory.resources.get(id as usize);
    let named = resource.and_then(|it| it.text(Key::Model)).filter(|name| !name.starts_with(['/', '.']));
    let named = named.filter(|name| !name.contains(':'));
    of_assessment(asking, id, |it| CelValue::text(named.unwrap_or(&it.model)))
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

/// Each resource has one choice for each alternative.
const CHOICES: u32 = FitAlternative::ALL.len() as u32;

fn alternative(asking: &FactContext<'_>, id: u32, which: FitAlternative) -> CelValue {
    let place = FitAlternative::ALL.iter().position(|it| *it == which).unwrap_or(0);
    placed(asking, id, |it| match it.instead.contains_key(&which) {
        true => CHOICE.value(id * CHOICES + place as u32),
        false => CelValue::Absent,
    })
}

/// Returns the resource and the alternative of a choice.
fn of_id(id: u32) -> Option<(u32, FitAlternative)> {
    Some((id / CHOICES, *FitAlternative::ALL.get((id % CHOICES) as usize)?))
}

fn choice(asking: &FactContext<'_>, id: u32, read: impl Fn(&FitChoice) -> CelValue) -> CelValue {
    let Some((resource, which)) = of_id(id) else { return CelValue::Absent };
    placed(asking, resource, |it| it.instead.get(&which).map_or(CelValue::Absent, &read))
}
