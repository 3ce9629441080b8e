"""The tables of a date: the columns of `schema/rows.json` and those of gpulint-fleet."""

import json
from pathlib import Path

# Increase this if a column disappears or changes its meaning. `schema/tables.json` describes this version.
SCHEMA = 2

WHERE = {
    "date": ("DATE", "the date of the plan"),
    "repository": ("VARCHAR", "the repository, such as github.com/acme/infra"),
    "commit": ("VARCHAR", "the commit that was read"),
    "owner": ("VARCHAR", "the owner by CODEOWNERS, or by the list of owners"),
}

REPOSITORY = {
    "status": ("VARCHAR", "ok, empty, or why the repository was not read"),
    "reason": ("VARCHAR", "the reason in words"),
    "tree": ("VARCHAR", "git's name of all files of the commit"),
    "duplicate_of": ("VARCHAR", "another repository with the same files, which sums contain, too"),
    "hook": ("BOOLEAN", "a hook runs gpulint"),
    "pipeline": ("BOOLEAN", "a pipeline runs gpulint"),
    "settings": ("BOOLEAN", "the repository has a gpulint.toml"),
    "baseline": ("BOOLEAN", "the repository has a baseline"),
    "packs": ("MAP(VARCHAR, VARCHAR)", "the packs that its gpulint.toml names: git address or path, and commit"),
    "pack_versions": ("MAP(VARCHAR, VARCHAR)", "the packs, and the `version` in each pack"),
    "bill_read": ("BOOLEAN", "gpulint read the bill of the plan here; false if the settings name other files"),
    "usage_read": (
        "BOOLEAN",
        "gpulint read the usage metrics of the plan here; false if the settings name other files",
    ),
    "plan": ("VARCHAR", "digest of the plan"),
}

RESOURCE = {
    "blob": ("VARCHAR", "git's name of the file"),
    "duplicate_of": ("VARCHAR", "another repository that has the same file with the same resource"),
    "cluster": ("VARCHAR", "the cluster, by the file of `merge --clusters`"),
    "joined": ("VARCHAR", "whether a pool of another repository covers the pod"),
    "pools_in": ("VARCHAR", "the repositories of these pools"),
    "report": ("VARCHAR", "JSON: a machine in the JSON report of gpulint, from which `commitments` plans"),
    "standing": (
        "VARCHAR",
        "whether commitments are possible: base, committed, spare_places, on_spot, on_demand and others, as `demand` of the JSON report names them",
    ),
    "always_on": ("DOUBLE", "machines that always run"),
    "committed": ("DOUBLE", "machines that a reservation or a commitment of the files or of the bill already covers"),
}

# The rows of row files about the bill and the usage metrics. `merge` makes the tables `billed` and `measured` of them.
MATCH = {
    "line": ("BIGINT", "line of the file"),
    "address": ("VARCHAR", "the resource"),
    "run": ("VARCHAR", "the deployment of the resource"),
    "path": ("VARCHAR", "file of the resource"),
    "team": ("VARCHAR", "team of the resource"),
}
CAUSE = {"cause": ("VARCHAR", "why several or no resources of the repository match")}

DATE = {"date": WHERE["date"]}

# Which resource a line of a file belongs to.
PARTNER = {
    "match": ("VARCHAR", "resource; several (resources fit, so it belongs to none); excluded (from sums); or none"),
    "repository": ("VARCHAR", "the repository of the resource"),
    "owner": ("VARCHAR", "owner of the resource"),
    **MATCH,
    "candidates": ("VARCHAR", "the repositories with a resource that fits"),
}

BILLED = (
    DATE
    | PARTNER
    | {
        "month": ("VARCHAR", "the month of the usage, such as 2026-10"),
        "open": ("BOOLEAN", "the month has not ended, or is not billed in full"),
        "charge": ("VARCHAR", "usage, unused, purchase, credit, refund, adjustment or tax"),
        "currency": ("VARCHAR", "currency of the amount"),
        "paid_micro": ("BIGINT", "amount in millionths of the currency"),
        "hours": ("DOUBLE", "machine hours"),
        "committed_hours": ("DOUBLE", "the part of the hours that a commitment covered"),
        "provider": ("VARCHAR", "the provider that bills"),
        "key_kind": ("VARCHAR", "kind of the name on the bill"),
        "key": ("VARCHAR", "the name on the bill"),
        "region": ("VARCHAR", "the region"),
        "machine": ("VARCHAR", "the machine type"),
        "accelerator": ("VARCHAR", "the accelerator"),
    }
)

