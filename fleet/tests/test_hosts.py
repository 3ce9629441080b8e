"""Tests listing: all pages, at the speed that the host allows, from that host only, and as in its published API description."""

import json
import os
import re
import subprocess
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from serving import Served

from gpulint_fleet import hosts
from gpulint_fleet.address import parse
from gpulint_fleet.hosts import HOSTS, app_token, listed, propose
from gpulint_fleet.store import Refused


def github(n, **more):
    return {
        "clone_url": f"https://github.com/acme/r{n}.git",
        "default_branch": "main",
        "archived": False,
        "disabled": False,
        "fork": False,
        "size": 7,
    } | more


def gitlab(n, **more):
    return {
        "http_url_to_repo": f"https://gitlab.com/acme/sub/r{n}.git",
        "default_branch": "main",
        "archived": False,
        "statistics": {"repository_size": 7168},
    } | more


def bitbucket(n, **more):
    clone = [
        {"name": "ssh", "href": "git@bitbucket.org:acme/r.git"},
        {"name": "https", "href": f"https://user@bitbucket.org/acme/r{n}.git"},
    ]
    return {"links": {"clone": clone}, "mainbranch": {"name": "main"}, "size": 7168} | more


def azure(n, **more):
    return {
        "remoteUrl": f"https://dev.azure.com/acme/p/_git/r{n}",
        "defaultBranch": "refs/heads/main",
        "isDisabled": False,
        "size": 7168,
    } | more


ITEMS = {"github": github, "gitea": github, "gitlab": gitlab, "bitbucket": bitbucket, "azure": azure}
ARCHIVED = {
    "github": {"archived": True},
    "gitea": {"archived": True},
    "gitlab": {"archived": True},
    "bitbucket": None,
    "azure": {"isDisabled": True},
}
FORKS = {
    "github": {"fork": True},
    "gitea": {"fork": True},
    "gitlab": {"forked_from_project": {"id": 1}},
    "bitbucket": {"parent": {"name": "x"}},
    "azure": {"isFork": True},
}


def paged(kind, items, url, per_page=2):
    """Returns the answer to a request, in the host's form of paging."""
    asked = parse_qs(urlsplit(url).query)
    at = int(asked.get("page", ["1"])[0])
    page = items[(at - 1) * per_page : at * per_page] if kind != "azure" else items
    query = re.sub(r"&?page=\d+", "", urlsplit(url).query)
    following = f"{urlsplit(url).path}?{query}&page={at + 1}" if len(items) > at * per_page else None
    return page, following


def serve(kind, items):
    def answer(request):
        page, following = paged(kind, items, request.path)
        link = f"http://{request.headers['Host']}{following}" if following else None
        headers = {"Content-Type": "application/json"}
        body = page
        if kind == "bitbucket":
            body = {"values": page} | ({"next": link} if link else {})
        elif kind == "azure":
            body = {"count": len(page), "value": page}
        elif link:
            headers["Link"] = f'<{link}>; rel="next", <{link}>; rel="last"'
        return 200, headers, json.dumps(body).encode()

    return Served(answer)


@pytest.mark.parametrize("kind", sorted(HOSTS))
def test_every_page_is_read_and_what_is_archived_or_a_fork_is_left_out(kind):
    item = ITEMS[kind]
    items = (
        [item(n) for n in range(5)]
        + [item(90, **FORKS[kind])]
        + ([item(91, **ARCHIVED[kind])] if ARCHIVED[kind] else [])
    )
    with serve(kind, items) as host:
        found = list(listed(kind, "acme", host.url, "secret"))
        everything = list(listed(kind, "acme", host.url, "secret", archived=True, forks=True))
    assert [it["url"].removesuffix(".git")[-1] for it in found] == list("01234")
    assert all(it["ref"] == "main" and it["size"] == 7168 for it in found)
    assert len(everything) == len(items)
    sent = {headers.get("Authorization") for _, _, headers, _ in host.requests}
    assert len(sent) == 1 and None not in sent
    assert kind == "azure" or len(host.requests) == 2 * -(-len(items) // 2)


def test_a_limit_is_waited_for_as_long_as_the_host_says():
    answers = [
        (429, {"Retry-After": "7"}, b"slow"),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(__import__("time").time()) + 30)}, b"limit"),
        (403, {}, b"You have exceeded a secondary rate limit"),
        (502, {}, b"later"),
    ]
    waited = []
    with Served(lambda request: answers.pop(0) if answers else (200, {}, json.dumps([github(1)]).encode())) as host:
        assert len(list(listed("github", "acme", host.url, "t", sleep=waited.append))) == 1
    assert waited[0] == 7 and 25 <= waited[1] <= 40 and waited[2] == 60 and waited[3] <= 16


