//! Tests random configurations, evaluated by gpulint and by Terraform.
//!
//! A fixed few run if `terraform` is on the path. `GPULINT_CONFIGURATIONS=2000` runs this many, starting at
//! `GPULINT_SEED`.

use std::fmt::Write;

use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::terraform::{HclData, HclValue, TerraformOptions, read};
use serde_json::Value as Json;

use super::oracle;

const ALWAYS: u64 = 6;

#[test]
fn random_configurations_mean_what_terraform_says() {
    if oracle::program().is_none() {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first: u64 = number("GPULINT_SEED").unwrap_or(1);
    let count: u64 = number("GPULINT_CONFIGURATIONS").unwrap_or(ALWAYS);
    let mut differences = String::new();
    let (mut refused, mut compared) = (0, 0);
    for seed in first..first + count {
        let files = Generator::configuration(seed);
        if std::env::var_os("GPULINT_SHOW").is_some() {
            for (path, text) in &files {
                println!("### {path}\n{text}");
            }
        }
        match oracle::plan(&files).unwrap() {
            Err(said) => {
                refused += 1;
                if std::env::var_os("GPULINT_SHOW_REFUSED").is_some() {
                    println!("seed {seed}: {said}");
                }
            }
            Ok(plan) => compared += compare(seed, &files, &plan, &mut differences),
        }
    }
    println!("{count} configurations, {refused} refused by Terraform, {compared} resources compared");
    assert!(differences.is_empty(), "{differences}");
    assert!(refused * 2 <= count, "Terraform refuses {refused} of {count} configurations: they prove too little");
}

fn compare(seed: u64, files: &[(String, String)], plan: &Json, differences: &mut String) -> usize {
    let mut tree = MemoryTree::new();
    for (path, text) in files {
        tree = tree.with(path, text.as_str());
    }
    let reading = read(&SourceFiles::new(tree), &["main.tf".to_owned()], &TerraformOptions::default());
    let mut expected = Vec::new();
    resources(&plan["planned_values"]["root_module"], &mut expected);
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    let mut actual: Vec<(String, HclValue)> = reading
        .blocks
        .iter()
        .filter(|block| block.keyword == "resource")
        .map(|block| (block.address.clone(), block.attributes.get("input").unwrap().value.clone()))
        .collect();
    actual.sort_by(|a, b| a.0.cmp(&b.0));
    let addresses = |list: &[String]| list.join(" ");
    let (mine, theirs): (Vec<String>, Vec<String>) =
        (actual.iter().map(|(a, _)| a.clone()).collect(), expected.iter().map(|(a, _)| a.clone()).collect());
    if mine != theirs {
        let _ = writeln!(
            differences,
            "seed {seed}: resources\n  terraform {}\n  gpulint   {}",
            addresses(&theirs),
            addresses(&mine)
        );
        return 0;
    }
    let mut applied = None;
    for ((address, value), (_, planned)) in actual.iter().zip(&expected) {
        let unknown = !value.is_wholly_known();
        let mut after_apply = |value: &HclValue| {
            let applied = applied.get_or_insert_with(|| inputs_after_apply(files));
            applied.iter().any(|(a, input)| a == address && input.as_ref().is_some_and(|it| same(value, it)))
        };
        let same = match planned {
            None if unknown => true,
            // Terraform may report a knowable value as unknown in the plan, so the final value is compared.
            None => after_apply(value),
            Some(_) if unknown => holds_unknown(plan, address),
            Some(planned) if same(value, planned) => true,
            Some(_) if holds_unknown(plan, address) => after_apply(value),
            Some(_) => false,
        };
        if !same {
            let shown = planned.as_ref().map_or("unknown".into(), Json::to_string);
            let _ = writeln!(differences, "seed {seed}: {address}\n  terraform {shown}\n  gpulint   {}", json(value));
        }
    }
    expected.len()
}

fn inputs_after_apply(files: &[(String, String)]) -> Vec<(String, Option<Json>)> {
    let mut inputs = Vec::new();
    if let Some(Ok(state)) = oracle::apply(files) {
        resources(&state["values"]["root_module"], &mut inputs);
    }
    inputs
}

/// Returns addresses and inputs; `None` if the whole input is unknown.
fn resources(module: &Json, into: &mut Vec<(String, Option<Json>)>) {
    for resource in module["resources"].as_array().into_iter().flatten() {
        let input = resource["values"].as_object().and_then(|values| values.get("input")).cloned();
        into.push((resource["address"].as_str().unwrap().to_owned(), input));
    }
    for child in module["child_modules"].as_array().into_iter().flatten() {
        resources(child, into);
    }
}

fn holds_unknown(plan: &Json, address: &str) -> bool {
    let changes = plan["resource_changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["address"] == address).unwrap();
    change["change"]["after_unknown"]["input"].to_string().contains("true")
}

fn same(value: &HclValue, planned: &Json) -> bool {
    match (&value.data, planned) {
        (HclData::Null, Json::Null) => true,
        (HclData::Bool(a), Json::Bool(b)) => a == b,
        (HclData::Text(a), Json::String(b)) => **a == **b,
        (HclData::Number(a), Json::Number(b)) => close(a.as_f64(), b.as_f64().unwrap()),
        (HclData::List(a) | HclData::Set(a) | HclData::Tuple(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (HclData::Map(a) | HclData::Object(a), Json::Object(b)) => {
            a.rest.is_none()
                && a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(&**key).is_some_and(|b| same(value, b)))
        }
        _ => false,
    }
}

/// A plan contains numbers as floating point, and reading them rounds again.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * a.abs().max(b.abs())
}

fn json(value: &HclValue) -> String {
    match &value.data {
        HclData::Null => "null".into(),
        HclData::Bool(flag) => flag.to_string(),
        HclData::Number(number) => number.to_string(),
        HclData::Text(text) => Json::String(text.to_string()).to_string(),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(","))
        }
        HclData::Map(entries) | HclData::Object(entries) => {
            let members: Vec<String> = entries.iter().map(|(key, value)| format!("{key:?}:{}", json(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        HclData::Unknown(cause) => format!("<{}>", cause.why),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Type {
    Text,
    Number,
    Bool,
    List(Box<Type>),
    Set,
    Map(Box<Type>),
    Object(Vec<Field>),
}

#[derive(Debug, Clone, PartialEq)]
struct Field {
    name: &'static str,
    of: Type,
    optional: bool,
    default: bool,
}

/// Valid references: an expression with its type.
type Names = Vec<(String, Type)>;

struct Generator {
    state: u64,
    depth: u32,
    bound: u32,
}

const WORDS: [&str; 10] = ["g5.xlarge", "a", "b2", "", "x-y", "é", "p4d", "A B", "1", "true"];
const KEYS: [&str; 5] = ["k", "a", "gpu", "x1", "z_z"];
const FIELDS: [&str; 4] = ["name", "size", "on", "tags"];

impl Generator {
    fn configuration(seed: u64) -> Vec<(String, String)> {
        let mut generator = Generator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, depth: 0, bound: 0 };
        for _ in 0..8 {
            generator.next();
        }
        let modules = generator.below(3);
        let mut files = Vec::new();
        let mut calls = Vec::new();
        for index in 0..modules {
            let (text, arguments, outputs) = generator.module();
            files.push((format!("modules/m{index}/main.tf"), text));
            calls.push((index, arguments, outputs));
        }
        let (mut text, mut names, assigned) = generator.variables(true);
        files.push(("terraform.tfvars".to_owned(), assigned));
        generator.locals(&mut text, &mut names);
        generator.resources(&mut text, &mut names, "r");
        for (index, arguments, outputs) in calls {
            generator.call(index, &arguments, &outputs, &mut text, &mut names);
        }
        generator.resources(&mut text, &mut names, "s");
        files.push(("main.tf".to_owned(), text));
        files
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    fn some_type(&mut self, depth: u32) -> Type {
        match self.below(if depth == 0 { 3 } else { 8 }) {
            0 => Type::Text,
            1 => Type::Number,
            2 => Type::Bool,
            3 | 4 => Type::List(Box::new(self.some_type(depth - 1))),
            5 => Type::Map(Box::new(self.some_type(depth - 1))),
            6 => Type::Set,
            _ => {
                let count = 1 + self.below(3) as usize;
                let field = |generator: &mut Self, name| {
                    let optional = generator.chance(40);
                    Field { name, of: generator.some_type(depth - 1), optional, default: generator.chance(60) }
                };
                Type::Object(FIELDS[..count].iter().map(|name| field(self, name)).collect())
            }
        }
    }

    /// Returns a module's code, its variables and its outputs.
    fn module(&mut self) -> (String, Names, Names) {
        let (mut text, mut names, _) = self.variables(false);
        let arguments =
            names.iter().map(|(name, of)| (name.trim_start_matches("var.").to_owned(), of.clone())).collect();
        self.locals(&mut text, &mut names);
        self.resources(&mut text, &mut names, "m");
        let mut outputs = Vec::new();
        for index in 0..2 {
            let of = self.some_type(1);
            let value = self.expression(&of, &names);
            let _ = writeln!(text, "output \"o{index}\" {{\n  value = {value}\n}}");
            outputs.push((format!("o{index}"), of));
        }
        (text, arguments, outputs)
    }

    /// Returns declarations of variables, references to them, and a file that assigns some.
    fn variables(&mut self, defaults: bool) -> (String, Names, String) {
        let (mut text, mut names, mut assigned) = (String::new(), Names::new(), String::new());
        for index in 0..1 + self.below(4) {
            let of = self.some_type(2);
            let declared = self.declared(&of);
            let default = if defaults || self.chance(30) {
                format!("  default = {}\n", self.written(&of))
            } else {
                String::new()
            };
            let nullable = if self.chance(15) && !default.is_empty() { "  nullable = false\n" } else { "" };
            let _ = writeln!(text, "variable \"v{index}\" {{\n  type = {declared}\n{default}{nullable}}}");
            if self.chance(50) {
                let _ = writeln!(assigned, "v{index} = {}", self.written(&of));
            }
            names.push((format!("var.v{index}"), of));
        }
        (text, names, assigned)
    }

    fn declared(&mut self, of: &Type) -> String {
        match of {
            Type::Text => "string".into(),
            Type::Number => "number".into(),
            Type::Bool => "bool".into(),
            Type::List(of) => format!("list({})", self.declared(of)),
            Type::Set => "set(string)".into(),
            Type::Map(of) => format!("map({})", self.declared(of)),
            Type::Object(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|field| {
                        let of = self.declared(&field.of);
                        let of = match (field.optional, field.default) {
                            (true, true) => format!("optional({of}, {})", self.written(&field.of)),
                            (true, false) => format!("optional({of})"),
                            _ => of,
                        };
                        format!("{} = {of}", field.name)
                    })
                    .collect();
                format!("object({{ {} }})", fields.join(", "))
            }
        }
    }

    /// Returns a typical literal for a variable of this type: optional fields may be missing, and numbers may be
    /// quoted.
    fn written(&mut self, of: &Type) -> String {
        match of {
            Type::Object(fields) => {
                let mut items = Vec::new();
                for field in fields {
                    if !(field.optional && self.chance(50)) {
                        items.push(format!("{} = {}", field.name, self.written(&field.of)));
                    }
                }
                format!("{{ {} }}", items.join(", "))
            }
            Type::Number if self.chance(20) => format!("\"{}\"", self.below(50)),
            Type::Bool if self.chance(20) => "\"true\"".into(),
            Type::Set => self.written(&Type::List(Box::new(Type::Text))),
            Type::List(of) => {
                let items: Vec<String> = (0..self.below(4)).map(|_| self.written(of)).collect();
                format!("[{}]", items.join(", "))
            }
            Type::Map(of) => {
                let count = self.below(4) as usize;
                let items: Vec<String> =
                    KEYS[..count].iter().map(|key| format!("{key} = {}", self.written(of))).collect();
                format!("{{ {} }}", items.join(", "))
            }
            _ => self.literal(of),
        }
    }

    fn literal(&mut self, of: &Type) -> String {
        match of {
            Type::Text => format!("\"{}\"", self.pick(&WORDS)),
            Type::Number => match self.below(6) {
                0 => format!("{}.{}", self.below(20), self.below(100)),
                1 => format!("-{}", self.below(100)),
                _ => self.below(12).to_string(),
            },
            Type::Bool => self.pick(&["true", "false"]).to_owned(),
            Type::List(of) => {
                let items: Vec<String> = (0..1 + self.below(3)).map(|_| self.literal(of)).collect();
                format!("[{}]", items.join(", "))
            }
            Type::Set => format!("toset({})", self.literal(&Type::List(Box::new(Type::Text)))),
            Type::Map(of) => {
                let count = 1 + self.below(3) as usize;
                let items: Vec<String> =
                    KEYS[..count].iter().map(|key| format!("{key} = {}", self.literal(of))).collect();
                format!("{{ {} }}", items.join(", "))
            }
            Type::Object(fields) => {
                let items: Vec<String> =
                    fields.iter().map(|field| format!("{} = {}", field.name, self.literal(&field.of))).collect();
                format!("{{ {} }}", items.join(", "))
            }
        }
    }

    fn locals(&mut self, text: &mut String, names: &mut Names) {
        let mut locals = Vec::new();
        for index in 0..2 + self.below(4) {
            let of = self.some_type(2);
            let value = self.expression(&of, names);
            locals.push(format!("  l{index} = {value}"));
            names.push((format!("local.l{index}"), of));
        }
        // In any order.
        locals.reverse();
        let _ = writeln!(text, "locals {{\n{}\n}}", locals.join("\n"));
    }

    fn resources(&mut self, text: &mut String, names: &mut Names, prefix: &str) {
        for index in 0..1 + self.below(3) {
            let name = format!("{prefix}{index}");
            let of = self.some_type(2);
            let mut inner = names.clone();
            let repeat = match self.below(4) {
                0 => {
                    inner.push(("count.index".into(), Type::Number));
                    format!("  count = {}\n", self.count(names))
                }
                1 => {
                    inner.push(("each.key".into(), Type::Text));
                    inner.push(("each.value".into(), Type::Text));
                    let set = self.expression(&Type::Set, names);
                    format!("  for_each = {set}\n")
                }
                2 => {
                    let value = self.some_type(1);
                    inner.push(("each.key".into(), Type::Text));
                    inner.push(("each.value".into(), value.clone()));
                    let map = self.expression(&Type::Map(Box::new(value)), names);
                    format!("  for_each = {map}\n")
                }
                _ => String::new(),
            };
            let input = self.expression(&of, &inner);
            let _ = writeln!(text, "resource \"terraform_data\" \"{name}\" {{\n{repeat}  input = {input}\n}}");
            let address = format!("terraform_data.{name}");
            let of_list = Type::List(Box::new(of.clone()));
            match repeat.trim_start().split(' ').next() {
                Some("count") => names.push((format!("{address}[*].input"), of_list)),
                Some("for_each") => {
                    names
                        .push((format!("{{ for k, r in {address} : k => r.input }}"), Type::Map(Box::new(of.clone()))));
                    names.push((format!("values({address})[*].input"), of_list));
                }
                _ => {
                    names.push((format!("{address}.input"), of));
                    if self.chance(10) {
                        names.push((format!("{address}.id"), Type::Text));
                    }
                }
            }
        }
    }

    fn count(&mut self, names: &Names) -> String {
        match self.below(3) {
            0 => self.below(4).to_string(),
            1 => format!("{} ? {} : 0", self.expression(&Type::Bool, names), 1 + self.below(3)),
            _ => {
                let of = Type::List(Box::new(self.some_type(1)));
                format!("length({})", self.expression(&of, names))
            }
        }
    }

    fn call(
        &mut self,
        index: u64,
        arguments: &[(String, Type)],
        outputs: &[(String, Type)],
        text: &mut String,
        names: &mut Names,
    ) {
        let mut inner = names.clone();
        let repeat = match self.below(3) {
            0 => {
                inner.push(("count.index".into(), Type::Number));
                format!("  count = {}\n", 1 + self.below(3))
            }
            1 => {
                inner.push(("each.key".into(), Type::Text));
                inner.push(("each.value".into(), Type::Text));
                format!("  for_each = {}\n", self.expression(&Type::Map(Box::new(Type::Text)), names))
            }
            _ => String::new(),
        };
        let _ = writeln!(text, "module \"m{index}\" {{\n  source = \"./modules/m{index}\"\n{repeat}");
        for (name, of) in arguments {
            let value = self.expression(of, &inner);
            let _ = writeln!(text, "  {name} = {value}");
        }
        text.push_str("}\n");
        for (name, of) in outputs {
            match repeat.trim_start().split(' ').next() {
                Some("count") => {
                    names.push((format!("module.m{index}[*].{name}"), Type::List(Box::new(of.clone()))));
                    names.push((format!("module.m{index}[0].{name}"), of.clone()));
                }
                Some("for_each") => {
                    let map = format!("{{ for k, m in module.m{index} : k => m.{name} }}");
                    names.push((map, Type::Map(Box::new(of.clone()))));
                }
                _ => names.push((format!("module.m{index}.{name}"), of.clone())),
            }
        }
    }

    fn bind(&mut self) -> String {
        self.bound += 1;
        format!("i{}", self.bound)
    }

    /// Returns an expression of a type. Nested expressions are simpler.
    fn expression(&mut self, of: &Type, names: &Names) -> String {
        self.depth += 1;
        let result = if self.depth > 4 || self.chance(25) { self.simple(of, names) } else { self.composed(of, names) };
        self.depth -= 1;
        result
    }

    fn simple(&mut self, of: &Type, names: &Names) -> String {
        let mut fitting: Vec<String> = names.iter().filter(|(_, t)| t == of).map(|(name, _)| name.clone()).collect();
        for (name, t) in names {
            match t {
                Type::Object(fields) => {
                    for field in fields.iter().filter(|field| field.of == *of && (field.default || !field.optional)) {
                        fitting.push(format!("({name}).{}", field.name));
                    }
                }
                Type::List(inner) if **inner == *of => {
                    fitting.push(format!("try(({name})[0], {})", self.literal(of)));
                }
                Type::Map(inner) if **inner == *of => {
                    fitting.push(format!("lookup({name}, \"{}\", {})", self.pick(&KEYS), self.literal(of)));
                }
                _ => {}
            }
        }
        if fitting.is_empty() || self.chance(20) { self.literal(of) } else { self.pick(&fitting) }
    }

    fn composed(&mut self, of: &Type, names: &Names) -> String {
        if self.chance(15) {
            let condition = self.expression(&Type::Bool, names);
            return format!("({condition} ? {} : {})", self.expression(of, names), self.expression(of, names));
        }
        if self.chance(8) {
            return format!("try({}, {})", self.expression(of, names), self.literal(of));
        }
        match of {
            Type::Text => self.text(names),
            Type::Number => self.number(names),
            Type::Bool => self.flag(names),
            Type::List(of) => self.list(of, names),
            Type::Set => self.set(names),
            Type::Map(of) => self.map(of, names),
            Type::Object(fields) => {
                let items: Vec<String> = fields
                    .iter()
                    .map(|field| format!("{} = {}", field.name, self.expression(&field.of, names)))
                    .collect();
                format!("{{ {} }}", items.join(", "))
            }
        }
    }

    fn text(&mut self, names: &Names) -> String {
        let text = |generator: &mut Self| generator.expression(&Type::Text, names);
        let texts = Type::List(Box::new(Type::Text));
        match self.below(34) {
            0 => format!("upper({})", text(self)),
            1 => format!("lower({})", text(self)),
            2 => format!("join(\"-\", {})", self.expression(&texts, names)),
            3 => format!("format(\"%s:%s\", {}, {})", text(self), text(self)),
            4 => format!("replace({}, \"a\", {})", text(self), text(self)),
            5 => format!("substr({}, 0, {})", text(self), self.below(4)),
            6 => format!("\"${{{}}}/${{{}}}\"", self.expression(&Type::Number, names), text(self)),
            7 => format!("tostring({})", self.expression(&Type::Bool, names)),
            8 => format!("jsonencode({})", {
                let of = self.some_type(1);
                self.expression(&of, names)
            }),
            9 => format!("element(concat({}, [\"end\"]), {})", self.expression(&texts, names), self.below(5)),
            10 => format!("coalesce({}, \"none\")", text(self)),
            11 => format!("trimprefix({}, \"g\")", text(self)),
            12 => format!("title({})", text(self)),
            13 => format!("md5({})", text(self)),
            14 => {
                let item = self.bind();
                let list = self.expression(&texts, names);
                format!("\"%{{ for {item} in {list} }}<${{{item}}}>%{{ endfor }}\"")
            }
            15 => {
                let condition = self.expression(&Type::Bool, names);
                format!("\"%{{ if {condition} }}yes%{{ else }}${{{}}}%{{ endif }}\"", text(self))
            }
            16 => format!("base64encode({})", text(self)),
            17 => format!("yamlencode({})", {
                let of = self.some_type(1);
                self.expression(&of, names)
            }),
            18 => format!("join(\",\", sort({}))", self.expression(&texts, names)),
            19 => format!("strrev({})", text(self)),
            20 => format!("format(\"%v|%5.2f\", {0}, {0})", self.expression(&Type::Number, names)),
            21 => format!("urlencode({})", text(self)),
            22 => format!("trimspace(\"  ${{{}}} \")", text(self)),
            23 => format!("substr({}, -{}, {})", text(self), self.below(4), 1 + self.below(3)),
            24 => format!("replace({}, \"/[a-f]+/\", \"<$0>\")", text(self)),
            25 => format!("base64decode(base64encode({}))", text(self)),
            26 => format!("indent(2, {})", text(self)),
            27 => format!("try(regex(\"[a-z]+\", {}), {})", text(self), text(self)),
            28 => format!("jsondecode(jsonencode({}))", text(self)),
            29 => format!("yamldecode(yamlencode({}))", text(self)),
            30 => format!("cidrsubnet(\"10.0.0.0/16\", 8, {})", self.below(256)),
            31 => format!(
                "<<-EOT\n    ${{{}}}\n      %{{ if {} ~}}\n    x\n    %{{ endif }}\n    EOT\n    ",
                text(self),
                { self.expression(&Type::Bool, names) }
            ),
            32 => format!("formatdate(\"YYYY-MM-DD\", timeadd(\"2024-02-28T00:00:00Z\", \"{}h\"))", self.below(99)),
            _ => format!("sha256({})", text(self)),
        }
    }

    fn number(&mut self, names: &Names) -> String {
        let number = |generator: &mut Self| generator.expression(&Type::Number, names);
        let numbers = Type::List(Box::new(Type::Number));
        match self.below(20) {
            0 => format!("({} + {})", number(self), number(self)),
            1 => format!("({} - {})", number(self), number(self)),
            2 => format!("({} * {})", number(self), self.below(5)),
            3 => format!("({} / {})", number(self), 1 + self.below(6)),
            4 => format!("floor({})", number(self)),
            5 => format!("max({}, {})", number(self), number(self)),
            6 => format!("min({}, {})", number(self), number(self)),
            7 => format!("length({})", {
                let of = Type::List(Box::new(self.some_type(1)));
                self.expression(&of, names)
            }),
            8 => format!("length({})", self.expression(&Type::Set, names)),
            9 => format!("sum(concat({}, [0]))", self.expression(&numbers, names)),
            10 => format!("abs(-({}))", number(self)),
            11 => format!("signum(floor({}))", number(self)),
            12 => format!("pow({}, 2)", self.below(9)),
            13 => format!("parseint(tostring({}), 10)", self.below(99)),
            14 => format!("tonumber(tostring({}))", number(self)),
            15 => format!("try(index({}, {}), -1)", self.expression(&numbers, names), number(self)),
            16 => format!("one([{}])", number(self)),
            17 => format!("max(concat({}, [0])...)", self.expression(&numbers, names)),
            18 => format!("length({})", {
                let of = Type::Map(Box::new(self.some_type(1)));
                self.expression(&of, names)
            }),
            _ => format!("ceil({}) % {}", number(self), 1 + self.below(5)),
        }
    }

    fn flag(&mut self, names: &Names) -> String {
        let flag = |generator: &mut Self| generator.expression(&Type::Bool, names);
        match self.below(10) {
            0 => format!("({} && {})", flag(self), flag(self)),
            1 => format!("({} || {})", flag(self), flag(self)),
            2 => format!("!({})", flag(self)),
            3 => format!("({} > {})", self.expression(&Type::Number, names), self.expression(&Type::Number, names)),
            4 => format!("({} == {})", self.expression(&Type::Text, names), self.expression(&Type::Text, names)),
            5 => format!("contains({}, {})", self.expression(&Type::Set, names), self.expression(&Type::Text, names)),
            6 => format!("can(regex(\"^[a-g]\", {}))", self.expression(&Type::Text, names)),
            7 => format!("alltrue({})", self.expression(&Type::List(Box::new(Type::Bool)), names)),
            8 => {
                let of = self.some_type(1);
                format!("({} != {})", self.expression(&of, names), self.expression(&of, names))
            }
            _ => format!("startswith({}, \"a\")", self.expression(&Type::Text, names)),
        }
    }

    fn list(&mut self, of: &Type, names: &Names) -> String {
        let whole = Type::List(Box::new(of.clone()));
        match self.below(18) {
            0 => {
                let items: Vec<String> = (0..1 + self.below(3)).map(|_| self.expression(of, names)).collect();
                format!("[{}]", items.join(", "))
            }
            1 => format!("concat({}, {})", self.expression(&whole, names), self.expression(&whole, names)),
            2 | 3 => {
                let from = self.some_type(1);
                let list = self.expression(&Type::List(Box::new(from.clone())), names);
                let item = self.bind();
                let mut inner = names.clone();
                inner.push((item.clone(), from));
                let value = self.expression(of, &inner);
                let condition = if self.chance(40) {
                    format!(" if {}", self.expression(&Type::Bool, &inner))
                } else {
                    String::new()
                };
                format!("[for {item} in {list} : {value}{condition}]")
            }
            4 => format!("reverse({})", self.expression(&whole, names)),
            5 => format!("distinct({})", self.expression(&whole, names)),
            6 => format!("values({})", self.expression(&Type::Map(Box::new(of.clone())), names)),
            7 if *of == Type::Text => match self.below(4) {
                0 => format!("sort({})", self.expression(&whole, names)),
                1 => format!("split(\"a\", {})", self.expression(&Type::Text, names)),
                2 => format!("compact({})", self.expression(&whole, names)),
                _ => format!("keys({})", self.expression(&Type::Map(Box::new(Type::Number)), names)),
            },
            8 => format!("slice({}, 0, 1)", self.literal(&whole)),
            9 => format!("jsondecode(jsonencode({}))", self.expression(&whole, names)),
            10 if !matches!(of, Type::List(_) | Type::Set) => {
                format!("flatten([{}, [{}]])", self.expression(&whole, names), self.expression(&whole, names))
            }
            11 => self.nested_loops(of, names),
            12 => self.splat(of, names),
            13 => format!("coalescelist({}, {})", self.expression(&whole, names), self.literal(&whole)),
            14 => format!("try({}, [])", self.expression(&whole, names)),
            15 => {
                let item = self.bind();
                let mut inner = names.clone();
                inner.push((item.clone(), Type::Number));
                format!("[for {item} in range({}) : {}]", self.below(4), self.expression(of, &inner))
            }
            16 => format!("concat([{0}, {0}]...)", self.expression(&whole, names)),
            _ => {
                let item = self.bind();
                let key = self.bind();
                let map = self.expression(&Type::Map(Box::new(of.clone())), names);
                format!("[for {key}, {item} in {map} : {item} if {key} != \"zz\"]")
            }
        }
    }

    /// Returns a collection for a `dynamic` block: members of members, with a part of the outer one.
    fn nested_loops(&mut self, of: &Type, names: &Names) -> String {
        let (outer, inner) = (self.bind(), self.bind());
        let from = self.some_type(1);
        let list = Type::List(Box::new(from.clone()));
        let mut bound = names.clone();
        let collection = self.expression(&Type::Map(Box::new(list.clone())), names);
        bound.push((outer.clone(), list));
        bound.push((inner.clone(), from));
        let value = self.expression(of, &bound);
        format!("concat([], [for {outer} in {collection} : [for {inner} in {outer} : {value}]]...)")
    }

    /// Returns a field of every object in a list.
    fn splat(&mut self, of: &Type, names: &Names) -> String {
        let field = Field { name: "name", of: of.clone(), optional: false, default: false };
        let other = Field { name: "size", of: Type::Number, optional: false, default: false };
        let objects = Type::List(Box::new(Type::Object(vec![field, other])));
        let list = self.expression(&objects, names);
        if self.chance(50) { format!("({list})[*].name") } else { format!("({list}).*.name") }
    }

    fn set(&mut self, names: &Names) -> String {
        let texts = Type::List(Box::new(Type::Text));
        match self.below(5) {
            0 => format!("setunion({}, {})", self.expression(&Type::Set, names), self.expression(&Type::Set, names)),
            1 => format!("setsubtract({}, {})", self.expression(&Type::Set, names), self.expression(&Type::Set, names)),
            2 => format!("toset(keys({}))", self.expression(&Type::Map(Box::new(Type::Bool)), names)),
            3 => format!(
                "setintersection({}, {})",
                self.expression(&Type::Set, names),
                self.expression(&Type::Set, names)
            ),
            _ => format!("toset({})", self.expression(&texts, names)),
        }
    }

    fn map(&mut self, of: &Type, names: &Names) -> String {
        let whole = Type::Map(Box::new(of.clone()));
        match self.below(10) {
            5 => {
                let item = self.bind();
                let list = self.expression(&Type::List(Box::new(of.clone())), names);
                format!("merge([for {item} in {list} : {{ \"g\" = {item} }}]...)")
            }
            6 => format!("zipmap([\"k\", \"a\"], [{}, {}])", self.expression(of, names), self.expression(of, names)),
            7 => format!("jsondecode(jsonencode({}))", self.expression(&whole, names)),
            8 => match of {
                Type::List(of) => {
                    let (key, item) = (self.bind(), self.bind());
                    let map = self.expression(&Type::Map(of.clone()), names);
                    format!("{{ for {key}, {item} in {map} : substr({key}, 0, 1) => {item}... }}")
                }
                _ => format!("merge({}, {{}})", self.expression(&whole, names)),
            },
            0 => format!("merge({}, {})", self.expression(&whole, names), self.expression(&whole, names)),
            1 => {
                let (key, item) = (self.bind(), self.bind());
                let from = self.some_type(1);
                let map = self.expression(&Type::Map(Box::new(from.clone())), names);
                let mut inner = names.clone();
                inner.push((item.clone(), from));
                inner.push((key.clone(), Type::Text));
                format!("{{ for {key}, {item} in {map} : \"p-${{{key}}}\" => {} }}", self.expression(of, &inner))
            }
            2 => {
                let item = self.bind();
                let set = self.expression(&Type::Set, names);
                let mut inner = names.clone();
                inner.push((item.clone(), Type::Text));
                format!("{{ for {item} in {set} : {item} => {} }}", self.expression(of, &inner))
            }
            3 => {
                let count = 1 + self.below(3) as usize;
                let items: Vec<String> =
                    KEYS[..count].iter().map(|key| format!("\"{key}\" = {}", self.expression(of, names))).collect();
                format!("{{ {} }}", items.join(", "))
            }
            4 => {
                let item = self.bind();
                let index = self.bind();
                let list = self.expression(&Type::List(Box::new(of.clone())), names);
                format!("{{ for {index}, {item} in {list} : \"n${{{index}}}\" => {item} }}")
            }
            _ => format!("tomap({})", self.literal(&whole)),
        }
    }
}
