"""Lists the repositories of an organization through its code host's API, page by page, as slowly as the host wants.

A search finds only some repositories, so this uses the APIs that list all. The token goes to the origin of the API only.
"""

import base64
import http.client
import json
import re
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from . import reach
from .address import is_local_allowed, origin, parse, redact, refuse
from .git import is_ref
from .text import Refused, is_size, replace_controls

# The longest wait for one answer, in seconds. GitHub's rate limits have windows of one hour.
PATIENCE = 3700
KIB = 1024

# The largest answer, in bytes, and the most pages of a listing. A page of 100 repositories is about 600 KiB at GitHub.
MOST_BYTES = 32 << 20
MOST_PAGES = 10_000


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """Fails a request if a redirect leads to another origin."""

    def redirect_request(self, request, file, code, message, headers, url):
        demand_same_origin(url, request.full_url, "redirects")
        return super().redirect_request(request, file, code, message, headers, url)


def demand_same_origin(url, asked, does):
    try:
        to = origin(url)
    except Refused:
        to = redact(url)
    if to != origin(asked):
        raise Refused(f"{origin(asked)} {does} to {to}, and the token does not go there: correct --api")


def pause(error, attempt, now):
    """Returns the seconds that the host asks us to wait, or None if waiting does not help."""
    said = error.headers
    if said.get("Retry-After", "").isdigit():
        return int(said["Retry-After"])
    for remaining, reset in (
        ("X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ("RateLimit-Remaining", "RateLimit-Reset"),
    ):
        if said.get(remaining) == "0" and said.get(reset, "").isdigit():
            return max(1, int(said[reset]) - int(now) + 1)
    if error.code == 429 or error.code >= 500:
        return 2.0**attempt
    return 60 if error.code == 403 and b"secondary rate limit" in error.body else None


def opener():
    """Returns an opener for https, and for http in tests. It opens no other scheme of `urllib`, such as file or ftp."""
    made = urllib.request.OpenerDirector()
    handlers = [
        urllib.request.ProxyHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPSHandler(),
        SameOrigin(),
    ]
    for it in handlers + ([urllib.request.HTTPHandler()] if is_local_allowed() else []):
        made.add_handler(it)
    return made


def ask(url, authorization, body=None, *, sleep=time.sleep, attempts=6):
    """Returns the answer as JSON, and its headers. `origin` refuses an address that is not encrypted."""
    place = origin(url) + replace_controls(urllib.parse.urlsplit(url).path)
    if problem := reach.find_problem(parse(url)):
        raise Refused(f"{origin(url)} does not answer: {problem}")
    headers = {"Accept": "application/json", "User-Agent": "gpulint-fleet"} | authorization
    data = json.dumps(body).encode() if body is not None else None
    if data:
        headers["Content-Type"] = "application/json"
    for attempt in range(attempts):
        try:
            with opener().open(urllib.request.Request(url, data, headers), timeout=60) as answer:
                return decoded(answer.read(MOST_BYTES + 1), place), answer.headers
        except urllib.error.HTTPError as error:
            error.body = error.read(4096)
            wait = pause(error, attempt, time.time())
            if wait is None or wait > PATIENCE or attempt + 1 == attempts:
                raise Refused(f"{place} answers {error.code}: {why(error.code)}") from None
        except (OSError, http.client.HTTPException) as error:
            wait = 2.0**attempt
            reason = getattr(error, "reason", error)
            if attempt + 1 == attempts or isinstance(reason, socket.gaierror | ssl.SSLCertVerificationError):
                raise Refused(f"{origin(url)} does not answer: {reason}") from None
        sleep(wait)


def decoded(answer, place):
    if len(answer) > MOST_BYTES:
        raise Refused(f"{place} answers more than {MOST_BYTES >> 20} MiB: is --api the API of the code host?")
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        raise Refused(f"{place} does not answer in JSON: is --api the API of the code host?") from None


def why(code):
    known = {
        401: "the host does not accept the token",
        403: "the token lacks a permission",
        404: "this does not exist, or the token cannot see it",
    }
    return known.get(
        code, "the host is overloaded or out of order" if code >= 500 or code == 429 else "the host refuses"
    )


def next_link(headers):
    for part in headers.get("Link", "").split(","):
        address, _, parameters = part.strip().partition(";")
        if 'rel="next"' in parameters:
            return address.strip("<> ")
    return None


def by_link(answer, headers, url):
    return answer, next_link(headers)


class Host:
    """A code host: the places of its API and its repositories, how it lists them, and how to open a pull request."""

    def __init__(self, api, web, first, of, *, page=by_link, token=None, opens=None):
        self.api, self.web, self.first, self.of, self.page, self.opens = api, web, first, of, page, opens
        self.authorization = token or (lambda it: {"Authorization": f"Bearer {it}"})


def named(url, ref, archived, fork, size):
    # Some hosts write a user name into the address, and some do not encode spaces and letters outside of ASCII.
    # No other character is encoded: a browser reads `\` as `/`, so `https://A\@B/` would have two hosts.
    address = parse(re.sub(r"[^\x00-\x7f\ud800-\udfff]+| ", lambda it: urllib.parse.quote(it[0]), url))
    if address.scheme == "file":
        refuse(url, "is a file on this machine")
    url = address.url
    if ref is not None and not is_ref(ref):
        raise Refused(
            f"{address.identity}: `{replace_controls(str(ref))[:100]}` is not a valid branch name: rename the default branch"
        )
    size = size if is_size(size) else None
    return {"url": url, "ref": ref, "archived": bool(archived), "fork": bool(fork), "size": size}


def of_github(it):
    size = it.get("size")
    return named(
        it["clone_url"],
        it.get("default_branch"),
        it.get("archived") or it.get("disabled"),
        it.get("fork"),
        size * KIB if is_size(size) else None,
    )


def of_gitlab(it):
    size = (it.get("statistics") or {}).get("repository_size")
    return named(
        it["http_url_to_repo"], it.get("default_branch"), it.get("archived"), it.get("forked_from_project"), size
    )


def of_bitbucket(it):
    url = next(link["href"] for link in it["links"]["clone"] if link["name"] == "https")
    return named(url, (it.get("mainbranch") or {}).get("name"), False, it.get("parent"), it.get("size"))


def of_azure(it):
    ref = (it.get("defaultBranch") or "").removeprefix("refs/heads/") or None
    return named(it["remoteUrl"], ref, it.get("isDisabled"), it.get("isFork"), it.get("size"))


def quoted(text):
    return urllib.parse.quote(text, safe="")


def path_of(url):
    return parse(url).path.strip("/").removesuffix(".git")


def github_pull(api, url, branch, base, title, body):
    return (
        f"{api}/repos/{path_of(url)}/pulls",
        {"title": title, "head": branch, "base": base, "body": body},
        ("html_url",),
    )


def gitlab_merge(api, url, branch, base, title, body):
    asked = {"source_branch": branch, "target_branch": base, "title": title, "description": body}
    return f"{api}/projects/{quoted(path_of(url))}/merge_requests", asked, ("web_url",)


def bitbucket_pull(api, url, branch, base, title, body):
    ends = {"source": {"branch": {"name": branch}}, "destination": {"branch": {"name": base}}}
    return (
        f"{api}/repositories/{path_of(url)}/pullrequests",
        {"title": title, "description": body} | ends,
        ("links", "html", "href"),
    )


def azure_pull(api, url, branch, base, title, body):
    project, _, name = path_of(url).partition("/_git/")
    ends = {"sourceRefName": f"refs/heads/{branch}", "targetRefName": f"refs/heads/{base}"}
    asked = ends | {"title": title, "description": body}
    return f"{api}/{project}/_apis/git/repositories/{name}/pullrequests?api-version=7.1", asked, ("url",)


def basic(token):
    return {"Authorization": "Basic " + base64.b64encode(f":{token}".encode()).decode()}


HOSTS = {
    "github": Host(
        "https://api.github.com",
        "https://github.com",
        "/orgs/{of}/repos?per_page=100&type=all",
        of_github,
        opens=github_pull,
    ),
    "gitlab": Host(
        "https://gitlab.com/api/v4",
        "https://gitlab.com",
        "/groups/{quoted}/projects?include_subgroups=true&statistics=true&order_by=id&sort=asc&per_page=100",
        of_gitlab,
        opens=gitlab_merge,
    ),
    "bitbucket": Host(
        "https://api.bitbucket.org/2.0",
        "https://bitbucket.org",
        "/repositories/{quoted}?pagelen=100",
        of_bitbucket,
        page=lambda answer, headers, url: (answer["values"], answer.get("next")),
        opens=bitbucket_pull,
    ),
    "azure": Host(
        "https://dev.azure.com",
        "https://dev.azure.com",
        "/{of}/_apis/git/repositories?api-version=7.1",
        of_azure,
        page=lambda answer, headers, url: (answer["value"], None),
        token=basic,
        opens=azure_pull,
    ),
    "gitea": Host(
        "https://gitea.com/api/v1",
        "https://gitea.com",
        "/orgs/{quoted}/repos?limit=50&page=1",
        of_github,
        token=lambda it: {"Authorization": f"token {it}"},
        opens=github_pull,
    ),
}

# A GitHub App lists its repositories at another path.
INSTALLATION = "/installation/repositories?per_page=100"


def git_origin(kind, api=None):
    """Returns the origin of a code host's repositories. A self-hosted one has them at the origin of its API."""
    host = HOSTS[kind]
    return host.web if not api or origin(api) == origin(host.api) else origin(api)


def read_page(host, page, problems):
    """Returns the repositories of a page. If git must not use an address or a branch, the reason goes to `problems`."""
    found = []
    for it in page:
        try:
            found.append(host.of(it))
        except Refused as refused:
            problems.append(str(refused))
    return found


def listed(kind, of, api=None, token=None, *, archived=False, forks=False, sleep=time.sleep, tell=lambda line: None):
    """Yields every repository as a line of a list. It reports those that it leaves out, and refuses an empty list."""
    host = HOSTS[kind]
    api = (api or host.api).rstrip("/")
    is_app = kind == "github" and (token or "").startswith("ghs_")
    url = api + (INSTALLATION if is_app else host.first.format(of=urllib.parse.quote(of), quoted=quoted(of)))
    authorization = host.authorization(token) if token else {}
    problems, count = [], 0
    for _ in range(MOST_PAGES):
        answer, headers = ask(url, authorization, sleep=sleep)
        try:
            page, following = host.page(answer["repositories"] if is_app else answer, headers, url)
            found = read_page(host, page, problems)
        except (KeyError, TypeError, AttributeError, IndexError, StopIteration):
            raise Refused(f"{origin(api)} does not answer like {kind}: correct --kind or --api") from None
        if following:
            demand_same_origin(following, api, "leads")
        count += len(found)
        for it in found:
            mine = not is_app or path_of(it["url"]).lower().startswith(f"{of.lower()}/")
            if mine and (archived or not it["archived"]) and (forks or not it["fork"]):
                yield it
        if not following:
            if problems and not count:
                raise Refused(problems[0])
            for problem in problems:
                tell(f"{origin(api)} lists a repository that gpulint-fleet leaves out, because {problem}")
            return
        url = following
    raise Refused(f"{origin(api)} has more than {MOST_PAGES:,} pages: list smaller groups, one after the other")


def propose(kind, api, token, url, branch, base, title, body):
    """Opens a pull request and returns its address."""
    host = HOSTS[kind]
    address, asked, answer_at = host.opens((api or host.api).rstrip("/"), url, branch, base, title, body)
    answer, _ = ask(address, host.authorization(token), asked)
    for key in answer_at:
        answer = answer.get(key) if isinstance(answer, dict) else None
    return str(answer or f"a pull request at {origin(address)}")


def part(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def app_token(api, app, key, installation, now=time.time):
    """Returns a token of a GitHub App's installation, which is valid for one hour."""
    if not (app and key and installation):
        raise Refused("a GitHub App needs --app, --app-key and --installation: pass all three")
    # One minute earlier, because clocks differ: GitHub's documentation of Apps recommends this.
    claims = {"iat": int(now()) - 60, "exp": int(now()) + 540, "iss": app}
    signed = ".".join(part(json.dumps(it).encode()) for it in ({"alg": "RS256", "typ": "JWT"}, claims))
    done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=signed.encode(), capture_output=True)
    if done.returncode:
        raise Refused(
            f"`{key}` is not a private key: {done.stderr.decode(errors='replace').strip().partition(chr(10))[0]}"
        )
    url = f"{(api or HOSTS['github'].api).rstrip('/')}/app/installations/{installation}/access_tokens"
    answer, _ = ask(url, {"Authorization": f"Bearer {signed}.{part(done.stdout)}"}, {})
    if not isinstance(answer, dict) or not isinstance(answer.get("token"), str):
        raise Refused(f"{origin(url)} returns no token: correct --api or --installation")
    return answer["token"]
