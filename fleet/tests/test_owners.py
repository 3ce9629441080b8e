"""Tests patterns of owners, which the author of a repository writes."""

import itertools
import time
import tracemalloc

import pytest

from gpulint_fleet.owners import Owners, catalogue, find, in_repository, pattern, prefix
from gpulint_fleet.text import Refused


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b", "a" * 250),
        ("**/a/" * 40 + "b", "a/" * 1900 + "c"),
        ("/".join(["*a*a*a*"] * 20) + "/x", "/".join(["a" * 200] * 19)),
        ("a" + "**" * 40 + "b", "a" * 4000),
    ],
)
def test_a_hostile_pattern_of_owners_takes_no_time(pattern, path):
    begun = time.monotonic()
    assert Owners(f"{pattern} @x\n").of(path) is None
    assert time.monotonic() - begun < 1


def test_owners_of_another_place_are_not_read(tmp_path):
    outside, checkout = tmp_path / "outside", tmp_path / "checkout"
    outside.mkdir()
    checkout.mkdir()
    (outside / "CODEOWNERS").write_text("* @secret\n")
    for name, target in (("docs", outside), ("CODEOWNERS", outside / "CODEOWNERS"), (".gitlab", "../outside")):
        (checkout / name).symlink_to(target)
    assert in_repository(checkout).of("x") is None
    (checkout / ".github").mkdir()
    (checkout / ".github/CODEOWNERS").write_text("* @mine\n")
    assert in_repository(checkout).of("x") == "@mine"


HOSTILE = [
    "".join(f"a*{n:05}?*b b\n" for n in range(75_000)),
    "*a" * 450_000 + " @x\n",
    "**/a/" * 180_000 + "b @x\n",
    "\\" * 900_000 + " @x\n" + "[" + "][" * 1000,
    "* @" + "x" * 100_000 + "\n",
    "# a comment\n" * 300_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=["lines", "stars", "globs", "words", "owner", "mebibytes"])
def test_a_codeowners_beyond_a_limit_costs_its_owners_alone(tmp_path, text):
    (tmp_path / "CODEOWNERS").write_text(text)
    warnings, begun = [], time.monotonic()
    tracemalloc.start()
    of_all, found = find(tmp_path, ["main.tf", "a/" * 1000 + "b"], warnings.append)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not of_all and not any(found.values())
    assert peak < 64 << 20 and time.monotonic() - begun < 10
    (warning,) = warnings
    assert warning.startswith("CODEOWNERS:") and ("limit" in warning or "more than" in warning)
    assert "Shorten" in warning or "Replace" in warning


def test_the_work_of_all_patterns_and_paths_has_an_end(tmp_path):
    """Tests the limit on work: each line and path is short enough, but there are too many."""
    (tmp_path / "CODEOWNERS").write_text("".join(f"{'*a' * 900}{n} @x\n" for n in range(1500)))
    warnings, begun = [], time.monotonic()
    assert find(tmp_path, [f"{n}/" + "a" * 3000 for n in range(1000)], warnings.append) == (None, {})
    assert time.monotonic() - begun < 60
    assert "1,500 patterns" in warnings[0] and "Remove patterns" in warnings[0]


def test_a_large_codeowners_of_a_real_form_keeps_its_owners(tmp_path):
    lines = [f"/teams/t{n}/ @team-{n}\n" for n in range(5000)] + [f"*.x{n} @x{n}\n" for n in range(100)]
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github/CODEOWNERS").write_text("* @all\n" + "".join(lines))
    paths = [f"teams/t{n}/deploy/main.tf" for n in range(2000)] + ["teams/t1/a.x7", "other"]
    of_all, found = find(tmp_path, paths, pytest.fail)
    assert of_all == "@all" and found["teams/t77/deploy/main.tf"] == "@team-77"
    assert (found["teams/t1/a.x7"], found["other"]) == ("@x7", "@all")


@pytest.mark.parametrize(
    "text",
    [
        "/docs/",
        "docs/*",
        "a/**/b",
        "/**",
        "**/a",
        "a/**",
        "a**/b",
        "/a?b/c",
        r"a/\*b",
        "a/b",
        "/a",
        "*",
        "a//b",
        "*.tf",
        "**",
    ],
)
def test_the_literal_beginning_of_a_pattern_excludes_no_path_that_the_pattern_fits(text):
    names = ["a", "b", "ab", "axb", "docs", "*b", "c", "x.tf"]
    paths = ["/".join(it) for depth in (1, 2, 3) for it in itertools.product(names, repeat=depth)]
    assert any(map(pattern(text).fullmatch, paths)) or text == "a//b"
    assert all(path.startswith(prefix(text)) for path in paths if pattern(text).fullmatch(path))


@pytest.mark.parametrize(
    ("links", "cause"),
    [
        ({"CODEOWNERS": "a" * 300}, "symbolic link"),
        ({".github": "a" * 300}, "too long"),
        ({".github": ".github"}, "symbolic links"),
        ({"docs": "docs/x"}, "symbolic links"),
        ({"CODEOWNERS": "CODEOWNERS"}, "symbolic link"),
    ],
    ids=["file", "directory", "loop", "loop below", "loop of a file"],
)
def test_a_codeowners_behind_an_odd_link_costs_its_owners_alone(tmp_path, links, cause):
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    warnings = []
    assert find(tmp_path, ["main.tf"], warnings.append) == (None, {"main.tf": None})
    (warning,) = warnings
    assert warning.startswith(next(iter(links))) and cause in warning and "Commit a regular file" in warning
    assert str(tmp_path) not in warning
    # The next place has the owners, as with a link to that place.
    (tmp_path / ".gitlab").mkdir()
    (tmp_path / ".gitlab/CODEOWNERS").write_text("* @mine\n")
    assert find(tmp_path, ["main.tf"], pytest.fail) == ("@mine", {"main.tf": "@mine"})


def test_a_catalogue_beyond_a_limit_is_refused_by_its_name(tmp_path):
    path = tmp_path / "catalogue"
    path.write_text("github.com/acme/a @a\n" + "x" * 3000 + "\n")
    with pytest.raises(Refused, match="catalogue:2: the line has 3,000 characters"):
        catalogue(path)
