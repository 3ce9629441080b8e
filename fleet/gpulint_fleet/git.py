"""Reads foreign repositories with the installed git: the commit of a branch, and one commit without its history.

A repository or a host cannot use git to attack this machine. git starts no hook, no filter and no program that an address
names. It reads no configuration of the machine, follows no redirect and checks each object. Only one origin gets the token.
Links stay links, because Terraform roots share files by them; gpulint follows none that leads out of the repository.
"""

import os
import random
import re
import time
from pathlib import Path

from . import commands, reach
from .address import parse
from .text import Refused, is_text, replace_controls

# The helper reads the token from the environment or from a file, each time that git asks. No argument holds the token.
HELPER = (
    '!f() { test "$1" = get || exit 0; test -z "$FLEET_FILE" || FLEET_TOKEN="$(head -n 1 "$FLEET_FILE")";'
    ' printf "username=%s\\npassword=%s\\n" "$FLEET_USER" "$FLEET_TOKEN"; }; f'
)

# These settings are arguments of git, so they win over every file of settings.
CAREFUL = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.fsckObjects": "true",
    # Old programs wrote such trees, and they are harmless.
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.unpackLimit": "1",
    "fetch.bundleURI": "",
    "transfer.bundleURI": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "http.followRedirects": "false",
    "http.sslVerify": "true",
    "http.emptyAuth": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "advice.detachedHead": "false",
    "init.defaultBranch": "main",
    # An empty value removes the helpers of all other settings.
    "credential.helper": "",
}

ENVIRONMENT = {
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # git looks for ~/.gitconfig and ~/.netrc here, and finds neither.
    "HOME": os.devnull,
}

# git gets these variables when it connects to a host: proxies, certificates, and a settings file that the user chose.
NETWORK_VARIABLES = (
    *("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_CONFIG_GLOBAL"),
)
SSH_VARIABLES = ("HOME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND")
SSH = f"ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout={reach.CONNECT_SECONDS}"

# `ls-remote` needs only a few bytes, so a host that is silent for this many seconds will not answer.
LIST_SECONDS = 15

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# The names that `git check-ref-format` allows, without those that look like an option or a pattern.
REF = re.compile(r"(?!-)(?!.*(?:\.\.|@\{))[^\x00-\x20\x7f~^:?*\[\\]+")
# git stores the name of a branch as a path, and Linux limits paths to 4,096 bytes.
MOST_REF = 1_000

# The proxy gives no connection to the host, for example because it does not know the host's name.
NO_TUNNEL = re.compile(r"CONNECT (tunnel failed|aborted)|HTTP code \d+ from proxy")

# Patterns of git's messages, the most certain first: (pattern, status, number of retries for a failure that may be temporary).
MEANINGS = [
    (r"died of signal 25|File too large|fatal: pack exceeds maximum", "too_large", 0),
    (r"not our ref|unadvertised object|couldn't find remote ref|remote error: upload-pack: not our", "gone", 0),
    (r"repository corruption|corrupt|fsck error|bad object|unable to read tree|inflate|missing blob", "broken", 0),
    (r"[Cc]ould not resolve|certificate (verification failed|problem|subject)", "unreachable", 0),
    (NO_TUNNEL, "unreachable", 1),
    (r"Operation too slow|[Ff]ailed to connect|port \d+: (Connection (timed out|refused)|No route)", "unreachable", 1),
    (r"error: 429|error: 5\d\d|secondary rate limit", "unreachable", 99),
    (r"error: 30\d", "redirected", 0),
    (r"Host key verification failed", "denied", 0),
    (
        r"Authentication failed|could not read (Username|Password)|[Aa]ccess denied|Permission denied|error: 40[13]",
        "denied",
        3,
    ),
    (r"[Nn]ot found|does not exist|does not appear to be a git repository|error: 404", "missing", 0),
    (
        r"timed out|[Cc]onnection|early EOF|hung up|unexpected disconnect|RPC failed|SSL|TLS",
        "unreachable",
        99,
    ),
]
UNTRUSTED = re.compile(r"certificate (verification failed|problem|subject)")
NO_HOST = re.compile(r"[Cc]ould not resolve host")
NO_CONNECTION = re.compile(r"port \d+: (Connection (timed out|refused)|No route)|[Ff]ailed to connect")

REASONS = {
    "missing": "the repository does not exist, or the token cannot see it",
    "gone": "the planned commit is no longer there",
    "denied": "the host refuses the credentials",
    "redirected": "the host redirects to another address, and git follows no redirect: list the repositories again",
    "unreachable": "the host did not answer",
    "broken": "the repository is damaged",
    "too_large": "a file is larger than the limit --max-mib",
    "timeout": "git took longer than the time limit",
    "crashed": "git failed",
}


