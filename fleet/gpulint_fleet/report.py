"""Writes one page about all repositories of a date and the dates before it.

All sums use the integers of the tables, and only this module rounds to dollars. `markup` escapes every string.
"""

import json
import re
from pathlib import Path

from .budgets import name_of
from .markup import element, join, page, text
from .night import open_night

MOST = 25

# The cost of a month, each dollar once. For a pod on a pool of another repository it is 0.
MONEY = "coalesce(sum(in_sum_expected_micro_usd), 0)"


def usd(micros):
    if micros is None:
        return "–"
    dollars = round(micros / 1e6)
    return f"-${-dollars:,}" if dollars < 0 else f"${dollars:,}"


def bar(value, largest):
    share = 0 if not largest or not value else max(0.0, min(1.0, value / largest))
    filled = element("rect", width=f"{100 * share:.2f}", height=12)
    return element(
        "svg", filled, width="100%", height=12, viewBox="0 0 100 12", preserveAspectRatio="none", aria_hidden="true"
    )


def table(caption, columns, rows, money=(), picture=None, rest="rows"):
    """Returns a table of rows, the largest first, and a sentence with the number of rows beyond the limit."""
    if not rows:
        return join()
    shown, left = rows[:MOST], len(rows) - MOST
    largest = max((row[picture] or 0 for row in rows), default=0) if picture is not None else 0
    kinds = [{type(row[at]) for row in rows} for at in range(len(columns))]
    numeric = {at for at, kind in enumerate(kinds) if int in kind and kind <= {int, type(None)}}
    style = ["number" if at in numeric else None for at in range(len(columns))]
    head = [element("th", text(it), scope="col", class_=style[at]) for at, it in enumerate(columns)]
    head += [element("th")] if picture is not None else []
    body = []
    for row in shown:
        said = [
            usd(value) if at in money else f"{value:,}" if at in numeric and value is not None else value
            for at, value in enumerate(row)
        ]
        cells = [element("th", text(said[0]), scope="row")]
        # On a phone, each cell has its own line, with the name of its column.
        cells += [element("td", text(said[at]), class_=style[at], data_name=columns[at]) for at in range(1, len(row))]
        cells += [element("td", bar(row[picture], largest), class_="bar")] if picture is not None else []
        body.append(element("tr", *cells))
    more = [element("p", text(f"and {left:,} more {rest} in the Parquet tables"), class_="quiet")] if left > 0 else []
    parts = element("caption", text(caption)), element("thead", element("tr", *head)), element("tbody", *body)
    return join(element("div", element("table", *parts), class_="wide"), *more)


def section(name, title, answer, *parts):
    return element("section", element("h2", text(title)), element("p", text(answer)), *parts, id=name)


class Fleet:
    def __init__(self, store):
        self.store = store
        self.database, self.summary = open_night(store)

    def rows(self, query, *values):
        return self.database.execute(query, list(values)).fetchall()

    def dates(self):
        """Returns the summaries up to this date, the earliest first. It checks each date, because dates become parts of paths."""
        found = []
        for path in sorted(self.store.summary_path.parent.glob("date=*.json")):
            date = path.stem.removeprefix("date=")
            if re.fullmatch(r"\d{4}-\d\d-\d\d", date) and date <= self.store.date:
                found.append(json.loads(path.read_text()) | {"date": date})
        return found


def headline(it):
    said = it.summary
    left = said["planned"] - said["read"]
    once = said["combined_expected_micro_usd"] - said["counted_twice_micro_usd"]
    gap = f"{left:,} of {said['planned']:,} repositories were not read: all totals are minimums."
    about = (
        f"{said['date']}, {said['gpulint']}, prices {said['prices']}; expected costs from the files, not billed amounts"
    )
    at_least = "at least " if left else ""
    return element(
        "header",
        element("h1", text(f"GPU cost {at_least}{usd(once)}/month in {said['planned']:,} repositories")),
        element(
            "p",
            text(
                f"{said['findings']:,} findings that are not accepted; possible savings up to "
                f"{usd(said['waste_micro_usd'])}/month. {said['resources']:,} resources."
            ),
        ),
        element("p", text(gap), class_="warn") if left else join(),
        element("p", text(about), class_="quiet"),
    )


def payers(it):
    query = f"select {{}} as who, count(*), {MONEY} as money from resources where in_sum_expected_micro_usd <> 0 or adds_up and per = 'month' group by who order by money desc, who"
    parts = [
        table(
            caption,
            [caption.split(":")[0], "resources", "per month"],
            it.rows(query.format(column)),
            money=(2,),
            picture=2,
        )
        for caption, column in (
            ("owner: from CODEOWNERS or the catalog", "owner"),
            ("team: from labels", "team"),
            ("repository", "repository"),
            ("accelerator", "accelerator"),
            ("cloud", "provider"),
        )
    ]
    unknown = it.rows(f"select {MONEY} from resources where owner is null")[0][0]
    return section("payers", "Who pays?", f"Resources for {usd(unknown)}/month have no owner.", *parts)


