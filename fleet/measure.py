#!/usr/bin/env python3
"""Measures a scan: repositories per second on one and two processors and in 1, 2 and 32 parts, the time of each step, and a merge of many rows.

  measure.py GPULINT [--repositories 1000] [--trees DIRECTORY] [--rows 1000000]

It generates the repositories, and makes one more from each directory of real code in TREES. It clones all of them by `file://`.
A code host adds its own latency to each clone, which the table in the book adds by calculation.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "tests")]

import conftest  # noqa: E402

from gpulint_fleet import scan  # noqa: E402
from gpulint_fleet.merge import merge  # noqa: E402
from gpulint_fleet.plan import plan, read_list  # noqa: E402
from gpulint_fleet.report import report  # noqa: E402
from gpulint_fleet.store import Store, canonical, digest, write  # noqa: E402
from gpulint_fleet.use import use  # noqa: E402

QUIET = {"tell": lambda _: None}


def real(directory, tree):
    """Returns the address of a bare repository with the files of a directory."""
    bare = Path(directory) / f"real-{tree.name}.git"
    conftest.git("init", "-q", "--bare", "-b", "main", str(bare))
    work = ["--git-dir", str(bare), "--work-tree", str(tree)]
    conftest.git(*work, "add", "-A", "-f", ".")
    conftest.git(*work, "commit", "-q", "-m", "as it is")
    return f"file://{bare}"


def sources(directory, count, trees):
    found = [real(directory, tree) for tree in sorted(Path(trees).iterdir()) if tree.is_dir()] if trees else []
    found += [
        conftest.make(directory, f"r{number:05}", conftest.files_of(number)) for number in range(count - len(found))
    ]
    (Path(directory) / "list").write_text("\n".join(found))
    return Path(directory) / "list"


BUDGETS = "".join(
    f'[[budgets]]\nteam = "{team}"\nquarterly_usd = 1_000_000\nscope = "organization"\n' for team in conftest.TEAMS
)


def night(directory, listing, gpulint, cpus, parts):
    """Measures a scan of the plan in parts, on a cluster of one node with `cpus` processors. The cluster starts before the clock."""
    import ray

    store = Store(Path(directory) / f"store-{cpus}-{parts}", conftest.DATE)
    begun = time.monotonic()
    count = plan(store, read_list(listing), gpulint=gpulint)
    planned = time.monotonic() - begun
    ray.init(num_cpus=cpus, log_to_driver=False, logging_level="error")
    begun = time.monotonic()
    counts = {}
    for part in range(parts):
        for status, found in scan(store, engine="auto", part=(part, parts), gpulint=gpulint, **QUIET).items():
            counts[status] = counts.get(status, 0) + found
    wall = time.monotonic() - begun
    ray.shutdown()
    runs = [json.loads(line) for line in store.runs_path().read_text().splitlines()]
    (Path(directory) / "gpulint.toml").write_text(BUDGETS)
    clone, check, tasks = (sum(it.get(name, 0) for it in runs) for name in ("clone", "check", "seconds"))
    begun = time.monotonic()
    merge(store, budget_file=Path(directory) / "gpulint.toml")
    merged = time.monotonic() - begun
    begun = time.monotonic()
    page, used = report(store), use(store)
    reported = time.monotonic() - begun
    share = {
        name: f"{100 * value / (wall * cpus):.1f} %"
        for name, value in (
            ("clone", clone),
            ("check", check),
            ("rows", tasks - clone - check),
            ("engine", wall * cpus - tasks),
        )
    }
    slowest = max(runs, key=lambda it: it["seconds"])
    print(
        f"{cpus} processors, {parts} parts: {count} repositories in {wall:.1f} s, {count / wall:.1f} a second; {share}; {counts}"
    )
    print(
        f"  planned in {planned:.1f} s, merged in {merged:.2f} s, page of {len(page):,} and use of {len(used):,} characters in {reported:.2f} s; the longest task {slowest['seconds']:.1f} s ({slowest['id']})"
    )
    return store


def same(stores):
    texts = [conftest.store_files(it, ("rows", *conftest.TABLES)) for it in stores]
    print("the same bytes:", all(it == texts[0] for it in texts))


def many(directory, model, rows):
    """Writes so many rows, copied from a scanned repository, over 5,000 repositories."""
    store = Store(Path(directory) / "many", conftest.DATE)
    head, entries = model.plan()
    lines = max((model.rows_path(it["id"]).read_text().splitlines() for it in entries), key=len)
    first, *rest = [json.loads(line) for line in lines]
    each, planned = rows // 5000, []
    for number in range(5000):
        name = f"github.com/acme/r{number}"
        planned.append(
            {
                "id": name,
                "url": f"https://{name}",
                "ref": None,
                "size": None,
                "owner": None,
                "commit": (3 * digest(name))[:40],
            }
        )
        where = {"repository": name, "commit": planned[-1]["commit"]}
        text = (
            canonical(first | where)
            + "\n"
            + "".join(canonical(rest[n % len(rest)] | where | {"n": n + 1}) + "\n" for n in range(each))
        )
        write(store.rows_path(name), text)
    write(store.plan_path, "".join(canonical(it) + "\n" for it in [head, *planned]))
    for threads in (1, 2):
        begun = time.monotonic()
        merge(store, threads=threads)
        print(
            f"merge of {5000 * (each + 1):,} rows in 5,000 files, {threads} threads: {time.monotonic() - begun:.1f} s"
        )
    size = subprocess.run(
        ["du", "-sm", str(store.root / "rows"), *map(str, (store.table_path(t) for t in ("resources", "findings")))],
        capture_output=True,
        text=True,
    )
    print(size.stdout)


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("gpulint")
    asked.add_argument("--repositories", type=int, default=1000)
    asked.add_argument("--trees")
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="fleet-measure") as directory:
        begun = time.monotonic()
        listing = sources(directory, asked.repositories, asked.trees)
        print(f"made in {time.monotonic() - begun:.0f} s")
        stores = [night(directory, listing, asked.gpulint, *it) for it in ((1, 1), (2, 2), (2, 32))]
        same(stores)
        many(directory, stores[0], asked.rows)


if __name__ == "__main__":
    main()
