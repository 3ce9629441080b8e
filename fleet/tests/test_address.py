"""Tests which addresses git gets, and which parts are removed from them."""

import time

import pytest
from conftest import DATE

from gpulint_fleet.address import ALLOW_LOCAL, origin, parse
from gpulint_fleet.git import Failed, Git
from gpulint_fleet.plan import read_list
from gpulint_fleet.store import Store
from gpulint_fleet.text import Refused

SECRET = "ghp_0123456789abcdefTHESECRET"

REFUSED = [
    "--upload-pack=touch /tmp/x",
    "-oProxyCommand=x",
    'ext::sh -c "touch /tmp/x"',
    "fd::17",
    "http::http://127.0.0.1/",
    "::https://github.com/acme/infra",
    "http://github.com/acme/infra",
    "http://localhost/acme/infra",
    "http://2130706433/acme/infra",
    "git://github.com/acme/infra",
    "ftp://github.com/acme/infra",
    "git+ssh://github.com/acme/infra",
    "file:///etc",
    "/etc",
    "../../etc",
    "ssh://-oProxyCommand=touch/x",
    "ssh://git@-oProxyCommand=x/y",
    "ssh://-x@github.com/acme/infra",
    "ssh://github.com/-x",
    "git@-oProxyCommand=x:acme/infra",
    "git@github.com:-x",
    "git@github.com:../../etc",
    "https://",
    "https://github.com",
    "https://github.com/",
    "https://github.com/../../etc",
    "https://github.com/%2e%2e/%2E%2E/etc",
    "https://github.com/acme%2f..%2finfra",
    "https://github.com/acme/in fra",
    "https://github.com/acme/in\nfra",
    "https://github.com/acme/in%0afra",
    "https://github.com/acme/\x1b[31m",
    "https://github.com\\@evil.example/x",
    "https://github.com%00.evil.example/x",
    "https://gıthub.com/acme/infra",
    "https://github.com:99999/acme/infra",
    "https://github.com:x/acme/infra",
    "https://[::1/acme/infra",
    f"http://someone:{SECRET}@github.com/acme/infra",
    f"https://someone:{SECRET}/x@github.com/acme/in fra",
    f"ftp://github.com/acme/infra?token={SECRET}",
]


@pytest.mark.parametrize("text", REFUSED)
def test_an_address_that_starts_a_program_or_leads_elsewhere_is_refused_at_once(text, monkeypatch):
    monkeypatch.delenv(ALLOW_LOCAL)
    begun = time.monotonic()
    with pytest.raises(Refused) as refused:
        parse(text)
    with pytest.raises(Failed) as failed:
        Git(seconds=20).tip(text)
    assert time.monotonic() - begun < 1 and failed.value.status == "refused"
    said = str(refused.value)
    assert failed.value.reason == said and said.isprintable() and SECRET not in said
    assert "write" in said or "percent-encode" in said


@pytest.mark.parametrize(
    ("text", "url", "had_secret"),
    [
        ("https://github.com/acme/infra.git", "https://github.com/acme/infra.git", False),
        ("https://GitHub.com:443/acme/infra", "https://github.com/acme/infra", False),
        ("https://git.example.com:8443/acme/infra", "https://git.example.com:8443/acme/infra", False),
        ("https://dev.azure.com/acme/p%20q/_git/r", "https://dev.azure.com/acme/p%20q/_git/r", False),
        ("https://[2001:db8::1]/acme/infra", "https://[2001:db8::1]/acme/infra", False),
        ("ssh://git@github.com/acme/infra", "ssh://git@github.com/acme/infra", False),
        ("git@github.com:acme/infra.git", "git@github.com:acme/infra.git", False),
        (f"https://{SECRET}@github.com/acme/infra", "https://github.com/acme/infra", True),
        (f"https://x:{SECRET}@github.com/acme/infra", "https://github.com/acme/infra", True),
        (f"https://github.com/acme/infra?private_token={SECRET}", "https://github.com/acme/infra", True),
        (f"https://github.com/acme/infra#{SECRET}", "https://github.com/acme/infra", True),
        (f"ssh://git:{SECRET}@github.com/acme/infra", "ssh://git@github.com/acme/infra", True),
        ("https://github.com#@evil.example/x", None, None),
    ],
)
def test_an_address_keeps_no_password_and_no_query(text, url, had_secret):
    if url is None:
        with pytest.raises(Refused):
            parse(text)
        return
    address = parse(text)
    assert (address.url, address.had_secret) == (url, had_secret)
    assert parse(address.url).url == url and not parse(address.url).had_secret


