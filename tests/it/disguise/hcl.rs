//! Creates disguises of Terraform: the form of a value, its container, and its file.

use super::{Choice, Files, Pair, file};

/// The forms of a string: `%s` is the string, `%a` and `%b` are its halves, `%r` is reversed, `%U` is upper case, `%u`
/// has escapes, `%6` is base64. The second part is other code that the form needs.
const VALUES: &[(&str, &str)] = &[
    ("\"%s\"", ""),
    ("\"%a${\"%b\"}\"", ""),
    ("join(\"\", [\"%a\", \"%b\"])", ""),
    ("format(\"%%s%%s\", \"%a\", \"%b\")", ""),
    ("local.v", "locals {\n  v = \"%s\"\n}\n"),
    ("local.v.w[0]", "locals {\n  u = \"%s\"\n  v = { w = [local.u] }\n}\n"),
    ("var.v", "variable \"v\" {\n  default = \"%s\"\n}\n"),
    ("var.v == null ? \"%s\" : \"t3.micro\"", "variable \"v\" {\n  default = null\n}\n"),
    ("var.v.k", "variable \"v\" {\n  type    = object({ k = optional(string, \"%s\") })\n  default = {}\n}\n"),
    ("true ? \"%s\" : \"t3.micro\"", ""),
    ("terraform.workspace == \"default\" ? \"%s\" : \"t3.micro\"", ""),
    ("lookup({ k = \"%s\" }, \"k\", \"t3.micro\")", ""),
    ("{ (\"k\") : \"%s\" }[\"k\"]", ""),
    ("[\"t3.micro\", \"%s\"][1]", ""),
    ("[for x in [\"%a\"] : \"${x}%b\"][0]", ""),
    ("one([for k, v in { \"%s\" = 1 } : k if v == 1])", ""),
    ("jsondecode(\"{\\\"k\\\": \\\"%s\\\"}\").k", ""),
    ("yamldecode(\"k: \\\"%s\\\"\").k", ""),
    ("base64decode(\"%6\")", ""),
    ("strrev(\"%r\")", ""),
    ("lower(\"%U\")", ""),
    ("trimspace(\"  %s \")", ""),
    ("chomp(<<-EOT\n    %s\n    EOT\n  )", ""),
    ("\"%u\"", ""),
    ("replace(\"%a#%b\", \"#\", \"\")", ""),
    ("replace(\"%a##%b\", \"/#+/\", \"\")", ""),
    ("split(\",\", \"x,%s\")[1]", ""),
    ("element([\"%s\", \"x\"], 2)", ""),
    ("try(tomap({})[\"x\"], \"%s\")", ""),
    ("coalesce(\"\", \"%s\")", ""),
    ("nonsensitive(sensitive(\"%s\"))", ""),
    ("csvdecode(\"k\\n%s\\n\")[0].k", ""),
    ("regex(\"^x(.*)$\", \"x%s\")[0]", ""),
    ("substr(\"xx%s\", 2, -1)", ""),
    ("merge({ k = \"t3.micro\" }, { k = \"%s\" }).k", ""),
    ("flatten([[], [[\"%s\"]]])[0]", ""),
    ("\"%{ if true }%s%{ else }t3.micro%{ endif }\"", ""),
    ("\"%{ for x in [\"%a\", \"%b\"] }${x}%{ endfor }\"", ""),
    ("tolist(toset([\"%s\"]))[0]", ""),
    ("trim(jsonencode(\"%s\"), \"\\\"\")", ""),
    ("basename(\"/x/%s\")", ""),
    ("zipmap([\"k\"], [\"%s\"]).k", ""),
    ("setproduct([\"%s\"], [\"x\"])[0][0]", ""),
    ("compact([\"\", null, \"%s\"])[0]", ""),
    ("reverse(sort([\"0\", \"%s\"]))[0]", ""),
    ("formatlist(\"%a%%s\", [\"%b\"])[0]", ""),
    ("can(regex(\"x\", \"y\")) ? \"t3.micro\" : \"%s\"", ""),
    ("length(fileset(path.module, \"*.tf\")) >= 0 ? \"%s\" : \"t3.micro\"", ""),
    ("concat([\"%s\"], [\"x\"])[length([])]", ""),
    ("(((\"%s\")))", ""),
    ("([{ k = \"%s\" }][*].k)[0]", ""),
    ("[{ k = \"%s\" }].0.k", ""),
];

