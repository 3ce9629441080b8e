//! `gpulint fit --emit`: the code that runs a model on the cheapest machine that holds it.

use crate::catalog::{Catalog, Quote};
use crate::cli::args::Fit;
use crate::cli::io::output;
use crate::cli::{ExitStatus, Failure};
use crate::fit::promise::by_promise;
use crate::fit::{self, Assessment, FitChoice, Market, MarketPlace, ServerGoal, ServerSettings, tokens};
use crate::inventory::{Fact, Resource, Task};
use crate::report::{self, CodeTarget, HubName, ServerCode};

/// The vendor of the accelerators on which the image of vLLM runs.
const VENDOR: &str = "nvidia";
/// The processor for which images of machines and programs are built, as the catalog names x86-64.
const PROCESSOR: &str = "";
/// The architecture that vLLM does not support, because its compute capability is below 7.5.
const TOO_OLD: &str = "Volta";

/// A request for the code of a server.
pub(super) struct CodeRequest<'c> {
    pub(super) arguments: &'c Fit,
    pub(super) target: CodeTarget,
    pub(super) resource: &'c Resource,
    pub(super) catalog: &'c Catalog,
    pub(super) market: &'c Market<'c>,
    /// The requirements of `--by token`, if the cost of a token decides.
    pub(super) goal: Option<ServerGoal>,
    /// The limits on latency and load, if the machines must hold them.
    pub(super) promise: Option<ServerGoal>,
}

/// A machine on which the code runs, with its price.
struct CodeMachine<'c> {
    choice: FitChoice,
    region: &'c str,
    quote: Quote<'c>,
    /// The machines that hold the promise together.
    machines: f64,
}

impl<'c> CodeRequest<'c> {
    /// Prints the code for the cheapest machine that the target can name.
    pub(super) fn emit(&self, assessment: &Fact<Assessment>) -> Result<ExitStatus, Failure> {
        let model = self.model()?;
        let assessment = assessment.value().ok_or_else(|| {
            let why = assessment.why().unwrap_or("the model is unknown").to_owned();
            Failure::new(why).with_help("pass the config.json of the model with --models, or another model")
        })?;
        if assessment.task != Task::Serve {
            let task = assessment.task.name();
            let why = format!("--emit writes servers of models that generate tokens, and this task is {task}");
            return Err(Failure::new(why).with_help("leave out --emit to see the machines that hold the model"));
        }
        let settings = fit::server_settings(self.resource, self.catalog);
        let settings = settings.filter(|settings| settings.cache_known).ok_or_else(|| {
            let why = format!("gpulint does not know the cache or the context window of `{}`", assessment.model);
            Failure::new(why).with_help("pass the config.json of the model with --models")
        })?;
        let places = self.places()?;
        let machine = self.cheapest(&places, &settings, assessment.lengths.1)?;
        let of_all = fit::options(self.resource, self.catalog, self.market, &self.all_places());
        let code = ServerCode {
            model,
            choice: &machine.choice,
            region: machine.region,
            region_asked: self.arguments.region.is_some(),
            quote: &machine.quote,
            settings: &settings,
            requests: self.goal.as_ref().and_then(|goal| goal.concurrency),
            lengths: assessment.lengths,
            cheapest: of_all.first().filter(|_| self.goal.is_none() && self.promise.is_none()),
            machines: machine.machines,
            promise: self.promise.as_ref().map(|goal| goal.format_limits(assessment.lengths.1)),
        };
        let code = report::server_code(self.target, &code);
        output::print(&code.map_err(|refusal| Failure::new(refusal.why).with_help(refusal.help))?)?;
        Ok(ExitStatus::Passed)
    }

