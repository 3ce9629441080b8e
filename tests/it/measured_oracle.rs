//! Tests rules about measured use with a simulated cluster: 300 workloads whose activity is known for each minute of
//! four weeks.
//!
//! The metrics show the first two weeks, with noise, gaps and changes. The expected findings come from the next two
//! weeks, without any of these: whether acting on a finding would have been right. So a rule that only repeats its own
//! thresholds fails if the next weeks differ. Near a threshold in the second period, a finding is optional. It is false
//! beyond one side of this band, and missed beyond the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use gpulint::catalog::Catalog;
use gpulint::measured::row::{self, UsageRow};
use gpulint::rules::{self, Rules};
use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::{Analysis, AnalysisSettings, analyze};

/// Random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.share()
    }

    fn is(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// Returns an approximately normal number, with mean 0 and deviation 1.
    fn noise(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

/// The five-minute points of two weeks.
const POINTS: usize = 14 * 24 * 12;
/// The number of requests that fill the cache of one replica.
const HOLDS: f64 = 24.0;
/// The speed of an H100 relative to the next smaller accelerator, an L40S.
const SLOWER: f64 = 3350.0 / 864.0;
const SMALLER_GIB: f64 = 44.4;
/// The cache of an L40S relative to that of an H100, both with Mistral 7B loaded.
const SMALLER_CACHE: f64 = 0.43;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Worker,
    Notebook,
    Server,
    Pool,
    Cron,
}

/// The real behavior, which is in neither the configuration nor the metrics.
#[derive(Clone)]
struct Latent {
    kind: Kind,
    name: String,
    /// The share of the points at which it works by day, and the intensity.
    works: f64,
    hard: f64,
    units: f64,
    memory_gib: f64,
    /// The concurrent requests at noon, and the seconds of each.
    load: f64,
    seconds: f64,
    copies: f64,
    held: f64,
    is_production: bool,
    is_kept: bool,
    is_stopped: bool,
    is_seen: bool,
    /// It works the same at night as by day.
    is_steady: bool,
}

/// The activity in two weeks.
#[derive(Debug, Default, Clone)]
struct Fortnight {
    hours: f64,
    busy: f64,
    busy_max: f64,
    idle: f64,
    memory_gib: f64,
    running_max: f64,
    waiting_max: f64,
    kv_peak: f64,
    requests: f64,
    held: f64,
}

/// `noise` is that of the metrics, with the share of points that they miss.
fn fortnight(it: &Latent, dice: &mut Dice, noise: f64, gaps: f64) -> Fortnight {
    let mut all = Fortnight::default();
    let (mut seen, mut requests) = (0.0f64, 0.0);
    let mut hour_busy = Vec::new();
    for point in 0..POINTS {
        let day = if it.is_steady || (8..20).contains(&(point / 12 % 24)) { 1.0 } else { 0.25 };
        let (work, running) = if it.kind == Kind::Server {
            let running = (it.load * day + dice.noise() * (it.load * day).sqrt()).max(0.0);
            let running = if it.load < 1.0 && !dice.is(it.load * day) { 0.0 } else { running.max(it.load.min(1.0)) };
            (if running > 0.0 { it.hard * (running / it.load.max(1.0)).clamp(0.1, 2.0) } else { 0.0 }, running)
        } else {
            let is_on = dice.is((it.works * day).min(1.0));
            (if is_on { it.hard * (1.0 + 0.2 * dice.noise()) } else { 0.0 }, 0.0)
        };
        let work = work.clamp(0.0, 1.0);
        if dice.is(gaps) {
            continue;
        }
        let told = if work > 0.0 { (work + noise * dice.noise()).clamp(0.0, 1.0) } else { work };
        seen += 1.0;
        all.busy += told;
        all.idle += f64::from(told < 0.02);
        all.running_max = all.running_max.max(running.ceil());
        all.waiting_max = all.waiting_max.max((running - it.copies * HOLDS).max(0.0).floor());
        requests += running / it.seconds.max(0.1);
        hour_busy.push(told);
    }
    all.busy_max = hour_busy.chunks(12).map(|it| it.iter().sum::<f64>() / it.len() as f64).fold(0.0, f64::max);
    all.kv_peak = (all.running_max / (it.copies * HOLDS)).min(1.0);
    all.memory_gib = (it.memory_gib * (1.0 + 0.04 * dice.noise())).clamp(0.3, 79.0);
    all.requests = requests / seen.max(1.0);
    all.held = (it.held + 0.03 * dice.noise()).clamp(0.0, 1.0);
    all.hours = seen / 12.0 * it.copies;
    all.busy /= seen.max(1.0);
    all.idle /= seen.max(1.0);
    all
}

fn made_up(at: usize, dice: &mut Dice) -> Latent {
    let kind = match at % 10 {
        0..4 => Kind::Worker,
        4..6 => Kind::Notebook,
        6..9 => Kind::Server,
        _ if at % 20 == 9 => Kind::Pool,
        _ => Kind::Cron,
    };
    let is_lazy = dice.is(0.4);
    let is_sleepy = dice.is(0.3);
    let mut made = Latent {
        kind,
        name: format!("{kind:?}-{at}").to_lowercase(),
        works: match kind {
            Kind::Notebook => dice.between(0.01, 0.5),
            _ if is_lazy => dice.between(0.02, 0.2),
            _ => dice.between(0.3, 1.5),
        },
        hard: if is_lazy { dice.between(0.05, 0.5) } else { dice.between(0.1, 1.0) },
        units: dice.between(0.15, 0.95),
        memory_gib: dice.between(1.5, 75.0),
        load: if is_sleepy { dice.between(0.01, 0.4) } else { dice.between(1.0, 60.0) },
        seconds: dice.between(2.0, 8.0),
        copies: if kind == Kind::Server { dice.between(1.0, 5.99).floor() } else { 1.0 },
        held: dice.between(0.05, 1.0),
        is_production: dice.is(0.2),
        is_kept: dice.is(0.2),
        is_stopped: dice.is(0.1),
        is_seen: dice.is(0.6),
        is_steady: kind == Kind::Worker && dice.is(0.4),
    };
    // Training fills its accelerator in every case.
    if made.is_steady && !is_lazy {
        (made.works, made.hard) = (1.0, dice.between(0.6, 1.0));
    }
    made
}

/// Returns the findings that are allowed (`slack` above 1) or required (below 1), by the activity in the following two
/// weeks.
fn right(it: &Latent, next: &Fortnight, slack: f64) -> BTreeSet<&'static str> {
    let is_server = it.kind == Kind::Server;
    let room = if slack > 1.0 { 1.2 } else { 1.65 };
    let by_load = (next.running_max * room / HOLDS).ceil();
    let least = if it.is_production || it.is_kept { 2.0 } else { 1.0 };
    let at_most_busy = |most: f64| (next.busy * it.copies / (most * slack)).ceil().max(least);
    let needed = by_load.max(at_most_busy(0.7));
    let (idle, is_calm) = (1.0 - next.idle, next.waiting_max == 0.0);
    let cache = if slack > 1.0 { SMALLER_CACHE } else { SMALLER_CACHE / 1.7 };
    let is_fast = next.busy * SLOWER <= 0.75 * slack;
    let has_smaller = matches!(it.kind, Kind::Worker | Kind::Cron | Kind::Pool);
    let said = [
        ("idle-by-measure", next.busy < 0.05 * slack && next.busy_max < 0.3 * slack && !it.is_stopped),
        ("held-not-used", it.kind == Kind::Notebook && idle < 0.1 * slack && next.memory_gib > 1.0 && !it.is_stopped),
        ("reserved-for-nobody", it.kind == Kind::Pool && next.held < 0.5 * slack),
        ("never-ran", it.kind == Kind::Cron && !it.is_seen),
        ("oversized-by-measure", has_smaller && next.memory_gib <= SMALLER_GIB / 1.08 * slack.min(1.08) && is_fast),
        ("serving-oversized-kv", is_server && next.kv_peak <= cache && is_fast && is_calm),
        ("replicas-by-load", is_server && needed < it.copies && is_calm),
        ("underused-by-measure", is_server && at_most_busy(0.6) < it.copies && is_calm),
        ("idle-hours-by-measure", next.idle > 0.5 / slack && it.kind != Kind::Cron && !it.is_stopped),
        (
            "scale-to-zero-by-measure",
            is_server && idle < 0.5 * slack && next.requests < 0.1 * slack && !it.is_production && !it.is_stopped,
        ),
        ("busy-but-ineffective", next.busy > 0.8 / slack && next.busy.min(it.units) < 0.5 * slack),
    ];
    // A workload that did not run has no measured activity.
    let ran = it.kind != Kind::Cron || it.is_seen;
    said.into_iter().filter(|(rule, is)| *is && (ran || *rule == "never-ran")).map(|(rule, _)| rule).collect()
}