/// Values that are known only after apply.
const UNKNOWN: &[(&str, &str)] = &[
    ("terraform_data.v.output", "resource \"terraform_data\" \"v\" {\n  input = \"%s\"\n}\n"),
    ("length(timestamp()) == 20 ? \"%s\" : \"t3.micro\"", ""),
];

/// Resources that provision an accelerator: `%m` is the machine, `%n` the number, `%i` a name.
const RESOURCES: &[&str] = &[
    "resource \"aws_instance\" \"%i\" {\n  count         = %n\n  instance_type = %m\n}\n",
    "resource \"aws_instance\" \"%i\" {\n  for_each      = toset([for x in range(%n) : tostring(x)])\n  instance_type = %m\n}\n",
    "resource \"aws_eks_node_group\" \"%i\" {\n  instance_types = [%m]\n  scaling_config {\n    min_size     = %n\n    \
     desired_size = %n\n    max_size     = %n\n  }\n}\n",
    "resource \"aws_eks_node_group\" \"%i\" {\n  instance_types = [%m]\n  dynamic \"scaling_config\" {\n    for_each = [%n]\n    \
     content {\n      min_size     = scaling_config.value\n      desired_size = scaling_config.value\n      \
     max_size     = scaling_config.value\n    }\n  }\n}\n",
    "resource \"aws_launch_template\" \"%i\" {\n  instance_type = %m\n}\nresource \"aws_autoscaling_group\" \"%i\" {\n  \
     min_size         = %n\n  max_size         = %n\n  desired_capacity = %n\n  launch_template {\n    \
     id = aws_launch_template.%i.id\n  }\n}\n",
];

pub(super) const AFTER_APPLY: &str = "a value that is known after apply";

/// A machine type, and a larger one that replaces it.
const MACHINES: [&str; 2] = ["p3.2xlarge", "p3.16xlarge"];

pub(super) fn pair(choice: &mut Choice, name: &str) -> Pair {
    let resource = choice.one(RESOURCES);
    let plain = |name: &str| of(resource, name, &format!("\"{}\"", MACHINES[0]), "1");
    let mut pair = Pair {
        base: vec![file("main.tf", plain(&format!("{name}_a")))],
        head: Vec::new(),
        links: Vec::new(),
        disguises: vec!["Terraform"],
    };
    let known = pair.base.clone();
    match choice.below(3) {
        0 => {
            pair.tell("one more");
            let (machine, more) = value(&mut pair, choice, MACHINES[0]);
            let text = of(resource, &format!("{name}_b"), &machine, "1") + &more;
            carried(&mut pair, choice, &text);
            pair.head.extend(known);
        }
        1 => {
            pair.tell("a larger one");
            let (machine, more) = value(&mut pair, choice, MACHINES[1]);
            instead(&mut pair, choice, &of(resource, &format!("{name}_a"), &machine, "1"), &more);
        }
        _ => {
            pair.tell("more of them");
            let (count, more) = value(&mut pair, choice, "4");
            let machine = format!("\"{}\"", MACHINES[0]);
            instead(&mut pair, choice, &of(resource, &format!("{name}_a"), &machine, &count), &more);
        }
    }
    pair
}

fn of(resource: &str, name: &str, machine: &str, count: &str) -> String {
    resource.replace("%i", name).replace("%m", machine).replace("%n", count)
}

/// Returns an expression for this string, and other code that it needs.
fn value(pair: &mut Pair, choice: &mut Choice, text: &str) -> (String, String) {
    let (expression, more) = if choice.below(20) == 0 {
        pair.tell(AFTER_APPLY);
        choice.one(UNKNOWN)
    } else {
        choice.one(VALUES)
    };
    let middle = text.len() / 2;
    let written = |form: &str| {
        form.replace("%%", "\u{1}")
            .replace("%s", text)
            .replace("%a", &text[..middle])
            .replace("%b", &text[middle..])
            .replace("%r", &text.chars().rev().collect::<String>())
            .replace("%U", &text.to_uppercase())
            .replace("%u", &text.chars().map(|it| format!("\\u{:04x}", u32::from(it))).collect::<String>())
            .replace("%6", &base_64(text.as_bytes()))
            .replace('\u{1}', "%")
    };
    (written(expression), written(more))
}