def test_http_needs_the_variable_and_a_loopback_address(monkeypatch):
    for text in ("http://127.0.0.1:8080/x", "http://[::1]/x", "file:///srv/x"):
        assert parse(text).url == text
    for text in ("http://10.0.0.1/x", "http://example.com/x", "http://127.0.0.1.example.com/x", "http://localhost/x"):
        with pytest.raises(Refused, match="not encrypted"):
            parse(text)
    for value in ("", "0", "true"):
        monkeypatch.setenv(ALLOW_LOCAL, value)
        for text in ("http://127.0.0.1:8080/x", "file:///srv/x"):
            with pytest.raises(Refused):
                parse(text)


def test_an_origin_is_a_scheme_a_host_and_a_port():
    assert origin("https://Git.example.com:443/") == origin("https://git.example.com") == "https://git.example.com"
    assert origin("https://git.example.com:8443/x") == "https://git.example.com:8443"
    for text in ("http://git.example.com", "ssh://git@git.example.com", "git.example.com", "https://x@git.example.com"):
        with pytest.raises(Refused):
            origin(text)


def test_a_list_names_its_line_and_tells_of_a_password_without_it(tmp_path):
    path = tmp_path / "list"
    told = []
    path.write_text(
        f"github.com/acme/a\nhttps://x:{SECRET}@github.com/acme/b main\n"
        f'{{"url": "https://github.com/acme/c?access_token={SECRET}"}}\n'
    )
    found = read_list(path, told.append)
    assert [it["url"] for it in found] == [f"https://github.com/acme/{name}" for name in "abc"]
    assert len(told) == 2 and "list:2:" in told[0] and "github.com/acme/b" in told[0] and "--token-env" in told[0]
    assert SECRET not in str(found) + str(told)
    for line in (
        "fd::17",
        "https://github.com/acme/d --upload-pack=x",
        '{"url": 7}',
        "{",
        '{"url": "x.y/z", "size": "1"}',
    ):
        path.write_text(f"# a comment\n\n{line}\n")
        with pytest.raises(Refused, match="list:3: "):
            read_list(path)


ODD_LINES = [
    b"fd::17",
    b"https://evil.example\\@github.com/acme/a",
    b"https://github.com/" + b"a" * 200_000,
    b"https://github.com/acme/a " + b"b" * 5000,
    b"https://github.com/acme/\xff",
    b"\xff\xfe",
    b"{",
    b"{}",
    b'{"url": 7}',
    b'{"url": "https://github.com/acme/a", "ref": {"a": 1}}',
    b'{"url": "https://github.com/acme/a", "ref": "\\ud800"}',
    b'{"url": "https://github.com/acme/\\ud800"}',
    b'{"url": "https://github.com/acme/a", "owner": "\\ud800"}',
    b'{"url": "https://github.com/acme/a", "size": true}',
    b'{"url": "https://github.com/acme/a", "size": NaN}',
    b'{"url": "https://github.com/acme/a", "size": -1}',
    b'{"url": "https://github.com/acme/a", "size": 1' + b"0" * 5000 + b"}",
    b'{"url": "https://github.com/acme/a", "x": ' + b"[" * 100_000,
    "https://github.com/acme/a\u2028https://github.com/acme/b".encode(),
    "https://gıthub.com/acme/a".encode(),
    b"https://[::1/acme/a",
]


@pytest.mark.parametrize("line", ODD_LINES, ids=[f"{it[:60]}" for it in ODD_LINES])
def test_an_odd_line_of_a_list_costs_its_repository_alone(tmp_path, line):
    path, told = tmp_path / "list", []
    path.write_bytes(b"\xef\xbb\xbfgithub.com/acme/before\r\n" + line + b"\n\ngithub.com/acme/after\n")
    assert [it["id"] for it in read_list(path, told.append)] == ["github.com/acme/after", "github.com/acme/before"]
    (said,) = told
    assert said.startswith(f"{path}:2: ") and said.isprintable() and len(said) < 600
    assert "write" in said or "percent-encode" in said
    assert said.endswith("leaves this repository out of the plan.")
    # A list without a valid line is a separate error.
    path.write_bytes(line + b"\n")
    with pytest.raises(Refused, match="list:1: "):
        read_list(path)


@pytest.mark.parametrize("name", ["../../../etc/passwd", "github.com/../../x", "/etc/passwd", "a\0b", "x" * 5000])
def test_rows_of_any_name_are_inside_of_the_store(tmp_path, name):
    store = Store(tmp_path, DATE)
    assert store.rows_path(name).resolve().is_relative_to(tmp_path.resolve())