@pytest.mark.parametrize("code", [401, 403, 404])
def test_what_waiting_does_not_mend_is_told_without_the_token(code):
    with Served(lambda request: (code, {}, b"no: t0ken")) as host, pytest.raises(Refused) as told:
        list(listed("github", "acme", host.url, "t0ken", sleep=lambda _: None))
    assert str(code) in str(told.value) and "t0ken" not in str(told.value)
    assert len(host.requests) == 1


def test_the_token_goes_nowhere_else():
    with Served(lambda request: (200, {}, b"[]")) as other:
        with (
            Served(lambda request: (302, {"Location": f"{other.url}/x"}, b"")) as host,
            pytest.raises(Refused, match="does not go there"),
        ):
            list(listed("github", "acme", host.url, "t"))
        link = {"Link": f'<{other.url}/next>; rel="next"'}
        with Served(lambda request: (200, link, b"[]")) as host, pytest.raises(Refused, match="does not go there"):
            list(listed("github", "acme", host.url, "t"))
        assert other.requests == []
    with pytest.raises(Refused, match="not encrypted"):
        list(listed("github", "acme", "http://github.example.com/api/v3", "t"))


@pytest.mark.parametrize("place", ["redirect", "link", "field"])
@pytest.mark.parametrize(
    "to",
    ["https://127.0.0.1/x", "http://127.0.0.2/x", "http://x@HOST/x", "file:///etc", "ftp://HOST/x", "//evil.invalid/x"],
)
def test_no_page_is_at_another_origin(place, to):
    def answer(request):
        there = to.replace("HOST", request.headers["Host"])
        if place == "redirect":
            return 302, {"Location": there}, b""
        if place == "link":
            return 200, {"Link": f'<{there}>; rel="next"'}, b"[]"
        return 200, {}, json.dumps({"values": [], "next": there}).encode()

    kind = "bitbucket" if place == "field" else "github"
    # `urllib` itself does not follow a redirect to a file.
    with Served(answer) as host, pytest.raises(Refused, match="does not go there|answers 302"):
        list(listed(kind, "acme", host.url, "t0ken"))
    assert len(host.requests) == 1


def test_a_redirect_to_the_same_origin_is_followed():
    moved = lambda request: (302, {"Location": "/moved"}, b"") if request.path != "/moved" else (200, {}, b"[]")
    with Served(moved) as host:
        assert list(listed("github", "acme", host.url, "t")) == []
    assert [path for _, path, _, _ in host.requests][-1] == "/moved"


def test_the_interface_is_asked_by_https_alone(monkeypatch):
    with Served(lambda request: (200, {}, b"[]")) as host:
        monkeypatch.delenv("GPULINT_FLEET_ALLOW_LOCAL")
        for token in ("t0ken", None):
            for api in (host.url, "http://github.example.com/api/v3", "file:///etc", "ftp://x.example", "github.com"):
                with pytest.raises(Refused) as refused:
                    list(listed("github", "acme", api, token))
                assert "t0ken" not in str(refused.value)
        with pytest.raises(Refused, match="user name or a password"):
            list(listed("github", "acme", "https://x:t0ken@api.github.com", "t"))
    assert host.requests == []


