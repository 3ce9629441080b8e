"""The command line: list, plan, scan, merge, report, fix."""

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
    """How git gets a token, and the one origin that it is valid for."""
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
            raise Refused("the environment has no variable of the name that --token-env gives: set it, or name another")
        token = os.environ[arguments.token_env]
    else:
        return None
    if not re.fullmatch(r"[!-~]+", token):
        raise Refused("the token is empty, or holds a space or a line break: write the token alone")
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
        jobs=arguments.jobs,
        git=git_options(arguments),
    )
    say(f"{count} repositories are planned for {arguments.date}: {store.plan_path}")
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
    from .merge import merge

    store = Store(arguments.store, arguments.date)
    told, complete = merge(
        store, at_least=arguments.at_least, cluster_file=arguments.clusters, threads=arguments.threads, tell=say
    )
    say(f"{told['read']} of {told['planned']} repositories were read: {store.summary_path}")
    for name in told["not_scanned"][:10]:
        say(f"  not scanned: {name}")
    for it in told["failed"][:10]:
        say(f"  {it['status']}: {it['repository']}: {it['reason']}")
    if not complete:
        say("the date is not complete")
    return 0 if complete else 3


def report_(arguments):
    from .report import report

    text = report(Store(arguments.store, arguments.date))
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


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
    say(f"{done} of at most {arguments.limit} a day")
    return 0


def part(text):
    index, _, of = text.partition("/")
    if not (index.isdigit() and of.isdigit() and int(index) <= int(of) and int(of) > 0):
        raise argparse.ArgumentTypeError("write it as 3/16")
    return int(index), int(of)


def parser():
    top = argparse.ArgumentParser(prog="gpulint-fleet", description="gpulint over many repositories")
    verbs = top.add_subparsers(dest="verb", required=True)

    def verb(name, run, meaning):
        it = verbs.add_parser(name, help=meaning, description=meaning)
        it.set_defaults(run=run)
        return it

    def option(it, *names, **more):
        it.add_argument(*names, **more)

    def dated(it):
        option(it, "--store", required=True, help="the directory that all machines see")
        option(it, "--date", default=datetime.date.today().isoformat(), help="the night, as 2026-11-26 [today]")

    def fetching(it):
        secret(it)
        hosted(it)
        option(
            it,
            "--token-origin",
            metavar="ORIGIN",
            help="send the token to this origin only, for example https://git.example.com [that of --kind and --api]",
        )
        option(it, "--gpulint", default="gpulint", help="the program [gpulint]")
        option(it, "--credential-helper", help="a credential helper of git, in its own words")
        option(it, "--user", default="x-access-token", help="the user name that goes with the token [x-access-token]")
        option(it, "--retries", type=int, default=5, help="how often what may pass by itself is tried again [5]")
        option(it, "--max-mib", type=int, default=4096, help="the largest file that may be fetched or written [4096]")

    def secret(it):
        option(it, "--token-env", metavar="NAME", help="the variable of the environment that holds the token")
        option(it, "--token-file", metavar="FILE", help="the file that holds the token; read anew by every fetch")

    def hosted(it):
        from .hosts import HOSTS

        option(it, "--kind", choices=sorted(HOSTS), default="github", help="the code host [github]")
        option(it, "--api", help="its interface, where it is not the public one: https://github.example.com/api/v3")

    it = verb("list", list_, "list the repositories of an organization as a code host knows them")
    option(it, "of", help="the organization, group, workspace, or organization/project")
    hosted(it)
    secret(it)
    application(it)
    option(it, "--archived", action="store_true", help="archived ones too")
    option(it, "--forks", action="store_true", help="forks too")

    it = verb("plan", plan_, "fix what is to be read: commits, prices, policy, program")
    option(it, "list", help="a file of addresses, or what `list` printed; - for standard input")
    dated(it)
    fetching(it)
    option(it, "--prices", default="embedded", help="`embedded`, or a CSV file of prices [embedded]")
    option(
        it,
        "--policy",
        default="own",
        help="`own` (each repository's settings), `none`, or a gpulint.toml or the directory with one [own]",
    )
    option(it, "--owners", help="who answers for which repositories, in the form of CODEOWNERS")
    option(it, "--jobs", type=int, default=16, help="commits that are asked for at once [16]")

    it = verb("scan", scan_, "read what was planned and is not read yet")
    dated(it)
    fetching(it)
    option(
        it,
        "--ray",
        metavar="ADDRESS",
        help="`auto`, `local`, or an address of Ray; without it, one after the other, here",
    )
    option(it, "--only", type=part, default=(0, 1), metavar="I/N", help="this part of N, for jobs that are counted")
    option(it, "--again", action="store_true", help="what failed, too")
    option(it, "--seconds", type=float, default=900, help="the longest that one repository may take [900]")
    option(it, "--per-host", type=int, default=64, help="fetches of one code host at once [64]")

    option(it, "--cache", help="a directory for what was fetched, for the next night")

    it = verb("merge", merge_, "put the rows of a date together")
    dated(it)
    option(it, "--at-least", type=float, default=0.99, help="the share that must have been read [0.99]")
    option(it, "--clusters", help="which files belong to one cluster (TOML)")
    option(it, "--threads", type=int, help="threads of DuckDB [all]")

    it = verb("report", report_, "a page about all repositories")
    dated(it)
    option(it, "--output", required=True)

    it = verb("fix", fix_, "make a branch and a patch for each repository that a rule can mend")
    dated(it)
    fetching(it)
    application(it)
    option(it, "--rule", required=True)
    option(it, "--output", required=True, help="the directory for patches")
    option(it, "--policy", help="the gpulint.toml by which to fix [that of the plan]")
    option(it, "--limit", type=int, default=10, help="repositories a day [10]")
    option(it, "--owner", help="only what this owner answers for")
    option(it, "--unsafe-fixes", action="store_true", help="also what changes how something runs")
    option(it, "--yes", action="store_true", help="push the branches and open pull requests")

    it = verb("credential", credential, "answer git as a credential helper, for a GitHub App")
    option(it, "--api")
    application(it)
    option(it, "verb_of_git")
    return top


def application(it):
    it.add_argument("--app", help="the number or client ID of a GitHub App")
    it.add_argument("--app-key", help="its private key, a PEM file")
    it.add_argument("--installation", help="the number of its installation")


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
