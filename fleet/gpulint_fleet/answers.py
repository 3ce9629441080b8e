"""Answers questions about all repositories of a date: commitments, the bill, usage metrics, and the cost of each team."""

import json
from pathlib import Path

from . import commands
from .bill import cents, month_of
from .gpulint import demand_binary, options_of
from .night import open_night
from .scratch import scratch
from .store import Refused, digest
from .text import replace_controls

PLAN_SECONDS = 600

# The most bytes of arguments that Linux passes to a program by default, without those of the environment.
MOST_ARGUMENT_BYTES = 1_500_000

MACHINES = "select repository, report from resources where json_valid(report) order by repository, path, line, address, run, report"


def commitments(store, gpulint, years, form):
    """Returns the plan of commitments that gpulint makes for the machines of all repositories."""
    database, _ = open_night(store)
    head, _ = store.plan()
    gpulint = demand_binary(gpulint, head["binary"])
    reports = {}
    for repository, machine in database.execute(MACHINES).fetchall():
        reports.setdefault(repository, []).append(json.loads(machine))
    if not reports:
        raise Refused(f"no repository of {store.date} has a machine, so there is nothing to commit to")
    with scratch() as place:
        names = []
        for repository, machines in reports.items():
            # gpulint counts equal reports once, and two repositories can have equal machines.
            report = {"version": 1, "repository": repository, "findings": [], "resources": machines, "scorecard": {}}
            names.append(write_report(place, repository, json.dumps(report)))
        if sum(len(name) + 9 for name in names) > MOST_ARGUMENT_BYTES:
            raise Refused(
                f"{len(names):,} repositories with machines are too many for one plan: plan a part of the list as a date of its own"
            )
        arguments = [gpulint, "plan", *names, "--years", str(years), "--format", form, *options_of(store, head)]
        with scratch() as home:
            done = commands.run(arguments, PLAN_SECONDS, cwd=place, env=commands.gpulint_environment(home))
    if done.code:
        raise Refused(f"gpulint cannot plan commitments: {replace_controls(done.err.strip())[:500]}")
    return done.out, [*done.err.splitlines(), *cautions(database)]


def write_report(place, repository, text):
    """Writes a report under the name of its repository, which gpulint prints, and returns its path."""
    path = Path(place, f"{repository}.json")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError:
        # The name is too long, or the directory of one repository has the name of another report.
        path = Path(place, f"{digest(repository)}.json")
        path.write_text(text, encoding="utf-8")
    return str(path.relative_to(place))


# What the plan may count twice or lack, each with the number of cases.
CAUTIONS = (
    (
        "lines of the bill with commitments that fit several resources, so that the plan counts the commitments for each",
        "select count(*) from billed where match = 'several' and committed_hours > 0",
    ),
    (
        "repositories that were not read, so that the plan lacks their machines",
        "select count(*) from repositories where status not in ('ok', 'empty')",
    ),
    ("parts of repositories that were not evaluated, listed in the table `unjudged`", "select count(*) from unjudged"),
)


def cautions(database):
    """Yields why the plan may lack machines, or counts commitments twice."""
    for what, query in CAUTIONS:
        (count,) = database.execute(query).fetchall()[0]
        if count:
            yield f"{what}: {count:,}"


def usd(micro):
    return f"{micro / 1e6:,.2f}"


def named(row):
    """Returns a line of a file for people: its name and the machine."""
    return replace_controls(" ".join(it for it in row if it))


SUMS = """
select currency, coalesce(sum(paid_micro) filter (match = 'resource' and charge = 'usage'), 0),
  coalesce(sum(paid_micro) filter (match = 'resource' and charge <> 'usage'), 0), coalesce(sum(paid_micro) filter (match <> 'resource'), 0)
from billed where month = ? group by currency order by currency
"""

BILLED = """
select repository, address, team, currency, sum(paid_micro) as paid, min(expected.micro_usd)
from billed left join (
  select repository, address, run, sum(in_sum_expected_micro_usd) as micro_usd from resources group by all
) as expected using (repository, address, run)
where month = ? and match = 'resource' and charge = 'usage'
group by repository, address, run, team, currency order by paid desc, repository, address, run
"""

LEFT = """
select match, candidates, line, provider, key_kind, key, machine, region, charge, currency, paid_micro
from billed where month = ? and match <> 'resource' order by paid_micro desc, line
"""