MEASURED = (
    DATE
    | PARTNER
    | {
        "cluster": ("VARCHAR", "the cluster that was measured"),
        "namespace": ("VARCHAR", "the namespace"),
        "kind": ("VARCHAR", "the kind of the workload"),
        "name": ("VARCHAR", "the name of the workload"),
        "accelerator": ("VARCHAR", "the accelerator"),
        "gpu_hours": ("DOUBLE", "measured accelerator hours"),
    }
)

BUDGET = DATE | {
    "by": ("VARCHAR", "all, team, project, environment or label"),
    "value": ("VARCHAR", "the value of the label, or key=value"),
    "owner": ("VARCHAR", "who decides about the budget"),
    "until": ("DATE", "last day of the budget"),
    "period": ("VARCHAR", "month (730 hours), quarter (3 months) or year (12 months)"),
    "limit_micro_usd": ("BIGINT", "the budget, in millionths of a dollar for the period"),
    "expected_micro_usd": ("BIGINT", "the expected cost for the period, each dollar once"),
    "copies_micro_usd": ("BIGINT", "the part of it in copies of other repositories"),
    "unlabelled_micro_usd": ("BIGINT", "cost of resources whose label is unknown, in addition to the expected cost"),
    "repositories": ("BIGINT", "repositories with resources of the budget"),
    "resources": ("BIGINT", "resources of the budget"),
    "unpriced": ("BIGINT", "resources without a price that belong or may belong to the budget"),
    "unlabelled": ("BIGINT", "resources whose label is unknown"),
    "unread": ("BIGINT", "repositories that were not read"),
    "status": ("VARCHAR", "exceeded, unknown or ok"),
}

TYPES = {
    "string": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "object": "MAP(VARCHAR, VARCHAR)",
}
DATES = ("today", "as_of", "suppressed_until", "baseline", "prices_as_of")


def column(name, schema):
    kinds = schema.get("type", "string")
    kind = next(it for it in ([kinds] if isinstance(kinds, str) else kinds) if it != "null")
    return "DATE" if name in DATES and kind == "string" else TYPES[kind]


def described(row):
    schema = json.loads(Path(__file__).with_name("rows.json").read_text())["$defs"][row]["properties"]
    left_out = ("row", "version", "today")
    return {name: (column(name, it), it.get("description", "")) for name, it in schema.items() if name not in left_out}


def described_tables():
    """Returns each table with its columns, and the type and meaning of each column."""
    resource, finding, unjudged, summary = map(described, ("resource", "finding", "unjudged", "summary"))
    return {
        "repositories": WHERE | REPOSITORY | summary,
        "resources": WHERE | resource | RESOURCE,
        "findings": WHERE | finding,
        "unjudged": WHERE | unjudged,
        "budgets": BUDGET,
        "billed": BILLED,
        "measured": MEASURED,
    }


def types_of(columns):
    return {name: kind for name, (kind, _) in columns.items()}


def tables():
    """Returns each table with its columns and their types."""
    return {table: types_of(columns) for table, columns in described_tables().items()}


# The order of the rows of each table, without ties.
ORDER = {"budgets": "n", "billed": "line", "measured": "line"}
OF_REPOSITORIES = "repository, n"

# The columns that `merge` computes.
COMPUTED = ("duplicate_of", "cluster", "joined", "pools_in", "standing", "always_on", "committed")


def loaded():
    """Returns what `merge` reads of row files: for each table, the kind of its rows, and the columns that they have."""
    kinds = {"repositories": "repository", "resources": "resource", "findings": "finding", "unjudged": "unjudged"}
    found = {
        table: (kind, {name: it for name, it in tables()[table].items() if name not in COMPUTED})
        for table, kind in kinds.items()
    }
    return found | {
        "bill_matches": ("bill", types_of(WHERE | MATCH | CAUSE)),
        "usage_matches": ("usage", types_of(WHERE | MATCH)),
    }


def schema():
    """Returns the content of `schema/tables.json`."""
    columns = lambda it: [{"name": name, "type": kind, "description": said} for name, (kind, said) in it.items()]
    return {
        "title": "the Parquet tables of gpulint-fleet",
        "version": SCHEMA,
        "tables": {table: columns(it) for table, it in described_tables().items()},
    }
