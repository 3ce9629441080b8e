//! Arguments of `gpulint limit`.

use clap::Args;

use super::input::InputArguments;
use super::output::Output;
use crate::catalog::Money;

#[derive(Debug, Args)]
pub(in crate::cli) struct LimitArguments {
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    /// Print a patch that keeps each month within this amount in dollars, such as 50000 or 50k: maximums of autoscalers and
    /// pools, and limits of Karpenter
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(in crate::cli) monthly: Option<Money>,
    /// With --monthly: write the limits into the files
    #[arg(long, requires = "monthly")]
    pub(in crate::cli) fix: bool,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

fn dollars(text: &str) -> Result<Money, String> {
    let plain = text.trim().trim_start_matches('$').replace(['_', ','], "");
    let (digits, unit) = match plain.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => (plain.as_str(), 1.0),
    };
    let usd = digits.parse::<f64>().ok().map(|usd| usd * unit).filter(|usd| (0.0..=1e12).contains(usd));
    usd.map(Money::from_usd).ok_or_else(|| "expected an amount in dollars, such as 50000 or 50k".to_owned())
}
