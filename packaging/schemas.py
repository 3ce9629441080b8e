#!/usr/bin/env python3
"""Writes the tables of `schema/targets`: the schemas of the properties that fixes write.

  schemas.py tables SOURCES OUT     read the schemas in SOURCES and write the tables of OUT
  schemas.py judge OUT FILE...      check infrastructure code with the tables of OUT
  schemas.py cases OUT [SOURCES]    check the cases of OUT/cases again, and write the verdict of each checker

SOURCES is a directory that the caller fills; `targets/sources.toml` names each version:

  terraform.json         `terraform providers schema -json` in a directory that requires google and azurerm
  source/google, source/azurerm   the providers' source, as it was released
  npm/aws, npm/kubernetes         unpacked npm packages: `npm pack @cdktf/provider-aws@VERSION`
  npm/pulumi-aws, npm/pulumi-gcp, npm/pulumi-azure
  go                     the cache of Go modules: `go mod download MODULE@VERSION` with GOMODCACHE=SOURCES/go
  git/NAME.git           bare clones: `git clone --bare` of each repository

The environment needs cfn-lint, botocore, skypilot, jsonschema and PyYAML from PyPI. The script downloads nothing.
"""

import csv
import sys
import tomllib
from pathlib import Path

from targets import table

HERE = Path(__file__).parent / "targets"


def read_toml(name):
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


class Sources:
    def __init__(self, root):
        self.root = Path(root)
        self.known = read_toml("sources.toml")

    def label(self, name):
        """Returns the version that a row names, with its publication date."""
        it = self.known[name]
        return f"{name}@{it['version']}/{it['date']}"

    def place(self, name):
        """Returns the place of a source's files: a directory, or a tag of a repository."""
        it = self.known[name]
        if "go" in it:
            module, version = it["go"].split("@")
            escaped = "".join(f"!{c.lower()}" if c.isupper() else c for c in module)
            return self.root / "go" / f"{escaped}@{version}"
        return self.root / "git" / f"{it['git']}.git", f"v{it['version']}"


def warn(text):
    print(text, file=sys.stderr)


def chosen(type, rows, patterns):
    for pattern in table.unmatched(rows, patterns):
        warn(f"{type}: nothing is called `{pattern}`")
    return table.choose(table.lift_groups(rows), patterns)


def relations_of(type):
    with open(HERE / "relations.csv", encoding="utf-8", newline="") as file:
        return [it for it in csv.DictReader(line for line in file if not line.startswith("#")) if it["type"] == type]


def terraform_aws(sources, targets):
    import botocore.session
    from targets import terraform

    session, rows = botocore.session.get_session(), []
    for type, patterns in targets["types"].items():
        directory = type.removeprefix("aws_").replace("_", "-")
        found = terraform.Bindings(sources.root / "npm" / "aws" / "lib" / directory).rows(type, sources.label("aws"))
        operation = targets["operations"].get(type)
        if operation:
            model = session.get_service_model(operation["service"]).operation_model(operation["operation"])
            names = sorted(operation.get("as", {}).items(), key=lambda it: -len(it[0]))
            terraform.from_botocore(found, model, names)
        terraform.add_relations(found, relations_of(type))
        rows += chosen(type, found, patterns)
    return rows


def terraform_by_source(name, directories):
    def read(sources, targets):
        from targets import providers, terraform

        whole = terraform.load_schema(sources.root / "terraform.json")[name]
        source = providers.Source(sources.root / "source" / name, sources.root / "go")
        functions = providers.functions_of(source, directories)
        rows = []
        for type, patterns in targets["types"].items():
            if type == "provider":
                schema = whole["provider"]["block"]
            else:
                schema = whole["resource_schemas"][type]["block"]
            found = terraform.from_schema(schema, type, sources.label(name))
            found = [row for row in found if row.path != "id" and not row.path.startswith("timeouts")]
            if type in functions:
                package, function = functions[type]
                terraform.overlay(found, providers.Reader(source, package).read(function))
            elif type != "provider":
                warn(f"{type}: its source was not found")
            terraform.add_relations(found, relations_of(type))
            rows += chosen(type, found, patterns)
        return rows

    return read


