"""Tests budgets over all repositories, and the file with which a pull request adds the rest of the organization."""

import csv
import os
import subprocess
import sys

import duckdb
import pytest
from conftest import DATE, POOL, ROOT, TABLES, make, program, store_files
from test_merge import CLUSTERS, SERVER

from gpulint_fleet import budgets, scan
from gpulint_fleet.merge import merge
from gpulint_fleet.plan import plan, read_list
from gpulint_fleet.report import report
from gpulint_fleet.store import Refused, Store
from gpulint_fleet.use import sign, use

QUIET = {"tell": lambda _: None}

MACHINE = 'resource "aws_instance" "{name}" {{\n  instance_type = "{machine}"\n  tags = {tags}\n}}\n'

BUDGETS = """
[[budgets]]
team = "search"
monthly_usd = 1_000
owner = "@acme/search-leads"
scope = "organization"

[[budgets]]
team = "search"
yearly_usd = 10_000_000.5
scope = "organization"

[[budgets]]
team = "ads"
quarterly_usd = 3_000_000
scope = "organization"
until = 2026-12-31

[[budgets]]
label = "cost-center = 4711"
monthly_usd = 10_000
scope = "organization"

[[budgets]]
monthly_usd = 10_000_000
scope = "organization"

[[budgets]]
team = "search"
monthly_usd = 1
"""


def machine(name, machine="g5.xlarge", tags='{ team = "search" }'):
    return MACHINE.format(name=name, machine=machine, tags=tags)


FILES = {
    "infra": {"main.tf": POOL.format(name="a100", machine="p4d.24xlarge", team="search", size=1, most=1)},
    "app-a": {"server.yaml": SERVER.format(name="a", team="ads", pool="a100", gpus=4)},
    "fork": {"main.tf": machine("a"), "more.txt": "x"},
    "origin": {"main.tf": machine("a")},
    "centers": {"main.tf": machine("c", tags='{ team = "ads", "cost-center" = "4711" }')},
    "open": {"main.tf": 'variable "who" {}\n' + machine("o", tags='{ team = "ads", "cost-center" = var.who }')},
    "odd": {"main.tf": machine("odd", "p99.unknown", '{ team = "odd, \\"x\\"" }')},
}


@pytest.fixture(scope="module")
def organization(tmp_path_factory, gpulint):
    """A plan of repositories with budgets, one of which nobody can read."""
    directory = tmp_path_factory.mktemp("organization")
    urls = [make(directory / "hosts", name, files) for name, files in FILES.items()]
    (directory / "list").write_text("\n".join([*urls, f"file://{directory}/hosts/gone.git"]))
    (directory / "gpulint.toml").write_text(BUDGETS)
    (directory / "clusters.toml").write_text(CLUSTERS.replace(', "*/ap-right:*"', ""))
    store = Store(directory / "store", DATE)
    plan(store, read_list(directory / "list"), gpulint=gpulint)
    return directory, store


def merged(organization, parts=1, **more):
    directory, first = organization
    store = Store(directory / f"store-{parts}", DATE)
    if not store.plan_path.exists():
        store.plan_path.parent.mkdir(parents=True)
        store.plan_path.write_bytes(first.plan_path.read_bytes())
        for part in reversed(range(parts)):
            scan(store, part=(part, parts), gpulint=program(), **QUIET)
    options = {"budget_file": directory / "gpulint.toml", "cluster_file": directory / "clusters.toml"} | more
    return store, merge(store, **options)[0]


def resources(store, where):
    query = f"select coalesce(sum(in_sum_expected_micro_usd), 0)::bigint, count(distinct repository) from '{store.table_path('resources')}' where {where}"
    return duckdb.sql(query).fetchall()[0]


def test_a_budget_counts_each_dollar_of_all_repositories_once(organization):
    store, summary = merged(organization)
    search, year, ads, center, everything = summary["budgets"]
    amount, repositories = resources(store, "labels['team'] = 'search'")
    one = resources(store, "labels['team'] = 'search' and repository like '%/fork'")[0]
    assert search["expected_micro_usd"] == amount > 2 * one > 0 and search["repositories"] == repositories == 3
    assert search["copies_micro_usd"] == one and search["owner"] == "@acme/search-leads"
    assert (search["period"], search["limit_micro_usd"], search["status"]) == ("month", 1_000_000_000, "exceeded")
    assert (year["expected_micro_usd"], year["limit_micro_usd"]) == (12 * amount, 10_000_000_500_000)
    # The pods of the team run on the pool, whose repository pays.
    pods, _ = resources(store, "labels['team'] = 'ads' and role = 'requested'")
    machines, _ = resources(store, "labels['team'] = 'ads' and role = 'rented'")
    assert pods == 0 and ads["expected_micro_usd"] == 3 * machines and ads["until"] == "2026-12-31"
    assert center["by"] == "label" and center["value"] == "cost-center=4711"
    unclear, _ = resources(store, "repository like '%/open'")
    assert (center["unlabelled"], center["unlabelled_micro_usd"]) == (1, unclear) and unclear > 0
    assert everything["expected_micro_usd"] == resources(store, "true")[0]
    assert everything["unpriced"] == 1 and {it["unread"] for it in summary["budgets"]} == {1}
    assert {it["status"] for it in (year, ads, center, everything)} == {"unknown"}


