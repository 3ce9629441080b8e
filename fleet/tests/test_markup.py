"""Tests that hostile names change only the text of the page."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import duckdb
import pytest
from conftest import DATE, JOB, POOL, make

from gpulint_fleet import scan
from gpulint_fleet.markup import Html, element, join, page, text
from gpulint_fleet.merge import merge
from gpulint_fleet.plan import plan, read_list
from gpulint_fleet.report import report
from gpulint_fleet.store import Store
from gpulint_fleet.tables import tables

QUIET = {"tell": lambda _: None}

# Strings that the queries of the page compare. Another value would select other rows.
COMPARED = {"date", "commit", "per", "saves_per", "role", "counted", "joined", "fingerprint"}

HOSTILE = [
    "<script>alert(1)</script>",
    "</td></tr></table><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></title></head><body onload=alert(1)>",
    "<!-- ",
    "--><![CDATA[<b>]]>",
    "&lt;b&gt; &#60;script&#62; &amp",
    "<a href=javascript:alert(1)>x</a>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "`${alert(1)}` {{7*7}} <%= 7 %>",
    "\x1b[31m\x1b]0;title\x07\x00\x08\x9b",
    "\u202e\u2066\u2069\u200f\u061c\ufeff\u2028\u2029",
    "=HYPERLINK(0) +1 -1 @x",
    "<" * 2000,
]


class Tree(HTMLParser):
    """Collects the elements with attributes and positions, and the text separately."""

    def __init__(self, markup):
        super().__init__()
        self.nodes, self.words, self.depth = [], [], 0
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.nodes.append((self.depth, tag, tuple(attributes)))
        self.depth += tag != "meta"

    def handle_startendtag(self, tag, attributes):
        self.nodes.append((self.depth, tag, tuple(attributes)))

    def handle_endtag(self, tag):
        self.depth -= 1

    def handle_data(self, data):
        self.words.append(data)

    def handle_comment(self, data):
        self.nodes.append((self.depth, "comment", (("data", data),)))

    handle_decl = handle_pi = unknown_decl = handle_comment


def renamed(store, root, name):
    """Copies the tables and summaries of a store. `name` replaces every string that a person wrote."""
    copy = Store(root, store.date)
    for table, columns in tables().items():
        source = store.root / table
        for path in source.glob("date=*/part.parquet"):
            target = root / path.relative_to(store.root)
            target.parent.mkdir(parents=True)
            database = duckdb.connect()
            other = lambda value: value if value in ("ok", "empty") else name(value)
            database.create_function("renamed", other, ["VARCHAR"], "VARCHAR")
            said = ", ".join(
                f'renamed("{it}") as "{it}"' if kind == "VARCHAR" and it not in COMPARED else f'"{it}"'
                for it, kind in columns.items()
            )
            database.execute(f"copy (select {said} from '{path}') to '{target}' (format parquet)")
    for path in (store.root / "summary").glob("*.json"):
        said = json.loads(path.read_text())
        said |= {key: name(said[key]) for key in ("gpulint", "prices")}
        said["not_scanned"] = [name(it) for it in said["not_scanned"]]
        target = root / path.relative_to(store.root)
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(said))
    return copy


@pytest.fixture(scope="module")
def nights(tmp_path_factory, gpulint):
    """Two dates with every section of the page: pod-to-pool matches, copies, suppressions, failures, changes."""
    place = tmp_path_factory.mktemp("nights")
    pool = POOL.format(name="p0", machine="p4d.24xlarge", team="search", size=1, most=1)
    accepted = "# gpulint: ignore[missing-auto-shutdown] until=2026-12-10 -- agreed\n" + POOL.format(
        name="k", machine="g5.xlarge", team="a", size=1, most=1
    )
    files = {
        "infra": {"main.tf": pool, "CODEOWNERS": "* @infra\n"},
        "infra-copy": {"main.tf": pool, "CODEOWNERS": "* @infra\n"},
        "infra-part": {"main.tf": pool, "more.txt": "x"},
        "app": {"job.yaml": JOB.format(name="train", team="x", pool="p0", gpus=8), "CODEOWNERS": "* @app\n"},
        "accepted": {"main.tf": accepted},
    }
    urls = [make(place, name, it) for name, it in files.items()]
    clusters = place / "clusters.toml"
    clusters.write_text('[[cluster]]\nname = "ml"\npools = ["*/infra:*"]\npods = ["*/app:*"]\n')
    for date, more in (("2026-11-25", []), (DATE, [make(place, "new", {"main.tf": pool}), f"file://{place}/gone.git"])):
        (place / "list").write_text("\n".join(urls[: 4 if not more else 5] + more))
        store = Store(place / "store", date)
        plan(store, read_list(place / "list"), gpulint=gpulint)
        scan(store, gpulint=gpulint, **QUIET)
        merge(store, cluster_file=clusters)
    said = json.loads(store.summary_path.read_text())
    store.summary_path.write_text(json.dumps(said | {"not_scanned": ["github.com/acme/later"]}))
    return store


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_of_every_field_leave_the_tree_of_the_page(nights, tmp_path, hostile):
    twin = lambda word: lambda value: value and f"{value} {word}"
    harmless = report(renamed(nights, tmp_path / "harmless", twin("harmless")))
    attacked = report(renamed(nights, tmp_path / "attacked", twin(hostile)))
    expected, found = Tree(harmless), Tree(attacked)
    assert found.nodes == expected.nodes and found.depth == expected.depth == 0
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", attacked)
    # Every field is on the page, as text.
    shown = "".join(expected.words)
    assert shown.count("harmless") > 40
    for section in ("payers", "waste", "trend", "coverage", "joins", "adoption"):
        assert f'id="{section}"' in harmless
    words = " ".join("".join(found.words).split())
    if hostile.isprintable() and len(hostile) < 100:
        assert words.count(" ".join(hostile.split())) == " ".join(shown.split()).count("harmless")


def test_the_page_loads_nothing_and_its_policy_names_its_style(nights):
    markup = report(nights)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', markup)
    policy = policy.replace("&#x27;", "'")
    (style,) = re.findall(r"<style>(.*?)</style>", markup, re.DOTALL)
    named = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{named}'; base-uri 'none'; form-action 'none'"
    assert markup.index("Content-Security-Policy") < markup.index("<style>")
    for _, tag, attributes in Tree(markup).nodes:
        assert tag not in ("script", "link", "img", "iframe", "form", "object", "base")
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("style", "src")
            assert name != "href" or value.startswith("#")


@pytest.mark.parametrize("wrong", ["<b>", "", 1, None, b"x", ["x"]])
def test_a_string_in_the_place_of_markup_raises(wrong):
    for make_it in (lambda: element("p", wrong), lambda: join(text("x"), wrong), lambda: page("t", "", wrong)):
        with pytest.raises(TypeError):
            make_it()


def test_markup_does_not_become_a_string_on_the_way():
    it = text("x")
    for make_it in (lambda: f"<p>{it}</p>", lambda: str(it), lambda: it + "y", lambda: "y" + it, lambda: Html()):
        with pytest.raises(TypeError):
            make_it()
    with pytest.raises(TypeError):
        "".join([it])


def test_links_lead_into_the_page_or_to_https():
    def links(markup):
        return [dict(attributes) for _, tag, attributes in Tree(page("t", "", markup)).nodes if tag == "a"]

    assert links(element("a", text("x"), href="#x")) == [{"href": "#x"}]
    (outside,) = links(element("a", text("x"), href='https://example.com/"><script>'))
    assert outside == {"href": 'https://example.com/"><script>', "rel": "noopener noreferrer"}
    for href in ("javascript:alert(1)", "http://example.com", "//example.com", " https://x", "data:text/html,x", ""):
        with pytest.raises(ValueError):
            element("a", text("x"), href=href)


def test_a_date_of_a_summary_leads_to_no_other_file(nights, tmp_path):
    copy = renamed(nights, tmp_path / "copy", lambda value: value)
    path = copy.root / "summary/date=2026-11-25.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps(said | {"date": "../../../secret"}))
    (copy.root / "summary/date=..2026-11-24.json").write_text(json.dumps(said))
    assert report(copy) == report(nights)
