"""Tests the bill, usage metrics, commitments and the cost of teams over all repositories of a date."""

import json
import re
import subprocess
import sys

import duckdb
import pytest
from conftest import DATE, TABLES, make, store_files

from gpulint_fleet import answers, inputs, scan
from gpulint_fleet.matches import put_file
from gpulint_fleet.merge import merge
from gpulint_fleet.plan import plan, read_list
from gpulint_fleet.report import report
from gpulint_fleet.store import Refused, Store

QUIET = {"tell": lambda _: None}

HEAD = "# gpulint paid 1\nprovider,key_kind,key,region,machine,accelerator,gpus,month,currency,charge,paid,list,hours,on_demand,committed,open,source\n"
ROW = "aws,name,{name},us-east-1,p4d.24xlarge,A100-40GB,8,{month},USD,{charge},{paid},16336.49,744,{demand},{committed},{open},focus-1.2\n"


def row(name, paid, month="2026-10", charge="usage", committed="", open=""):
    demand = "" if committed else 744
    return ROW.format(name=name, paid=paid, month=month, charge=charge, committed=committed, open=open, demand=demand)


BILL = HEAD + "".join(
    [
        row("train", "14702.843333"),
        row("serve", "10000.005"),
        row("serve", "-12.3456", charge="credit"),
        row("shared", "5000.111111"),
        row("twice", "7.77"),
        row("nowhere", "748.46"),
        row("train", "100", month="2026-11", open="1"),
        row("other-files", "3"),
        row("plain", "1.005"),
    ]
)

USAGE = """# gpulint usage 1
cluster,namespace,kind,name,accelerator,gpus,from,to,days,gpu_hours,coverage,busy,busy_max,idle,source
prod,serving,Deployment,llama,H100-80GB,1,2026-11-10,2026-11-24,14,335,0.99,0.021,0.23,0.88,dcgm:GR_ENGINE_ACTIVE
prod,serving,Deployment,gone,H100-80GB,1,2026-11-10,2026-11-24,14,100,0.99,0.021,0.23,0.88,dcgm:GR_ENGINE_ACTIVE
prod,serving,Deployment,both,H100-80GB,1,2026-11-10,2026-11-24,14,50,0.99,0.021,0.23,0.88,dcgm:GR_ENGINE_ACTIVE
"""

SERVER = """apiVersion: apps/v1
kind: Deployment
metadata: {{ name: {name}, namespace: serving, labels: {{ team: search }} }}
spec:
  replicas: 1
  selector: {{ matchLabels: {{ app: llama }} }}
  template:
    metadata: {{ labels: {{ app: llama }} }}
    spec:
      nodeSelector: {{ cloud.google.com/gke-accelerator: nvidia-h100-80gb }}
      containers: [{{ name: server, image: "acme.example/server:1", resources: {{ limits: {{ nvidia.com/gpu: 1 }} }} }}]
"""


def machine(name, team="search", at="m", more=""):
    tags = f'{{ Name = "{name}", environment = "production"{f", team = {json.dumps(team)}" if team else ""} }}'
    return f'resource "aws_instance" "{at}" {{\n  instance_type = "p4d.24xlarge"\n  tags = {tags}\n{more}}}\n'


FILES = {
    "training": {"main.tf": machine("train"), "CODEOWNERS": "* @train\n"},
    "serving": {"main.tf": machine("serve", "vision"), "server.yaml": SERVER.format(name="llama")},
    "one": {"main.tf": machine("shared"), "a.yaml": SERVER.format(name="both")},
    "two": {"main.tf": machine("shared", "vision"), "a.yaml": SERVER.format(name="both")},
    "twice": {"main.tf": machine("twice", at="a") + machine("twice", at="b")},
    "teamless": {"main.tf": machine("plain", None)},
    "own-bill": {
        "main.tf": machine("other-files"),
        "gpulint.toml": '[paid]\nfiles = ["bills/own.csv"]\n',
        "bills/own.csv": HEAD,
    },
    "link": {"main.tf": machine("unbilled")},
    "empty": {"README.md": "x"},
}


def organization(directory, gpulint, parts=1):
    links = {"link": [("gpulint-paid.csv", "/etc/passwd"), ("gpulint-usage.csv", "main.tf")]}
    store = Store(directory / f"store-{parts}", DATE)
    if not (directory / "list").exists():
        urls = [make(directory / "hosts", name, files, links.get(name, ())) for name, files in FILES.items()]
        (directory / "list").write_text("\n".join(urls))
        (directory / "paid.csv").write_text(BILL)
        (directory / "usage.csv").write_text(USAGE)
    files = {"bill": directory / "paid.csv", "usage": directory / "usage.csv"}
    plan(store, read_list(directory / "list"), gpulint=gpulint, **files)
    for part in range(parts):
        scan(store, part=(part, parts), gpulint=gpulint, **QUIET)
    merge(store)
    return store


