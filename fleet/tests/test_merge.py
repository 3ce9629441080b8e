"""Tests the tables: what they refuse and report, that money adds up, and that every reader reads the same."""

import json
import os
import random
import re
import subprocess
import sys

import duckdb
import pytest
from conftest import DATE, JOB, POOL, ROOT, TABLES, make, store_files

from gpulint_fleet import scan
from gpulint_fleet.merge import merge
from gpulint_fleet.plan import plan, read_list
from gpulint_fleet.store import Refused, Store
from gpulint_fleet.tables import schema

QUIET = {"tell": lambda _: None}


@pytest.fixture
def scanned(planned, expected):
    """Returns a copy of the expected rows, which a test can damage."""
    store = planned()
    for name, text in store_files(expected).items():
        path = store.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return store


def files(store):
    return sorted((store.root / "rows").rglob("*.ndjson"))


@pytest.mark.parametrize("change", [("plan", "0" * 16), ("commit", "1" * 40), ("date", "2026-11-25")])
def test_rows_of_another_plan_commit_or_date_are_refused_by_name(scanned, change):
    path = files(scanned)[3]
    lines = [json.loads(line) | dict([change]) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(Refused, match=path.name):
        merge(scanned)


def test_another_version_prices_or_policy_is_another_plan(tmp_path, fleet, gpulint):
    policy = tmp_path / "gpulint.toml"
    policy.write_text('profile = "essential"\n')
    prices = tmp_path / "prices.csv"
    prices.write_text("provider,machine,on_demand_usd_per_hour\naws,g5.xlarge,10\n")
    other = tmp_path / "gpulint"
    other.write_text(f'#!/bin/sh\nexec {gpulint} "$@"\n')
    other.chmod(0o755)
    (tmp_path / "list").write_text(fleet[0])
    digests = set()
    for at, more in enumerate(
        [{}, {"policy": "none"}, {"policy": str(policy)}, {"prices": str(prices)}, {"gpulint": str(other)}]
    ):
        store = Store(tmp_path / str(at), DATE)
        plan(store, read_list(tmp_path / "list"), **({"gpulint": gpulint} | more))
        digests.add(store.plan()[0]["digest"])
    assert len(digests) == 5


def test_what_is_missing_is_named_and_the_date_is_not_complete(scanned):
    gone = random.Random(7).sample(files(scanned), 3)
    names = {json.loads(path.open().readline())["repository"] for path in gone}
    for path in gone:
        path.unlink()
    command = [sys.executable, "-m", "gpulint_fleet", "merge", "--store", str(scanned.root), "--date", DATE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    summary = json.loads(scanned.summary_path.read_text())
    assert set(summary["not_scanned"]) == names and summary["scanned"] == summary["planned"] - 3
    assert all(name in done.stderr for name in names)


def planned_again(store, path, *more):
    command = [sys.executable, "-m", "gpulint_fleet", "plan", path, "--store", store.root, "--date", DATE, *more]
    return subprocess.run([str(it) for it in command], capture_output=True, text=True)


def test_a_date_is_planned_again_with_the_same_list_only(scanned, listing, tmp_path, fleet, gpulint):
    before = scanned.plan_path.read_bytes()
    same = planned_again(scanned, listing, "--gpulint", gpulint)
    assert same.returncode == 0 and f"{len(fleet)} repositories" in same.stderr
    (tmp_path / "other").write_text("\n".join([*fleet[1:], "https://example.com/other/repository"]))
    (tmp_path / "branch").write_text("\n".join([f"{fleet[0]} stable", *fleet[1:]]))
    (tmp_path / "owners").write_text("**/r0001 @x\n")
    (tmp_path / "gpulint.toml").write_text('profile = "essential"\n')
    for path, more, said in (
        (tmp_path / "other", (), "another list (it lacks example.com/other/repository and 1 more differences)"),
        (tmp_path / "branch", (), "another address or branch of"),
        (listing, ("--policy", tmp_path / "gpulint.toml"), "another --policy"),
        (listing, ("--owners", tmp_path / "owners"), "another --owners"),
    ):
        done = planned_again(scanned, path, "--gpulint", gpulint, *more)
        assert done.returncode == 2 and said in done.stderr and "plan another --date" in done.stderr, done.stderr
        assert str(scanned.plan_path) in done.stderr and str(files(scanned)[0].parents[1]) in done.stderr
    assert scanned.plan_path.read_bytes() == before


def test_patterns_of_owners_that_decide_nothing_are_listed(listing, tmp_path, gpulint):
    (tmp_path / "owners").write_text("**/r0001 @x\n**/no-such-* @y\n")
    done = planned_again(
        Store(tmp_path / "store", DATE), listing, "--gpulint", gpulint, "--owners", tmp_path / "owners"
    )
    assert done.returncode == 0 and "`**/no-such-*` decides the owner of no repository" in done.stderr


LARGEST = (1 << 63) - 1


def change_rows(path, kind, **more):
    """Changes all rows of a kind in a row file."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(it | more if it["row"] == kind else it) + "\n" for it in found))


def test_sums_beyond_64_bits_end_nothing(scanned):
    """Tests sums beyond 64 bits: gpulint prints at most the largest 64-bit number, and two of them exceed it."""
    from gpulint_fleet.report import report

    money = ("rented_expected_micro_usd", "requested_expected_micro_usd", "combined_expected_micro_usd")
    changed = 0
    for path in files(scanned)[:8]:
        if json.loads(path.open().readline())["status"] == "ok":
            change_rows(path, "repository", **dict.fromkeys((*money, "waste_micro_usd"), LARGEST))
            change_rows(path, "resource", expected_micro_usd=LARGEST, adds_up=True, per="month", owner="@large")
            change_rows(path, "finding", saves_expected_micro_usd=LARGEST, adds_up=True, saves_per="month")
            changed += 1
    summary, complete = merge(scanned)
    rows = [json.loads(path.open().readline()) for path in files(scanned)]
    assert complete and changed > 1
    for name in (*money, "waste_micro_usd"):
        assert summary[name] == sum(row.get(name) or 0 for row in rows) > LARGEST
    assert json.loads(scanned.summary_path.read_text())["waste_micro_usd"] == summary["waste_micro_usd"]
    assert "@large" in report(scanned)
    # The next date has differences of such numbers, in both directions.
    before = scanned.root / "repositories/date=2026-11-25"
    before.mkdir()
    duckdb.sql(
        f"copy (select * replace (-{LARGEST} as combined_expected_micro_usd) from '{scanned.table_path('repositories')}') "
        f"to '{before / 'part.parquet'}' (format parquet)"
    )
    scanned.summary_path.with_name("date=2026-11-25.json").write_text(json.dumps(summary | {"date": "2026-11-25"}))
    assert "Changes since 2026-11-25" in report(scanned)


UNFIT = [
    {"expected_micro_usd": LARGEST + 1},
    {"expected_micro_usd": "x"},
    {"labels": "x"},
    {"line": 1e300},
    {"address": "x" * (160 << 20)},
]
# A report that is not JSON costs only what is computed from it.
ODD_REPORTS = ["{", '{"demand": 1}', '{"demand": {"standing": [], "always": "x", "covered": 1e400}}']


@pytest.mark.parametrize("change", UNFIT, ids=[f"{it}"[:40] for it in UNFIT])
def test_rows_that_do_not_fit_cost_their_repository_alone(scanned, expected, change):
    path = next(it for it in files(scanned) if '"row":"resource"' in it.read_text())
    name = json.loads(path.open().readline())["repository"]
    change_rows(path, "resource", **change)
    told = []
    summary, complete = merge(scanned, tell=told.append)
    assert [it["repository"] for it in summary["failed"]] == [name] and summary["statuses"]["broken"] == 1
    (warning,) = told
    assert name in warning and str(path) in warning and "Remove the file" in warning and len(warning.splitlines()) == 1
    whole = json.loads(expected.summary_path.read_text())
    own = next(row for row in lines(expected, "repository") if row["repository"] == name)
    assert summary["resources"] == whole["resources"] - own["resources"]
    assert complete == (summary["read"] >= 0.99 * summary["planned"])
    for table in ("resources", "findings"):
        query = "select count(*), count(distinct repository) from '{}' where repository <> ?"
        left, right = (
            duckdb.execute(query.format(it.table_path(table)), [name]).fetchall() for it in (scanned, expected)
        )
        assert left == right


@pytest.mark.parametrize("text", ODD_REPORTS)
def test_an_odd_report_of_a_machine_ends_nothing(scanned, expected, text):
    path = next(it for it in files(scanned) if '"role":"rented"' in it.read_text())
    change_rows(path, "resource", report=text)
    assert merge(scanned)[0] == json.loads(expected.summary_path.read_text())


def test_a_file_of_rows_without_its_last_newline_takes_no_row_of_the_next(scanned, expected):
    for path in files(scanned):
        path.write_text(path.read_text().rstrip("\n"))
    assert merge(scanned)[0] == json.loads(expected.summary_path.read_text())


def lines(store, kind):
    rows = (json.loads(line) for path in files(store) for line in path.read_text().splitlines())
    return [row for row in rows if row["row"] == kind]


def test_sums_of_any_parts_are_the_sum_of_all(expected):
    """Tests that neither order nor split changes a sum, because amounts are integers."""
    rows = [row["combined_expected_micro_usd"] for row in lines(expected, "repository")]
    total = json.loads(expected.summary_path.read_text())["combined_expected_micro_usd"]
    shuffled = random.Random(1)
    for _ in range(50):
        shuffled.shuffle(rows)
        cuts = sorted(shuffled.sample(range(len(rows)), 5))
        parts = [sum(rows[a:b]) for a, b in zip([0, *cuts], [*cuts, len(rows)])]
        assert sum(parts) == total
    money = sum(
        r["expected_micro_usd"]
        for r in lines(expected, "resource")
        if r["adds_up"] and r["per"] == "month" and r["expected_micro_usd"]
    )
    assert money == total
    waste = sum(
        r["saves_expected_micro_usd"] for r in lines(expected, "finding") if r["adds_up"] and r["saves_per"] == "month"
    )
    assert waste == json.loads(expected.summary_path.read_text())["waste_micro_usd"] > 0


def test_micros_are_the_dollars_that_gpulint_prints(tmp_path, gpulint):
    (tmp_path / "main.tf").write_text(POOL.format(name="p", machine="p4d.24xlarge", team="x", size=3, most=5))
    arguments = [gpulint, "check", str(tmp_path), "--today", DATE, "--prices", "embedded", "--format"]
    said = [subprocess.run([*arguments, form], capture_output=True, text=True).stdout for form in ("json", "ndjson")]
    usd = json.loads(said[0])["bill"]["combined"]["expected"]
    assert json.loads(said[1].splitlines()[-1])["combined_expected_micro_usd"] == round(usd * 1e6) > 0


def test_tables_have_the_columns_that_the_schema_states(expected):
    """Compares what is written with `schema/tables.json`. `GPULINT_BLESS=1` writes the schema anew: read the diff."""
    path = ROOT / "schema/tables.json"
    text = json.dumps(schema(), indent=2) + "\n"
    if os.environ.get("GPULINT_BLESS"):
        path.write_text(text)
    assert path.read_text() == text
    for table, columns in json.loads(text)["tables"].items():
        place = expected.table_path(table)
        described = duckdb.sql(f"describe select * from '{place}'").fetchall()
        assert [(name, kind) for name, kind, *_ in described] == [(it["name"], it["type"]) for it in columns], table
        kept = duckdb.sql(
            f"select value::varchar from parquet_kv_metadata('{place}') where key::varchar = 'gpulint_schema'"
        )
        assert kept.fetchall() == [(str(json.loads(text)["version"]),)]


def test_an_older_table_without_a_newer_column_is_read_together_with_it(expected, tmp_path):
    now = expected.table_path("findings")
    duckdb.sql(f"copy (select * exclude (fingerprint) from '{now}') to '{tmp_path / 'old.parquet'}' (format parquet)")
    together = duckdb.sql(
        f"select count(*), count(fingerprint) from read_parquet(['{tmp_path / 'old.parquet'}', '{now}'], union_by_name = true)"
    )
    count = duckdb.sql(f"select count(*) from '{now}'").fetchall()[0][0]
    assert together.fetchall()[0] == (2 * count, count)


SUM = "select count(*), sum(expected_micro_usd)::bigint, count(distinct repository), sum(case when labels['team'] = 'search' then 1 else 0 end) from resources"


def by_duckdb(path):
    return tuple(int(it) for it in duckdb.sql(SUM.replace("from resources", f"from '{path}'")).fetchall()[0])


def test_pandas_reads_the_same(expected):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = expected.table_path("resources")
    frame = pandas.read_parquet(path)
    labels = frame["labels"].map(lambda it: dict(it).get("team") == "search").sum()
    assert (
        len(frame),
        int(frame["expected_micro_usd"].sum()),
        frame["repository"].nunique(),
        int(labels),
    ) == by_duckdb(path)


def test_spark_reads_the_same(expected):
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    spark = pyspark.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        path = expected.table_path("resources")
        spark.read.parquet(str(path)).createOrReplaceTempView("resources")
        row = spark.sql(SUM.replace("::bigint", "")).collect()[0]
        assert tuple(int(it) for it in row) == by_duckdb(path)
    finally:
        spark.stop()


# Pods that always run, so that their cost is one of a month. A job has a cost of a run.
SERVER = """apiVersion: apps/v1
kind: Deployment
metadata: {{ name: {name}, labels: {{ team: {team} }} }}
spec:
  replicas: 1
  selector: {{ matchLabels: {{ app: {name} }} }}
  template:
    metadata: {{ labels: {{ app: {name}, team: {team} }} }}
    spec:
      nodeSelector: {{ pool: {pool} }}
      containers:
        - name: server
          image: vllm/vllm-openai:v0.8.0
          resources: {{ limits: {{ nvidia.com/gpu: {gpus} }} }}
"""

CLUSTERS = """[[cluster]]
name = "ml"
pools = ["*/infra:*"]
pods = ["*/app-*:*", "*/ap-right:*"]
"""


def test_pods_are_joined_to_pools_of_another_repository_as_gpulint_joins_them_in_one_tree(tmp_path, gpulint):
    """Compares with gpulint itself, on both repositories in one directory."""
    pools = {
        "infra": {
            "main.tf": "\n".join(
                POOL.format(name=name, machine=machine, team="t", size=1, most=2)
                for name, machine in (("a100", "p4d.24xlarge"), ("small", "g5.xlarge"))
            )
        }
    }
    apps = {
        "app-right": {"job.yaml": JOB.format(name="right", team="x", pool="a100", gpus=8)},
        "app-small": {"job.yaml": JOB.format(name="small", team="x", pool="small", gpus=1)},
        "app-server": {"server.yaml": SERVER.format(name="server", team="x", pool="a100", gpus=4)},
        "app-elsewhere": {"job.yaml": JOB.format(name="elsewhere", team="x", pool="h100", gpus=8)},
    }
    urls = [make(tmp_path / "hosts", name, files) for name, files in (pools | apps).items()]
    (tmp_path / "list").write_text("\n".join(urls))
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
    scan(store, gpulint=gpulint, **QUIET)
    settings = tmp_path / "clusters.toml"
    settings.write_text(CLUSTERS)
    told = []
    summary, _ = merge(store, cluster_file=settings, tell=told.append)
    assert summary["unmatched_patterns"] == [{"cluster": "ml", "list": "pods", "pattern": "*/ap-right:*"}]
    assert len(told) == 1 and str(settings) in told[0] and "`*/ap-right:*`" in told[0]
    rows = duckdb.sql(
        f"select address, joined, adds_up from '{store.table_path('resources')}' where role = 'requested'"
    ).fetchall()
    joined = {address: said for address, said, _ in rows}

    tree = tmp_path / "tree"
    for name, files in (pools | apps).items():
        for path, text in files.items():
            place = tree / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    said = subprocess.run(
        [gpulint, "cost", str(tree), "--today", DATE, "--prices", "embedded", "--format", "ndjson"],
        capture_output=True,
        text=True,
    ).stdout
    judge = {
        row["address"]: not row["adds_up"] for row in map(json.loads, said.splitlines()) if row["role"] == "requested"
    }
    assert judge == {address: said in ("pool", "some pool") for address, said in joined.items()}
    assert set(judge.values()) == {True, False}
    counted = [
        r for r in lines(store, "resource") if joined.get(r["address"]) in ("pool", "some pool") and r["per"] == "month"
    ]
    assert summary["counted_twice_micro_usd"] == sum(r["expected_micro_usd"] or 0 for r in counted)
    # Totals contain each dollar once, in the query of the book, too.
    once = summary["combined_expected_micro_usd"] - summary["counted_twice_micro_usd"]
    assert round(sum(usd for _, usd in query_of_book("usd_per_month", store.root)) * 1e6) == once
    without, _ = merge(store)
    assert without["counted_twice_micro_usd"] == 0 and without["unmatched_patterns"] == []
    sums = duckdb.sql(f"select sum(in_sum_expected_micro_usd) from '{store.table_path('resources')}'").fetchall()
    assert sums == [(without["combined_expected_micro_usd"],)] and sums[0][0] > once


def queries_of_book():
    return re.findall(r"```sql\n(.*?)```", (ROOT / "docs/fleet.md").read_text(), re.DOTALL)


def query_of_book(word, root):
    """Runs the query of the book that contains a word, on another store."""
    (query,) = [it for it in queries_of_book() if word in it]
    return duckdb.sql(query.replace("'store/", f"'{root}/")).fetchall()


def test_queries_of_the_book_run(expected):
    assert queries_of_book()
    for query in queries_of_book():
        assert duckdb.sql(query.replace("'store/", f"'{expected.root}/")) is not None, query


def test_copies_are_told_and_stay_in_the_sums(tmp_path, gpulint):
    files = {"main.tf": POOL.format(name="p", machine="g5.xlarge", team="x", size=1, most=1)}
    urls = [
        make(tmp_path, "fork", files | {"more.txt": "x"}),
        make(tmp_path, "mirror", files),
        make(tmp_path, "origin", files),
    ]
    (tmp_path / "list").write_text("\n".join(urls))
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
    scan(store, gpulint=gpulint, **QUIET)
    summary, _ = merge(store)
    told = dict(duckdb.sql(f"select repository, duplicate_of from '{store.table_path('repositories')}'").fetchall())
    names = [next(it for it in told if it.endswith(name)) for name in ("fork", "mirror", "origin")]
    assert [told[name] for name in names] == [None, None, names[1]]
    parts = dict(duckdb.sql(f"select repository, duplicate_of from '{store.table_path('resources')}'").fetchall())
    assert [parts[name] for name in names] == [None, names[0], names[0]]
    one = next(r for r in lines(store, "resource"))["expected_micro_usd"]
    assert summary["combined_expected_micro_usd"] == 3 * one


def test_nothing_in_a_row_says_when_or_where_it_was_made(expected):
    host = os.uname().nodename
    for name, text in store_files(expected, ("rows", *TABLES)).items():
        assert host.encode() not in text or len(host) < 4, name
        assert b"gpulint-fleet-" not in text, name
