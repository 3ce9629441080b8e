//! Compares expressions with the results of Terraform.
//!
//! `tests/terraform/expressions/*.md` have code blocks with expressions, each followed by a line with its value as
//! JSON, or with `refused`. The values are Terraform's: `GPULINT_BLESS=1` writes them with the `terraform` on the path.
//! If there is one, the test also compares the values with its results.

use std::fmt::Write;
use std::path::PathBuf;

use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::terraform::{HclData, TerraformOptions, read};
use serde_json::Value as Json;

use super::oracle;
use crate::fences;

const REFUSED: &str = "!refused";

/// The expressions of one file, with the files that they may read.
struct Sheet {
    files: Vec<(String, String)>,
    expressions: Vec<String>,
    expected: Vec<String>,
}

impl Sheet {
    fn read(text: &str) -> Self {
        let mut sheet = Sheet { files: Vec::new(), expressions: Vec::new(), expected: Vec::new() };
        for fence in fences::read(text) {
            if let Some(file) = fence.file {
                sheet.files.push((file, fence.text));
                continue;
            }
            for line in fence.text.lines().filter(|line| !line.is_empty()) {
                match line.strip_prefix("= ") {
                    Some(value) => sheet.expected.push(value.to_owned()),
                    None => sheet.expressions.push(line.to_owned()),
                }
            }
        }
        sheet
    }

    /// Returns an output for an expression.
    fn output(&self, index: usize) -> String {
        let expression = &self.expressions[index];
        format!(
            "output \"e{index}\" {{\n  sensitive = true\n  value = try(jsonencode({expression}), \"{REFUSED}\")\n}}\n"
        )
    }

    fn by_gpulint(&self) -> Vec<String> {
        let mut tree = MemoryTree::new();
        for (path, text) in &self.files {
            tree = tree.with(path, text.as_str());
        }
        for index in 0..self.expressions.len() {
            tree = tree.with(&format!("e{index}.tf"), self.output(index));
        }
        let reading = read(&SourceFiles::new(tree), &["e0.tf".to_owned()], &TerraformOptions::default());
        let value = |index: usize| {
            let block = reading.blocks.iter().find(|block| block.address == format!("output.e{index}")).unwrap();
            match &block.attributes.get("value").unwrap().value.data {
                HclData::Text(text) if &**text == REFUSED => "refused".to_owned(),
                HclData::Text(text) => text.to_string(),
                HclData::Unknown(cause) => format!("unknown: {}", cause.why),
                other => format!("{other:?}"),
            }
        };
        (0..self.expressions.len()).map(value).collect()
    }

    /// Returns Terraform's results. Expressions that Terraform refuses before evaluation are found by leaving them out.
    fn by_terraform(&self) -> Option<Vec<String>> {
        let mut kept: Vec<usize> = (0..self.expressions.len()).collect();
        loop {
            let text = kept.iter().map(|index| self.output(*index)).collect();
            let files = self.files.iter().cloned().chain([("main.tf".to_owned(), text)]);
            match oracle::plan(&files.collect::<Vec<_>>())? {
                Ok(plan) => {
                    let value = |index: usize| match &plan["planned_values"]["outputs"][format!("e{index}")]["value"] {
                        Json::String(text) if text == REFUSED => "refused".to_owned(),
                        Json::String(text) => text.clone(),
                        Json::Null if kept.contains(&index) => "unknown".to_owned(),
                        Json::Null => "refused".to_owned(),
                        other => other.to_string(),
                    };
                    return Some((0..self.expressions.len()).map(value).collect());
                }
                Err(said) => {
                    let before = kept.len();
                    kept.retain(|index| !said.contains(&format!("in output \"e{index}\"")));
                    assert!(kept.len() < before, "{said}");
                }
            }
        }
    }
}