@pytest.fixture(scope="module")
def billed(tmp_path_factory, gpulint):
    """A merged date with a bill and usage metrics of the organization."""
    done = subprocess.run([gpulint, "reconcile", "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    return organization(tmp_path_factory.mktemp("billed"), gpulint)


def table(store, name, columns, order="line"):
    return duckdb.sql(f"select {columns} from '{store.table_path(name)}' order by {order}").fetchall()


def short(name):
    return name and name.rsplit("/", 1)[-1]


def test_a_line_of_the_bill_belongs_to_the_only_resource_of_all_repositories(billed):
    found = table(billed, "billed", "key, match, repository, candidates, team, owner, paid_micro")
    assert [(it[0], it[1], short(it[2])) for it in found] == [
        ("train", "resource", "training"),
        ("serve", "resource", "serving"),
        ("serve", "resource", "serving"),
        ("shared", "several", None),
        ("twice", "several", "twice"),
        ("nowhere", "none", None),
        ("train", "resource", "training"),
        ("other-files", "none", None),
        ("plain", "resource", "teamless"),
    ]
    assert found[0][4:] == ("search", "@train", 14_702_843_333)
    assert [short(it) for it in found[3][3].split(", ")] == ["one", "two"] and short(found[4][3]) == "twice"


def test_one_tree_with_all_repositories_has_the_same_matches(billed, tmp_path, gpulint):
    """Compares with gpulint itself, on all repositories with default settings in one directory."""
    for name, files in FILES.items():
        for path, text in files.items() if name != "own-bill" else ():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    (tmp_path / "gpulint-paid.csv").write_text(BILL)
    command = [gpulint, "reconcile", ".", "--format", "json", "--all-months", "--prices", "embedded", "--today", DATE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    sums = {it["month"]: it["sums"][0] for it in json.loads(done.stdout)["months"]}
    query = """select month, sum(paid_micro), sum(paid_micro) filter (match = 'resource' and charge = 'usage'),
      sum(paid_micro) filter (match <> 'resource') from '{}' group by month"""
    for month, *amounts in duckdb.sql(query.format(billed.table_path("billed"))).fetchall():
        names = ("billed", "matched", "unmatched")
        assert [inputs.micro(sums[month][name], "x") for name in names] == [it or 0 for it in amounts]


def test_reconcile_lists_each_part_of_the_bill_once(billed):
    said = "\n".join(answers.reconcile(billed))
    numbers = [
        float(it.replace(",", "")) for it in re.findall(r"[\d,]+\.\d\d", said.splitlines()[0].replace("-", "+ -"))
    ]
    assert said.startswith("2026-10: USD ") and len(numbers) == 4
    assert f"{numbers[0]:.2f}" == "30450.85", said
    assert "resources fit in" in said and "nowhere" in said and "own-bill: its settings name other files" in said
    assert "2026-11: USD 100.00 billed" in "\n".join(answers.reconcile(billed, "2026-11"))
    with pytest.raises(Refused, match="2026-10, 2026-11"):
        list(answers.reconcile(billed, "2025-01"))


def test_usage_metrics_match_one_resource_of_all_repositories(billed):
    found = table(billed, "measured", "name, match, repository")
    assert [(it[0], it[1], short(it[2])) for it in found] == [
        ("llama", "resource", "serving"),
        ("gone", "none", None),
        ("both", "several", None),
    ]
    said = "\n".join(answers.usage(billed))
    assert "1 of 3 lines match one resource" in said and "gone, 100 accelerator hours: no resource" in said


def amounts_of(lines):
    head, *rows = lines
    amount = lambda line: round(100 * float(re.search(r"-?[\d,]+\.\d\d", line)[0].replace(",", "")))
    return amount(head), {line.split("  ")[-1].strip(): amount(line) for line in rows}


def test_the_cost_of_teams_adds_up_to_the_total_to_the_cent(billed, tmp_path, gpulint):
    total, parts = amounts_of(list(answers.chargeback(billed)))
    assert total == sum(parts.values()) == 3_045_085
    assert set(parts) == {
        "team search",
        "team vision",
        "unclaimed: resources without a team",
        "billed without a resource",
    }
    assert parts["team search"] == 1_470_284 and parts["unclaimed: resources without a team"] in (100, 101)
    # Without a bill, the expected cost is shared.
    store = Store(tmp_path / "store", DATE)
    (tmp_path / "list").write_text((billed.root.parent / "list").read_text())
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
    scan(store, gpulint=gpulint, **QUIET)
    summary, _ = merge(store)
    total, parts = amounts_of(list(answers.chargeback(store)))
    assert total == sum(parts.values()) == round(summary["combined_expected_micro_usd"] / 10_000)
    for question in (answers.reconcile, answers.usage):
        with pytest.raises(Refused, match="plan a date with"):
            list(question(store))


def test_commitments_are_planned_for_all_repositories_at_once(billed, gpulint, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "gpulint_fleet", "commitments", "--store", billed.root, "--date", DATE]
        + ["--gpulint", gpulint, "--format", "json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # gpulint itself plans the same for the JSON reports of all repositories, with the bill where it was read.
    reports = []
    for name, files in FILES.items():
        place = tmp_path / name
        for path, text in ({"gpulint-paid.csv": BILL} | files).items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        command = [gpulint, "check", ".", "--prices", "embedded", "--today", DATE, "-q", "--allow-empty"]
        subprocess.run([*command, "--format", "json", "--output", tmp_path / f"{name}.json"], cwd=place)
        # gpulint counts equal reports once, so each one gets its name.
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"repository": name}))
        reports.append(path.name)
    command = [gpulint, "plan", *sorted(reports), "--format", "json", "--prices", "embedded", "--today", DATE]
    judge = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout)
    clean = lambda it: json.loads(re.sub(r'"(?:[^"]*/)?([\w-]+)[.]json', r'"\1', json.dumps(it)))
    assert clean(found) == clean(judge)
    assert found["groups"][0]["machines"][0]["commit"]["machines"] == 6