def budgets(it):
    """Shows the budgets of the organization, the exceeded ones first."""
    found = it.summary["budgets"]
    if not found:
        return join()
    order = ("exceeded", "unknown", "ok")
    count = {status: sum(row["status"] == status for row in found) for status in order}
    answer = f"{count['exceeded']:,} of {len(found):,} budgets of the organization are exceeded, and {count['unknown']:,} are unknown."
    names = [
        "budget",
        "status",
        "owner",
        "period",
        "limit",
        "expected",
        "in copies",
        "may belong to it",
        "no price",
        "not read",
    ]
    amounts = ("limit_micro_usd", "expected_micro_usd", "copies_micro_usd", "unlabelled_micro_usd")
    rows = [
        (
            name_of(row),
            row["status"],
            row["owner"],
            row["period"],
            *(row[name] for name in amounts),
            row["unpriced"],
            row["unread"],
        )
        for row in sorted(found, key=lambda row: order.index(row["status"]))
    ]
    note = (
        "A budget is unknown if its cost is within the limit, and resources without a price, repositories that were not read, "
        "or resources whose label is unknown could exceed it."
    )
    return section(
        "budgets",
        "Which budgets are exceeded?",
        answer,
        table("Budgets of the organization", names, rows, money=(4, 5, 6, 7), rest="budgets"),
        element("p", text(note), class_="quiet"),
    )


def waste(it):
    query = """select rule, count(*), count(distinct repository),
      coalesce(sum(saves_expected_micro_usd) filter (adds_up and saves_per = 'month'), 0) as money
      from findings where not suppressed and baseline is null group by rule order by money desc, count(*) desc, rule"""
    largest = """select repository || ' ' || path || ':' || line, rule, owner, saves_expected_micro_usd from findings
      where adds_up and saves_per = 'month' order by saves_expected_micro_usd desc, repository, n_line limit 25""".replace(
        "n_line", "path, line, rule"
    )
    return section(
        "waste",
        "How much can be saved?",
        f"Possible savings: up to {usd(it.summary['waste_micro_usd'])}/month. For each resource, only the largest saving counts.",
        table(
            "By rule",
            ["rule", "findings", "repositories", "per month"],
            it.rows(query),
            money=(3,),
            picture=3,
            rest="rules",
        ),
        table("The largest savings", ["where", "rule", "owner", "per month"], it.rows(largest), money=(3,)),
    )


def trend(it):
    """Shows the cost at each date, with the number of planned repositories, because a new repository also raises the cost."""
    rows, before = [], None
    for at in it.dates():
        once = at["combined_expected_micro_usd"] - at["counted_twice_micro_usd"]
        change = None if before is None else once - before
        rows.append((at["date"], at["planned"], at["read"], once, change, at["waste_micro_usd"], at["findings"]))
        before = once
    picture = line([row[3] for row in rows]) if len(rows) > 1 else join()
    answer = (
        "This is the first date."
        if len(rows) < 2
        else f"From {usd(rows[0][3])} on {rows[0][0]} to {usd(rows[-1][3])} on {rows[-1][0]}."
    )
    names = ["date", "planned", "read", "$/month", "change", "saves up to", "findings"]
    return section(
        "trend",
        "How did the cost change?",
        answer,
        picture,
        moved(it, rows),
        became(it, rows),
        table("Dates, the latest first", names, rows[::-1], money=(3, 4, 5), rest="dates"),
    )


def moved(it, rows):
    """Shows which repositories changed the total since the date before."""
    if len(rows) < 2:
        return join()
    earlier = it.store.root / "repositories" / f"date={rows[-2][0]}" / "part.parquet"
    if not earlier.exists():
        return join()
    query = """select coalesce(a.repository, b.repository) as name, b.combined_expected_micro_usd, a.combined_expected_micro_usd,
      coalesce(a.combined_expected_micro_usd, 0)::hugeint - coalesce(b.combined_expected_micro_usd, 0)::hugeint as change,
      case when b.repository is null then 'new' when a.repository is null then 'gone'
           when a.status not in ('ok', 'empty') then 'not read now' when b.status not in ('ok', 'empty') then 'not read before'
           when a.commit = b.commit then 'prices or date' else 'files' end
      from repositories as a full join read_parquet(?) as b using (repository) where change <> 0 order by abs(change) desc, name"""
    names = ["repository", "before", "now", "change", "cause"]
    return table(
        f"Changes since {rows[-2][0]}", names, it.rows(query, str(earlier)), money=(1, 2, 3), rest="repositories"
    )