def reconcile(store, month=None):
    """Yields the bill of a month, compared with the resources of all repositories."""
    database, _ = open_night(store)
    month = month_of(database, month)
    rows = lambda query: database.execute(query, [month]).fetchall()
    for currency, *parts in rows(SUMS):
        parts = cents(parts)
        used, beside, left = (f"{it / 100:,.2f}" for it in parts)
        yield (
            f"{month}: {currency} {sum(parts) / 100:,.2f} billed = {used} for resources of these repositories "
            f"+ {beside} for their credits, refunds, purchases and unused commitments + {left} without a resource"
        )
    yield "billed for resources:"
    for repository, address, team, currency, paid, expected in rows(BILLED):
        known = "expected cost of a month unknown" if expected is None else f"expected {usd(expected)} USD a month"
        line = f"  {named([repository, address])}: {currency} {usd(paid)}, {known}, team {team or 'unknown'}"
        yield replace_controls(line)
    yield "billed without a resource:"
    for match, candidates, line, *name, charge, currency, paid in rows(LEFT):
        yield f"  line {line}: {named(name)}: {charge} {currency} {usd(paid)}: {reason_of(match, candidates)}"
    yield from unread(database, "bill")


def reason_of(match, candidates):
    """Returns why a line of a file belongs to no resource."""
    reasons = {
        "several": f"resources fit in {candidates}",
        "excluded": f"its resource is excluded from sums in {candidates}",
    }
    return replace_controls(reasons.get(match, "no resource has this name"))


def unread(database, kind):
    """Yields which repositories may have further matches."""
    query = f"""select repository, coalesce(reason, 'its settings name other files') from repositories
      where status not in ('ok', 'empty') or {kind}_read = false order by repository"""
    found = database.execute(query).fetchall()
    if found:
        yield f"not compared, so more lines may have a resource: {len(found):,} repositories"
        yield from (f"  {replace_controls(f'{name}: {why}')}" for name, why in found[:20])


def usage(store):
    """Yields the usage metrics that match no resource, or several, and the resources without usage metrics."""
    database, _ = open_night(store)
    rows = database.execute("""select match, candidates, line, cluster, namespace, kind, name, gpu_hours from measured
      where match <> 'resource' order by gpu_hours desc nulls last, line""").fetchall()
    (total,) = database.execute("select count(*) from measured").fetchall()[0]
    if not total:
        raise Refused(
            "the plan of this date has no usage metrics: plan a date with `gpulint-fleet plan --usage gpulint-usage.csv`"
        )
    yield f"usage metrics: {total - len(rows):,} of {total:,} lines match one resource"
    for match, candidates, line, *name, hours in rows:
        measured = "" if hours is None else f", {hours:,.0f} accelerator hours"
        yield f"  line {line}: {named(name)}{measured}: {reason_of(match, candidates)}"
    yield from unread(database, "usage")


def chargeback(store, month=None):
    """Yields the cost of each team: billed if the plan has a bill, and otherwise expected. The lines add up to the total."""
    database, _ = open_night(store)
    (has_bill,) = database.execute("select count(*) > 0 from billed").fetchall()[0]
    if month and not has_bill:
        month_of(database, month)
    if not has_bill:
        teams = "select team, sum(in_sum_expected_micro_usd)::hugeint, 'USD' from resources group by team having sum(in_sum_expected_micro_usd) is not null"
        found, title = database.execute(teams).fetchall(), f"{store.date}: expected cost of a month"
    else:
        month = month_of(database, month)
        teams = """select case when match = 'resource' then team else '' end as team, sum(paid_micro)::hugeint, currency from billed
          where month = ? group by all"""
        found, title = database.execute(teams, [month]).fetchall(), f"{month}: billed"
    for currency in sorted({it[2] for it in found}):
        mine = [it for it in found if it[2] == currency]
        # The team '' is no team: its cost has no resource.
        mine.sort(key=lambda it: (it[0] == "", it[0] is None, -it[1], it[0] or ""))
        yield f"{title}, {currency} {round_total(mine):>14,.2f}"
        for (team, _, _), amount in zip(mine, cents([it[1] for it in mine])):
            name = (
                "unclaimed: resources without a team"
                if team is None
                else "billed without a resource"
                if team == ""
                else f"team {team}"
            )
            yield f"  {amount / 100:>14,.2f}  {replace_controls(name)}"


def round_total(rows):
    return sum(cents([it[1] for it in rows])) / 100
