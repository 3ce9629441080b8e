"""Tests owners, the page about all repositories, branches and patches, and the manifests."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pytest
from conftest import DATE, POOL, ROOT, git, make
from serving import Served

from gpulint_fleet import scan
from gpulint_fleet.fix import fix
from gpulint_fleet.merge import merge
from gpulint_fleet.owners import Owners
from gpulint_fleet.plan import identity, plan, read_list
from gpulint_fleet.report import report
from gpulint_fleet.store import Refused, Store

QUIET = {"tell": lambda _: None}


# The examples of GitHub's page "About code owners", read in November 2026, with its expected results.
CODEOWNERS = """# a comment
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/github
"""


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("README.md", "@global-owner1 @global-owner2"),
        ("src/a.js", "@js-owner"),
        ("build/logs/x/y", "@octocat"),
        ("docs/getting-started.md", "@doctocat"),
        ("other/docs/x.md", "@global-owner1 @global-owner2"),
        ("a/apps/x/y.md", "@octocat"),
        ("deeply/nested/logs/a", "@octocat"),
        ("apps/github/x", None),
        ("scripts/deep/er/x.sh", "@doctocat @octocat"),
    ],
)
def test_owners_are_those_that_github_says(path, owner):
    assert Owners(CODEOWNERS).of(path) == owner


def test_direct_children_sections_and_catalogues():
    owners = Owners("docs/* @a\n[Terraform][2] @tf\ninfra/\n^[Data] @data\n*.sql\nspecial.sql @dba\n")
    assert owners.of("docs/a.md") == "@a" and owners.of("docs/b/c.md") is None
    assert owners.of("infra/x/y.tf") == "@tf" and owners.of("x.sql") == "@data" and owners.of("a/special.sql") == "@dba"
    catalogue = Owners("github.com/acme/ @acme\ngithub.com/acme/infra-* @platform\n")
    assert catalogue.of("github.com/acme/x") == "@acme" and catalogue.of("github.com/acme/infra-eu") == "@platform"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/infra.git",
        "https://x:token@github.com/acme/infra",
        "git@github.com:acme/infra.git",
        "ssh://git@github.com/acme/infra.git",
    ],
)
def test_a_repository_is_one_however_it_is_written(url):
    assert identity(url) == "github.com/acme/infra"


class Page(HTMLParser):
    """Collects open tags and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br", "rect", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def two_nights(tmp_path, gpulint):
    """A second date with a change, a removed repository, and a new one."""
    hostile = {
        "main.tf": POOL.format(name="p", machine="g5.xlarge", team="<script>alert(1)</script>", size=1, most=1),
        "CODEOWNERS": "* @<b>x</b>\n",
    }
    accepted = "# gpulint: ignore[missing-auto-shutdown] until=2026-12-10 -- agreed\n" + POOL.format(
        name="k", machine="g5.xlarge", team="a", size=1, most=1
    )
    urls = {
        name: make(tmp_path / "hosts", name, files)
        for name, files in (
            ("hostile", hostile),
            ("accepted", {"main.tf": accepted}),
            ("gone", {"main.tf": POOL.format(name="g", machine="g5.xlarge", team="b", size=2, most=2)}),
        )
    }
    nights = []
    # The labels of one machine show that the bill is split by labels, so the machine without labels is reported.
    labelled = 'resource "aws_instance" "job" {\n  instance_type = "g5.xlarge"\n  tags = { team = "b" }\n}\n'
    unlabelled = 'resource "aws_instance" "web" {\n  instance_type = "g5.xlarge"\n}\n'
    urls["mended"] = make(tmp_path / "hosts", "mended", {"main.tf": unlabelled, "job.tf": labelled})
    for date in ("2026-11-25", DATE):
        if date == DATE:
            work = tmp_path / "work"
            git("clone", "-q", urls["mended"], str(work))
            (work / "main.tf").write_text(
                '\n\nresource "aws_instance" "web" {\n  instance_type = "p4d.24xlarge"\n  tags = { team = "a" }\n}\n'
            )
            git("commit", "-q", "-a", "-m", "labels", cwd=work)
            git("push", "-q", "origin", "HEAD:main", cwd=work)
            shutil.rmtree(urls["gone"].removeprefix("file://"))
            urls["new"] = make(
                tmp_path / "hosts",
                "new",
                {
                    "main.tf": POOL.format(name="n", machine="p5.48xlarge", team="a", size=1, most=1),
                    ".github/workflows/g.yml": "uses: gpulint/gpulint@v1\n",
                },
            )
        (tmp_path / "list").write_text("\n".join(urls.values()))
        store = Store(tmp_path / "store", date)
        plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
        scan(store, gpulint=gpulint, **QUIET)
        merge(store)
        nights.append(store)
    return nights


