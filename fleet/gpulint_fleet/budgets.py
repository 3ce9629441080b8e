"""Evaluates the budgets of the organization: `[[budgets]]` with `scope = "organization"`, once over all repositories of a date."""

import tomllib
from decimal import Decimal
from pathlib import Path

from .text import Refused, replace_controls

# The key for the amount of a budget → the name of its period, and the months in it. A month has 730 hours.
PERIODS = {"monthly_usd": ("month", 1), "quarterly_usd": ("quarter", 3), "yearly_usd": ("year", 12)}

# The keys that select a label of the same name. gpulint uses the first one that a budget has, and otherwise `label`.
NAMED = ("team", "project", "environment")

# The most files that settings can name with `extend` and `packs`, one below the other.
DEEPEST = 10

TABLE = """
create table wanted (n bigint, "by" varchar, value varchar, key varchar, wanted varchar, owner varchar, until date,
  period varchar, months bigint, limit_micro_usd bigint)
"""

# The labels of a resource decide. A label whose value is unknown, or a resource that may have more labels, may belong to a budget.
BUDGETS = """
create table covered as
  select w.n, r.repository, r.in_sum_expected_micro_usd as micro_usd, r.status = 'unpriced' and r.adds_up as is_unpriced,
    r.duplicate_of is not null as is_copy, w.key is null or coalesce(r.labels[w.key] = w.wanted, false) as is_sure
  from wanted as w join resources as r
    on w.key is null or r.labels[w.key] = w.wanted
      or r.labels[w.key] is null and (r.labels_open or list_contains(map_keys(r.labels), w.key))
  where r.in_sum_expected_micro_usd is not null or r.adds_up and r.status = 'unpriced';
create table covered_sums as
  select w.n, coalesce(sum(micro_usd) filter (is_sure), 0) * months as expected,
    coalesce(sum(micro_usd) filter (is_sure and is_copy), 0) * months as copies,
    coalesce(sum(micro_usd) filter (not is_sure), 0) * months as unclear,
    count(distinct repository) filter (is_sure) as repositories, count(repository) filter (is_sure) as resources,
    count(repository) filter (is_unpriced) as unpriced, count(repository) filter (not is_sure) as unlabelled
  from wanted as w left join covered using (n) group by w.n, months;
create table budgets as
  select n, getvariable('night')::date as date, "by", value, owner, until, period, limit_micro_usd, least(expected, 9223372036854775807)::bigint as expected_micro_usd,
    least(copies, 9223372036854775807)::bigint as copies_micro_usd, repositories, resources, unpriced, unlabelled,
    least(unclear, 9223372036854775807)::bigint as unlabelled_micro_usd, getvariable('unread')::bigint as unread,
    case when expected > limit_micro_usd then 'exceeded'
         when unpriced > 0 or unread > 0 or expected + unclear > limit_micro_usd then 'unknown' else 'ok' end as status
  from wanted join covered_sums using (n);
"""


def selector(it):
    """Returns what a budget selects: `by`, `value`, and the key and value of the label, as `gpulint` reads them."""
    for name in NAMED:
        if name in it:
            return name, it[name], name, it[name]
    if "label" in it:
        key, _, value = (part.strip() for part in it["label"].partition("="))
        return "label", f"{key}={value}", key, value
    return "all", "", None, None


def row_of(it, path):
    """Returns a budget as a row of the table `wanted`, without its number."""
    texts = [name for name in (*NAMED, "label", "owner") if not isinstance(it.get(name, ""), str)]
    amounts = [name for name in PERIODS if name in it]
    if texts or ("=" not in it.get("label", "=")):
        raise Refused(
            f'{path}: `{(texts or ["label"])[0]}` of a budget is not text: write it as `team = "search"` or `label = "key=value"`'
        )
    if len(amounts) != 1 or isinstance(it[amounts[0]], bool) or not isinstance(it[amounts[0]], int | Decimal):
        raise Refused(f"{path}: a budget of the organization needs one of `{'`, `'.join(PERIODS)}`, in dollars")
    usd, (period, months) = Decimal(it[amounts[0]]), PERIODS[amounts[0]]
    limit = round(usd * 1_000_000) if usd.is_finite() else -1
    if not 0 <= limit < 1 << 63:
        raise Refused(f"{path}: `{amounts[0]} = {it[amounts[0]]}` is not an amount: write dollars, 0 or more")
    return *selector(it), it.get("owner"), it.get("until"), period, months, limit


def settings(path, depth=DEEPEST):
    """Yields a settings file and the files that it names with `extend` and `packs`, each with its path."""
    try:
        read = tomllib.loads(Path(path).read_text(encoding="utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: this is not TOML: {replace_controls(str(error))}") from None
    yield path, read
    if not depth:
        raise Refused(f"{path}: more than {DEEPEST} files extend each other: write the budgets into one file")
    if isinstance(read.get("extend"), str):
        yield from settings(Path(path).parent / read["extend"], depth - 1)
    for pack in read.get("packs", []):
        place = Path(path).parent / str(pack.get("path", "")) / "gpulint.toml"
        if "path" in pack and place.is_file():
            yield from settings(place, depth - 1)


def read(path):
    """Returns the budgets of the organization in a settings file, in the order of the file, as rows of the table `wanted`."""
    found = []
    for place, it in settings(path) if path else ():
        budgets = it.get("budgets", [])
        if not isinstance(budgets, list) or not all(isinstance(budget, dict) for budget in budgets):
            raise Refused(f"{place}: `budgets` is not a list of tables: write each budget below a line `[[budgets]]`")
        found += [row_of(budget, place) for budget in budgets if budget.get("scope") == "organization"]
    return found


def rows(database):
    """Returns the table `budgets` for the summary."""
    found = database.execute(
        "select * exclude (n) replace (date::varchar as date, until::varchar as until) from budgets order by n"
    )
    names = [it[0] for it in found.description]
    return [dict(zip(names, row)) for row in found.fetchall()]


def name_of(it):
    """Returns the name of a budget, as gpulint writes it."""
    return {"all": "all repositories", "label": it["value"]}.get(it["by"], f"{it['by']} {it['value']}")


def line_of(it):
    """Returns a row of the table `budgets` as a line for people."""
    usd = lambda name: f"${it[name] / 1e6:,.0f}"
    least = "at least " if it["status"] == "unknown" or it["unpriced"] or it["unread"] else ""
    line = f"budget of {name_of(it)}: {it['status']}, {least}{usd('expected_micro_usd')} of {usd('limit_micro_usd')} a {it['period']}"
    line += f", owner {it['owner']}" if it["owner"] else ""
    reasons = [
        (it["unpriced"], f"{it['unpriced']:,} resources have no price"),
        (it["unread"], f"{it['unread']:,} repositories were not read"),
        (it["unlabelled_micro_usd"], f"resources for {usd('unlabelled_micro_usd')} may have this label"),
        (it["copies_micro_usd"], f"copies of other repositories for {usd('copies_micro_usd')} are included"),
    ]
    return "; ".join([line, *(said for count, said in reasons if count)])


def evaluate(database, rows, date, unread):
    """Creates the table `budgets` from the table `resources`."""
    database.execute(TABLE)
    if rows:
        database.executemany(
            f"insert into wanted values ({', '.join('?' * 10)})", [(n, *row) for n, row in enumerate(rows)]
        )
    database.execute(f"set variable night = '{date}'; set variable unread = {int(unread)}")
    database.execute(BUDGETS)
