"""Tests that the bytes are the same for each split, engine and accident."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from conftest import DATE, QUICK, TABLES, store_files

from gpulint_fleet import scan
from gpulint_fleet.merge import merge
from gpulint_fleet.scratch import PREFIX, sweep
from gpulint_fleet.store import Store

QUIET = {"tell": lambda _: None}


def same(store, expected, threads=None):
    assert store_files(store) == store_files(expected)
    merge(store, threads=threads)
    assert store_files(store, TABLES) == store_files(expected, TABLES)


def test_the_expected_run_found_something(expected):
    summary, complete = merge(expected)
    assert complete and summary["ok"] > 20 and summary["findings"] > 20 and summary["combined_expected_micro_usd"] > 0


@pytest.mark.parametrize("parts", [2, 7])
def test_parts_are_the_whole(planned, expected, gpulint, parts):
    store = planned()
    counts = [sum(scan(store, part=(index, parts), gpulint=gpulint, **QUIET).values()) for index in range(parts)]
    assert all(counts) and sum(counts) == len(store.plan()[1])
    same(store, expected, threads=parts % 3 + 1)


def test_the_order_of_the_plan_does_not_matter(planned, expected, gpulint):
    store = planned()
    header, *lines = store.plan_path.read_text().splitlines()
    store.plan_path.write_text("\n".join([header, *lines[::-1]]) + "\n")
    scan(store, gpulint=gpulint, **QUIET)
    assert store_files(store) == store_files(expected)
    merge(store)
    assert store_files(store, TABLES) == store_files(expected, TABLES)


def test_tables_are_the_same_with_any_number_of_threads(expected):
    before = store_files(expected, TABLES)
    for threads in (1, 2, 4):
        merge(expected, threads=threads)
        assert store_files(expected, TABLES) == before


@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_ray_finds_the_same(planned, expected, gpulint, cpus):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    store = planned()
    ray.init(num_cpus=cpus, log_to_driver=False, logging_level="error")
    try:
        scan(store, engine="local", gpulint=gpulint, **QUIET)
    finally:
        ray.shutdown()
    same(store, expected)


def in_background(store, gpulint, **more):
    """Runs a scan in a thread and stores its exception."""
    raised = []

    def work():
        try:
            scan(store, engine="auto", gpulint=gpulint, **QUIET, **more)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, raised


def until(test, seconds=60):
    end = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


def done_of(store):
    return len(list((store.root / "rows").rglob("*.ndjson")))


def processes(word):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parent = int((path.parent / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if word in command:
            found.append((int(path.parent.name), parent, command))
    return found


def in_checkouts():
    """Returns the processes of git and gpulint that work in a checkout."""
    places = {}
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            places[path.parent.name] = os.readlink(path)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return [pid for pid, place in places.items() if f"/{PREFIX}" in place]


def workers():
    return [pid for pid, _, command in processes("ray::scan_one") if command.startswith("ray::scan_one")]


def test_a_killed_worker_and_a_lost_node_change_nothing(planned, expected, gpulint, cluster):
    made, nodes = cluster
    store = planned()
    thread, raised = in_background(store, gpulint)
    until(lambda: done_of(store) >= 5 and in_checkouts() and workers())
    os.kill(workers()[0], signal.SIGKILL)
    until(lambda: done_of(store) >= len(store.plan()[1]) // 3)
    made.remove_node(nodes[0], allow_graceful=False)
    thread.join(180)
    assert not thread.is_alive() and not raised
    same(store, expected)
    until(lambda: not in_checkouts(), 20)
    sweep()
    assert not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"))


CHAOS = """{"CoreWorkerService.grpc_client.PushTask": {"num_failures": 8, "req_failure_prob": 30, "resp_failure_prob": 30},
"NodeManagerService.grpc_client.RequestWorkerLease": {"num_failures": 5, "req_failure_prob": 30, "resp_failure_prob": 30}}"""


def test_calls_that_fail_on_purpose_change_nothing(planned, expected, gpulint, monkeypatch, request):
    monkeypatch.setenv("RAY_testing_rpc_failure", CHAOS)
    request.getfixturevalue("cluster")
    store = planned()
    scan(store, engine="auto", gpulint=gpulint, **QUIET)
    same(store, expected)
    logs = Path(sys.modules["ray"]._private.worker._global_node.get_session_dir_path()) / "logs"
    assert any("RpcFailureManager" in path.read_text(errors="replace") for path in logs.glob("*.log"))


def counting_git(directory):
    """Creates a `git` that logs each fetch and then runs the real one."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True).stdout.strip()
    script = directory / "git"
    script.write_text(
        f'#!/bin/sh\ncase " $* " in *" fetch "*) echo fetch >> "{directory}/fetches";; esac\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    return directory / "fetches"


def scan_command(store, gpulint):
    program = [sys.executable, "-m", "gpulint_fleet", "scan"]
    return [*program, "--store", str(store.root), "--date", DATE, "--gpulint", gpulint]


def test_a_driver_that_was_killed_goes_on_with_the_rest(planned, expected, gpulint, tmp_path):
    fetches = counting_git(tmp_path)
    store = planned()
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = scan_command(store, gpulint)
    driver = subprocess.Popen(
        [*command, "--ray", "local"], env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    count = len(store.plan()[1])
    until(lambda: done_of(store) >= count // 2, 120)
    driver.kill()
    driver.wait()
    # Ray ends its processes after the driver. A process that still runs may write one more file.
    until(lambda: not [it for it in processes("ray::scan_one") if f":{driver.pid}" in it[2]], 30)
    time.sleep(2)
    before, _ = done_of(store), fetches.unlink()
    assert before < count
    subprocess.run([*command], env=environment, check=True, stderr=subprocess.DEVNULL)
    assert len(fetches.read_text().split()) == count - before
    same(store, expected)


def test_two_scans_of_one_plan_do_not_disturb_each_other(planned, expected, gpulint):
    store = planned()
    command = scan_command(store, gpulint)
    twins = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(2)]
    torn = 0
    while any(it.poll() is None for it in twins):
        for path in (store.root / "rows").rglob("*.ndjson"):
            text = path.read_bytes()
            torn += not text.endswith(b"}\n")
    assert [it.wait() for it in twins] == [0, 0] and torn == 0
    same(store, expected)


def test_nothing_is_scanned_twice(planned, gpulint):
    store = planned()
    assert sum(scan(store, part=(0, 4), gpulint=gpulint, **QUIET).values())
    assert scan(store, part=(0, 4), gpulint=gpulint, **QUIET) == {}


def test_a_second_night_with_a_cache_fetches_what_changed_and_finds_the_same(tmp_path, gpulint):
    from conftest import files_of, git, make

    from gpulint_fleet.plan import plan, read_list

    urls = [make(tmp_path / "hosts", f"c{number}", files_of(number)) for number in range(20)]
    (tmp_path / "list").write_text("\n".join(urls))
    cache = str(tmp_path / "cache")

    def night(name, date, **more):
        store = Store(tmp_path / name, date)
        plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
        scan(store, gpulint=gpulint, **QUIET, **more)
        merge(store)
        return store

    def objects():
        packs = Path(cache).rglob("*.pack")
        return {str(it) for it in packs}

    night("a", "2026-11-25", cache=cache)
    before = objects()
    assert len(before) == 20
    for url in urls[::5]:
        work = tmp_path / "work"
        git("clone", "-q", url, str(work))
        (work / "more.tf").write_text('resource "aws_instance" "m" {\n  instance_type = "g5.xlarge"\n}\n')
        git("add", "-A", cwd=work)
        git("commit", "-q", "-m", "more", cwd=work)
        git("push", "-q", "origin", "HEAD:main", cwd=work)
        subprocess.run(["rm", "-rf", str(work)], check=True)
    warm = night("a", DATE, cache=cache)
    assert len(objects() - before) == 4
    cold = night("b", DATE)
    assert (
        store_files(warm, TABLES)[f"resources/date={DATE}/part.parquet"]
        == store_files(cold, TABLES)[f"resources/date={DATE}/part.parquet"]
    )
    dated = lambda store: {k: v for k, v in store_files(store, ("rows", *TABLES)).items() if DATE in k}
    assert dated(warm) == dated(cold)


def test_the_largest_comes_first():
    from gpulint_fleet.scan import remaining

    entries = [{"id": f"r{size}", "size": size or None, "commit": "1"} for size in (3, 0, 900, 40)]
    store = Store("/nowhere", DATE)
    assert [it["id"] for it in remaining(store, {}, entries, (0, 1), False)] == ["r900", "r40", "r3", "r0"]


def test_a_host_is_fetched_from_by_so_many_at_once(tmp_path, gpulint):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from conftest import make
    from serving import Served

    from gpulint_fleet.plan import plan, read_list

    for number in range(8):
        make(tmp_path, f"h{number}", {"main.tf": ""})
    now, most, lock = set(), [], threading.Lock()

    def count(request):
        name = request.path.split("/")[1]
        if request.command == "POST":
            with lock:
                now.add(name)
                most.append(len(now))
            time.sleep(0.2)
            with lock:
                now.discard(name)
        return None

    with Served(count, root=tmp_path) as host:
        (tmp_path / "list").write_text("\n".join(f"{host.url}/h{number}.git" for number in range(8)))
        store = Store(tmp_path / "store", DATE)
        plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
        most.clear()
        ray.init(num_cpus=4, log_to_driver=False, logging_level="error")
        try:
            counts = scan(store, engine="auto", gpulint=gpulint, per_host=2, **QUIET)
        finally:
            ray.shutdown()
    assert sum(counts.values()) == 8 and max(most) <= 2
