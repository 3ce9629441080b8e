//! Tests purchase plans against brute force: random fleets, and years that are simulated hour by hour.
//!
//! Each fleet and its activity exist twice here: as configuration and as numbers of machines. The program gets only the
//! configuration. Prices are generated for each fleet, so that totals do not depend on price tables.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::Place;
use crate::fixes::Random;

const HOURS: usize = 8760;
const FLEETS: u64 = 200;
/// Machines that are not sold in capacity blocks, which would add another term.
const MACHINES: [&str; 4] = ["g5.xlarge", "g5.12xlarge", "g6.xlarge", "g4dn.xlarge"];

/// Prices per hour of one machine.
struct Prices {
    on_demand: f64,
    one_year: f64,
    three_years: f64,
}

/// One machine type of a fleet in a year.
struct Pool {
    machine: &'static str,
    prices: Prices,
    /// For each hour, the machines that a commitment can cover.
    base: Vec<f64>,
    /// For each hour, all other machines that are billed by the hour.
    others: Vec<f64>,
    /// Reserved capacity that no machine in the configuration uses.
    spare: f64,
    /// Machines that always run in production. Variable machines above them do not count.
    floor: f64,
}

/// A fleet as configuration, with its activity.
struct Fleet {
    text: String,
    usage: String,
    pools: Vec<Pool>,
}

/// How the number of machines above the minimum changes.
#[derive(Clone, Copy, PartialEq)]
enum Swing {
    /// For a few hours per day, too short for any commitment.
    Peaks,
    /// In any way.
    Free,
}

struct Maker {
    random: Random,
    swing: Swing,
    is_measured: bool,
    blocks: usize,
}

impl Maker {
    fn fleet(mut self) -> Fleet {
        let mut text = "provider \"aws\" {\n  region = \"us-east-1\"\n}\n".to_owned();
        let mut usage = "# gpulint usage 1\n\
            kind,name,accelerator,source,from,to,gpus,days,gpu_hours,coverage,replicas\n"
            .to_owned();
        let first = self.random.below(MACHINES.len());
        let many = 1 + self.random.below(2);
        let names: Vec<&'static str> = (0..many).map(|at| MACHINES[(first + at) % MACHINES.len()]).collect();
        let pools = names.into_iter().map(|machine| self.pool(machine, &mut text, &mut usage)).collect();
        Fleet { text, usage, pools }
    }

    fn share(&mut self, from: usize, to: usize) -> f64 {
        (from + self.random.below(to - from)) as f64 / 100.0
    }

    fn pool(&mut self, machine: &'static str, text: &mut String, usage: &mut String) -> Pool {
        let on_demand = 1.0 + self.random.below(4000) as f64 / 100.0;
        let cents = |usd: f64| (usd * 100.0).round() / 100.0;
        let one_year = cents(on_demand * self.share(50, 90));
        let three_years = cents(on_demand * self.share(35, 70));
        let prices = Prices { on_demand, one_year, three_years };
        let nobody = vec![0.0; HOURS];
        let mut pool = Pool { machine, prices, base: nobody.clone(), others: nobody, spare: 0.0, floor: 0.0 };
        for _ in 0..(2 + self.random.below(6)) {
            self.blocks += 1;
            let name = format!("r{}", self.blocks);
            match self.random.below(9) {
                0 | 1 => self.always(&name, &mut pool, text),
                2 | 3 => self.scaled(&name, &mut pool, text, usage),
                4 => self.scheduled(&name, &mut pool, text),
                5 => self.training(&name, &mut pool, text),
                6 => self.no_production(&name, &mut pool, text),
                7 => self.leased(&name, &mut pool, text),
                _ => self.reserved(&name, &mut pool, text),
            }
        }
        pool
    }

    fn instance(&mut self, name: &str, machine: &str, tags: &str, text: &mut String) -> f64 {
        let count = 1 + self.random.below(8);
        let _ = writeln!(
            text,
            "resource \"aws_instance\" \"{name}\" {{\n  count = {count}\n  instance_type = \"{machine}\"\n  tags = {{ {tags} }}\n}}"
        );
        count as f64
    }

    fn always(&mut self, name: &str, pool: &mut Pool, text: &mut String) {
        let count = self.instance(name, pool.machine, "environment = \"production\"", text);
        pool.floor += count;
        pool.base.iter_mut().for_each(|now| *now += count);
    }

