//! How fast a server is said to be, with the terms behind it, for `gpulint explain`.

use std::fmt::Write;

use crate::fit::{ASSUMED_ANSWER, ASSUMED_PROMPT, Assessment, Speed};
use crate::inventory::{Fact, Task};
use crate::pricing::BillItem;

/// What the estimate says of one machine or pod, or why it says nothing; empty where no model is served.
pub fn explain_speed(fact: &Fact<Assessment>, item: Option<&BillItem>) -> String {
    let served = fact.value().filter(|it| it.task == Task::Serve);
    match served.and_then(|it| it.placed.value()).map(|placed| &placed.speed) {
        None => String::new(),
        Some(Err(why)) => format!("\nhow fast it answers is not said: {why}\n"),
        Some(Ok(speed)) => told(speed, item),
    }
}

fn told(speed: &Speed, item: Option<&BillItem>) -> String {
    let mut text = format!(
        "\nhow fast one answers, estimated for prompts of {ASSUMED_PROMPT} tokens and answers of {ASSUMED_ANSWER} at full load\n"
    );
    let _ = writeln!(text, "  a step writes one token for each of {:.1} answers and takes", speed.in_flight);
    for (name, ms) in speed.terms.named().into_iter().filter(|(_, ms)| *ms > 0.0) {
        let _ = writeln!(text, "    {name:<14}{ms:>9.2} ms");
    }
    let _ = writeln!(text, "    {:<14}{:>9.2} ms", "together", speed.terms.step_ms());
    let rate = speed.tokens_per_second;
    let _ = writeln!(
        text,
        "  {:.0} × {:.1} answers / {:.2} ms = {:.0} tokens a second, the middle of the range",
        speed.replicas,
        speed.in_flight,
        speed.terms.step_ms(),
        rate.expected
    );
    let _ = writeln!(text, "  of {}: {:.0} to {:.0} tokens a second", speed.group, rate.floor, rate.ceiling);
    let pace = speed.ms_per_token;
    let _ = writeln!(text, "  {:.1} to {:.1} ms between two tokens of an answer", pace.floor, pace.ceiling);
    if let Some(hour) = item.and_then(|item| item.per_hour) {
        let dollars = |hour: f64, rate: f64| hour / (rate * 3600.0 / 1e6);
        let (least, most) = (dollars(hour.floor.usd(), rate.ceiling), dollars(hour.ceiling.usd(), rate.floor));
        let _ = writeln!(
            text,
            "  ${least:.2} to ${most:.2} for a million tokens at full load, which real servers never have"
        );
    }
    text
}
