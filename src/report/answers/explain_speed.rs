//! Shows the estimated speed of a server, its calculation, and the cost per unit of work, for `gpulint explain`.

use std::fmt::Write;

use crate::catalog::{Catalog, rounded};
use crate::fit::{self, Assessment, PlacedModel, ServerSpeed, UnitCosts, host_of};
use crate::inventory::{Fact, Key, Resource, Task};
use crate::pricing::{BillItem, HOURS_PER_MONTH};
use crate::report::escape;

/// Returns the estimate for one machine or pod, or why there is none, and the resulting costs.
pub fn explain_speed(resource: &Resource, item: &BillItem, fact: &Fact<Assessment>, catalog: &Catalog) -> String {
    let mut text = String::new();
    match fit::placed(fact).zip(fact.value()) {
        None => {}
        Some((PlacedModel { speed: Err(why), .. }, _)) => {
            let _ = writeln!(text, "\nspeed unknown: {why}");
        }
        Some((placed @ PlacedModel { speed: Ok(speed), .. }, served)) => {
            rate(&mut text, speed, placed, served.lengths);
            if let Some(hour) = item.per_hour {
                dollars_at_full_load(&mut text, speed, hour.expected.usd());
            }
        }
    }
    unit_costs(&mut text, resource, item, fact);
    if let Some(served) = fact.value().filter(|it| it.task == Task::Serve) {
        hosted(&mut text, resource, item, served, catalog);
    }
    text
}

fn rate(text: &mut String, speed: &ServerSpeed, placed: &PlacedModel, (prompt, answer): (f64, f64)) {
    let _ = writeln!(
        text,
        "\nestimated speed of one server at full load, for prompts of {prompt} tokens and answers of {answer} tokens"
    );
    let _ = writeln!(text, "  one step generates a token for each of {:.1} answers and takes", speed.in_flight);
    for (name, ms) in speed.terms.named().into_iter().filter(|(_, ms)| *ms > 0.0) {
        let _ = writeln!(text, "    {name:<14}{ms:>9.2} ms");
    }
    let step = speed.terms.step_ms();
    let _ = writeln!(text, "    {:<14}{step:>9.2} ms", "total");
    let rate = speed.tokens_per_second;
    let _ = writeln!(
        text,
        "  {:.0} × {:.1} answers / {step:.2} ms = {:.0} tokens/s, the middle of the estimate",
        speed.replicas,
        speed.in_flight,
        speed.replicas * speed.in_flight / step * 1e3
    );
    match &placed.measured_by {
        Some(by) => {
            let _ = writeln!(text, "  measured instead: {:.0} tokens/s, {}", rate.expected, escape::one_line(by));
            let _ = writeln!(text, "  {:.0} to {:.0} tokens/s", rate.floor, rate.ceiling);
        }
        None => {
            let _ = writeln!(text, "  for {}: {:.0} to {:.0} tokens/s", speed.group, rate.floor, rate.ceiling);
        }
    }
    let pace = speed.ms_per_token;
    let _ = writeln!(text, "  {:.1} to {:.1} ms between two tokens of an answer", pace.floor, pace.ceiling);
}

fn dollars_at_full_load(text: &mut String, speed: &ServerSpeed, hour: f64) {
    let rate = speed.tokens_per_second;
    let each = fit::cost_of_tokens(rate, hour, hour, hour);
    let _ = writeln!(
        text,
        "  ${} to ${} per million tokens at full load, which real servers never reach: ${hour:.4}/h / ({:.0} to {:.0} × 3,600 tokens)",
        rounded(each.floor),
        rounded(each.ceiling),
        rate.ceiling,
        rate.floor
    );
}

/// Writes the unit costs that follow from a declared or measured rate.
fn unit_costs(text: &mut String, resource: &Resource, item: &BillItem, fact: &Fact<Assessment>) {
    let costs = UnitCosts::new(resource, item, fact);
    let Some(month) = item.monthly else { return };
    let days = HOURS_PER_MONTH / 24.0;
    let month = format!("${:.2} to ${:.2} per month", month.floor.usd(), month.ceiling.usd());
    if let (Some(each), Some(tokens)) = (costs.per_million_at_traffic, fit::tokens_per_day(resource)) {
        let _ = writeln!(
            text,
            "\nper million tokens at your traffic: ${} = {month} / ({} tokens per day × {days:.2} days)",
            each.format_range(),
            rounded(tokens)
        );
    }
    if let Some(each) = costs.per_thousand_requests {
        let _ = writeln!(
            text,
            "\nper thousand requests: ${}, from {month} and the requests of {days:.2} days",
            each.format_range()
        );
    }
    if let (Some(each), Some(seats)) = (costs.per_seat, resource.number(Key::Seats)) {
        let _ = writeln!(text, "\nper seat: ${}/month = {month} / {seats} seats", each.format_range());
    }
}

/// Writes the traffic below which a hosted service of the same model is cheaper.
fn hosted(text: &mut String, resource: &Resource, item: &BillItem, served: &Assessment, catalog: &Catalog) {
    let (Some(it), Some(month)) = (host_of(resource, served.lengths, catalog), item.monthly) else { return };
    let (prompt, answer) = served.lengths;
    let day = month.expected.usd() / HOURS_PER_MONTH * 24.0;
    let speed = served.placed.value().and_then(|it| it.speed.as_ref().ok());
    let copies = item.count_of(resource).map_or(1.0, |count| count.expected.max(1.0));
    let most = speed.map(|it| it.tokens_per_second.ceiling * copies * 86_400.0 / 1e6);
    let is_out_of_reach = most.is_some_and(|most| most < day / it.per_million);
    let reach = if is_out_of_reach { ", which is more than these servers can generate" } else { "" };
    let _ = writeln!(
        text,
        "\nnote (low confidence): the median of {} hosts of this model, {}, charges ${} per million prompt tokens and ${} per \
         million generated tokens ({})\n  with {prompt} tokens in and {answer} out, a million generated tokens cost {} × {} + {} = ${:.3} there\n  \
         below ${day:.2} per day / ${:.3} = {} million generated tokens per day, the host is cheaper{reach}; it may use another precision",
        it.hosts,
        escape::one_line(it.host.host),
        it.host.input,
        it.host.output,
        it.host.as_of,
        prompt / answer,
        it.host.input,
        it.host.output,
        it.per_million,
        it.per_million,
        rounded(day / it.per_million)
    );
}