def test_answers_and_pages_have_an_end(monkeypatch):
    def endless(request):
        return 200, {"Link": f'<http://{request.headers["Host"]}{request.path}>; rel="next"'}, b"[]"

    monkeypatch.setattr(hosts, "MOST_PAGES", 5)
    with Served(endless) as host, pytest.raises(Refused, match="more than 5 pages"):
        list(listed("github", "acme", host.url, "t"))
    assert len(host.requests) == 5
    monkeypatch.setattr(hosts, "MOST_BYTES", 1 << 20)
    with Served(lambda request: (200, {}, b"[" + b" " * (2 << 20) + b"]")) as host:
        with pytest.raises(Refused, match="more than 1 MiB"):
            list(listed("github", "acme", host.url, "t"))


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", b"7", b"null", b'{"message": "x"}', b'[{"clone_url": 7}]', b"[7]", b"[" * 100_000, b"\xff"],
)
@pytest.mark.parametrize("kind", sorted(HOSTS))
def test_another_answer_than_that_of_the_host_is_refused_in_one_line(kind, answer):
    with Served(lambda request: (200, {}, answer)) as host, pytest.raises(Refused) as refused:
        list(listed(kind, "acme", host.url, "t0ken"))
    assert str(refused.value).isprintable() and "t0ken" not in str(refused.value)


def test_addresses_of_a_listing_are_those_that_git_may_use():
    def found(url):
        with Served(lambda request: (200, {}, json.dumps([github(1, clone_url=url)]).encode())) as host:
            return [it["url"] for it in listed("github", "acme", host.url, "t")]

    assert found("https://user:pw@github.com/acme/r1.git?x=y") == ["https://github.com/acme/r1.git"]
    assert found("https://dev.example.com/acme/größe ä/r") == [
        "https://dev.example.com/acme/gr%C3%B6%C3%9Fe%20%C3%A4/r"
    ]
    for url in ("ext::sh -c x", "fd::17", "--upload-pack=x", "http://github.com/acme/r", "https://github.com/../x"):
        with pytest.raises(Refused):
            found(url)


ODD = [
    {"clone_url": "https://github.com/acme/b\u202e.git"},
    {"clone_url": "https://github.com/acme/d%0a--x.git"},
    {"clone_url": "https://evil.example\\@github.com/acme/b"},
    {"clone_url": "https://evil.example\t@github.com/acme/b"},
    {"clone_url": "https://github.com/acme/\ud800"},
    {"clone_url": "https://github.com/" + "a" * 5000},
    {"clone_url": "ext::sh -c id"},
    {"clone_url": "file:///etc"},
    {"clone_url": "https://[::1/a"},
    {"default_branch": "--upload-pack=touch x"},
    {"default_branch": "x\ny"},
    {"default_branch": {"a": 1}},
]


@pytest.mark.parametrize("odd", ODD, ids=[str(it)[:60] for it in ODD])
def test_an_odd_repository_of_a_listing_is_left_out_alone(odd):
    """Tests that the name of one repository cannot stop a listing, because others may write that name."""
    items, told = [github(1), github(2, **odd), github(3)], []
    with Served(lambda request: (200, {}, json.dumps(items).encode())) as host:
        found = list(listed("github", "acme", host.url, "t", tell=told.append))
    assert [it["url"] for it in found] == [f"https://github.com/acme/r{n}.git" for n in (1, 3)]
    (said,) = told
    assert said.isprintable() and "leaves out" in said and len(said) < 500
    assert any(step in said for step in ("write", "percent-encode", "rename"))


@pytest.mark.parametrize(("size", "known"), [(7, 7168), (True, None), (-1, None), (10**400, None), ("7", None)])
def test_an_odd_size_of_a_listing_is_unknown(size, known):
    with Served(lambda request: (200, {}, json.dumps([github(1, size=size)]).encode())) as host:
        assert [it["size"] for it in listed("github", "acme", host.url, "t")] == [known]


def test_an_interface_that_does_not_answer_costs_seconds():
    begun = time.monotonic()
    for api in ("https://nowhere.invalid", "http://127.0.0.1:9"):
        with pytest.raises(Refused, match="does not answer"):
            list(listed("github", "acme", api, "t", sleep=lambda _: pytest.fail("it waits")))
    assert time.monotonic() - begun < 11


