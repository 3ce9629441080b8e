"""Turns row files into the tables of a date. It reads what the plan names, so the result does not depend on how the work was split.

Sums use integers, every table has a total order, and each date has its own files.
"""

import json
import os
import shutil
import tempfile
import tomllib
from pathlib import Path

import duckdb

from . import bill, budgets
from .scan import file_text
from .store import Refused, digest, write
from .tables import OF_REPOSITORIES, ORDER, SCHEMA, loaded, tables

READ = ("ok", "empty")

# Why a repository with rows has no result.
UNFIT = "its rows do not fit the tables: remove them, and scan the repository again"


def gather(store, head, entries, out, unfit=()):
    """Writes the rows of the plan, one repository after the other, and returns the repositories without rows.

    DuckDB reads one file ten times as fast as five thousand small ones. `gather` refuses rows of another plan. A repository in
    `unfit` gets one row that names its failure.
    """
    missing = []
    for entry in entries:
        if entry["id"] in unfit:
            failure = {"status": "broken", "reason": UNFIT, "owner": entry["owner"]}
            out.write(file_text(head, entry, [failure]).encode())
            continue
        path = store.rows_path(entry["id"])
        try:
            file = open(path, "rb")
        except FileNotFoundError:
            missing.append(entry["id"])
            continue
        with file:
            line = file.readline()
            if origin_of(line) != (entry["id"], head["digest"], entry["commit"], head["date"]):
                raise Refused(
                    f"{path} is damaged or has rows of another plan (not of {entry['id']}): remove it, or merge another date"
                )
            out.write(line)
            shutil.copyfileobj(file, out)
            # The first row of the next repository must start on a new line, also after a truncated file.
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                out.write(b"\n")
    return missing


# The errors of DuckDB for a row that does not fit: a number beyond 64 bits, an object that is too large, or invalid JSON.
OF_ROWS = (duckdb.DataError, duckdb.InvalidInputException, duckdb.NotSupportedError)
DATABASE = "merge.duckdb"