def became(it, rows):
    """Shows new, gone and accepted findings since the date before, in repositories that were read both times."""
    earlier = it.store.root / "findings" / f"date={rows[-2][0]}" / "part.parquet" if len(rows) > 1 else None
    if earlier is None or not earlier.exists():
        return join()
    # Lines can move, so a fingerprint without a line number identifies a finding.
    query = """with twice as (select repository from repositories where status = 'ok' intersect
        select repository from read_parquet(?) where status = 'ok'),
      latest as (select *, suppressed or baseline is not null as accepted from findings where repository in (from twice)),
      old as (select *, suppressed or baseline is not null as accepted from read_parquet(?) where repository in (from twice))
      select coalesce(latest.rule, old.rule) as rule, count(*) filter (old.rule is null and not latest.accepted),
        count(*) filter (latest.rule is null and not old.accepted), count(*) filter (latest.accepted and not old.accepted),
        count(*) filter (old.accepted and not latest.accepted) from latest full join old using (repository, fingerprint)
      group by coalesce(latest.rule, old.rule) having count(*) filter (old.rule is null or latest.rule is null or latest.accepted <> old.accepted) > 0
      order by count(*) desc, 1"""
    repositories = str(it.store.root / "repositories" / f"date={rows[-2][0]}" / "part.parquet")
    names = ["rule", "new", "gone", "accepted since", "no longer accepted"]
    return table(
        f"Findings since {rows[-2][0]}, in repositories that were read both times",
        names,
        it.rows(query, repositories, str(earlier)),
        rest="rules",
    )


def line(values, width=640, height=120):
    top = max(values) or 1
    step = width / (len(values) - 1)
    points = " ".join(f"{at * step:.1f},{height - (height - 20) * value / top:.1f}" for at, value in enumerate(values))
    return element(
        "svg",
        element("polyline", points=points),
        element("text", text(usd(top)), x=0, y=12),
        viewBox=f"0 0 {width} {height + 4}",
        width="100%",
        height=height,
        role="img",
        aria_label="expected cost over dates",
    )


def coverage(it):
    statuses = it.rows("select status, count(*) from repositories group by status order by count(*) desc, status")
    failed = it.rows(
        "select repository, status, reason from repositories where status not in ('ok', 'empty') order by repository"
    )
    reasons = it.rows(
        "select regexp_replace(reason, '`[^`]*`|[0-9]+', '…', 'g') as why, count(*), count(distinct repository) from unjudged group by why order by count(*) desc, why"
    )
    files = it.rows("select coalesce(sum(wholly_read), 0), coalesce(sum(files_that_matter), 0) from repositories")[0]
    missing = [(name,) for name in it.summary["not_scanned"]]
    return section(
        "coverage",
        "Was everything read?",
        f"{it.summary['read']:,} of {it.summary['planned']:,} repositories, {files[0]:,} of {files[1]:,} relevant files; {it.summary['unpriced']:,} resources have no price.",
        table("Repositories", ["status", "repositories"], statuses),
        table("Repositories that were not read", ["repository", "status", "why"], failed, rest="repositories"),
        table("Repositories that were not scanned", ["repository"], missing, rest="repositories"),
        table("Not evaluated", ["why", "places", "repositories"], reasons, rest="reasons"),
    )


def joins(it):
    query = """select cluster, joined, count(*), count(distinct repository),
      coalesce(sum(expected_micro_usd) filter (per = 'month'), 0) from resources
      where joined is not null group by cluster, joined order by cluster, joined"""
    rows = it.rows(query)
    copies = it.rows("""select repository, duplicate_of, combined_expected_micro_usd from repositories where duplicate_of is not null
      and combined_expected_micro_usd > 0 order by combined_expected_micro_usd desc, repository""")
    parts = it.rows("""select repository || ' → ' || duplicate_of, count(*), coalesce(sum(in_sum_expected_micro_usd), 0) as money
      from resources where duplicate_of is not null group by repository, duplicate_of having money > 0 order by money desc, repository""")
    unmatched = [
        (f"{found['cluster']}: {found['list']}", found["pattern"]) for found in it.summary.get("unmatched_patterns", [])
    ]
    if not rows and not copies and not parts and not unmatched:
        return join()
    said = f"Pods that run on pools of another repository cost {usd(it.summary['counted_twice_micro_usd'])}/month, which the pools' repository pays: they are not added."
    names = ["cluster", "pods run on", "pods", "repositories", "per month"]
    return section(
        "joins",
        "Across repositories",
        said if rows else "No settings say which files belong to one cluster.",
        table(
            "Pods and pools: `pool` has the pod's accelerator, `some pool` if the pod names none, `no pool` if none of the cluster has it",
            names,
            rows,
            money=(4,),
        ),
        table("Patterns of clusters that no resource matches", ["cluster", "pattern"], unmatched, rest="patterns"),
        table(
            "Copies: the same tree in two repositories, which counts in both",
            ["repository", "a copy of", "per month"],
            copies,
            money=(2,),
            rest="copies",
        ),
        table(
            "The same file with the same resource, which counts in both",
            ["repository", "resources", "per month"],
            parts,
            money=(2,),
            rest="pairs",
        ),
    )