    fn no_production(&mut self, name: &str, pool: &mut Pool, text: &mut String) {
        let tags = self.random.of(&["environment = \"dev\"", "owner = \"anna\""]);
        let count = self.instance(name, pool.machine, tags, text);
        pool.others.iter_mut().for_each(|now| *now += count);
    }

    /// Machines that are removed after some weeks.
    fn leased(&mut self, name: &str, pool: &mut Pool, text: &mut String) {
        let tags = self.random.of(&["ttl = \"72h\"", "expires = \"2027-03-01\""]);
        let count = self.instance(name, pool.machine, &format!("environment = \"production\", {tags}"), text);
        let end = 168 * (1 + self.random.below(12));
        pool.others[..end].iter_mut().for_each(|now| *now += count);
    }

    /// Machines that run by day, on five days of a week.
    fn scheduled(&mut self, name: &str, pool: &mut Pool, text: &mut String) {
        let tags = "environment = \"production\", Schedule = \"office-hours\"";
        let count = self.instance(name, pool.machine, tags, text);
        for (hour, now) in pool.others.iter_mut().enumerate() {
            if hour / 24 % 7 < 5 && (8..18).contains(&(hour % 24)) {
                *now += count;
            }
        }
    }

    fn node_group(name: &str, machine: &str, work: &str, least: usize, most: usize, text: &mut String) {
        let _ = writeln!(
            text,
            "resource \"aws_eks_node_group\" \"{name}\" {{\n  cluster_name = \"c\"\n  node_group_name = \"{name}\"\n  \
             node_role_arn = \"arn:aws:iam::123456789012:role/nodes\"\n  subnet_ids = [\"subnet-1\"]\n  \
             instance_types = [\"{machine}\"]\n  capacity_type = \"ON_DEMAND\"\n  labels = {{ workload = \"{work}\" }}\n  \
             tags = {{ environment = \"production\" }}\n  scaling_config {{\n    min_size = {least}\n    max_size = {most}\n    \
             desired_size = {}\n  }}\n}}",
            least.max(1)
        );
    }

    /// Training runs that fill the pool and leave it.
    fn training(&mut self, name: &str, pool: &mut Pool, text: &mut String) {
        let most = 1 + self.random.below(6);
        Self::node_group(name, pool.machine, "training", 0, most, text);
        let mut hour = self.random.below(200);
        while hour < HOURS {
            let (many, lasts) = (1 + self.random.below(most), 1 + self.random.below(120));
            pool.others.iter_mut().skip(hour).take(lasts).for_each(|now| *now += many as f64);
            hour += lasts + 24 + self.random.below(400);
        }
    }

    /// Servers between a minimum and a maximum.
    fn scaled(&mut self, name: &str, pool: &mut Pool, text: &mut String, usage: &mut String) {
        let least = self.random.below(5);
        let most = least + 1 + self.random.below(5);
        Self::node_group(name, pool.machine, "serving", least, most, text);
        let above = match self.swing {
            Swing::Peaks => self.peaks(most - least, pool),
            Swing::Free => self.free(most - least),
        };
        let mean = least as f64 + above.iter().sum::<f64>() / HOURS as f64;
        if self.is_measured {
            // Rounded down, so that the metrics do not overstate.
            let mean = (mean * 1e4).floor() / 1e4;
            let accelerator = match pool.machine {
                "g5.xlarge" | "g5.12xlarge" => "A10G",
                "g6.xlarge" => "L4",
                _ => "T4",
            };
            let each = if pool.machine == "g5.12xlarge" { 4 } else { 1 };
            let hours = mean * f64::from(each) * 24.0 * 30.0;
            let _ = writeln!(
                usage,
                "NodePool,{name},{accelerator},dcgm:GR_ENGINE_ACTIVE,2026-10-25,2026-11-24,{each},30,{hours},1,{mean}"
            );
        }
        pool.floor += least as f64;
        for (now, above) in pool.base.iter_mut().zip(above) {
            *now += least as f64 + above;
        }
    }

    /// Once a day, for a smaller share of the day than the break-even of the cheapest commitment.
    fn peaks(&mut self, room: usize, pool: &Pool) -> Vec<f64> {
        let Prices { on_demand, one_year, three_years } = pool.prices;
        let least = one_year.min(three_years) / on_demand;
        let longest = ((least * 24.0).ceil() as usize - 1).clamp(1, 20);
        let mut above = vec![0.0; HOURS];
        for day in 0..HOURS / 24 {
            let (many, lasts) = (self.random.below(room + 1), 1 + self.random.below(longest));
            let begins = day * 24 + self.random.below(24 - lasts);
            above[begins..begins + lasts].iter_mut().for_each(|now| *now = many as f64);
        }
        above
    }