def test_git_finds_the_repositories_of_a_code_host_at_one_origin():
    for kind, url in URLS.items():
        assert hosts.git_origin(kind) == parse(url).origin
    assert hosts.git_origin("github", "https://github.example.com:8443/api/v3") == "https://github.example.com:8443"
    assert hosts.git_origin("github", "https://api.github.com/") == "https://github.com"


def test_an_app_gets_its_token_by_a_signed_word_and_sees_its_installation(tmp_path):
    key = tmp_path / "key.pem"
    if subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], capture_output=True).returncode:
        pytest.skip("openssl is not installed")
    subprocess.run(
        ["openssl", "rsa", "-in", str(key), "-pubout", "-out", str(tmp_path / "public.pem")],
        capture_output=True,
        check=True,
    )

    def answer(request):
        if request.path == "/app/installations/42/access_tokens":
            signed, signature = request.headers["Authorization"].removeprefix("Bearer ").rsplit(".", 1)
            import base64

            (tmp_path / "signature").write_bytes(base64.urlsafe_b64decode(signature + "=="))
            verify = [
                "openssl",
                "dgst",
                "-sha256",
                "-verify",
                str(tmp_path / "public.pem"),
                "-signature",
                str(tmp_path / "signature"),
            ]
            assert subprocess.run(verify, input=signed.encode(), capture_output=True).returncode == 0
            claims = json.loads(base64.urlsafe_b64decode(signed.split(".")[1] + "=="))
            assert claims["iss"] == "Iv1" and claims["exp"] - claims["iat"] <= 600
            return 201, {}, b'{"token": "ghs_x", "expires_at": "2026-11-26T01:00:00Z"}'
        assert request.path.startswith("/installation/repositories")
        elsewhere = github(2, clone_url="https://github.com/other/r2.git")
        return 200, {}, json.dumps({"total_count": 2, "repositories": [github(1), elsewhere]}).encode()

    with Served(answer) as host:
        token = app_token(host.url, "Iv1", str(key), "42")
        assert token == "ghs_x"
        assert [it["url"] for it in listed("github", "acme", host.url, token)] == ["https://github.com/acme/r1.git"]


URLS = {
    "github": "https://github.com/acme/infra.git",
    "gitea": "https://gitea.com/acme/infra.git",
    "gitlab": "https://gitlab.com/acme/sub/infra.git",
    "bitbucket": "https://bitbucket.org/acme/infra.git",
    "azure": "https://dev.azure.com/acme/p/_git/infra",
}
OPENED = {
    "github": ({"html_url": "X"}, "/repos/acme/infra/pulls"),
    "gitea": ({"html_url": "X"}, "/repos/acme/infra/pulls"),
    "gitlab": ({"web_url": "X"}, "/projects/acme%2Fsub%2Finfra/merge_requests"),
    "bitbucket": ({"links": {"html": {"href": "X"}}}, "/repositories/acme/infra/pullrequests"),
    "azure": ({"url": "X"}, "/acme/p/_apis/git/repositories/infra/pullrequests?api-version=7.1"),
}


@pytest.mark.parametrize("kind", sorted(HOSTS))
def test_a_pull_request_is_opened_where_the_host_has_them(kind):
    body, path = OPENED[kind]
    with Served(lambda request: (201, {}, json.dumps(body).encode())) as host:
        assert propose(kind, host.url, "t", URLS[kind], "gpulint/x", "main", "title", "body") == "X"
    method, asked, headers, sent = host.requests[0]
    assert (method, asked) == ("POST", path)
    assert "gpulint/x" in json.dumps(json.loads(sent))