def origin_of(line):
    """Returns the repository, plan, commit and date of a row, or None if the row is damaged."""
    try:
        row = json.loads(line)
        return row["repository"], row["plan"], row["commit"], row["date"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def clusters(path):
    """Returns the clusters of a file, as patterns of `repository:path` in which `*` matches anything."""
    if not path:
        return []
    with open(path, "rb") as file:
        said = tomllib.load(file).get("cluster", [])
    for it in said:
        if not isinstance(it.get("name"), str) or not all(isinstance(it.get(part), list) for part in ("pools", "pods")):
            raise Refused(f"`{path}`: a [[cluster]] needs a `name`, and the lists `pools` and `pods` with patterns")
    return [
        (it["name"], role, form)
        for it in said
        for role, part in (("rented", "pools"), ("requested", "pods"))
        for form in it[part]
    ]


def connect(directory, threads):
    database = duckdb.connect(str(Path(directory) / DATABASE))
    database.execute("set preserve_insertion_order = false")
    database.execute("set temp_directory = ?", [str(Path(directory) / "spilled")])
    if threads:
        database.execute("set threads = ?", [threads])
    return database


def load(store, head, entries, directory, threads):
    """Returns a database with the rows of the plan, the repositories without rows, and those whose rows do not fit the tables."""
    unfit = {}
    database = connect(directory, threads)
    try:
        return database, load_some(database, store, head, entries, directory), unfit
    except OF_ROWS:
        database.close()
    # DuckDB does not name the repository, so a bisection of the plan finds it. All other repositories keep their rows.
    find_unfit(store, head, entries, directory, threads, unfit)
    Path(directory, DATABASE).unlink()
    database = connect(directory, threads)
    return database, load_some(database, store, head, entries, directory, unfit), unfit


def find_unfit(store, head, entries, directory, threads, unfit):
    """Adds repositories whose rows DuckDB refuses, each with the first line of the cause."""
    cause = find_cause(store, head, entries, directory, threads)
    half = len(entries) // 2
    if cause and half:
        find_unfit(store, head, entries[:half], directory, threads, unfit)
        find_unfit(store, head, entries[half:], directory, threads, unfit)
    elif cause:
        unfit[entries[0]["id"]] = cause


def find_cause(store, head, entries, directory, threads):
    """Returns why DuckDB refuses the rows of these repositories, or None."""
    with tempfile.TemporaryDirectory(dir=directory) as part:
        database = connect(part, threads)
        try:
            load_some(database, store, head, entries, part)
        except OF_ROWS as error:
            return str(error).partition("\n")[0].replace(f"{part}/", "")[:300]
        finally:
            database.close()
    return None


def load_some(database, store, head, entries, directory, unfit=()):
    rows = Path(directory) / "rows.ndjson"
    with open(rows, "wb") as out:
        missing = gather(store, head, entries, out, unfit)
    load_tables(database, str(rows))
    rows.unlink()
    return missing


def load_tables(database, rows):
    columns = {"row": "VARCHAR", "n": "BIGINT"}
    for _, of_table in loaded().values():
        columns |= {name: kind if columns.get(name, kind) == kind else "VARCHAR" for name, kind in of_table.items()}
    database.execute(
        "create table rows as select * from read_json(?, format = 'newline_delimited', columns = ?, maximum_object_size = 67108864)",
        [rows, columns],
    )
    for table, (row, of_table) in loaded().items():
        names = ", ".join(f'"{name}"::{kind} as "{name}"' for name, kind in of_table.items())
        database.execute(f"create table {table} as select n, {names} from rows where row = '{row}'")
    database.execute("drop table rows")


# The same file with the same resource in another repository: a fork, a mirror, a copied example. It stays in the totals.
COPIES = """
alter table repositories add column duplicate_of varchar;
update repositories set duplicate_of = first from (
  select tree, min(repository) as first from repositories where status = 'ok' group by tree having count(*) > 1
) as copies where repositories.tree = copies.tree and repositories.repository <> first and status = 'ok';
alter table resources add column duplicate_of varchar;
update resources set duplicate_of = first from (
  select blob, path, address, min(repository) as first from resources where blob is not null
  group by all having count(distinct repository) > 1
) as copies
where resources.blob = copies.blob and resources.path = copies.path and resources.address = copies.address
  and resources.repository <> first;
"""

# What the report of a machine says about commitments.
DEMANDS = """
alter table resources add column standing varchar;
alter table resources add column always_on double;
alter table resources add column committed double;
update resources set standing = json_extract_string(report, '$.demand.standing'), always_on = try_cast(json_extract(report, '$.demand.always') as double),
  committed = try_cast(json_extract(report, '$.demand.covered') as double) where json_valid(report);
"""

# Matches pods to pools of the same cluster in other repositories, if a pod matches no pool of its own repository. A pool matches if it has
# the pod's accelerator and the pod's node labels allow it. If the pod names no accelerator, `joined` is `some pool`.
JOINS = """
alter table resources add column cluster varchar;
alter table resources add column joined varchar;
alter table resources add column pools_in varchar;
create table members as
  select repository, n, c.name, c.role, c.form from resources as r join clusters as c
  on r.role = c.role and (r.repository || ':' || r.path) glob c.form;
update resources set cluster = name from (
  select repository, n, min(name) as name from members group by all
) as found where resources.repository = found.repository and resources.n = found.n;
create table partners as
  select pod.repository, pod.n, string_agg(distinct pool.repository, ', ' order by pool.repository) as pools_in,
    bool_or(pod.accelerator is null) as is_open
  from resources as pod join resources as pool using (cluster)
  where pod.role = 'requested' and pod.adds_up and pool.role = 'rented' and pod.counted = 'deployed' and pool.counted = 'deployed'
    and pool.accelerator is not null and (pod.accelerator is null or pod.accelerator = pool.accelerator)
    and len(list_filter(map_keys(pod.node_labels), lambda key:
      pod.node_labels[key] is not null and pool.node_labels[key] is not null and pod.node_labels[key] <> pool.node_labels[key]
      or pod.node_labels[key] is not null and pool.node_labels[key] is null and not pool.node_labels_open
         and not starts_with(key, 'kubernetes.io/') and not contains(key, '.kubernetes.io/') and not contains(key, 'cloud.google.com/')
    )) = 0
  group by all;
update resources set joined = case when p.is_open then 'some pool' else 'pool' end, pools_in = p.pools_in
  from partners as p where resources.repository = p.repository and resources.n = p.n;
update resources set joined = case when adds_up then 'no pool' else 'own repository' end
  where cluster is not null and role = 'requested' and joined is null and counted = 'deployed';
create table twice as select coalesce(sum(in_sum_expected_micro_usd), 0) as micro_usd from resources where joined in ('pool', 'some pool');
update resources set adds_up = false, in_sum_floor_micro_usd = 0 * in_sum_floor_micro_usd,
  in_sum_expected_micro_usd = 0 * in_sum_expected_micro_usd, in_sum_ceiling_micro_usd = 0 * in_sum_ceiling_micro_usd
  where joined in ('pool', 'some pool');
"""

# The patterns of clusters that no resource matches, for example because of a misspelled name.
UNMATCHED = """select name, case role when 'rented' then 'pools' else 'pods' end, form from clusters
  except select name, case role when 'rented' then 'pools' else 'pods' end, form from members order by all"""

# DuckDB sums 64-bit integers with 128 bits, and Python has no limit. A cast to 64 bits would fail the whole merge if one
# repository has the largest amount that gpulint prints.
MONEY = "coalesce(sum({}_expected_micro_usd), 0)"

SUMS = f"""
select count(*) filter (status = 'ok'), count(*) filter (status in ('ok', 'empty')),
  {MONEY.format("rented")}, {MONEY.format("requested")}, {MONEY.format("combined")}, coalesce(sum(waste_micro_usd), 0),
  coalesce(sum(resources), 0), coalesce(sum(findings), 0), coalesce(sum(unjudged), 0), coalesce(sum(unpriced), 0)
from repositories
"""

# The amount that the sums of repositories contain twice: a pod in one repository, and its pool in another.
TWICE = "select micro_usd from twice"


def export(database, store):
    for table, columns in tables().items():
        path = store.table_path(table)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(".part")
        # DuckDB would write through a link, so remove one first.
        part.unlink(missing_ok=True)
        names = ", ".join(f'"{name}"' for name in columns)
        database.execute(
            f"copy (select {names} from {table} order by {ORDER.get(table, OF_REPOSITORIES)}) to '{quoted(part)}' "
            f"(format parquet, compression zstd, row_group_size 122880, kv_metadata {{gpulint_schema: '{SCHEMA}'}})"
        )
        part.replace(path)


def quoted(path):
    return str(path).replace("'", "''")


def summary(database, store, head, entries, missing, cluster_file):
    statuses = database.execute("select status, count(*) from repositories group by status order by status").fetchall()
    failed = database.execute(
        "select repository, status, reason from repositories where status not in ('ok', 'empty') order by repository"
    ).fetchall()
    names = "ok read rented requested combined waste resources findings unjudged unpriced".split()
    sums = dict(zip(names, database.execute(SUMS).fetchone()))
    money = {f"{name}_expected_micro_usd": sums.pop(name) for name in ("rented", "requested", "combined")}
    return {
        "schema": SCHEMA,
        "date": head["date"],
        "plan": head["digest"],
        "gpulint": head["gpulint"],
        "prices": head["prices"],
        "policy": head["policy"],
        "clusters": digest(cluster_file),
        "unmatched_patterns": [
            dict(zip(("cluster", "list", "pattern"), it)) for it in database.execute(UNMATCHED).fetchall()
        ],
        "planned": len(entries),
        "scanned": len(entries) - len(missing),
        "read": sums.pop("read"),
        "statuses": dict(statuses),
        "not_scanned": missing,
        "failed": [dict(zip(("repository", "status", "reason"), it)) for it in failed],
        **money,
        "waste_micro_usd": sums.pop("waste"),
        "counted_twice_micro_usd": database.execute(TWICE).fetchone()[0],
        "budgets": budgets.rows(database),
        **sums,
    }


def merge(store, *, at_least=0.99, cluster_file=None, budget_file=None, threads=None, tell=lambda line: None):
    """Writes the tables of the date and their summary. Returns the summary, and whether the date is complete."""
    try:
        return merge_all(store, at_least, cluster_file, budget_file, threads, tell)
    except duckdb.Error as error:
        cause = str(error).partition("\n")[0]
        raise Refused(
            f"DuckDB cannot merge the rows of {store.date}: {cause}. Free memory and space in TMPDIR, or report this line "
            "at https://github.com/gpulint/gpulint/issues."
        ) from None


def count_unread(database, missing):
    query = "select count(*) from repositories where status not in ('ok', 'empty')"
    return len(missing) + database.execute(query).fetchall()[0][0]


def budgets_of(store, head, file):
    """Returns the budgets of a file, or else those of the policy of the plan."""
    found = budgets.read(file or (head["policy"] not in ("own", "none") and store.input_path(head["policy"])))
    if file and not found:
        raise Refused(f'{file}: no budget is for the organization: write `scope = "organization"` into its [[budgets]]')
    return found


def merge_all(store, at_least, cluster_file, budget_file, threads, tell):
    head, entries = store.plan()
    belongs, wanted = clusters(cluster_file), budgets_of(store, head, budget_file)
    with tempfile.TemporaryDirectory(prefix="gpulint-fleet-merge") as directory:
        database, missing, unfit = load(store, head, entries, directory, threads)
        if len(missing) == len(entries):
            raise Refused(f"no repository of {store.date} was scanned: run `gpulint-fleet scan`")
        for entry in entries:
            if entry["id"] in unfit:
                tell(
                    f"{entry['id']}: {store.rows_path(entry['id'])}: the rows do not fit the tables ({unfit[entry['id']]}). "
                    "Remove the file, then run `gpulint-fleet scan`."
                )
        database.execute("create table clusters (name varchar, role varchar, form varchar)")
        if belongs:
            database.executemany("insert into clusters values (?, ?, ?)", belongs)
        database.execute(COPIES)
        database.execute(JOINS)
        database.execute(DEMANDS)
        bill.evaluate(database, store, head, directory)
        budgets.evaluate(database, wanted, head["date"], count_unread(database, missing))
        export(database, store)
        told = summary(database, store, head, entries, missing, belongs)
        database.close()
    for it in told["unmatched_patterns"]:
        tell(
            f"{cluster_file}: cluster `{it['cluster']}`: no resource matches `{it['pattern']}` in `{it['list']}`. "
            "Write the pattern as repository:path, with the name of the table `repositories`; `*` matches anything."
        )
    write(store.summary_path, json.dumps(told, indent=1, sort_keys=True) + "\n")
    return told, not missing and told["read"] >= at_least * told["planned"]