class Failed(Exception):
    """`status` is a value for a row, `said` is git's message for logs, and `reason` is the sentence for people."""

    def __init__(self, status, said="", reason=None):
        super().__init__(status)
        self.status, self.said, self.reason = status, said, reason or REASONS.get(status)


def command_of_helper(helper):
    """Returns a shell command for a helper in git's syntax: `!COMMAND`, an absolute path, or a helper's name."""
    return helper[1:] if helper.startswith("!") else helper if os.path.isabs(helper) else f"git credential-{helper}"


def meaning(said):
    for words, status, again in MEANINGS:
        if re.search(words, said):
            return status, again
    return "crashed", 0


def reason_of(said):
    """Returns the reason of a failure that a setting can fix, or None."""
    if UNTRUSTED.search(said):
        return "the certificate of the host is not trusted: set GIT_SSL_CAINFO to its authority"
    if NO_TUNNEL.search(said):
        return "the proxy does not connect to the host: check the host's name and the settings of the proxy"
    return None


def is_commit(text):
    return isinstance(text, str) and bool(COMMIT.fullmatch(text))


def is_ref(text):
    return is_text(text) and len(text) <= MOST_REF and bool(REF.fullmatch(text))


class Git:
    """Runs git for one repository, with one time limit for all commands.

    `access` has the `origin` that gets the token, the `user`, and the place of the token: a `variable`, a `file` or a `helper`.
    """

    def __init__(self, access=None, seconds=900, retries=5, pause=2.0, max_mib=4096):
        self.access, self.max_mib = access or {}, max_mib
        self.retries, self.pause, self.end = retries, pause, time.monotonic() + seconds
        self.attempts = 0

    def __call__(self, *arguments, cwd):
        """Runs git on a local repository, without a network."""
        offline = {"GIT_ALLOW_PROTOCOL": "none", "GIT_CONFIG_GLOBAL": os.devnull}
        return self.run([], arguments, cwd, commands.environment() | ENVIRONMENT | offline)

    def talk(self, url, command, *arguments, cwd=None, objects=None):
        """Runs `git COMMAND ADDRESS ARGUMENTS`. git gets the token only if the address has the token's origin."""
        try:
            address = parse(url)
        except Refused as refused:
            raise Failed("refused", str(refused), str(refused)) from None
        if problem := reach.find_problem(address):
            raise Failed("unreachable", problem, reason_of(problem))
        environment = commands.environment(NETWORK_VARIABLES) | ENVIRONMENT | {"GIT_ALLOW_PROTOCOL": address.scheme}
        environment.setdefault("GIT_CONFIG_GLOBAL", os.devnull)
        if address.scheme == "ssh":
            environment |= {"GIT_SSH_COMMAND": SSH} | {it: os.environ[it] for it in SSH_VARIABLES if it in os.environ}
        if objects:
            environment["GIT_OBJECT_DIRECTORY"] = str(objects)
        if not cwd:
            # Run without a repository, because the current directory may contain the settings of one.
            environment["GIT_DIR"] = os.devnull
        flags, secret = self.credentials(address)
        try:
            return self.run(flags, [*command, "--", address.url, *arguments], cwd or "/", environment | secret)
        except Failed as failed:
            self.learn(address, failed)
            raise

    def credentials(self, address):
        """Returns the settings and variables that give git the token, if the address has the token's origin."""
        helper, file, variable = (self.access.get(it) for it in ("helper", "file", "variable"))
        if not (helper or file or variable) or address.origin != self.access.get("origin"):
            return [], {}
        name = f"credential.{address.origin}.helper"
        if helper:
            # The helper is the user's program and may need the user's settings. git itself must not find ~/.netrc.
            command = f'!export HOME="$FLEET_HOME"; {command_of_helper(helper)}'
            return ["-c", f"{name}={command}"], {"FLEET_HOME": os.environ.get("HOME", os.devnull)}
        secret = {"FLEET_USER": self.access.get("user") or "x-access-token"}
        if file:
            secret["FLEET_FILE"] = os.path.abspath(file)
        elif os.environ.get(variable):
            secret["FLEET_TOKEN"] = os.environ[variable]
        else:
            return [], {}
        return ["-c", f"{name}={HELPER}"], secret

    def learn(self, address, failed):
        """Remembers a host that does not answer, and explains a failure that a setting can fix."""
        failed.reason = reason_of(failed.said) or failed.reason
        has_no_connection = NO_CONNECTION.search(failed.said)
        if has_no_connection and reach.is_direct(address):
            reach.forget_open(address)
        elif has_no_connection or NO_HOST.search(failed.said) or NO_TUNNEL.search(failed.said):
            reach.remember_silent(address, failed.said)
        if failed.status == "denied" and self.access.get("origin") not in (None, address.origin):
            failed.reason = f"the host asks for a token, and the token is valid for {self.access['origin']} only"

    def run(self, flags, arguments, cwd, environment):
        """Runs git, and retries temporary failures after growing, random pauses."""
        settings = [part for name, value in CAREFUL.items() for part in ("-c", f"{name}={value}")]
        command = [commands.find_program("git"), *settings, *flags, *arguments]
        for attempt in range(self.retries + 1):
            self.attempts += 1
            try:
                left = self.end - time.monotonic()
                done = commands.run(command, left, cwd=cwd, env=environment, file_mib=self.max_mib)
            except commands.TimedOut:
                raise Failed("timeout") from None
            if done.code == 0:
                return done.out
            status, again = ("too_large", 0) if done.code == -25 else meaning(done.err)
            pause = self.pause * 2**attempt * random.uniform(0.5, 1.5)
            if attempt >= min(again, self.retries) or time.monotonic() + pause > self.end:
                raise Failed(status, self.redacted(done.err))
            time.sleep(pause)

    def redacted(self, said):
        """Returns the messages of git and of the other side without the token, which they may repeat."""
        secrets = [os.environ.get(self.access.get("variable") or "")]
        try:
            secrets.append(Path(self.access["file"]).read_text().strip() if self.access.get("file") else None)
        except (OSError, ValueError):
            pass
        for secret in filter(None, secrets):
            said = said.replace(secret, "…")
        said = re.sub(r"//[^\s/]*@", "//", said)
        return "\n".join(replace_controls(line) for line in said.split("\n"))

    def tip(self, url, ref=None):
        """Returns the commit of a branch, a tag or the default branch, or None if it has no commit."""
        if not is_ref(ref or "HEAD"):
            raise Failed("refused", reason="the name of the branch is not one that git allows")
        found = {}
        command = ["-c", f"http.lowSpeedTime={LIST_SECONDS}", "ls-remote", "-q"]
        # The name of a branch may contain other line separators, so only the newline ends a line.
        for line in self.talk(url, command, ref or "HEAD").split("\n"):
            commit, _, name = line.partition("\t")
            if is_commit(commit):
                found[name] = commit
        if ref is None or ref == "HEAD":
            return found.get("HEAD")
        for name in (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", ref):
            if name in found:
                return found[name]
        return None

    def fetch(self, url, commit, directory, objects=None):
        command = ["fetch", "-q", "--depth", "1", "--no-tags", "--no-recurse-submodules"]
        self.talk(url, command, commit, cwd=directory, objects=objects)

    def checkout(self, url, commit, directory, cache=None):
        """Writes the files of a commit, without its history, and returns the name of its tree.

        The cache contains only objects of earlier scans, so git reads no setting from it.
        """
        if not is_commit(commit):
            raise Failed("refused", reason="the plan has no valid commit")
        self("init", "-q", "--template=", ".", cwd=directory)
        info = Path(directory) / ".git/info"
        info.mkdir(exist_ok=True)
        # These attributes override those of the repository: a checkout runs no filter, even if a setting names one.
        (info / "attributes").write_text("* -filter\n")
        if cache:
            for part in ("pack", "info"):
                (cache / part).mkdir(parents=True, exist_ok=True)
            (Path(directory) / ".git/objects/info/alternates").write_text(f"{cache.absolute()}\n")
        if not (cache and self.has(commit, directory)):
            self.fetch(url, commit, directory, cache and cache.absolute())
        self("checkout", "-q", "--detach", commit, cwd=directory)
        return self("rev-parse", "HEAD^{tree}", cwd=directory).strip()

    def has(self, commit, directory):
        try:
            self("cat-file", "-e", f"{commit}^{{commit}}", cwd=directory)
            return True
        except Failed:
            return False

    def blobs(self, directory):
        """Returns a map from each path to git's name of its content."""
        entries = self("ls-tree", "-r", "-z", "HEAD", cwd=directory).split("\0")
        pairs = (entry.split("\t", 1) for entry in entries if entry)
        return {path: head.split(" ")[2] for head, path in pairs}