    /// A random walk with some inertia.
    fn free(&mut self, room: usize) -> Vec<f64> {
        let home = self.random.below(room + 1);
        let stays = 1 + self.random.below(30);
        let mut now = home;
        let step = |random: &mut Random, now: usize| match random.below(4) {
            0 => now.saturating_sub(1),
            1 => (now + 1).min(room),
            _ => home,
        };
        let mut walk = Vec::with_capacity(HOURS);
        for hour in 0..HOURS {
            if hour % stays == 0 {
                now = step(&mut self.random, now);
            }
            walk.push(now as f64);
        }
        walk
    }

    /// A reservation for named users only, without any user.
    fn reserved(&mut self, name: &str, pool: &mut Pool, text: &mut String) {
        let count = 1 + self.random.below(3);
        let _ = writeln!(
            text,
            "resource \"aws_ec2_capacity_reservation\" \"{name}\" {{\n  instance_type = \"{}\"\n  instance_platform = \
             \"Linux/UNIX\"\n  availability_zone = \"us-east-1a\"\n  instance_match_criteria = \"targeted\"\n  instance_count = {count}\n}}",
            pool.machine
        );
        pool.spare += count as f64;
    }
}

impl Pool {
    fn price(&self, term: &str) -> f64 {
        match term {
            "1y" => self.prices.one_year,
            "3y" => self.prices.three_years,
            other => panic!("{other}"),
        }
    }

    /// Returns the cost of a year with this number of committed machines at this price. Reserved capacity is paid in
    /// any case.
    fn year(&self, committed: f64, per_hour: f64, of: impl Fn(f64) -> f64) -> f64 {
        let by_the_hour: f64 = self.base.iter().map(|now| (of(*now) - self.spare - committed).max(0.0)).sum();
        by_the_hour * self.prices.on_demand + committed * per_hour * HOURS as f64
    }

    /// Returns the lowest cost of all commitment levels and terms.
    fn best(&self, years: u8) -> f64 {
        let most = self.base.iter().copied().fold(0.0, f64::max) as usize;
        let terms: &[&str] = if years == 1 { &["1y"] } else { &["1y", "3y"] };
        let levels = (0..=most).flat_map(|level| terms.iter().map(move |term| (level, *term)));
        levels.map(|(level, term)| self.year(level as f64, self.price(term), |now| now)).fold(f64::INFINITY, f64::min)
    }
}

fn planned(fleet: &Fleet, years: u8, is_measured: bool) -> Value {
    let place = Place::new();
    place.write("main.tf", &fleet.text);
    let mut prices =
        "provider,machine,on_demand_usd_per_hour,reserved_1y_usd_per_hour,reserved_3y_usd_per_hour\n".to_owned();
    for Pool { machine, prices: it, .. } in &fleet.pools {
        let _ = writeln!(prices, "aws,{machine},{},{},{}", it.on_demand, it.one_year, it.three_years);
    }
    place.write("prices.csv", &prices);
    if is_measured {
        place.write("gpulint-usage.csv", &fleet.usage);
    }
    let years = years.to_string();
    let asked =
        ["plan", "main.tf", "--format", "json", "--prices", "prices.csv", "--today", "2026-11-25", "--years", &years];
    serde_json::from_str(&place.stdout(&asked)).unwrap()
}

fn line<'v>(plan: &'v Value, machine: &str) -> Option<&'v Value> {
    let groups = plan["groups"].as_array().unwrap().iter();
    groups.flat_map(|it| it["machines"].as_array().unwrap()).find(|it| it["machine"] == machine)
}

/// The additional cost relative to the best single level, and relative to no commitment.
struct Regret {
    of_best: f64,
    of_none: f64,
}

fn regret(pool: &Pool, plan: &Value, years: u8) -> Regret {
    let commit = line(plan, pool.machine).map_or(&Value::Null, |it| &it["commit"]);
    let mine = match commit["machines"].as_f64() {
        Some(machines) => pool.year(machines, pool.price(commit["term"].as_str().unwrap()), |now| now),
        None => pool.year(0.0, 0.0, |now| now),
    };
    let share = |of: f64| if of > 0.0 { mine / of - 1.0 } else { mine };
    Regret { of_best: share(pool.best(years)), of_none: share(pool.year(0.0, 0.0, |now| now)) }
}

