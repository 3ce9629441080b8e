"""Provides generated repositories, real git, the built program, and a real Ray on this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fleet"))
os.environ["PYTHONPATH"] = f"{ROOT / 'fleet'}:{os.environ.get('PYTHONPATH', '')}"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# The tests serve repositories from this machine: files, and a code host on the loopback address.
os.environ["GPULINT_FLEET_ALLOW_LOCAL"] = "1"

DATE = "2026-11-26"


def program():
    named = os.environ.get("GPULINT")
    for path in [named] if named else [ROOT / "target/release/gpulint", ROOT / "target/debug/gpulint"]:
        if path and Path(path).exists():
            return str(path)
    pytest.exit("there is no built gpulint: `cargo build`, or name one by GPULINT", returncode=2)


@pytest.fixture(scope="session")
def gpulint():
    return program()


def git(*arguments, cwd=None, **more):
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z"}
    identity |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in identity.items()}
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, capture_output=True, text=True, env=os.environ | identity, **more
    )
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.strip()


POOL = """resource "aws_eks_node_group" "{name}" {{
  cluster_name   = "ml"
  instance_types = ["{machine}"]
  capacity_type  = "ON_DEMAND"
  labels         = {{ pool = "{name}" }}
  tags           = {{ team = "{team}" }}
  scaling_config {{
    min_size     = {size}
    desired_size = {size}
    max_size     = {most}
  }}
}}
"""

JOB = """apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  labels: {{ team: {team} }}
spec:
  template:
    spec:
      nodeSelector: {{ pool: {pool} }}
      restartPolicy: Never
      containers:
        - name: train
          image: pytorch/pytorch:2.5.0
          command: [torchrun, train.py]
          resources: {{ limits: {{ nvidia.com/gpu: {gpus} }} }}
"""

MACHINES = ("p4d.24xlarge", "g5.xlarge", "g6e.12xlarge", "p5.48xlarge")
TEAMS = ("search", "vision", "speech", "ads", "core")


def files_of(number):
    """Returns the files of a repository: pools, jobs, both, or plain code."""
    kind, team = number % 4, TEAMS[number % 5]
    files = {"README.md": f"repository {number}\n"}
    if kind in (0, 2):
        pools = [
            POOL.format(name=f"p{at}", machine=MACHINES[(number + at) % 4], team=team, size=1 + at, most=3 + at)
            for at in range(1 + number % 3)
        ]
        files["infra/main.tf"] = "\n".join(pools)
        files["CODEOWNERS"] = f"* @{team}\n/infra/ @platform\n"
    if kind in (1, 2):
        files["deploy/job.yaml"] = JOB.format(name=f"train-{number}", team=team, pool="p0", gpus=1 + number % 8)
    if number % 10 == 0:
        files[".pre-commit-config.yaml"] = (
            "repos:\n- repo: https://github.com/gpulint/gpulint\n  rev: v0.1.0\n  hooks: [{id: gpulint}]\n"
        )
    return files


def make(directory, name, files, links=()):
    """Creates a bare repository with one commit of these files, and returns its address."""
    bare = Path(directory) / f"{name}.git"
    git("init", "-q", "--bare", "--template=", "-b", "main", str(bare))
    entries = [("100644", path, text if isinstance(text, bytes) else text.encode()) for path, text in files.items()]
    entries += [("120000", path, os.fsencode(target)) for path, target in links]
    who = b"a <a@example.com> 1767225600 +0000"
    parts = [b"commit refs/heads/main\nauthor %s\ncommitter %s\ndata 6\nfirst\n\n" % (who, who)]
    for mode, path, content in entries:
        quoted = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        parts.append(
            f'M {mode} inline "{quoted}"\ndata {len(content)}\n'.encode(errors="surrogateescape") + content + b"\n"
        )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=bare, input=b"".join(parts), check=True)
    return f"file://{bare}"


COUNT = int(os.environ.get("GPULINT_FLEET_REPOSITORIES", "60"))


@pytest.fixture(scope="session")
def fleet(tmp_path_factory):
    """Addresses of the generated repositories."""
    directory = tmp_path_factory.mktemp("hosts")
    return [make(directory, f"r{number:04}", files_of(number)) for number in range(COUNT)]


@pytest.fixture
def listing(tmp_path, fleet):
    path = tmp_path / "repositories.txt"
    path.write_text("".join(f"{url}\n" for url in fleet))
    return path


def store_files(store, parts=("rows",)):
    """Returns every file below by its path. These files must not differ between runs."""
    found = {}
    for part in parts:
        for path in sorted((store.root / part).rglob("*")):
            if path.is_file():
                found[str(path.relative_to(store.root))] = path.read_bytes()
    return found


TABLES = ("repositories", "resources", "findings", "unjudged", "budgets", "billed", "measured", "summary")


@pytest.fixture(scope="session")
def planned(tmp_path_factory, fleet, gpulint):
    """Returns copies of one plan. Every scan of them must have the same result."""
    from gpulint_fleet.plan import plan, read_list
    from gpulint_fleet.store import Store

    first = tmp_path_factory.mktemp("plan")
    (first / "list").write_text("\n".join(fleet))
    plan(Store(first, DATE), read_list(first / "list"), gpulint=gpulint)
    text = Store(first, DATE).plan_path.read_text()

    def copy(name="store"):
        store = Store(tmp_path_factory.mktemp(name), DATE)
        store.plan_path.parent.mkdir(parents=True)
        store.plan_path.write_text(text)
        return store

    return copy


@pytest.fixture(scope="session")
def expected(planned, gpulint):
    """Scans the plan on this machine, one repository after the other."""
    from gpulint_fleet import scan
    from gpulint_fleet.merge import merge

    store = planned("sequential")
    scan(store, gpulint=gpulint, tell=lambda _: None)
    merge(store)
    return store


# A killed node refuses its checks at once, so Ray notices it after a few seconds. A node that only waits for a processor of a busy
# machine has half a minute to answer. With two checks of one second, Ray gave up nodes that were alive.
QUICK = {
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "5",
}


@pytest.fixture
def cluster():
    """Starts a Ray head and two nodes as processes."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from ray.cluster_utils import Cluster

    os.environ.update(QUICK)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [made.add_node(num_cpus=2) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made, nodes
    ray.shutdown()
    made.shutdown()
    for name in QUICK:
        os.environ.pop(name)


def pytest_runtest_logreport(report):
    """Prints the skipped tests in the form that CI counts."""
    told = os.environ.get("GPULINT_SKIPPED")
    if told and report.skipped and report.when in ("setup", "call"):
        with open(told, "a", encoding="utf-8") as file:
            file.write(
                f"fleet {report.nodeid}: {report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr}\n"
            )