    /// Returns the name of the model, if vLLM can download it and no language needs to escape it.
    fn model(&self) -> Result<HubName<'c>, Failure> {
        let name = self.arguments.model.as_deref().ok_or_else(|| {
            Failure::new("--emit needs the name of a model")
                .with_help("pass the name of the model at Hugging Face, such as meta-llama/Llama-3.1-8B-Instruct")
        })?;
        HubName::parse(name).ok_or_else(|| {
            Failure::new(format!("`{name}` is not a valid name of a model at Hugging Face")).with_help(
                "use only letters, digits, `-`, `_`, `.` and one `/`, as in meta-llama/Llama-3.1-8B-Instruct",
            )
        })
    }

    /// Whether the user did not ask for another cloud.
    fn accepts(&self, provider: &str) -> bool {
        self.arguments.provider.as_deref().is_none_or(|asked| asked.eq_ignore_ascii_case(provider))
    }

    fn place(&self, provider: &'c str) -> Option<MarketPlace<'c>> {
        super::market_places::place(self.arguments, self.catalog, provider)
    }

    fn all_places(&self) -> Vec<MarketPlace<'c>> {
        let providers = self.catalog.providers().into_iter().filter(|provider| self.accepts(provider));
        providers.filter_map(|provider| self.place(provider)).collect()
    }

    /// Returns the places of the clouds for which gpulint writes this code.
    fn places(&self) -> Result<Vec<MarketPlace<'c>>, Failure> {
        let known = self.target.providers();
        let names = known.join(", ");
        let accepted: Vec<&'static str> = known.iter().copied().filter(|provider| self.accepts(provider)).collect();
        if accepted.is_empty() {
            let asked = self.arguments.provider.as_deref().unwrap_or_default();
            return Err(Failure::new(format!("gpulint writes no such code for the cloud {asked}"))
                .with_help(format!("use --provider with one of {names}, or leave it out")));
        }
        let places = accepted.iter().filter_map(|provider| self.place(provider));
        let places: Vec<MarketPlace<'_>> =
            places.map(|place| MarketPlace { vendor: VENDOR, processor: Some(PROCESSOR), ..place }).collect();
        if places.is_empty() {
            let asked = self.arguments.region.as_deref().unwrap_or_default();
            return Err(Failure::new(format!(
                "the catalog does not list the region `{asked}` of {}",
                accepted.join(", ")
            ))
            .with_help("use a region that `gpulint price MACHINE` lists, such as us-east-1"));
        }
        Ok(places)
    }

    /// Returns the cheapest machine that holds the model and that the target can name.
    fn cheapest(
        &self,
        places: &[MarketPlace<'c>],
        settings: &ServerSettings,
        answer: f64,
    ) -> Result<CodeMachine<'c>, Failure> {
        let (resource, catalog) = (self.resource, self.catalog);
        let found = if let Some(goal) = &self.promise {
            let found = by_promise(resource, catalog, self.market, places, goal, false).holding.into_iter();
            let mut machines = found.filter_map(|it| Some((it.machines, self.named(it.choice, places)?)));
            machines.next().map(|(machines, found)| CodeMachine { machines, ..found })
        } else if let Some(goal) = &self.goal {
            let found = tokens::by_token(resource, catalog, self.market, places, goal).priced.into_iter();
            let mut choices = found.map(|it| FitChoice { speed: Some(it.speed), ..it.choice });
            choices.find_map(|choice| self.named(choice, places))
        } else {
            let choices = fit::options(resource, catalog, self.market, places).into_iter();
            choices.filter_map(|choice| self.named(choice, places)).min_by_key(|it| it.choice.per_hour)
        };
        let Some(mut found) = found else {
            let clouds: Vec<&str> = places.iter().map(|place| place.provider).collect();
            let (clouds, context) = (clouds.join(", "), settings.context);
            let limits =
                self.promise.map_or(String::new(), |goal| format!(" and surely holds {}", goal.format_limits(answer)));
            let why =
                format!("no NVIDIA machine of {clouds} holds the model with a context of {context} tokens{limits}");
            let help =
                "pass a smaller --context or a --precision with fewer bits, or leave out --emit to see other machines";
            return Err(Failure::new(why).with_help(help));
        };
        let speed = found.choice.speed.take();
        fit::complete_options(resource, catalog, std::slice::from_mut(&mut found.choice));
        found.choice.speed = speed.or(found.choice.speed);
        Ok(found)
    }

    /// Returns a machine under its name in the target, with the price under that name.
    fn named(&self, choice: FitChoice, places: &[MarketPlace<'c>]) -> Option<CodeMachine<'c>> {
        if self.catalog.accelerator(&choice.accelerator)?.architecture == TOO_OLD {
            return None;
        }
        let place = places.iter().find(|place| place.provider == choice.provider)?;
        let name = self.target.machine(&choice.provider, &choice.machine, &choice.accelerator)?.to_owned();
        let quote = self.catalog.quote(&self.catalog.machine(&choice.provider, &name)?, place.region)?;
        let per_hour = quote.on_demand?;
        let choice = FitChoice { machine: name, per_hour, machine_per_hour: per_hour, ..choice };
        Some(CodeMachine { choice, region: place.region, quote, machines: 1.0 })
    }
}