fn base_64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let letter = |at: usize| {
            if at <= three.len() { char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]) } else { '=' }
        };
        (0..4).map(letter).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// Puts the text into a new file or module, in addition to the existing ones.
fn carried(pair: &mut Pair, choice: &mut Choice, text: &str) {
    let (what, files): (&'static str, Files) = match choice.below(16) {
        0 => ("a module", vec![file("m.tf", "module \"m\" {\n  source = \"./m\"\n}\n"), file("m/x.tf", text)]),
        1 => (
            "a module that is called for each of several",
            vec![
                file("m.tf", "module \"m\" {\n  for_each = { a = 1 }\n  source   = \"./.m/../.m\"\n}\n"),
                file(".m/x.tf", text),
            ],
        ),
        2 => (
            "a root that another one calls with a count of zero",
            vec![
                file("other/m.tf", "module \"m\" {\n  source = \"../prod\"\n  count  = 0\n}\n"),
                file("prod/x.tf", format!("terraform {{\n  backend \"local\" {{}}\n}}\n{text}")),
            ],
        ),
        3 => ("a root in a folder that hides", vec![file(".hidden/x.tf", text)]),
        4 => ("a root among the packages of something else", vec![file("node_modules/x/x.tf", text)]),
        5 => ("a root among examples", vec![file("examples/tests/x.tf", text)]),
        6 => ("a file for OpenTofu", vec![file("x.tofu", text)]),
        7 => ("a name with two endings", vec![file("x.tofu.tf", text)]),
        8 => ("a name that sorts first", vec![file(" .tf", text)]),
        9 => ("a folder that is called like a file", vec![file("x.tf/y.tf", text)]),
        10 => (
            "a module of a module",
            vec![
                file("m.tf", "module \"m\" {\n  source = \"./m\"\n}\n"),
                file("m/m.tf", "module \"m\" {\n  source = \"../n\"\n}\n"),
                file("n/x.tf", text),
            ],
        ),
        11 => (
            "a module that a variable file switches on",
            vec![
                file(
                    "m.tf",
                    "variable \"on\" {\n  default = false\n}\nmodule \"m\" {\n  source = \"./m\"\n  count  = var.on ? 1 : 0\n}\n",
                ),
                file("terraform.tfvars", "on = true\n"),
                file("m/x.tf", text),
            ],
        ),
        12 => (
            "a module that is called for what a filter leaves",
            vec![
                file(
                    "m.tf",
                    "module \"m\" {\n  source   = \"./m\"\n  for_each = { for k in [\"a\", \"b\"] : k => k if k != \"b\" }\n}\n",
                ),
                file("m/x.tf", text),
            ],
        ),
        13 => (
            "a module that is switched on by another variable file",
            vec![
                file(
                    "m.tf",
                    "variable \"on\" {\n  type    = set(string)\n  default = []\n}\nmodule \"m\" {\n  source   = \"./m\"\n  for_each = var.on\n}\n",
                ),
                file("z.auto.tfvars.json", "{\"on\": [\"x\"]}\n"),
                file("m/x.tf", text),
            ],
        ),
        14 => (
            "a folder for modules that holds a root",
            vec![file("modules/x/x.tf", format!("provider \"aws\" {{\n  region = \"us-east-1\"\n}}\n{text}"))],
        ),
        _ => ("a file", vec![file("x.tf", text)]),
    };
    pair.tell(what);
    pair.head.extend(files);
}

/// Rewrites the existing text.
fn instead(pair: &mut Pair, choice: &mut Choice, block: &str, more: &str) {
    let text = format!("{block}{more}");
    let text = &text[..];
    let known = pair.base.clone();
    let (what, files): (&'static str, Files) = match choice.below(5) {
        0 => ("another name of the file", vec![file("z.tf", text)]),
        1 => ("a module", vec![file("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"), file("m/x.tf", text)]),
        2 => ("an override", vec![known[0].clone(), file("z_override.tf", block), file("y.tf", more)]),
        3 => ("a file for OpenTofu in its place", vec![known[0].clone(), file("main.tofu", text)]),
        _ => ("the same file", vec![file("main.tf", text)]),
    };
    pair.tell(what);
    pair.head.extend(files);
}
