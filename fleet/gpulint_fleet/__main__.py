"""The command line: list, plan, scan, merge, report, use, fix."""

import argparse
import datetime
import json
import os
import re
import sys

from .address import origin
from .store import Refused, Store
from .text import replace_controls


def say(text, file=None):
    """Prints one line. The names in it come from repositories, so no control character goes to the terminal."""
    print(replace_controls(text), file=file or sys.stderr, flush=True)


def access(arguments):
    """Returns how git gets a token, and the one origin for which the token is valid."""
    from .hosts import git_origin

    given = {"helper": arguments.credential_helper, "variable": arguments.token_env, "file": arguments.token_file}
    given = {k: v for k, v in given.items() if v}
    if not given and not getattr(arguments, "app", None):
        return {}
    at = origin(arguments.token_origin) if arguments.token_origin else git_origin(arguments.kind, arguments.api)
    return given | {"user": arguments.user, "origin": at}


def git_options(arguments):
    return {"access": access(arguments), "retries": arguments.retries, "max_mib": arguments.max_mib}


def list_(arguments):
    from .hosts import listed

    token = token_of(arguments)
    for it in listed(
        arguments.kind, arguments.of, arguments.api, token, archived=arguments.archived, forks=arguments.forks, tell=say
    ):
        print(json.dumps(it, sort_keys=True))
    return 0


def token_of(arguments):
    from .hosts import app_token

    if getattr(arguments, "app", None):
        return app_token(arguments.api, arguments.app, arguments.app_key, arguments.installation)
    if arguments.token_file:
        with open(arguments.token_file, encoding="utf-8") as file:
            token = file.read().strip()
    elif arguments.token_env:
        # The message repeats neither the name nor the value: people pass the token itself by mistake.
        if arguments.token_env not in os.environ:
            raise Refused("the environment has no variable with the name from --token-env: set it, or name another")
        token = os.environ[arguments.token_env]
    else:
        return None
    if not re.fullmatch(r"[!-~]+", token):
        raise Refused("the token is empty, or contains a space or a line break: write only the token")
    return token


def credential(arguments):
    """Answers git as a credential helper for a GitHub App, if git asks for the code host of the App."""
    from .hosts import app_token, git_origin

    if arguments.verb_of_git == "get":
        asked = dict(line.split("=", 1) for line in sys.stdin.read().splitlines() if "=" in line)
        if f"{asked.get('protocol')}://{asked.get('host')}" != git_origin("github", arguments.api):
            return 0
        print(
            f"username=x-access-token\npassword={app_token(arguments.api, arguments.app, arguments.app_key, arguments.installation)}"
        )
    return 0


def plan_(arguments):
    from .plan import plan, read_list

    store = Store(arguments.store, arguments.date)
    count = plan(
        store,
        read_list(arguments.list, say),
        gpulint=arguments.gpulint,
        prices=arguments.prices,
        policy=arguments.policy,
        owners=arguments.owners,
        bill=arguments.bill,
        usage=arguments.usage,
        jobs=arguments.jobs,
        git=git_options(arguments),
        tell=say,
    )
    say(f"the plan of {arguments.date} has {count} repositories: {store.plan_path}")
    return 0


