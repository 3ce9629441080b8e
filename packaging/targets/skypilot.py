"""The files of SkyPilot → rows, from the JSON schemas that its own loader checks them with."""

from .table import Row

DEEPEST = 7


def rows(source):
    from sky.utils import schemas  # the package of the version that is judged

    found = []
    for type, schema in (
        ("skypilot task", schemas.get_task_schema()),
        ("skypilot resources", schemas.get_resources_schema()),
        ("skypilot service", schemas.get_service_schema()),
    ):
        walk(schema, type, "", source, found, set(), 0)
    return [row for row in found if row.path]


def walk(schema, type, path, source, found, required, depth):
    name = path.rpartition(".")[2].replace("[]", "").replace("{}", "")
    choices = [it for word in ("anyOf", "oneOf") for it in schema.get(word) or () if "type" in it or "anyOf" in it]
    flat = list(flatten(choices)) or [schema]
    kinds = [kind(it) for it in flat]
    row = Row(
        type,
        path,
        "|".join(dict.fromkeys(kinds)),
        "required" if name in required else "optional",
        values=[str(v) for it in flat for v in it.get("enum") or it.get("case_insensitive_enum") or ()],
        min=bound(flat, "minimum", "exclusiveMinimum"),
        max=bound(flat, "maximum"),
        pattern=next((it["pattern"] for it in flat if "pattern" in it), ""),
        source=source,
    )
    if any("case_insensitive_enum" in it for it in flat):
        row.flags.append("any-case")
    if path and any(it.get("additionalProperties") is False for it in flat if it.get("type") == "object"):
        row.flags.append("closed")
    found.append(row)
    if depth > DEEPEST:
        return
    for it in flat:
        if it.get("type") == "array" and isinstance(it.get("items"), dict) and it["items"].get("properties"):
            inner, at = it["items"], f"{path}[]"
        elif it.get("properties"):
            inner, at = it, path
        else:
            continue
        needed = set(inner.get("required") or ())
        for key, below in sorted(inner["properties"].items()):
            walk(below, type, f"{at}.{key}" if at else key, source, found, needed, depth + 1)


def flatten(choices):
    for it in choices:
        if "anyOf" in it:
            yield from flatten(it["anyOf"])
        else:
            yield it


def kind(schema):
    name = schema.get("type") or "any"
    if isinstance(name, list):
        return "|".join(name)
    if name == "array":
        inner = schema.get("items") or {}
        return f"list({inner.get('type') or 'any'})"
    return {"boolean": "bool"}.get(name, name)


def bound(schemas, *names):
    for it in schemas:
        for name in names:
            if name in it:
                return str(it[name])
    return ""
