"""Which repositories an organization has, as its code host lists them: page after page, as slowly as the host wants.

Search finds some of them; the interfaces that list find all. A token goes to the host that it was given for, and nowhere else.
"""

import base64
import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from .store import Refused

# The longest that one answer is waited for, in seconds: GitHub's window of a limit is an hour.
PATIENCE = 3700
KIB = 1024


class SameHost(urllib.request.HTTPRedirectHandler):
    """No token follows a redirect to somebody else."""

    def redirect_request(self, request, file, code, message, headers, url):
        if origin(url) != origin(request.full_url):
            raise Refused(f"{origin(request.full_url)} leads to {origin(url)}, and the token does not go there")
        return super().redirect_request(request, file, code, message, headers, url)


OPENER = urllib.request.build_opener(SameHost)


def origin(url):
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


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


def ask(url, authorization, body=None, *, sleep=time.sleep, attempts=6):
    """The answer as JSON, and its headers."""
    if (
        origin(url).startswith("http://")
        and urllib.parse.urlsplit(url).hostname not in ("127.0.0.1", "localhost")
        and authorization
    ):
        raise Refused(f"a token does not travel in the clear: use https for {origin(url)}")
    headers = {"Accept": "application/json", "User-Agent": "gpulint-fleet"} | authorization
    data = json.dumps(body).encode() if body is not None else None
    if data:
        headers["Content-Type"] = "application/json"
    for attempt in range(attempts):
        try:
            with OPENER.open(urllib.request.Request(url, data, headers), timeout=60) as answer:
                return json.load(answer), answer.headers
        except urllib.error.HTTPError as error:
            error.body = error.read(4096)
            wait = pause(error, attempt, time.time())
            if wait is None or wait > PATIENCE or attempt + 1 == attempts:
                raise Refused(
                    f"{origin(url)}{urllib.parse.urlsplit(url).path} answers {error.code}: {why(error.code)}"
                ) from None
        except (urllib.error.URLError, TimeoutError) as error:
            wait = 2.0**attempt
            if attempt + 1 == attempts:
                raise Refused(f"{origin(url)} does not answer: {getattr(error, 'reason', error)}") from None
        sleep(wait)


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
    """A code host: where it is, how it lists, what the fields are called, and how a change is proposed."""

    def __init__(self, api, first, of, *, page=by_link, token=None, opens=None):
        self.api, self.first, self.of, self.page, self.opens = api, first, of, page, opens
        self.authorization = token or (lambda it: {"Authorization": f"Bearer {it}"})


def named(url, ref, archived, fork, size):
    return {"url": url, "ref": ref, "archived": bool(archived), "fork": bool(fork), "size": size}


def of_github(it):
    size = it.get("size")
    return named(
        it["clone_url"],
        it.get("default_branch"),
        it.get("archived") or it.get("disabled"),
        it.get("fork"),
        size and size * KIB,
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
    return urllib.parse.urlsplit(url).path.strip("/").removesuffix(".git")


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
    "github": Host("https://api.github.com", "/orgs/{of}/repos?per_page=100&type=all", of_github, opens=github_pull),
    "gitlab": Host(
        "https://gitlab.com/api/v4",
        "/groups/{quoted}/projects?include_subgroups=true&statistics=true&order_by=id&sort=asc&per_page=100",
        of_gitlab,
        opens=gitlab_merge,
    ),
    "bitbucket": Host(
        "https://api.bitbucket.org/2.0",
        "/repositories/{quoted}?pagelen=100",
        of_bitbucket,
        page=lambda answer, headers, url: (answer["values"], answer.get("next")),
        opens=bitbucket_pull,
    ),
    "azure": Host(
        "https://dev.azure.com",
        "/{of}/_apis/git/repositories?api-version=7.1",
        of_azure,
        page=lambda answer, headers, url: (answer["value"], None),
        token=basic,
        opens=azure_pull,
    ),
    "gitea": Host(
        "https://gitea.com/api/v1",
        "/orgs/{quoted}/repos?limit=50&page=1",
        of_github,
        token=lambda it: {"Authorization": f"token {it}"},
        opens=github_pull,
    ),
}

# What an App may see is a question of its own.
INSTALLATION = "/installation/repositories?per_page=100"


def listed(kind, of, api=None, token=None, *, archived=False, forks=False, sleep=time.sleep):
    """Every repository, in the form of a line of a list."""
    host = HOSTS[kind]
    api = (api or host.api).rstrip("/")
    is_app = kind == "github" and (token or "").startswith("ghs_")
    url = api + (INSTALLATION if is_app else host.first.format(of=urllib.parse.quote(of), quoted=quoted(of)))
    authorization = host.authorization(token) if token else {}
    while url:
        answer, headers = ask(url, authorization, sleep=sleep)
        page, following = host.page(answer["repositories"] if is_app else answer, headers, url)
        if following and origin(following) != origin(api):
            raise Refused(f"the next page is at {origin(following)}, and the token does not go there")
        for it in map(host.of, page):
            mine = not is_app or path_of(it["url"]).lower().startswith(f"{of.lower()}/")
            if mine and (archived or not it["archived"]) and (forks or not it["fork"]):
                yield it
        url = following


def propose(kind, api, token, url, branch, base, title, body):
    """Opens a pull request; gives its address."""
    host = HOSTS[kind]
    address, asked, answer_at = host.opens((api or host.api).rstrip("/"), url, branch, base, title, body)
    answer, _ = ask(address, host.authorization(token), asked)
    for key in answer_at:
        answer = answer[key]
    return answer


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
        raise Refused(f"`{key}` is no private key: {done.stderr.decode().strip()}")
    url = f"{(api or HOSTS['github'].api).rstrip('/')}/app/installations/{installation}/access_tokens"
    answer, _ = ask(url, {"Authorization": f"Bearer {signed}.{part(done.stdout)}"}, {})
    return answer["token"]