fn fleets(swing: Swing, is_measured: bool) -> impl Iterator<Item = Fleet> {
    (0..FLEETS).map(move |seed| {
        let random = Random(0x5eed_0028 + seed * 7919);
        Maker { random, swing, is_measured, blocks: 0 }.fleet()
    })
}

#[test]
fn no_single_level_of_commitment_is_better_by_more_than_a_hundredth() {
    let (mut worst, mut committed, mut pools) = (0.0_f64, 0, 0);
    for fleet in fleets(Swing::Peaks, false) {
        for years in [1, 3] {
            let plan = planned(&fleet, years, false);
            for pool in &fleet.pools {
                let regret = regret(pool, &plan, years);
                assert!(
                    regret.of_best <= 0.01,
                    "{} for {years}: {} {plan}\n{}",
                    pool.machine,
                    regret.of_best,
                    fleet.text
                );
                worst = worst.max(regret.of_best);
                committed += usize::from(line(&plan, pool.machine).is_some_and(|it| it["commit"].is_object()));
                pools += 1;
            }
        }
    }
    println!("{pools} pools, {committed} with a commitment, at worst {worst:.6} above the best single level");
    assert!(committed * 2 > pools, "only {committed} of {pools} pools are committed to");
}

/// Returns the machines in an hour if this share of the base is left. Some hours have the next higher whole number and
/// the others the next lower one, so that the mean is exact.
fn shrunk(base: f64, left: f64, at: usize) -> f64 {
    let of = base * left;
    of.floor() + if ((at % 4) as f64) < (of.fract() * 4.0).round() { 1.0 } else { 0.0 }
}

#[test]
fn the_stated_loss_is_right_to_the_dollar() {
    let (mut told, mut losses) = (0, 0);
    for fleet in fleets(Swing::Peaks, false) {
        let plan = planned(&fleet, 1, false);
        for pool in &fleet.pools {
            let Some(line) = line(&plan, pool.machine).filter(|it| it["commit"].is_object()) else { continue };
            assert_eq!(line["base"].as_f64(), Some(pool.floor), "{line}\n{}", fleet.text);
            for commit in line["otherwise"].as_array().unwrap().iter().chain([&line["commit"]]) {
                let machines = commit["machines"].as_f64().unwrap();
                let price = pool.price(commit["term"].as_str().unwrap());
                for (left, key) in [(1.0, ""), (0.75, "if_a_quarter_goes"), (0.5, "if_half_goes")] {
                    // Uses only the base, because the plan makes no promise for variable machines.
                    let bill = |committed: f64| {
                        let hours = (0..HOURS).map(|at| {
                            let now = (shrunk(pool.floor, left, at) - pool.spare).max(0.0);
                            (now - committed).max(0.0) * pool.prices.on_demand + committed * price
                        });
                        hours.sum::<f64>() / 12.0
                    };
                    let less = bill(0.0) - bill(machines);
                    let stated = match key {
                        "" => &commit["saves_usd_per_month"],
                        key => &commit[key]["net_usd_per_month"],
                    };
                    let stated = stated.as_f64().unwrap();
                    assert!(
                        (stated - less).abs() < 1.0,
                        "{left}: {stated}, and it is {less}\n{commit}\n{}",
                        fleet.text
                    );
                    losses += usize::from(less < 0.0);
                    told += 1;
                }
            }
        }
    }
    println!("{told} amounts, {losses} of them losses");
    assert!(told > 500 && losses > 100, "{told} {losses}");
}

/// The configuration does not determine how machines above the minimum change. In this case, a commitment never costs
/// more than none, and usage metrics bring the plan closer to the optimum.
#[test]
fn what_cannot_be_known_is_never_bought_at_a_loss() {
    let mut means = Vec::new();
    for is_measured in [false, true] {
        let mut all: Vec<f64> = Vec::new();
        for fleet in fleets(Swing::Free, is_measured) {
            let plan = planned(&fleet, 1, is_measured);
            for pool in &fleet.pools {
                let regret = regret(pool, &plan, 1);
                assert!(regret.of_none <= 1e-9, "{}: {}\n{plan}\n{}", pool.machine, regret.of_none, fleet.text);
                all.push(regret.of_best);
            }
        }
        all.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
        let within = all.iter().filter(|it| **it <= 0.01).count();
        println!(
            "measured {is_measured}: {} pools, {within} within 1 %, median {:.4}, 95th {:.4}, worst {:.4}, mean {mean:.4}",
            all.len(),
            at(0.5),
            at(0.95),
            at(1.0)
        );
        means.push(mean);
    }
    assert!(means[1] < means[0], "{means:?}");
}
