"""Matches the bill and the usage metrics of the organization with the resources of all repositories.

gpulint matched each line within each repository. A line belongs to a resource if it is the only one of all repositories.
"""

import json
from pathlib import Path

from . import inputs
from .store import Refused
from .tables import BILLED, MEASURED, PARTNER, types_of

# A line of the file with its only match. If several resources fit, the line belongs to none, as within one repository.
TABLE = """
create table {table} as
with found as (
  select line, count(*) as fits, string_agg(distinct repository, ', ' order by repository) as candidates, min(repository) as repository,
    min(owner) as owner, min(address) as address, min(run) as run, min(path) as path, min(team) as team, {cause} as cause
  from {kind}_matches group by line)
select lines.*, getvariable('night')::date as date, candidates,
  case when fits is null then 'none' when fits = 1 and cause is null then 'resource'
       when fits = 1 and cause = 'aside' then 'excluded' else 'several' end as match,
  {columns}
from {kind}_lines as lines left join (select *, fits = 1 as is_one from found) as found using (line)
"""


def evaluate(database, store, head, directory):
    """Creates the tables `billed` and `measured`. They are empty if the plan has no such file."""
    database.execute(f"set variable night = '{head['date']}'")
    for table, kind, columns in (("billed", "bill", BILLED), ("measured", "usage", MEASURED)):
        own = {name: it for name, it in types_of(columns).items() if name not in PARTNER and name != "date"}
        own |= {"line": "BIGINT"}
        path = Path(directory, f"{kind}.ndjson")
        with open(path, "w", encoding="utf-8") as file:
            for row in inputs.ROWS[kind](store.input_path(head[kind])) if kind in head else ():
                file.write(json.dumps(row) + "\n")
        database.execute(
            f"create table {kind}_lines as select * from read_json(?, format = 'newline_delimited', columns = ?)",
            [str(path), own],
        )
        # Only the one match names the resource.
        names = [name for name in PARTNER if name not in ("match", "line", "candidates")]
        of_one = ", ".join(f"case when is_one then {name} end as {name}" for name in names)
        cause = "min(cause)" if kind == "bill" else "null"
        database.execute(TABLE.format(table=table, kind=kind, columns=of_one, cause=cause))


def cents(amounts):
    """Rounds amounts in millionths to cents. The sum of the cents is the rounded sum, so each one may differ by a cent."""
    rounded, total = [], 0
    for amount in amounts:
        before, total = total, total + amount
        rounded.append(round_cents(total) - round_cents(before))
    return rounded


def round_cents(micro):
    return (micro + 5_000) // 10_000


def month_of(database, month):
    """Returns the month, or else the last month that is billed in full."""
    known = database.execute("select month, bool_or(open) from billed group by month order by month").fetchall()
    if not known:
        raise Refused(
            "the plan of this date has no bill: plan a date with `gpulint-fleet plan --bill gpulint-paid.csv`"
        )
    closed = [name for name, is_open in known if not is_open]
    if month is None and closed:
        return closed[-1]
    if month not in dict(known):
        raise Refused(f"the bill has the months {', '.join(name for name, _ in known)}: name one of them with --month")
    return month
