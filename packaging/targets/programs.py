"""Runs real programs that check files. Each returns its errors, or nothing if it does not support the file.

A program that is not installed is skipped. Terraform needs its providers: `TF_CLI_CONFIG_FILE` names a configuration
with a mirror or with development overrides. Google plans need no account, because they only create new resources.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

SECONDS = 120


def cfn_lint(text, language):
    if language != "yaml" or "Resources:" not in text or "AWS::" not in text:
        return None
    try:
        from cfnlint.api import lint
        from cfnlint.version import __version__
    except ImportError:
        return None
    found = lint(text, config={"ignore_checks": ["W", "I"], "regions": ["us-east-1"]})
    return f"cfn-lint {__version__}", [f"{it.rule.id} {it.message}" for it in found]


@cache
def terraform_version():
    if not shutil.which("terraform") or not os.environ.get("TF_CLI_CONFIG_FILE"):
        return None
    told = subprocess.run(["terraform", "version", "-json"], capture_output=True, text=True)
    return json.loads(told.stdout)["terraform_version"] if told.returncode == 0 else None


HEADERS = {
    "google": 'provider "google" {\n  project      = "p"\n  region       = "us-central1"\n  access_token = "none"\n}\n',
    "azurerm": 'provider "azurerm" {\n  features {}\n}\n',
}
VERSIONS = {"google": "7.45.0", "azurerm": "5.2.0"}


def terraform(text, language):
    """`terraform validate`, and for Google a plan: it runs the provider's own checks of new resources."""
    if language != "hcl":
        return None
    used = {name for name in HEADERS if re.search(rf'^resource "{name}_', text, re.M)}
    others = re.search(r'^(resource|data) "(?!google_|azurerm_)', text, re.M)
    if len(used) != 1 or others or not terraform_version():
        return None
    provider = used.pop()
    with tempfile.TemporaryDirectory() as directory:
        header = f'terraform {{\n  required_providers {{\n    {provider} = {{\n      source = "hashicorp/{provider}"\n    }}\n  }}\n}}\n'
        Path(directory, "main.tf").write_text(text, encoding="utf-8")
        own = HEADERS[provider] if f'provider "{provider}"' not in text else ""
        Path(directory, "versions.tf").write_text(header + own, encoding="utf-8")
        told = subprocess.run(
            ["terraform", "validate", "-json"], cwd=directory, capture_output=True, text=True, timeout=SECONDS
        )
        problems = errors(told.stdout)
        name = f"terraform {terraform_version()} validate, {provider} {VERSIONS[provider]}"
        if not problems and provider == "google":
            name = name.replace("validate", "plan")
            told = subprocess.run(
                ["terraform", "plan", "-refresh=false", "-input=false", "-json", "-lock=false"],
                cwd=directory,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
            lines = [json.loads(line) for line in told.stdout.splitlines() if line.startswith("{")]
            problems = [
                it["diagnostic"]["summary"] for it in lines if it.get("@level") == "error" and "diagnostic" in it
            ]
    return name, problems


def errors(text):
    try:
        whole = json.loads(text)
    except ValueError:
        return ["no answer"]
    return [
        f"{it['summary']}: {it.get('detail', '')}".split("\n")[0]
        for it in whole["diagnostics"]
        if it["severity"] == "error"
    ]


def skypilot(text, language):
    if (
        language != "yaml"
        or not re.search(r"^(run|setup|service|resources):", text, re.M)
        or re.search(r"^(apiVersion|runtime):", text, re.M)
    ):
        return None
    try:
        import sky
        import yaml
    except ImportError:
        return None
    name = f"skypilot {sky.__version__} Task.from_yaml_config"
    try:
        sky.Task.from_yaml_config(yaml.safe_load(text))
    except Exception as error:  # whatever its loader raises is its verdict
        return name, [" ".join(str(error).split())[:200]]
    return name, []


class Definitions:
    """Returns the schemas of kinds like an API server: unknown properties are errors, as with `--validate`."""

    def __init__(self, sources, targets):
        self.sources, self.targets, self.schemas = sources, targets, None

    def load(self):
        from . import kubernetes

        self.schemas = {}
        for group in self.targets["kubernetes"]["custom"]:
            for file in group["files"]:
                for document in kubernetes.documents(self.sources.place(group["source"]), file):
                    if document.get("kind") != "CustomResourceDefinition":
                        continue
                    spec = document["spec"]
                    for version in spec["versions"]:
                        label = f"{group['source']} {self.sources.known[group['source']]['version']}"
                        key = f"{spec['group']}/{version['name']} {spec['names']['kind']}"
                        self.schemas[key] = label, strict(version["schema"]["openAPIV3Schema"])
        path = self.sources.place("kubernetes") / "api" / "openapi-spec" / "swagger.json"
        definitions = json.loads(path.read_text(encoding="utf-8"))["definitions"]
        version = self.sources.known["kubernetes"]["version"]
        for schema in list(definitions.values()):
            for it in schema.get("x-kubernetes-group-version-kind") or ():
                key = f"{it['group'] + '/' if it['group'] else ''}{it['version']} {it['kind']}"
                if len(schema["x-kubernetes-group-version-kind"]) == 1:
                    self.schemas[key] = f"kubernetes {version}", strict(
                        {**schema, "definitions": definitions}, whole=True
                    )

    def __call__(self, text, language):
        if language != "yaml" or "apiVersion:" not in text:
            return None
        import jsonschema
        import yaml

        if self.schemas is None:
            self.load()
        names, problems = [], []
        for document in yaml.safe_load_all(text):
            if not isinstance(document, dict):
                continue
            found = self.schemas.get(f"{document.get('apiVersion')} {document.get('kind')}")
            if found is None:
                continue
            label, schema = found
            names.append(label)
            for error in jsonschema.Draft7Validator(schema).iter_errors(document):
                at = ".".join(str(it) for it in error.absolute_path)
                problems.append(f"{at}: {error.message.split(chr(10))[0][:160]}")
            problems += broken_rules(schema, document)
        return (f"jsonschema {jsonschema.__version__}, {', '.join(dict.fromkeys(names))}", problems) if names else None


@cache
def rule(text):
    """Returns a compiled rule of the API server, or nothing if its functions are not supported here."""
    try:
        import celpy
    except ImportError:
        return None
    environment = celpy.Environment()
    try:
        return environment.program(environment.compile(text))
    except Exception:  # functions that Kubernetes adds to the language
        return None


def broken_rules(schema, value):
    """The rules (`x-kubernetes-validations`) that an object breaks. Rules about changes need two objects and are left out."""
    import celpy

    problems = []
    for it in schema.get("x-kubernetes-validations") or ():
        ready = None if "oldSelf" in it["rule"] else rule(it["rule"])
        try:
            if ready and not ready.evaluate({"self": celpy.json_to_cel(value)}):
                problems.append(it.get("message") or it["rule"])
        except Exception:  # a member that is not there: its schema says whether it may be missing
            continue
    if isinstance(value, dict):
        for name, inner in value.items():
            below = (schema.get("properties") or {}).get(name) or schema.get("additionalProperties")
            if isinstance(below, dict):
                problems += broken_rules(below, inner)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for inner in value:
            problems += broken_rules(schema["items"], inner)
    return problems


def strict(schema, whole=False):
    """The same schema, closed: unknown properties are errors, `int-or-string` is both."""
    if isinstance(schema, list):
        return [strict(it, whole) for it in schema]
    if not isinstance(schema, dict):
        return schema
    if (
        schema.get("x-kubernetes-int-or-string")
        or schema.get("format") == "int-or-string"
        or "resource.Quantity" in str(schema.get("$ref"))
    ):
        return {"type": ["integer", "string", "number"]}
    made = {}
    for name, value in schema.items():
        if name in ("properties", "definitions"):
            made[name] = {key: strict(inner, whole) for key, inner in value.items()}
        elif name in ("items", "additionalProperties", "allOf", "anyOf", "oneOf", "not"):
            made[name] = strict(value, whole)
        elif name == "type" and schema.get("nullable"):
            made[name] = [value, "null"]
        elif name not in ("description", "format", "default"):
            made[name] = value
    open_ended = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if schema.get("properties") and not open_ended:
        made["additionalProperties"] = False
        if not whole and "kind" in schema["properties"] and "apiVersion" in schema["properties"]:
            made["properties"]["metadata"] = {"type": "object"}
    return made


def all_programs(sources, targets):
    return [cfn_lint, terraform, skypilot, *([Definitions(sources, targets)] if sources else [])]
