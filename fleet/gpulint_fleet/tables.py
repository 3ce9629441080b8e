"""The tables of a date: the columns of `schema/rows.json` and those of gpulint-fleet."""

import json
from pathlib import Path

# Increase this if a column disappears or changes its meaning.
SCHEMA = 1

WHERE = {"date": "DATE", "repository": "VARCHAR", "commit": "VARCHAR", "owner": "VARCHAR"}

REPOSITORY = {
    "status": "VARCHAR",
    "reason": "VARCHAR",
    "tree": "VARCHAR",
    "duplicate_of": "VARCHAR",
    "hook": "BOOLEAN",
    "pipeline": "BOOLEAN",
    "settings": "BOOLEAN",
    "baseline": "BOOLEAN",
    "plan": "VARCHAR",
}

# `joined` is for pods on pools of another repository. `duplicate_of` names another repository that has the same file with the same resource.
RESOURCE = {
    "blob": "VARCHAR",
    "duplicate_of": "VARCHAR",
    "cluster": "VARCHAR",
    "joined": "VARCHAR",
    "pools_in": "VARCHAR",
}

# A row is a budget of the organization. Amounts are for its period, and `repositories` and `resources` are those that belong to it.
BUDGET = {
    "date": "DATE",
    "by": "VARCHAR",
    "value": "VARCHAR",
    "owner": "VARCHAR",
    "until": "DATE",
    "period": "VARCHAR",
    "limit_micro_usd": "BIGINT",
    "expected_micro_usd": "BIGINT",
    "copies_micro_usd": "BIGINT",
    "unlabelled_micro_usd": "BIGINT",
    "repositories": "BIGINT",
    "resources": "BIGINT",
    "unpriced": "BIGINT",
    "unlabelled": "BIGINT",
    "unread": "BIGINT",
    "status": "VARCHAR",
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
    return {name: column(name, it) for name, it in schema.items() if name not in ("row", "version", "today")}


def tables():
    """Returns each table with its columns and their types."""
    resource, finding, unjudged, summary = map(described, ("resource", "finding", "unjudged", "summary"))
    return {
        "repositories": WHERE | REPOSITORY | summary,
        "resources": WHERE | resource | RESOURCE,
        "findings": WHERE | finding,
        "unjudged": WHERE | unjudged,
        "budgets": BUDGET,
    }


ROWS = {"repositories": "repository", "resources": "resource", "findings": "finding", "unjudged": "unjudged"}

# The columns that `merge` computes.
COMPUTED = ("duplicate_of", "cluster", "joined", "pools_in")


def written(table):
    """Returns the columns of a table that row files contain."""
    return {name: kind for name, kind in tables()[table].items() if name not in COMPUTED}