def test_the_page_tells_money_waste_moves_and_what_is_missing(tmp_path, gpulint):
    first, second = two_nights(tmp_path, gpulint)
    text = report(second)
    page = Page(text)
    assert "<script>" not in text and "<b>x" not in text and "alert(1)" in page.text
    summary = json.loads(second.summary_path.read_text())
    assert f"${round(summary['combined_expected_micro_usd'] / 1e6):,}/month" in page.text
    for words in (
        "1 of 5 repositories were not read",
        "the repository does not exist",
        "not read now",
        "new",
        "@<b>x</b>",
        "agreed",
        "2026-12-10",
        "missing-auto-shutdown",
    ):
        assert words in page.text, words
    assert "1 of 4 repositories with accelerators run gpulint" in page.text
    fates = page.text.split("Findings since 2026-11-25")[1].split("Dates, the latest first")[0]
    assert re.search(r"missing-labels ?0 ?1 ?0 ?0", fates), fates
    assert "This is the first date." in Page(report(first)).text
    assert report(second) == text
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "img", "iframe"), tag
        assert "http" not in attributes.get("src", "")
    assert all(dict(attributes).get("scope") for tag, attributes in page.tags if tag == "th" and attributes)


def test_a_page_of_a_date_that_is_not_merged_is_refused(planned):
    with pytest.raises(Refused, match="not merged"):
        report(planned())


SETTINGS = '[labels]\nrequired = ["cost-center"]\n[labels.values]\ncost-center = ["4711"]\n'


def unlabelled(tmp_path, gpulint, count=3):
    policy = tmp_path / "gpulint.toml"
    policy.write_text(SETTINGS)
    text = 'resource "aws_instance" "web" {\n  instance_type = "g5.xlarge"\n}\n'
    urls = [
        make(tmp_path / "hosts", f"u{n}", {"main.tf": text + "\n" * n, "CODEOWNERS": f"* @team-{n}\n"})
        for n in range(count)
    ]
    (tmp_path / "list").write_text("\n".join(urls))
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint, policy=str(policy))
    scan(store, gpulint=gpulint, **QUIET)
    merge(store)
    return store, urls


def mend(store, tmp_path, gpulint, **more):
    said = []
    options = {
        "limit": 10,
        "owner": None,
        "unsafe": False,
        "policy": None,
        "git": {"retries": 0, "access": {"origin": "file://"}},
        "open_with": None,
        "tell": said.append,
    }
    count = fix(store, "missing-labels", tmp_path / "patches", gpulint=gpulint, **(options | more))
    return count, "\n".join(said)