def scan_(arguments):
    from .scan import scan

    counts = scan(
        Store(arguments.store, arguments.date),
        engine=arguments.ray or "here",
        part=arguments.only,
        again=arguments.again,
        gpulint=arguments.gpulint,
        seconds=arguments.seconds,
        git=git_options(arguments),
        per_host=arguments.per_host,
        cache=arguments.cache,
        tell=say,
    )
    say(", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "nothing was left to scan")
    return 0


def merge_(arguments):
    from .budgets import line_of
    from .merge import merge

    store = Store(arguments.store, arguments.date)
    told, complete = merge(
        store,
        at_least=arguments.at_least,
        cluster_file=arguments.clusters,
        budget_file=arguments.budgets,
        threads=arguments.threads,
        tell=say,
    )
    say(f"{told['read']} of {told['planned']} repositories were read: {store.summary_path}")
    for name in told["not_scanned"][:10]:
        say(f"  not scanned: {name}")
    for it in told["failed"][:10]:
        say(f"  {it['status']}: {it['repository']}: {it['reason']}")
    for it in told["budgets"]:
        say(line_of(it))
    if not complete:
        say("the date is incomplete: run `gpulint-fleet scan --again`, then merge again")
    return 0 if complete else 3


def report_(arguments):
    from .report import report

    text = report(Store(arguments.store, arguments.date))
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


def use_(arguments):
    from .store import write
    from .use import sign, use

    write(arguments.output, use(Store(arguments.store, arguments.date)))
    if arguments.key:
        sign(arguments.output, arguments.key)
    return 0


def print_all(lines):
    for line in lines:
        say(line, sys.stdout)
    return 0


def commitments_(arguments):
    from .answers import commitments

    text, cautions = commitments(
        Store(arguments.store, arguments.date), arguments.gpulint, arguments.years, arguments.format
    )
    sys.stdout.write(text)
    for line in cautions:
        say(line)
    return 0


def reconcile_(arguments):
    from .answers import reconcile

    return print_all(reconcile(Store(arguments.store, arguments.date), arguments.month))


def usage_(arguments):
    from .answers import usage

    return print_all(usage(Store(arguments.store, arguments.date)))


def chargeback_(arguments):
    from .answers import chargeback

    return print_all(chargeback(Store(arguments.store, arguments.date), arguments.month))


def fix_(arguments):
    from .fix import fix

    done = fix(
        Store(arguments.store, arguments.date),
        arguments.rule,
        arguments.output,
        limit=arguments.limit,
        owner=arguments.owner,
        unsafe=arguments.unsafe_fixes,
        gpulint=arguments.gpulint,
        policy=arguments.policy,
        git=git_options(arguments),
        open_with=(arguments.kind, arguments.api, token_of(arguments)) if arguments.yes else None,
        tell=lambda line: say(line, sys.stdout),
    )
    say(f"{done} repositories today, limit {arguments.limit}")
    return 0


def part(text):
    index, _, of = text.partition("/")
    if not (index.isdigit() and of.isdigit() and int(index) <= int(of) and int(of) > 0):
        raise argparse.ArgumentTypeError("write the part as I/N, for example 3/16")
    return int(index), int(of)


def parser():
    top = argparse.ArgumentParser(prog="gpulint-fleet", description="Run gpulint over many repositories")
    verbs = top.add_subparsers(dest="verb", required=True)

    def verb(name, run, meaning):
        it = verbs.add_parser(name, help=meaning, description=meaning)
        it.set_defaults(run=run)
        return it

    def option(it, *names, **more):
        it.add_argument(*names, **more)

    def dated(it):
        option(it, "--store", required=True, help="directory that all machines share")
        option(
            it,
            "--date",
            default=datetime.date.today().isoformat(),
            help="date of the scan, for example 2026-11-26 [today]",
        )

    def fetching(it):
        secret(it)
        hosted(it)
        option(
            it,
            "--token-origin",
            metavar="ORIGIN",
            help="send the token to this origin only, for example https://git.example.com [origin of --kind and --api]",
        )
        option(it, "--gpulint", default="gpulint", help="run this gpulint program [gpulint]")
        option(it, "--credential-helper", help="ask this git credential helper for the token, in git's syntax")
        option(it, "--user", default="x-access-token", help="send this user name with the token [x-access-token]")
        option(it, "--retries", type=int, default=5, help="retry temporary failures this many times [5]")
        option(
            it,
            "--max-mib",
            type=int,
            default=4096,
            help="limit each file that git fetches or writes to this size in MiB [4096]",
        )

    def secret(it):
        option(it, "--token-env", metavar="NAME", help="read the token from this environment variable")
        option(it, "--token-file", metavar="FILE", help="read the token from this file, again for each fetch")

    def hosted(it):
        from .hosts import HOSTS

        option(it, "--kind", choices=sorted(HOSTS), default="github", help="code host [github]")
        option(
            it,
            "--api",
            help="address of the host's API, for example https://github.example.com/api/v3 [the public API]",
        )

    it = verb("list", list_, "list the repositories of an organization on a code host")
    option(it, "of", help="organization, group, workspace, or organization/project")
    hosted(it)
    secret(it)
    application(it)
    option(it, "--archived", action="store_true", help="include archived repositories")
    option(it, "--forks", action="store_true", help="include forks")

    it = verb("plan", plan_, "write the plan of a date: commits, prices, policy and program")
    option(it, "list", help="file of addresses, or the output of `list`; - for standard input")
    dated(it)
    fetching(it)
    option(it, "--prices", default="embedded", help="use `embedded` prices or a CSV file of prices [embedded]")
    option(
        it,
        "--policy",
        default="own",
        help="use `own` (each repository's settings), `none`, a gpulint.toml, or a directory with one [own]",
    )
    option(it, "--owners", help="read the owners of repositories from this file, in the format of CODEOWNERS")
    option(
        it, "--bill", metavar="FILE", help="match this bill with all repositories: the output of `gpulint usage bill`"
    )
    option(it, "--usage", metavar="FILE", help="match these usage metrics with all repositories: a gpulint-usage.csv")
    option(it, "--jobs", type=int, default=16, help="ask for this many commits in parallel [16]")

    it = verb("scan", scan_, "scan the planned repositories that have no rows yet")
    dated(it)
    fetching(it)
    option(
        it,
        "--ray",
        metavar="ADDRESS",
        help="scan on Ray: `auto`, `local`, or its address [scan here, one repository after the other]",
    )
    option(
        it, "--only", type=part, default=(0, 1), metavar="I/N", help="scan only this part of N, for indexed jobs [0/1]"
    )
    option(it, "--again", action="store_true", help="retry the repositories that failed")
    option(
        it, "--seconds", type=float, default=900, help="limit the time for one repository to this many seconds [900]"
    )
    option(it, "--per-host", type=int, default=64, help="limit parallel fetches from one code host [64]")

    option(it, "--cache", help="store fetched commits in this directory for the next scan")

    it = verb("merge", merge_, "combine the rows of a date into tables")
    dated(it)
    option(
        it, "--at-least", type=float, default=0.99, help="fail if a smaller share of the repositories was read [0.99]"
    )
    option(it, "--clusters", help="read from this TOML file which files belong to one cluster")
    option(
        it,
        "--budgets",
        metavar="FILE",
        help="read the budgets of the organization from this gpulint.toml [the policy of the plan]",
    )
    option(it, "--threads", type=int, help="limit the threads of DuckDB [all]")

    it = verb("report", report_, "write a page about all repositories")
    dated(it)
    option(it, "--output", required=True)

    it = verb("commitments", commitments_, "recommend commitments for the machines of all repositories")
    dated(it)
    option(it, "--gpulint", default="gpulint", help="run this gpulint program, that of the plan [gpulint]")
    option(
        it, "--years", type=int, choices=(0, 1, 3), default=1, help="consider commitments of up to this many years [1]"
    )
    option(it, "--format", choices=("text", "json", "csv"), default="text", help="write this format [text]")

    it = verb("reconcile", reconcile_, "compare the bill with the resources of all repositories")
    dated(it)
    option(it, "--month", metavar="YYYY-MM", help="compare this month [the last one that is billed in full]")

    it = verb("usage", usage_, "show which usage metrics match no resource of any repository")
    dated(it)

    it = verb("chargeback", chargeback_, "show the cost of each team, billed or expected, and the cost without a team")
    dated(it)
    option(it, "--month", metavar="YYYY-MM", help="use this month of the bill [the last one that is billed in full]")

    it = verb("use", use_, "write what all repositories use, for budgets of the organization in pull requests")
    dated(it)
    option(it, "--output", required=True, help="write the use to this CSV file, for example organization.csv")
    option(it, "--key", metavar="KEY.pem", help="sign the file with this Ed25519 key, into a file that ends with .sig")

    it = verb("fix", fix_, "write a branch and a patch for each repository with a fix for a rule")
    dated(it)
    fetching(it)
    application(it)
    option(it, "--rule", required=True)
    option(it, "--output", required=True, help="write the patches into this directory")
    option(it, "--policy", help="use this gpulint.toml [the policy of the plan]")
    option(it, "--limit", type=int, default=10, help="stop after this many repositories a day [10]")
    option(it, "--owner", help="fix only repositories of this owner")
    option(it, "--unsafe-fixes", action="store_true", help="also apply fixes that change how something runs")
    option(it, "--yes", action="store_true", help="push the branches and open pull requests")

    it = verb("credential", credential, "run as a git credential helper for a GitHub App")
    option(it, "--api")
    application(it)
    option(it, "verb_of_git")
    return top


def application(it):
    it.add_argument("--app", help="number or client ID of a GitHub App")
    it.add_argument("--app-key", help="private key of the App, a PEM file")
    it.add_argument("--installation", help="number of the App's installation")


def main(arguments=None):
    arguments = parser().parse_args(arguments)
    try:
        return arguments.run(arguments)
    except Refused as refused:
        say(f"error: {refused}")
        return 2
    except (OSError, UnicodeError) as error:
        say(f"error: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
