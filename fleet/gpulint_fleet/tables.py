"""The tables of a date: their columns are those of `schema/rows.json`, and what the fleet adds."""

import json
from pathlib import Path

# Moves when a column goes or means something else.
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

# `joined`: pods on pools of another repository; `duplicate_of`: another repository has the same file with the same resource.
RESOURCE = {
    "blob": "VARCHAR",
    "duplicate_of": "VARCHAR",
    "cluster": "VARCHAR",
    "joined": "VARCHAR",
    "pools_in": "VARCHAR",
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
    """Table → its columns with their types."""
    resource, finding, unjudged, summary = map(described, ("resource", "finding", "unjudged", "summary"))
    return {
        "repositories": WHERE | REPOSITORY | summary,
        "resources": WHERE | resource | RESOURCE,
        "findings": WHERE | finding,
        "unjudged": WHERE | unjudged,
    }


ROWS = {"repositories": "repository", "resources": "resource", "findings": "finding", "unjudged": "unjudged"}

# What merging finds out.
COMPUTED = ("duplicate_of", "cluster", "joined", "pools_in")


def written(table):
    """Columns as they stand in the files of rows."""
    return {name: kind for name, kind in tables()[table].items() if name not in COMPUTED}