/// Returns the manifest. `accelerator` differs if the user changed it afterwards.
fn text(it: &Latent, machine: &str) -> String {
    let name = &it.name;
    let container = "resources: { limits: { nvidia.com/gpu: 1 } }";
    let select = format!("nodeSelector: {{ node.kubernetes.io/instance-type: {machine} }}");
    let labels = if it.is_production { "\n  labels: { environment: production }" } else { "" };
    let head = |api: &str, kind: &str| {
        let stop =
            if it.is_stopped { "\n  annotations: { downscaler/uptime: \"Mon-Fri 08:00-18:00 UTC\" }" } else { "" };
        format!("apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: apps{labels}{stop}\nspec:\n")
    };
    match it.kind {
        Kind::Worker => format!(
            "{}  replicas: 1\n  template:\n    spec:\n      {select}\n      containers:\n        - name: main\n          image: example.com/w:1\n          {container}\n",
            head("apps/v1", "Deployment")
        ),
        Kind::Server => {
            let budget = format!(
                "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{ name: {name}, namespace: apps }}\nspec:\n  minAvailable: 1\n  selector: {{ matchLabels: {{ app: {name} }} }}\n"
            );
            format!(
                "{}  replicas: {}\n  selector: {{ matchLabels: {{ app: {name} }} }}\n  template:\n    metadata: {{ labels: {{ app: {name} }} }}\n    spec:\n      {select}\n      containers:\n        - name: main\n          image: vllm/vllm-openai:v0.11.0\n          args: [--model=mistralai/Mistral-7B-Instruct-v0.3, --max-model-len=8192, --dtype=bfloat16]\n          {container}\n{}",
                head("apps/v1", "Deployment"),
                it.copies,
                if it.is_kept { budget } else { String::new() }
            )
        }
        Kind::Notebook => format!(
            "{}  template:\n    spec:\n      {select}\n      containers:\n        - name: main\n          image: example.com/notebook:1\n          {container}\n",
            head("kubeflow.org/v1", "Notebook")
        ),
        Kind::Cron => format!(
            "{}  schedule: \"0 2 * * *\"\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          {select}\n          containers:\n            - name: main\n              image: example.com/c:1\n              {container}\n",
            head("batch/v1", "CronJob")
        ),
        Kind::Pool => format!(
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {{ name: {name}, namespace: apps }}\nspec:\n  replicas: 1\n  template:\n    spec:\n      infrastructureRef: {{ kind: AWSMachineTemplate, name: {name}, apiVersion: infrastructure.cluster.x-k8s.io/v1beta2 }}\n---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWSMachineTemplate\nmetadata: {{ name: {name}, namespace: apps }}\nspec:\n  template:\n    spec:\n      instanceType: {machine}\n"
        ),
    }
}

