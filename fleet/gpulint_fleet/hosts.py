"""Which repositories an organization has, as its code host lists them: page after page, as slowly as the host wants.

Search finds some of them; the interfaces that list find all. The token goes to the origin of the interface, and nowhere else.
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

# The longest that one answer is waited for, in seconds: GitHub's window of a limit is an hour.
PATIENCE = 3700
KIB = 1024

# The largest answer, in bytes, and the most pages of a listing. A page of 100 repositories is about 600 KiB at GitHub.
MOST_BYTES = 32 << 20
MOST_PAGES = 10_000


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """A redirect leads to the same origin, or the request fails."""

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
    """How long the host wants us to wait; None where waiting changes nothing."""
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
    """Opens https, and http for tests: no other scheme of `urllib`, so no file and no ftp."""
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
    """The answer as JSON, and its headers. `origin` refuses an address that is not encrypted."""
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
        raise Refused(f"{place} answers more than {MOST_BYTES >> 20} MiB: is --api the interface of the code host?")
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        raise Refused(f"{place} answers no JSON: is --api the interface of the code host?") from None


def why(code):
    known = {
        401: "the token is not accepted",
        403: "the token may not do this",
        404: "there is no such thing, or the token may not see it",
    }
    return known.get(code, "the host cannot do it now" if code >= 500 or code == 429 else "it refuses")


def next_link(headers):
    for part in headers.get("Link", "").split(","):
        address, _, parameters = part.strip().partition(";")
        if 'rel="next"' in parameters:
            return address.strip("<> ")
    return None


def by_link(answer, headers, url):
    return answer, next_link(headers)


class Host:
    """A code host: where its interface and its repositories are, how it lists, and how a change is proposed."""

    def __init__(self, api, web, first, of, *, page=by_link, token=None, opens=None):
        self.api, self.web, self.first, self.of, self.page, self.opens = api, web, first, of, page, opens
        self.authorization = token or (lambda it: {"Authorization": f"Bearer {it}"})


def named(url, ref, archived, fork, size):
    # Some hosts write the name of a user into the address, and some leave spaces and letters outside of ASCII as they are.
    # No other character is encoded: a browser reads `\` as `/`, so `https://A\@B/` would have two hosts.
    address = parse(re.sub(r"[^\x00-\x7f\ud800-\udfff]+| ", lambda it: urllib.parse.quote(it[0]), url))
    if address.scheme == "file":
        refuse(url, "leads to a file of this machine")
    url = address.url
    if ref is not None and not is_ref(ref):
        raise Refused(
            f"{address.identity}: `{replace_controls(str(ref))[:100]}` is no name of a branch: rename the default branch"
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

# What an App may see is a question of its own.
INSTALLATION = "/installation/repositories?per_page=100"


def git_origin(kind, api=None):
    """Where git finds the repositories of a code host. A host of one's own has them at the origin of its interface."""
    host = HOSTS[kind]
    return host.web if not api or origin(api) == origin(host.api) else origin(api)


def read_page(host, page, problems):
    """The repositories of a page. One that has an address or a branch that git must not use goes to `problems`."""
    found = []
    for it in page:
        try:
            found.append(host.of(it))
        except Refused as refused:
            problems.append(str(refused))
    return found


def listed(kind, of, api=None, token=None, *, archived=False, forks=False, sleep=time.sleep, tell=lambda line: None):
    """Every repository, in the form of a line of a list. It tells which ones it leaves out, and refuses a list without any."""
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
            raise Refused(f"{origin(api)} does not answer as {kind} does: correct --kind or --api") from None
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
                tell(f"{origin(api)} lists a repository that gpulint-fleet leaves out: {problem}")
            return
        url = following
    raise Refused(f"{origin(api)} has more than {MOST_PAGES:,} pages: list smaller groups, one after the other")


def propose(kind, api, token, url, branch, base, title, body):
    """Opens a pull request; gives its address."""
    host = HOSTS[kind]
    address, asked, answer_at = host.opens((api or host.api).rstrip("/"), url, branch, base, title, body)
    answer, _ = ask(address, host.authorization(token), asked)
    for key in answer_at:
        answer = answer.get(key) if isinstance(answer, dict) else None
    return str(answer or f"a pull request at {origin(address)}")


def part(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def app_token(api, app, key, installation, now=time.time):
    """A token of a GitHub App's installation, which holds for an hour."""
    if not (app and key and installation):
        raise Refused("a GitHub App is named by --app, --app-key and --installation")
    # A minute back, for clocks that differ, as GitHub's documentation of Apps advises.
    claims = {"iat": int(now()) - 60, "exp": int(now()) + 540, "iss": app}
    signed = ".".join(part(json.dumps(it).encode()) for it in ({"alg": "RS256", "typ": "JWT"}, claims))
    done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=signed.encode(), capture_output=True)
    if done.returncode:
        raise Refused(
            f"`{key}` is no private key: {done.stderr.decode(errors='replace').strip().partition(chr(10))[0]}"
        )
    url = f"{(api or HOSTS['github'].api).rstrip('/')}/app/installations/{installation}/access_tokens"
    answer, _ = ask(url, {"Authorization": f"Bearer {signed}.{part(done.stdout)}"}, {})
    if not isinstance(answer, dict) or not isinstance(answer.get("token"), str):
        raise Refused(f"{origin(url)} answers no token: correct --api or --installation")
    return answer["token"]