def test_a_budget_is_ok_only_if_everything_was_read_and_priced(organization, tmp_path, gpulint):
    directory, _ = organization
    for names, wanted in (
        (("infra", "centers"), ["exceeded", "ok", "ok", "ok", "ok"]),
        (("infra", "centers", "open"), ["exceeded", "ok", "ok", "ok", "ok"]),
        (("infra", "odd"), ["exceeded", "ok", "ok", "ok", "unknown"]),
    ):
        (tmp_path / "list").write_text("\n".join(f"file://{directory}/hosts/{name}.git" for name in names))
        store = Store(tmp_path / "+".join(names), DATE)
        # The policy of the plan has the budgets, too, but only a newer gpulint accepts their keys in a scan.
        plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
        scan(store, gpulint=gpulint, **QUIET)
        found = merge(store, budget_file=directory / "gpulint.toml")[0]["budgets"]
        assert [it["status"] for it in found] == wanted, names
    # The cost of the resource whose label is unknown decides.
    tight = tmp_path / "tight.toml"
    tight.write_text('[[budgets]]\nlabel = "cost-center=4711"\nmonthly_usd = 800\nscope = "organization"\n')
    store = Store(tmp_path / "infra+centers+open", DATE)
    (found,) = merge(store, budget_file=tight)[0]["budgets"]
    assert found["expected_micro_usd"] < found["limit_micro_usd"] and found["status"] == "unknown"


def test_budgets_of_the_policy_of_the_plan_and_its_packs_count(tmp_path, organization):
    (tmp_path / "policy/pack").mkdir(parents=True)
    (tmp_path / "policy/gpulint.toml").write_text('extend = "base.toml"\n[[packs]]\npath = "pack"\n' + BUDGETS)
    (tmp_path / "policy/base.toml").write_text('[[budgets]]\nteam = "base"\nmonthly_usd = 1\nscope = "organization"\n')
    (tmp_path / "policy/pack/gpulint.toml").write_text(
        '[[budgets]]\nproject = "x"\nmonthly_usd = 1\nscope = "organization"\n'
    )
    found = budgets.read(tmp_path / "policy/gpulint.toml")
    assert [it[:2] for it in found[-2:]] == [("team", "base"), ("project", "x")] and len(found) == 7


