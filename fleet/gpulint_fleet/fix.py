"""Writes branches and patches for findings that a rule can fix, up to a daily limit. It pushes only if `open_with` is set."""

import json
import re
import shlex
from pathlib import Path

import duckdb

from . import commands
from .address import parse
from .git import Failed, Git
from .hosts import propose
from .scratch import scratch
from .store import Refused, append, canonical, digest, write
from .text import OF_ONE_REPOSITORY, cause_of, replace_controls

# How long gpulint may take to fix one repository, in seconds.
FIX_SECONDS = 900

AUTHOR = ["-c", "user.name=gpulint", "-c", "user.email=gpulint@users.noreply.github.com", "-c", "commit.gpgsign=false"]


def candidates(store, rule, owner):
    """Returns the repositories with findings of the rule that are not accepted, the most findings first."""
    path = str(store.table_path("findings")).replace("'", "''")
    query = f"""select repository, count(*), any_owner from (
        select *, max(owner) over (partition by repository) as any_owner from read_parquet('{path}')
        where rule = ? and not suppressed and baseline is null and (? is null or owner = ?))
      group by repository, any_owner order by count(*) desc, repository"""
    if not store.table_path("findings").exists():
        raise Refused(f"the rows of {store.date} are not merged: run `gpulint-fleet merge`")
    return duckdb.connect().execute(query, [rule, owner, owner]).fetchall()


def log_path(store):
    return store.root / "fixes" / f"date={store.date}.ndjson"


def earlier(store, rule):
    """Returns the number of today's patches, for the limit, and all earlier patches, so that none is offered twice."""
    today, ever = 0, set()
    for path in sorted((store.root / "fixes").glob("date=*.ndjson")):
        for line in path.read_text().splitlines():
            it = json.loads(line)
            ever.add((it["repository"], it["rule"], it["patch"]))
            today += path == log_path(store)
    return today, ever


def apply_fix(gpulint, directory, rule, policy, prices, date, unsafe):
    """Runs gpulint on the checkout, with the fixes of this rule only. Returns the address of the rule's documentation, if it has one."""
    arguments = [
        gpulint,
        "check",
        ".",
        "--fix",
        "--select",
        rule,
        "--today",
        date,
        "--prices",
        prices,
        "--color",
        "never",
        "--no-baseline",
        "--format",
        "sarif",
        "-q",
    ]
    arguments += ["--unsafe-fixes"] if unsafe else []
    arguments += ["--no-config"] if policy == "none" else [] if policy in (None, "own") else ["--config", policy]
    with scratch() as home:
        try:
            done = commands.run(arguments, FIX_SECONDS, cwd=directory, env=commands.gpulint_environment(home))
        except commands.TimedOut:
            raise Failed("timeout") from None
    if done.code not in (0, 1):
        raise Failed("crashed", done.err)
    try:
        rules = json.loads(done.out)["runs"][0]["tool"]["driver"]["rules"]
        return next((it.get("helpUri") for it in rules if it["id"] == rule), None)
    except OF_ONE_REPOSITORY:
        raise Failed("crashed", done.err) from None


def inputs(store, head, policy):
    at = lambda kept: str(store.input_path(kept).absolute())
    policy = (
        str(Path(policy).absolute())
        if policy
        else head["policy"]
        if head["policy"] in ("own", "none")
        else at(head["policy"])
    )
    return policy, head["prices"] if head["prices"] == "embedded" else at(head["prices"])


def fix(store, rule, output, *, limit, owner, unsafe, gpulint, policy, git, open_with, tell):
    """Returns the number of repositories that got a patch today."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9/_-]*", rule):
        raise Refused(f"`{rule}` is not a rule name: `gpulint rules list` lists them")
    head, entries = store.plan()
    planned = {it["id"]: it for it in entries if it["commit"]}
    gpulint = commands.find_program(gpulint)
    policy, prices = inputs(store, head, policy)
    made, ever = earlier(store, rule)
    branch = f"gpulint/{rule}"
    Path(output).mkdir(parents=True, exist_ok=True)
    for repository, count, of in candidates(store, rule, owner):
        if made >= limit:
            break
        entry = planned.get(repository)
        if not entry:
            continue
        valid_for = git.get("access", {}).get("origin")
        if open_with and parse(entry["url"]).origin != valid_for:
            tell(f"# {repository}: the token is valid for {valid_for} only: set another origin with --token-origin")
            continue
        runner = Git(**git)
        with scratch() as directory:
            try:
                if runner.tip(entry["url"], branch):
                    tell(f"# {repository}: the branch {branch} already exists")
                    continue
                runner.checkout(entry["url"], entry["commit"], directory)
                documented = apply_fix(gpulint, directory, rule, policy, prices, head["date"], unsafe)
                text = runner("diff", "--no-ext-diff", "--no-textconv", cwd=directory)
                if not text or (repository, rule, digest(text)) in ever:
                    continue
                patch = committed(runner, directory, branch, rule, documented, count, of, output, repository)
                tell(f"# {repository}: {count} findings of {rule}, owner {of or 'unknown'}")
                if open_with:
                    opened(runner, directory, entry, branch, rule, documented, open_with, tell)
                else:
                    for line in by_hand(entry, branch, patch):
                        tell(line)
            except Failed as failed:
                tell(f"# {repository}: {failed.reason}")
                continue
            except OF_ONE_REPOSITORY as error:
                tell(f"# {repository}: gpulint-fleet cannot fix it: {cause_of(error)}. Fix this repository by hand.")
                continue
        made += 1
        row = {"repository": repository, "rule": rule, "patch": digest(text), "owner": of, "opened": bool(open_with)}
        append(log_path(store), canonical(row) + "\n")
    return made


def about(rule, documented):
    """Returns the reference to a rule. A rule of a policy has the documentation that its pack names, or none."""
    return documented or f"rule {rule} of the policy"


def committed(git, directory, branch, rule, documented, count, owner, output, repository):
    """Commits on a new branch, and writes the commit as a patch for `git am`."""
    git("checkout", "-q", "-b", branch, cwd=directory)
    message = f"Fix {rule} (gpulint)\n\n{count} findings; {replace_controls(about(rule, documented))}"
    of = ["-m", f"Owner: {replace_controls(owner)}"] if owner else []
    git(*AUTHOR, "commit", "-q", "-a", "-m", message, *of, cwd=directory)
    patch = Path(output) / f"{repository.replace('/', '+')}.{rule.replace('/', '+')}.patch"
    write(patch, git("format-patch", "-1", "--stdout", "--no-ext-diff", "--no-textconv", cwd=directory))
    return patch


def by_hand(entry, branch, patch):
    return [
        f"git clone -- {shlex.quote(entry['url'])} work && cd work",
        f"git checkout -b {branch} {entry['commit']}",
        f"git am {shlex.quote(str(patch.absolute()))}",
        f"git push origin {branch}",
    ]


def opened(git, directory, entry, branch, rule, documented, open_with, tell):
    kind, api, token = open_with
    if not token:
        raise Refused("--yes opens pull requests and needs a token: pass --token-env or --token-file")
    git.talk(entry["url"], ["push", "-q"], f"{branch}:{branch}", cwd=directory)
    base = entry["ref"] or "main"
    body = f"gpulint fixed the findings of the rule {rule} in this change. Rule: {replace_controls(about(rule, documented))}"
    tell(propose(kind, api, token, entry["url"], branch, base, f"gpulint: {rule}", body))