def terraform_kubernetes(sources, targets):
    from targets import terraform

    rows = []
    for type, patterns in targets["types"].items():
        directory = terraform.directory_of(type.removeprefix("kubernetes_"))
        found = terraform.Bindings(sources.root / "npm" / "kubernetes" / "lib" / directory).rows(
            type, sources.label("kubernetes-provider")
        )
        rows += chosen(type, found, patterns)
    return rows


def cloudformation(sources, targets):
    import cfnlint
    from targets.cloudformation import Bundle

    bundle, rows = Bundle(Path(cfnlint.__file__).parent.parent), []
    for type, patterns in targets["types"].items():
        rows += chosen(type, bundle.rows(type, sources.label("cfn-lint")), patterns)
    return rows


def arm(sources, targets):
    from targets.arm import Types

    types, rows = Types(sources.root / "git" / "bicep-types-az.git"), []
    for type, patterns in targets["types"].items():
        rows += chosen(type, types.rows(type, sources.label("bicep-types-az")), patterns)
    return rows


def kubernetes(sources, targets):
    from targets import kubernetes as reader

    rows = []
    builtin = reader.Builtin(sources.place("kubernetes") / "api" / "openapi-spec" / "swagger.json")
    for type, patterns in targets["builtin"].items():
        rows += chosen(type, builtin.rows(type, sources.label("kubernetes")), patterns)
    for group in targets["custom"]:
        place, known = sources.place(group["source"]), {}
        for file in group["files"]:
            for document in reader.documents(place, file):
                if document.get("kind") == "CustomResourceDefinition":
                    known.update(reader.from_definition(document, sources.label(group["source"])))
        for type, patterns in group["keep"].items():
            if type not in known:
                warn(f"{type}: not among {', '.join(sorted(known))}")
                continue
            rows += chosen(type, known[type], patterns)
    return rows


def skypilot(sources, targets):
    from targets import skypilot as reader

    found = reader.rows(sources.label("skypilot"))
    rows = []
    for type, patterns in targets["types"].items():
        rows += chosen(type, [row for row in found if row.type == type], patterns)
    return rows


def pulumi(sources, targets):
    from targets.pulumi import Package

    rows = []
    for name, types in targets["packages"].items():
        package = Package(sources.root / "npm" / f"pulumi-{name}")
        for token, patterns in types.items():
            rows += chosen(token, package.rows(token, sources.label(f"pulumi-{name}")), patterns)
    return rows


READERS = {
    "terraform-aws": (terraform_aws, ("terraform", "aws")),
    "terraform-google": (terraform_by_source("google", ["google/services/*"]), ("terraform", "google")),
    "terraform-azurerm": (terraform_by_source("azurerm", ["internal/services/*"]), ("terraform", "azurerm")),
    "terraform-kubernetes": (terraform_kubernetes, ("terraform", "kubernetes")),
    "cloudformation": (cloudformation, ("cloudformation",)),
    "arm": (arm, ("arm",)),
    "kubernetes": (kubernetes, ("kubernetes",)),
    "skypilot": (skypilot, ("skypilot",)),
    "pulumi": (pulumi, ("pulumi",)),
}


def tables(root, out, only=()):
    sources, targets, out = Sources(root), read_toml("targets.toml"), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    used = set()
    for family, (reader, path) in READERS.items():
        if only and family not in only:
            continue
        part = targets
        for name in path:
            part = part[name]
        rows = reader(sources, part)
        used |= {row.source for row in rows}
        note = "Properties that fixes write, as the schemas of their targets have them. The columns: README.md."
        table.write(out / f"{family}.csv", rows, note)
        warn(f"{family}: {len(rows)} rows, {(out / f'{family}.csv').stat().st_size} bytes")
    if not only:
        with open(out / "sources.csv", "w", encoding="utf-8", newline="") as file:
            file.write("# Where the rows come from.\n")
            listing = csv.writer(file, lineterminator="\n")
            listing.writerow(["source", "version", "date", "from"])
            for name, it in sorted(sources.known.items()):
                listing.writerow([name, it["version"], it["date"], it["from"]])


def main(arguments):
    match arguments:
        case ["tables", root, out, *only]:
            tables(root, out, only)
        case ["judge", out, *files] if files:
            from targets import judge

            return judge.files(out, files)
        case ["cases", out, *root]:
            from targets import cases

            return cases.run(out, root[0] if root else None)
        case _:
            print(__doc__.strip())
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