def test_patches_apply_and_cure_and_nothing_is_pushed(tmp_path, gpulint):
    store, urls = unlabelled(tmp_path, gpulint)
    count, said = mend(store, tmp_path, gpulint, limit=2)
    assert count == 2
    patches = sorted((tmp_path / "patches").glob("*.patch"))
    assert len(patches) == 2
    for url in urls:
        assert git("branch", "--list", cwd=url.removeprefix("file://")) == "* main"
    # The printed commands work as they are.
    for step in [part for part in said.split("# ") if "git am" in part]:
        commands = step.split("\n", 1)[1].replace("git push", ": git push")
        place = tmp_path / "hand"
        place.mkdir()
        environment = os.environ | {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
        subprocess.run(["sh", "-ec", commands], cwd=place, check=True, capture_output=True, env=environment)
        arguments = [
            gpulint,
            "check",
            ".",
            "--config",
            str(tmp_path / "gpulint.toml"),
            "--select",
            "missing-labels",
            "--format",
            "concise",
        ]
        done = subprocess.run(arguments, cwd=place / "work", capture_output=True, text=True)
        assert "missing-labels" not in done.stdout, done.stdout
        assert '"4711"' in (place / "work/main.tf").read_text()
        said_by_patch = git("log", "-1", "--format=%B", cwd=place / "work")
        assert "https://gpulint.github.io/gpulint/rules/missing-labels.html" in said_by_patch
        assert "Owner: @team-" in git("log", "-1", "--format=%B", cwd=place / "work")
        shutil.rmtree(place)
    # The day's limit holds over several runs, and no repository gets a patch twice.
    count, _ = mend(store, tmp_path, gpulint, limit=2)
    assert count == 2 and len(list((tmp_path / "patches").glob("*.patch"))) == 2
    count, _ = mend(store, tmp_path, gpulint, limit=10)
    assert count == 3 and len(list((tmp_path / "patches").glob("*.patch"))) == 3
    count, _ = mend(store, tmp_path, gpulint, limit=10)
    assert count == 3


def test_an_owner_gets_what_is_theirs(tmp_path, gpulint):
    store, _ = unlabelled(tmp_path, gpulint)
    count, said = mend(store, tmp_path, gpulint, owner="@team-1")
    assert count == 1 and "@team-1" in said and "@team-0" not in said


def test_with_yes_branches_are_pushed_and_pull_requests_opened(tmp_path, gpulint):
    store, urls = unlabelled(tmp_path, gpulint, count=2)
    with Served(lambda request: (201, {}, b'{"html_url": "https://github.com/acme/x/pull/1"}')) as host:
        count, said = mend(store, tmp_path, gpulint, open_with=("github", host.url, "token"))
    assert count == 2 and said.count("/pull/1") == 2
    for url in urls:
        assert "gpulint/missing-labels" in git("branch", "--list", cwd=url.removeprefix("file://"))
    bodies = [json.loads(body) for _, _, _, body in host.requests]
    assert all(it["head"] == "gpulint/missing-labels" and it["base"] == "main" for it in bodies)
    # `fix` leaves out a repository of another origin than the token's, whatever its path is.
    with Served(lambda request: (201, {}, b"{}")) as host:
        elsewhere = {"retries": 0, "access": {"origin": "https://github.com", "variable": "NONE"}}
        _, said = mend(store, tmp_path, gpulint, open_with=("github", host.url, "token"), git=elsewhere, limit=20)
    assert host.requests == [] and said.count("the token is valid for https://github.com only") == 2
    # `fix` leaves an existing branch alone.
    (store.root / "fixes").joinpath(f"date={DATE}.ndjson").unlink()
    count, said = mend(store, tmp_path, gpulint)
    assert count == 0 and "already" in said
    with pytest.raises(Refused, match="needs a token"):
        git("branch", "-D", "gpulint/missing-labels", cwd=urls[0].removeprefix("file://"))
        mend(store, tmp_path, gpulint, open_with=("github", None, None))


OWN_RULE = """---
name: our-labels
untested: true
for: resource
group: governance
level: warning
when: "!('cost-center' in labels)"
at: [labels]
message: "{address} has no cost center"
fix: { add: { labels: { cost-center: "4711" } }, safety: safe }
---
# our-labels

A machine has no cost center.
"""


@pytest.mark.parametrize(
    ("pack", "link"),
    [("", None), ('rules-url = "https://gpu.example.org/{rule}"\n', "https://gpu.example.org/our-labels")],
)
def test_a_patch_links_to_the_documentation_of_its_rule_only(tmp_path, gpulint, pack, link):
    files = {
        "main.tf": 'resource "aws_instance" "web" {\n  instance_type = "g5.xlarge"\n}\n',
        "gpulint.toml": '[[packs]]\npath = "policy"\n' if pack else 'rules-dir = ["policy"]\n',
        "policy/our-labels.md": OWN_RULE,
    }
    url = make(tmp_path / "hosts", "own", files | ({"policy/gpulint.toml": pack} if pack else {}))
    (tmp_path / "list").write_text(url)
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
    scan(store, gpulint=gpulint, **QUIET)
    merge(store)
    options = {"limit": 1, "owner": None, "unsafe": True, "policy": None, "gpulint": gpulint, **QUIET}
    bodies = []
    with Served(lambda request: (201, {}, b'{"html_url": "https://github.com/acme/x/pull/1"}')) as host:
        more = {"git": {"retries": 0, "access": {"origin": "file://"}}, "open_with": ("github", host.url, "token")}
        assert fix(store, "our-labels", tmp_path / "patches", **options, **more) == 1
        bodies = [json.loads(body)["body"] for _, _, _, body in host.requests]
    (patch,) = [it.read_text() for it in (tmp_path / "patches").glob("*.patch")]
    for text in (patch, *bodies):
        assert "gpulint.github.io" not in text and (link or "rule our-labels of the policy") in text


GIT_PACK = (
    '[[packs]]\ngit = "https://x:secret@git.example.org/platform/gpu-rules.git"\ncommit = "{commit}"\npath = "rules"\n'
)


def test_packs_of_repositories_are_compared(tmp_path, gpulint):
    """Tests packs by version and by commit, invalid settings, and a version that is a huge number."""
    named = '[[packs]]\npath = "platform"\n'
    files = {
        "old": {"gpulint.toml": named, "platform/gpulint.toml": 'version = "1.9.0"\n', "CODEOWNERS": "* @old\n"},
        "new": {"gpulint.toml": named, "platform/gpulint.toml": 'version = "1.10.0"\n'},
        "git-a": {"gpulint.toml": GIT_PACK.format(commit="a" * 40), "rules/x.md": ""},
        "git-b": {"gpulint.toml": GIT_PACK.format(commit="b" * 40), "rules/x.md": ""},
        "git-c": {"gpulint.toml": GIT_PACK.format(commit="b" * 40), "rules/x.md": ""},
        "odd": {
            "gpulint.toml": named.replace("platform", "elsewhere"),
            "elsewhere/gpulint.toml": f'version = "{"9" * 300}"\n',
        },
        "wrong": {"gpulint.toml": "packs = 1\n["},
        "typed": {"gpulint.toml": "[[packs]]\npath = 7\n[[packs]]\ngit = 3\n"},
        "none": {"README.md": "x"},
    }
    urls = [make(tmp_path / "hosts", name, it | {"main.tf": "# x\n"}) for name, it in files.items()]
    (tmp_path / "list").write_text("\n".join(urls))
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint, policy="none")
    scan(store, gpulint=gpulint, **QUIET)
    merge(store)
    query = f"select repository, packs, pack_versions from '{store.table_path('repositories')}'"
    found = {name.rsplit("/", 1)[-1]: rest for name, *rest in duckdb.sql(query).fetchall()}
    assert found["git-a"][0] == {"git.example.org/platform/gpu-rules": "a" * 40}
    assert found["old"] == [{"platform": None}, {"platform": "1.9.0"}] and found["none"] == [{}, {}]
    assert found["wrong"] == found["typed"] == [{}, {}]
    text = report(store)
    assert "secret" not in text and "2 repositories do not have the latest pack" in text
    behind = text.split("<caption>Behind")[1].split("</table>")[0]
    assert "/git-a" in behind and "/git-b" not in behind and "/old" in behind and "@old" in behind