# The paths of our requests in each description: the listing, and the request that opens a pull request.
DESCRIBED = {
    "github": ("github.json", "/orgs/{org}/repos", "/repos/{owner}/{repo}/pulls", "minimal-repository"),
    "gitea": ("gitea.json", "/orgs/{org}/repos", "/repos/{owner}/{repo}/pulls", "Repository"),
    "gitlab": (
        "gitlab.yaml",
        "/api/v4/groups/{id}/projects",
        "/api/v4/projects/{id}/merge_requests",
        "API_Entities_Project",
    ),
    "bitbucket": (
        "bitbucket.yaml",
        "/repositories/{workspace}",
        "/repositories/{workspace}/{repo_slug}/pullrequests",
        "repository",
    ),
    "azure": (
        "azure.json",
        "/{organization}/{project}/_apis/git/repositories",
        "/{organization}/{project}/_apis/git/repositories/{repositoryId}/pullrequests",
        "GitRepository",
    ),
}

# The fields that we read from each item. `links`, `mainbranch` and `statistics` contain the values.
READ = {
    "github": ("clone_url", "default_branch", "archived", "disabled", "fork", "size"),
    "gitea": ("clone_url", "default_branch", "archived", "fork", "size"),
    "gitlab": ("http_url_to_repo", "default_branch", "archived"),
    "bitbucket": ("links", "mainbranch", "parent", "size"),
    "azure": ("remoteUrl", "defaultBranch", "isDisabled", "isFork", "size"),
}


def description(name):
    directory = os.environ.get("GPULINT_FLEET_DESCRIPTIONS")
    path = Path(directory or ".") / name
    if not directory or not path.exists():
        pytest.skip(f"GPULINT_FLEET_DESCRIPTIONS names no directory with {name}")
    text = path.read_text(encoding="utf-8-sig")
    if name.endswith(".yaml"):
        yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    # Gitea's is a template.
    return json.loads(re.sub(r"\{\{.*?\}\}", "x", text))


def operations(whole, path):
    """Returns the description of a path. The names in braces differ between versions."""
    form = re.sub(r"\{[^}]*\}", "{}", path)
    return next(it for name, it in whole["paths"].items() if re.sub(r"\{[^}]*\}", "{}", name) == form)


def parameters(whole, path, method):
    operation = operations(whole, path)
    found = set()
    for it in [*operation.get("parameters", []), *operation[method].get("parameters", [])]:
        if "$ref" in it:
            it = at(whole, it["$ref"])
        found.add(it["name"])
    return found


def at(whole, reference):
    for part in reference.removeprefix("#/").split("/"):
        whole = whole[part]
    return whole


def properties(whole, schema):
    if "$ref" in schema:
        return properties(whole, at(whole, schema["$ref"]))
    found = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        found |= properties(whole, part)
    return found


@pytest.mark.parametrize("kind", sorted(HOSTS))
def test_what_is_asked_and_read_is_what_the_published_description_has(kind):
    name, listing, opening, schema = DESCRIBED[kind]
    whole = description(name)
    asked = set(parse_qs(urlsplit("x" + HOSTS[kind].first).query))
    # The descriptions of these two hosts define paging and versions once for all requests.
    general = {"bitbucket": {"pagelen"}, "azure": {"api-version"}}.get(kind, set())
    assert asked <= parameters(whole, listing, "get") | general, asked
    schemas = whole.get("definitions") or whole["components"]["schemas"]
    named = schemas.get(schema) or schemas[schema.replace("_", "::", 2).replace("_", "")]
    assert set(READ[kind]) <= set(properties(whole, named))
    assert "post" in operations(whole, opening)
    _, body, _ = HOSTS[kind].opens("", URLS[kind], "b", "main", "t", "d")
    # Bitbucket accepts `description` and returns `summary`. Its published description has only `summary`.
    untold = {"bitbucket": {"description"}}.get(kind, set())
    assert set(body) <= opened_fields(whole, opening) | untold


def opened_fields(whole, path):
    operation = operations(whole, path)["post"]
    body = operation.get("requestBody")
    if body:
        body = at(whole, body["$ref"]) if "$ref" in body else body
        return set(properties(whole, body["content"]["application/json"]["schema"]))
    it = next(it for it in operation["parameters"] if it.get("in") == "body")
    return set(properties(whole, it["schema"]))


def test_no_host_is_forgotten():
    assert set(HOSTS) == set(ITEMS) == set(DESCRIBED) == set(URLS)
    assert hosts.PATIENCE > 3600