def adoption(it):
    n = "count(*) filter ({})"
    # Each test is the name of a column, or two names.
    tests = ["hook or pipeline", "hook", "pipeline", "settings", "baseline"]
    counts = it.rows(
        f"select {', '.join(n.format(f'({test}) and resources > 0') for test in tests)}, count(*) filter (resources > 0) from repositories"
    )[0]
    rows = [(name, count) for name, count in zip(tests, counts)]
    accepted = it.rows("""select rule, count(*) filter (suppressed), count(*) filter (baseline is not null), min(suppressed_until)::varchar
      from findings where suppressed or baseline is not null group by rule order by count(*) desc, rule""")
    ending = it.rows(
        """select repository || ' ' || path || ':' || line, rule, suppressed_until::varchar, suppressed_reason from findings
      where suppressed and suppressed_until <= ?::date + 30 order by suppressed_until, repository, path, line""",
        it.store.date,
    )
    costliest = it.rows("""select repository, owner, combined_expected_micro_usd from repositories where not (hook or pipeline) and combined_expected_micro_usd > 0
      order by combined_expected_micro_usd desc, repository""")
    return section(
        "adoption",
        "Who uses gpulint?",
        f"{counts[0]:,} of {counts[-1]:,} repositories with accelerators run gpulint in a hook or a pipeline.",
        table("Repositories with accelerators", ["what they have", "repositories"], rows),
        table(
            "Without a hook or a pipeline, the most expensive first",
            ["repository", "owner", "per month"],
            costliest,
            money=(2,),
            rest="repositories",
        ),
        table("Accepted findings", ["rule", "suppressed", "in a baseline", "next end date"], accepted, rest="rules"),
        table(
            "Suppressions that end within 30 days", ["where", "rule", "until", "reason"], ending, rest="suppressions"
        ),
    )


# The packs of each repository, with their version, or else their commit. Numbers compare as numbers: 1.10.0 is newer than 1.9.0.
PACKS = """
create view uses as select repository, unnest(map_keys(packs)) as pack from repositories where packs is not null;
create view packs as
  select repository, pack, coalesce(pack_versions[pack], repositories.packs[pack]) as version,
    list_transform(regexp_extract_all(pack_versions[pack], '[0-9]+'), lambda part: try_cast(part as hugeint)) as numbers
  from uses join repositories using (repository);
create view counted as
  select pack, version, numbers, count(*) as repositories,
    row_number() over (partition by pack order by numbers desc nulls last, count(*) desc, version) as place
  from packs group by pack, version, numbers;
"""


def packs(it):
    """Shows the packs of rules, and the repositories without the newest version, or the most used commit, of their pack."""
    it.database.execute(PACKS)
    counted = it.rows(
        "select pack, version, repositories, case place when 1 then 'latest' else 'behind' end from counted order by pack, place"
    )
    if not counted:
        return join()
    behind = it.rows("""select packs.repository, repositories.owner, packs.pack, packs.version, latest.version
      from packs join counted as latest using (pack) join repositories using (repository)
      where latest.place = 1 and packs.version is distinct from latest.version order by packs.pack, packs.repository""")
    note = "The latest is the highest version in the packs, or, for packs without a version, the commit that most repositories use."
    return section(
        "packs",
        "Which repositories have an old pack?",
        f"{len(behind):,} repositories do not have the latest pack.",
        table("Packs of rules", ["pack", "version or commit", "repositories", "state"], counted, rest="versions"),
        table("Behind", ["repository", "owner", "pack", "has", "latest"], behind, rest="repositories"),
        element("p", text(note), class_="quiet"),
    )


def report(store):
    it = Fleet(store)
    style = Path(__file__).with_name("report.css").read_text()
    named = [
        ("payers", "Who pays?"),
        ("budgets", "Which budgets are exceeded?"),
        ("waste", "How much can be saved?"),
        ("trend", "How did the cost change?"),
        ("coverage", "Was everything read?"),
        ("joins", "Across repositories"),
        ("adoption", "Who uses gpulint?"),
        ("packs", "Which repositories have an old pack?"),
    ]
    sections = [build(it) for build in (payers, budgets, waste, trend, coverage, joins, adoption, packs)]
    links = [element("a", text(title), href=f"#{name}") for (name, title), said in zip(named, sections) if said]
    title = f"GPUs of {it.summary['planned']:,} repositories, {store.date}"
    return page(title, style, headline(it), element("nav", *links), element("main", *sections))