fn measured(it: &Latent, seen: &Fortnight, gaps: f64) -> UsageRow {
    let is_server = it.kind == Kind::Server;
    let kind = match it.kind {
        Kind::Worker | Kind::Server => "Deployment",
        Kind::Notebook => "Notebook",
        Kind::Pool => "MachineDeployment",
        Kind::Cron => "CronJob",
    };
    let served = |value: f64| Some(value).filter(|_| is_server);
    UsageRow {
        cluster: "made-up".to_owned(),
        namespace: "apps".to_owned(),
        kind: kind.to_owned(),
        name: it.name.clone(),
        accelerator: if it.kind == Kind::Notebook { "L4" } else { "H100-80GB" }.to_owned(),
        source: "dcgm:GR_ENGINE_ACTIVE".to_owned(),
        from: "2026-11-08".parse().unwrap(),
        to: "2026-11-22".parse().unwrap(),
        gpus: Some(1.0),
        days: Some(14.0),
        gpu_hours: Some(seen.hours),
        coverage: Some(1.0 - gaps),
        busy: Some(seen.busy),
        busy_max: Some(seen.busy_max),
        idle: Some(seen.idle),
        sm_active: Some(seen.busy.min(it.units)),
        memory_peak_gib: Some(seen.memory_gib),
        requests_per_s: served(seen.requests),
        running_max: served(seen.running_max),
        waiting_max: served(seen.waiting_max),
        kv_peak: served(seen.kv_peak),
        preemptions: served(0.0),
        replicas: Some(it.copies),
        unallocated: Some(1.0 - seen.held).filter(|_| it.kind == Kind::Pool),
        ..UsageRow::default()
    }
}