#[test]
fn expressions_have_the_values_that_terraform_gives_them() {
    let mut failures = String::new();
    for (path, mut sheet) in sheets() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let terraform = sheet.by_terraform();
        if let (true, Some(values)) = (fences::blessing(), &terraform) {
            std::fs::write(&path, blessed(&text, values)).unwrap();
            sheet.expected.clone_from(values);
        }
        assert_eq!(sheet.expressions.len(), sheet.expected.len(), "{name}: each expression needs a value");
        if let Some(values) = terraform {
            compare(&name, "recorded", &sheet, &values, &mut failures);
        }
        compare(&name, "gpulint", &sheet, &sheet.by_gpulint(), &mut failures);
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Every function of Terraform 1.11 in `terraform metadata functions`, except functions whose results depend on time,
/// chance or the machine, and syntax that only looks like a function.
const FUNCTIONS: &str = "abs alltrue anytrue base64decode base64encode base64sha256 base64sha512 basename can ceil chomp
    chunklist cidrhost cidrnetmask cidrsubnet cidrsubnets coalesce coalescelist compact concat contains csvdecode dirname
    distinct element endswith ephemeralasnull file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5 fileset
    filesha1 filesha256 filesha512 flatten floor format formatdate formatlist indent index issensitive join jsondecode
    jsonencode keys length log lookup lower matchkeys max md5 merge min nonsensitive one parseint pathexpand pow range regex
    regexall replace reverse sensitive setintersection setproduct setsubtract setunion sha1 sha256 sha512 signum slice sort
    split startswith strcontains strrev substr sum templatefile templatestring textdecodebase64 textencodebase64 timeadd
    timecmp title tobool tolist tomap tonumber toset tostring transpose trim trimprefix trimspace trimsuffix try upper
    urlencode uuidv5 values yamldecode yamlencode zipmap";
const IMPURE: &str = "abspath base64gzip bcrypt plantimestamp rsadecrypt timestamp uuid";
const ARGUMENT_SETS: usize = 10;

#[test]
fn every_function_is_asked_with_ten_sets_of_arguments() {
    let mut calls = String::new();
    for (_, sheet) in sheets() {
        calls.push_str(&sheet.expressions.join("\n"));
        calls.push('\n');
    }
    let asked = |function: &str| {
        let call = format!("{function}(");
        let inside = |at: usize| calls[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        calls.match_indices(&call).filter(|(at, _)| !inside(*at)).count()
    };
    let few: Vec<String> = FUNCTIONS
        .split_whitespace()
        .map(|function| (function, asked(function)))
        .filter(|(_, sets)| *sets < ARGUMENT_SETS)
        .map(|(function, sets)| format!("{function} {sets}"))
        .collect();
    assert!(few.is_empty(), "too few: {few:?}");
}

#[test]
fn what_depends_on_the_moment_is_unknown() {
    for function in IMPURE.split_whitespace() {
        let tree = MemoryTree::new().with("main.tf", format!("output \"o\" {{\n  value = {function}(\"a\")\n}}\n"));
        let reading = read(&SourceFiles::new(tree), &["main.tf".to_owned()], &TerraformOptions::default());
        let value = &reading.blocks[0].attributes.get("value").unwrap().value;
        let cause = value.cause().unwrap_or_else(|| panic!("{function} is {value:?}"));
        assert!(cause.why.contains(function) && !cause.refused, "{function}: {}", cause.why);
    }
}

/// The list contains exactly the functions of Terraform.
#[test]
fn no_function_is_forgotten() {
    let Some(signatures) = oracle::functions() else { return };
    let listed: Vec<&str> = FUNCTIONS.split_whitespace().chain(IMPURE.split_whitespace()).collect();
    let mut missing: Vec<&str> = signatures.iter().map(String::as_str).filter(|it| !listed.contains(it)).collect();
    missing.retain(|name| !name.contains("::"));
    assert!(missing.is_empty(), "{missing:?}");
}

fn sheets() -> Vec<(PathBuf, Sheet)> {
    let read = |path: PathBuf| {
        let sheet = Sheet::read(&std::fs::read_to_string(&path).unwrap());
        (path, sheet)
    };
    fences::cases("tests/terraform/expressions").into_iter().map(read).collect()
}

fn compare(name: &str, whose: &str, sheet: &Sheet, values: &[String], failures: &mut String) {
    for ((expression, expected), value) in sheet.expressions.iter().zip(&sheet.expected).zip(values) {
        let unknown = ["refused", "unknown"].contains(&expected.as_str()) && value.starts_with("unknown: ");
        if value != expected && !unknown {
            let _ = writeln!(failures, "{name}: {expression}\n  expected {expected}\n  {whose} {value}");
        }
    }
}

/// Returns the sheet with these values.
fn blessed(text: &str, values: &[String]) -> String {
    let mut values = values.iter();
    let mut result = String::new();
    let (mut in_fence, mut inside) = (false, false);
    for line in text.lines() {
        if line.starts_with("```") {
            in_fence = !in_fence;
            inside = in_fence && !line.contains("file=");
        } else if inside && line.starts_with("= ") {
            continue;
        }
        result.push_str(line);
        result.push('\n');
        if inside && !line.starts_with("```") && !line.is_empty() {
            let _ = writeln!(result, "= {}", values.next().unwrap());
        }
    }
    result
}