WRONG = [
    ('team = "a"', "one of `monthly_usd`"),
    ('team = "a"\nmonthly_usd = 1\nyearly_usd = 1', "one of `monthly_usd`"),
    ('team = "a"\nmonthly_usd = "1"', "one of `monthly_usd`"),
    ('team = "a"\nmonthly_usd = -1', "write dollars"),
    ('team = "a"\nmonthly_usd = 1e40', "write dollars"),
    ('team = "a"\nmonthly_usd = nan', "write dollars"),
    ("team = 1\nmonthly_usd = 1", "is not text"),
    ('label = "x"\nmonthly_usd = 1', "is not text"),
    ("= 1", "not TOML"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_wrong_budget_is_refused_with_its_file(tmp_path, text, said):
    path = tmp_path / "b.toml"
    path.write_text(f'[[budgets]]\nscope = "organization"\n{text}\n')
    with pytest.raises(Refused, match=said) as refused:
        budgets.read(path)
    assert str(path) in str(refused.value)


def test_a_file_without_budgets_of_the_organization_is_refused(organization, tmp_path):
    path = tmp_path / "b.toml"
    path.write_text('[[budgets]]\nteam = "a"\nmonthly_usd = 1\n')
    with pytest.raises(Refused, match='scope = "organization"'):
        merged(organization, budget_file=path)


def test_budgets_have_the_same_bytes_however_the_work_is_split(organization):
    stores = [merged(organization, parts)[0] for parts in (1, 2, 32)]
    texts = [store_files(it, TABLES) for it in stores]
    assert texts[0] == texts[1] == texts[2] and f"budgets/date={DATE}/part.parquet" in texts[0]
    assert use(stores[0]) == use(stores[1]) == use(stores[2])


def test_budgets_are_in_the_page_and_in_the_output_of_merge(organization):
    store, _ = merged(organization)
    directory, _ = organization
    assert "Which budgets are exceeded?" in report(store) and "1 of 5 budgets" in report(store)
    command = [sys.executable, "-m", "gpulint_fleet", "merge", "--store", store.root, "--date", DATE]
    command += ["--budgets", directory / "gpulint.toml", "--clusters", directory / "clusters.toml"]
    done = subprocess.run([str(it) for it in command], capture_output=True, text=True)
    assert "budget of team search: exceeded" in done.stderr and "owner @acme/search-leads" in done.stderr
    assert "budget of cost-center=4711: unknown, at least $" in done.stderr


def test_the_use_of_the_organization_has_a_row_for_each_repository_and_selector(organization):
    store, summary = merged(organization)
    first, second, *lines = use(store).split("\n")
    assert (first, second) == (f"# Use of gpulint-fleet, {DATE}", "# labels: cost-center=4711")
    rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["repository", "by", "value", "expected_micro_usd", "unpriced"]
    keys = [(it["repository"], it["by"], it["value"]) for it in rows]
    assert keys == sorted(set(keys))
    of = lambda by, value="": [it for it in rows if (it["by"], it["value"]) == (by, value)]
    total = lambda found: sum(int(it["expected_micro_usd"]) for it in found)
    search, _, ads, center, everything = summary["budgets"]
    assert total(of("all")) == everything["expected_micro_usd"] and len(of("all")) == len(FILES)
    assert total(of("team", "search")) == search["expected_micro_usd"]
    assert 3 * total(of("team", "ads")) == ads["expected_micro_usd"]
    assert total(of("label", "cost-center=4711")) == center["expected_micro_usd"]
    assert [it["unpriced"] for it in of("label", "cost-center=4711")] == ["0", "1"]
    assert of("team", 'odd, "x"')[0]["unpriced"] == "1"
    assert [it["value"] for it in rows if it["by"] == "unread"] == ["missing"]
    # The pods run on a pool of another repository.
    assert [it["expected_micro_usd"] for it in of("team", "ads") if it["repository"].endswith("app-a")] == ["0"]
    unbudgeted, _ = merged(organization, budget_file=None)
    assert use(unbudgeted).split("\n")[1] == "# labels:"


def test_gpulint_adds_the_use_of_other_repositories_to_a_budget(organization, tmp_path, gpulint):
    """Compares the sum that gpulint reports in a repository with the sum of `merge` over all others."""
    said = subprocess.run([gpulint, "check", "--help"], capture_output=True, text=True).stdout
    if "--organization" not in said:
        pytest.skip("this gpulint has no option --organization")
    store, summary = merged(organization)
    (tmp_path / "organization.csv").write_text(use(store))
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/main.tf").write_text(machine("own"))
    settings = '[[budgets]]\nteam = "search"\nmonthly_usd = 1\nscope = "organization"\n'
    (tmp_path / "repository/gpulint.toml").write_text(settings)
    command = [gpulint, "check", ".", "--select", "exceeded-budget", "--format", "concise", "--today", DATE]
    command += ["--organization", "../organization.csv", "--repository", "github.com/acme/own", "--prices", "embedded"]
    done = subprocess.run(command, cwd=tmp_path / "repository", capture_output=True, text=True)
    others = summary["budgets"][0]["expected_micro_usd"]
    assert f"${round(others / 1e6):,} of it in 3 other repositories on {DATE}" in done.stdout, done.stdout + done.stderr


def test_the_policy_of_the_plan_has_the_budgets(organization, tmp_path, gpulint):
    directory, _ = organization
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy/gpulint.toml").write_text(BUDGETS)
    (tmp_path / "list").write_text(f"file://{directory}/hosts/infra.git")
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint, policy=str(tmp_path / "policy"))
    scan(store, gpulint=gpulint, **QUIET)
    found = merge(store)[0]["budgets"]
    assert len(found) == 5 and found[0]["expected_micro_usd"] == found[4]["expected_micro_usd"] > 0


def test_the_use_is_signed_as_the_release_of_prices_is(organization, tmp_path):
    key = tmp_path / "key.pem"
    made = subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], capture_output=True)
    if made.returncode:
        pytest.skip("openssl is not installed")
    store, _ = merged(organization)
    path = tmp_path / "organization.csv"
    command = [sys.executable, "-m", "gpulint_fleet", "use", "--store", store.root, "--date", DATE]
    done = subprocess.run([*map(str, command), "--output", path, "--key", key], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert path.read_text() == use(store)
    signature = (tmp_path / "organization.csv.sig").read_text()
    assert len(signature) == 129 and signature.endswith("\n")
    other = tmp_path / "other.csv"
    other.write_text(path.read_text())
    environment = os.environ | {"PRICES_SIGNING_KEY": key.read_text()}
    subprocess.run(["bash", ROOT / "packaging/sign.sh", other], check=True, env=environment, capture_output=True)
    assert (tmp_path / "other.csv.sig").read_text() == signature
    with pytest.raises(Refused, match="Ed25519"):
        sign(path, tmp_path / "no-key.pem")