const RULES: [&str; 11] = [
    "idle-by-measure",
    "held-not-used",
    "reserved-for-nobody",
    "never-ran",
    "oversized-by-measure",
    "serving-oversized-kv",
    "replicas-by-load",
    "underused-by-measure",
    "idle-hours-by-measure",
    "scale-to-zero-by-measure",
    "busy-but-ineffective",
];

/// Returns the findings for each workload, by name. A superseded finding is among the notes of the other one.
fn said(analysis: &Analysis) -> BTreeMap<String, BTreeSet<&'static str>> {
    let mut all: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    for finding in &analysis.findings {
        let Some(address) = finding.address(&analysis.inventory) else { continue };
        let name = address.rsplit('/').next().unwrap().to_owned();
        let notes = |rule: &str| finding.related.iter().any(|(_, note)| note.starts_with(&format!("also {rule}:")));
        let spoken = RULES.into_iter().filter(|rule| finding.rule == **rule || notes(rule));
        all.entry(name).or_default().extend(spoken);
    }
    all
}

/// Correct findings, false findings, missed findings, and findings that were missed because the measurement was not
/// usable.
#[derive(Default, Clone, Copy)]
struct Score {
    right: usize,
    wrong: usize,
    missed: usize,
    unusable: usize,
    /// Of the false findings: those about workloads that did not exist in the measured days.
    new: usize,
}