MANIFESTS = ROOT / "fleet" / "manifests"


def documents(name):
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    return [it for it in yaml.safe_load_all((MANIFESTS / name).read_text().replace("DATE", DATE)) if it]


@pytest.mark.parametrize("name", ["rayjob.yaml", "indexed-job.yaml"])
def test_manifests_are_valid_by_the_schemas_of_kubernetes(name):
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    kinds = []
    for it in documents(name):
        validate.validate(it, "1.33", strict=True)
        kinds.append(it["kind"])
    assert kinds


def test_the_rayjob_is_valid_by_the_crd_of_kuberay(tmp_path):
    crds = os.environ.get("GPULINT_KUBERAY_CRDS")
    if not crds:
        pytest.skip("GPULINT_KUBERAY_CRDS names no directory with ray.io_rayjobs.yaml")
    schemas = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    crd = yaml.load((Path(crds) / "ray.io_rayjobs.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    schema = closed(next(it for it in crd["spec"]["versions"] if it["name"] == "v1")["schema"]["openAPIV3Schema"])
    (job,) = documents("rayjob-of-a-night.yaml")
    wrong = [f"{list(it.absolute_path)}: {it.message}" for it in schemas.Draft202012Validator(schema).iter_errors(job)]
    assert wrong == []
    job["spec"]["rayClusterSpec"]["noSuchField"] = 1
    assert not schemas.Draft202012Validator(schema).is_valid(job)


def closed(schema):
    """Returns the schema without unknown fields: a CRD removes them, so a test treats them as misspellings."""
    if isinstance(schema, list):
        return [closed(it) for it in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(value) for key, value in schema.items()}
    loose = schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("x-kubernetes-embedded-resource")
    if (
        isinstance(schema.get("properties"), dict)
        and schema.get("type") == "object"
        and not loose
        and "additionalProperties" not in schema
        and schema["properties"]
    ):
        if schema["properties"].keys() != {"apiVersion", "kind", "metadata", "spec", "status"}:
            schema["additionalProperties"] = False
    return schema


@pytest.mark.parametrize("name", ["rayjob.yaml", "rayjob-of-a-night.yaml", "indexed-job.yaml"])
def test_gpulint_reads_the_manifests_and_finds_no_waste(tmp_path, gpulint, name):
    (tmp_path / name).write_text((MANIFESTS / name).read_text().replace("DATE", DATE))
    done = subprocess.run(
        [gpulint, "check", str(tmp_path), "--format", "json", "--today", DATE], capture_output=True, text=True
    )
    said = json.loads(done.stdout)
    assert done.returncode == 0 and said["findings"] == [] and said["verdict"] == "pass", said["not_judged"]


def test_the_matrix_of_actions_is_the_number_of_parts_and_below_its_limit():
    text = (MANIFESTS / "github-actions.yml").read_text()
    parts = re.search(r"part: \[(.*)\]", text)[1].split(", ")
    assert parts == [str(n) for n in range(len(parts))] and len(parts) < 256
    assert f'"$PART/{len(parts)}"' in text


def test_actionlint_takes_the_workflow(tmp_path):
    tool = shutil.which("actionlint")
    if not tool:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([tool, str(MANIFESTS / "github-actions.yml")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_commands_of_manifests_have_options_that_exist():
    from gpulint_fleet.__main__ import parser

    seen = 0
    for path in MANIFESTS.glob("*.y*ml"):
        text = (
            path.read_text()
            .replace("DATE", DATE)
            .replace("$date", DATE)
            .replace('"', "")
            .replace("$STORE", "/s")
            .replace("$PART", "1")
        )
        text = re.sub(r"\$\(JOB_COMPLETION_INDEX\)", "1", text).replace("$" + DATE, DATE)
        for words in re.findall(r"gpulint-fleet ((?:list|plan|scan|merge|report) [^\n|;&>']*)", text):
            parser().parse_args(words.split())
            seen += 1
    assert seen >= 9


def test_manifests_fix_what_they_run_and_where_a_token_goes():
    text = "\n".join(path.read_text() for path in MANIFESTS.iterdir())
    used = re.findall(r"uses: *(\S+)", text)
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", it) for it in used), used
    assert re.search(r"^FROM \S+@sha256:[0-9a-f]{64}$", text, re.MULTILINE)
    folded = re.sub(r"\n\s+- --", " --", text).replace("- scan ", "gpulint-fleet scan ")
    commands = re.findall(r"gpulint-fleet (?:plan|scan) .*", folded)
    assert len(commands) == 5 and all("--token-origin" in it for it in commands if "--token-" in it), commands
    assert sum("--token-" in it for it in commands) == 5


def test_the_origin_of_a_token_is_that_of_the_code_host_or_the_one_that_is_named():
    from gpulint_fleet.__main__ import access, parser

    def of(*more):
        return access(parser().parse_args(["scan", "--store", "s", "--date", DATE, *more])).get("origin")

    named = ["--token-env", "NAME"]
    assert of() is None and of("--token-origin", "https://git.example.com") is None
    assert of(*named) == "https://github.com"
    assert of(*named, "--kind", "gitlab") == "https://gitlab.com"
    assert of(*named, "--api", "https://git.example.com:8443/api/v3") == "https://git.example.com:8443"
    assert (
        of("--credential-helper", "store", "--token-origin", "https://Git.example.com:443") == "https://git.example.com"
    )
    for wrong in ("http://git.example.com", "git.example.com", "https://x@git.example.com"):
        with pytest.raises(Refused):
            of(*named, "--token-origin", wrong)


def test_help_of_every_verb_is_there():
    verbs = "list plan scan merge report commitments reconcile usage chargeback use fix credential"
    for verb in verbs.split():
        done = subprocess.run([sys.executable, "-m", "gpulint_fleet", verb, "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and "usage:" in done.stdout


def test_a_first_night_goes_as_the_page_of_the_book_says(tmp_path, fleet, gpulint):
    """Runs the commands of the page, with generated repositories instead of the reader's."""
    pytest.importorskip("ray", reason="ray is not installed")
    night = (ROOT / "docs/fleet.md").read_text().split("## The first scan")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh not-run=program\n(.*?)```", night, re.DOTALL)
    assert len(blocks) == 2
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gpulint").symlink_to(gpulint)
    (tmp_path / "bin/gpulint-fleet").write_text(f'#!/bin/sh\nexec {sys.executable} -m gpulint_fleet "$@"\n')
    (tmp_path / "bin/gpulint-fleet").chmod(0o755)
    (tmp_path / "repositories.txt").write_text("\n".join(f"{url} main" for url in fleet[:8]))
    path = f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-exc", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PATH": path}
    )
    assert done.returncode == 0, done.stderr
    assert "@platform" in done.stdout and "8 of 8 repositories were read" in done.stderr
    assert "GPUs of 8 repositories" in (tmp_path / "fleet.html").read_text()