def test_reports_of_repositories_with_odd_names_are_all_written(tmp_path):
    names = ["h/a", "h/a.json/b", "h/c.json/d", "h/c", "h/" + "x" * 300]
    paths = [answers.write_report(tmp_path, name, name) for name in names]
    assert [(tmp_path / path).read_text() for path in paths] == names and paths[0] == "h/a.json"


def test_commitments_of_the_files_are_in_the_table(billed):
    found = table(billed, "resources", "standing, always_on, committed", "repository, path")
    assert {it[0] for it in found} >= {"base", None} and all(it[1] == 1 for it in found if it[0] == "base")


RESERVED = """resource "aws_ec2_capacity_reservation" "r" {
  instance_type     = "p4d.24xlarge"
  instance_platform = "Linux/UNIX"
  availability_zone = "us-east-1a"
  instance_count    = 2
  end_date          = "2026-12-31T00:00:00Z"
  end_date_type     = "limited"
}
"""


def test_reservations_have_their_end_date_in_the_table(tmp_path, gpulint):
    (tmp_path / "list").write_text(make(tmp_path, "reserved", {"main.tf": RESERVED}))
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
    scan(store, gpulint=gpulint, **QUIET)
    merge(store)
    found = table(store, "resources", "purchase, standing, reservation, schedule", "line")
    assert found == [("capacity-reservation", "spare_places", "open", "2026-12-31T00:00:00Z")]


def test_matches_have_the_same_bytes_however_the_work_is_split(billed, gpulint):
    other = organization(billed.root.parent, gpulint, parts=3)
    names = ("rows", *TABLES)
    assert store_files(billed, names) == store_files(other, names)
    assert report(billed) == report(other)


def test_the_files_of_a_checkout_are_replaced_and_no_link_is_followed(tmp_path):
    (tmp_path / "other").write_text("x")
    (tmp_path / "bill").write_text("y")
    for name in ("link", "folder"):
        (tmp_path / name).mkdir()
    (tmp_path / "link/gpulint-paid.csv").symlink_to(tmp_path / "other")
    (tmp_path / "folder/gpulint-paid.csv/deep").mkdir(parents=True)
    for name in ("link", "folder"):
        put_file(tmp_path / name, "gpulint-paid.csv", tmp_path / "bill")
        assert (tmp_path / name / "gpulint-paid.csv").read_text() == "y"
    assert (tmp_path / "other").read_text() == "x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n", "first line"),
        ("# gpulint paid 1\nprovider,key\n", "first line"),
        (HEAD, "no rows"),
        (HEAD + row("x", "1e"), "not an amount"),
        (HEAD + row("x", "nan"), "not an amount"),
        (HEAD + row("x", "1").replace(",744,", ",many,"), "could not convert"),
        (HEAD + "\xff", "UTF-8"),
    ],
)
def test_a_wrong_bill_is_refused_before_the_night(tmp_path, gpulint, text, said):
    (tmp_path / "paid.csv").write_bytes(text.encode("latin-1"))
    (tmp_path / "list").write_text("https://github.com/acme/infra\n")
    with pytest.raises(Refused, match=said):
        plan(Store(tmp_path, DATE), read_list(tmp_path / "list"), gpulint=gpulint, bill=tmp_path / "paid.csv")