/// Evaluates a cluster: adds to the scores, and lists false and missed findings.
fn judge(seed: u64, scores: &mut BTreeMap<&'static str, Score>, slips: &mut String) {
    let mut dice = Dice(seed);
    let (mut tree, mut paths, mut rows) = (MemoryTree::new(), Vec::new(), vec![observer()]);
    let mut wanted = Vec::new();
    for at in 0..300 {
        let it = made_up(at, &mut dice);
        let gaps = if dice.is(0.1) { dice.between(0.5, 0.9) } else { dice.between(0.0, 0.15) };
        let seen = fortnight(&it, &mut dice, 0.02, gaps);
        let next = fortnight(&it, &mut dice, 0.0, 0.0);
        let (is_changed, is_renamed, is_shared, is_new) = (dice.is(0.04), dice.is(0.04), dice.is(0.03), dice.is(0.02));
        let machine = match (it.kind, is_changed) {
            (Kind::Notebook, false) => "g6.xlarge",
            (_, false) => "p5.4xlarge",
            (_, true) => "g5.xlarge",
        };
        let path = format!("apps/{}.yaml", it.name);
        tree = tree.with(&path, text(&it, machine));
        paths.push(path);
        let is_measured = (it.kind != Kind::Cron || it.is_seen) && !is_new;
        if is_measured {
            let mut row = measured(&it, &seen, gaps);
            if is_renamed {
                row.name.push_str("-old");
            }
            row.shared = Some(1.0).filter(|_| is_shared);
            rows.push(row);
        }
        let never_ran = it.kind == Kind::Cron && !it.is_seen && !is_new;
        let is_usable = never_ran || is_measured && gaps < 0.5 && !is_changed && !is_renamed && !is_shared;
        let (may, mut must) = (right(&it, &next, 1.15), right(&it, &next, 0.87));
        if is_new {
            must.clear();
        }
        wanted.push((it.name.clone(), may, must, is_usable, is_new));
    }
    let sources = SourceFiles::new(tree.with(row::FILE_NAME, row::write(&rows)));
    let every = rules::RuleSettings { profile: rules::Profile::All, ..rules::RuleSettings::default() };
    let rules = Arc::new(Rules::load(&[], every).0);
    let mut settings = AnalysisSettings { catalog: Catalog::examples(), rules, ..AnalysisSettings::default() };
    settings.today = Some("2026-11-25".parse().unwrap());
    let said = said(&analyze(&sources, &paths, &settings));
    for (name, may, must, is_usable, is_new) in &wanted {
        for rule in RULES {
            let score = scores.entry(rule).or_default();
            let is_said = said.get(name).is_some_and(|it| it.contains(rule));
            match (is_said, may.contains(rule) && !is_new, must.contains(rule)) {
                (true, true, _) => score.right += 1,
                (true, false, _) => {
                    score.wrong += 1;
                    score.new += usize::from(*is_new);
                    writeln!(slips, "{seed}: {rule} is wrong of {name}").unwrap();
                }
                (false, _, true) if !is_usable => score.unusable += 1,
                (false, _, true) => {
                    score.missed += 1;
                    writeln!(slips, "{seed}: {rule} misses {name}").unwrap();
                }
                _ => {}
            }
        }
    }
}

fn observer() -> UsageRow {
    UsageRow {
        cluster: "made-up".to_owned(),
        kind: row::OBSERVER.to_owned(),
        name: "kube-state-metrics".to_owned(),
        source: "kube-state-metrics".to_owned(),
        from: "2026-11-08".parse().unwrap(),
        to: "2026-11-22".parse().unwrap(),
        days: Some(14.0),
        coverage: Some(1.0),
        ..UsageRow::default()
    }
}

#[test]
fn what_is_said_of_measured_use_is_right() {
    let (mut scores, mut slips, mut table) = (BTreeMap::new(), String::new(), String::new());
    for seed in 1..=5 {
        judge(seed, &mut scores, &mut slips);
    }
    let mut is_good = true;
    for (rule, it) in &scores {
        // A workload that was added later looks as if it never ran. `never-ran` reports it with low confidence.
        let wrong = it.wrong - if *rule == "never-ran" { it.new } else { 0 };
        let precision = it.right as f64 / (it.right + wrong).max(1) as f64;
        let recall = it.right as f64 / (it.right + it.missed).max(1) as f64;
        is_good &= it.right >= 10 && precision >= 0.9 && recall >= 0.9;
        let Score { right, wrong, missed, unusable, new } = it;
        writeln!(
            table,
            "{rule:26} precision {precision:.3} recall {recall:.3} ({right} right, {wrong} wrong, of which {new} are new; {missed} missed, and {unusable} without a measurement that can be used)",
        )
        .unwrap();
    }
    println!("{table}\n{slips}");
    assert!(is_good, "\n{table}\n{slips}");
}
