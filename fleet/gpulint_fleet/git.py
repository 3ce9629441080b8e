"""Foreign repositories by the git that is installed: the commit of a branch, and one commit without its history.

What they bring is not trusted: no hooks, no submodules, no LFS, no prompt, objects are checked. Links stay links, because
Terraform roots share files by them; gpulint follows none that leads out of the repository.
"""

import random
import re
import time
from pathlib import Path

from . import commands

HELPER = '!f() { test "$1" = get || exit 0; echo username=USER; echo "password=READ"; }; f'

CAREFUL = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "filter.lfs.smudge": "",
    "filter.lfs.process": "",
    "filter.lfs.required": "false",
    "fetch.fsckObjects": "true",
    # Old programs wrote such trees; they harm nobody.
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "advice.detachedHead": "false",
    "init.defaultBranch": "main",
}

# What git says, the surest first: (its words, what that means, how often it is tried again: it may be otherwise in a moment).
MEANINGS = [
    (r"died of signal 25|File too large|fatal: pack exceeds maximum", "too_large", 0),
    (r"not our ref|unadvertised object|couldn't find remote ref|remote error: upload-pack: not our", "gone", 0),
    (r"repository corruption|corrupt|fsck error|bad object|unable to read tree|inflate|missing blob", "broken", 0),
    (r"error: 429|error: 5\d\d|secondary rate limit", "unreachable", 99),
    (
        r"Authentication failed|could not read (Username|Password)|[Aa]ccess denied|Permission denied|error: 40[13]",
        "denied",
        3,
    ),
    (r"[Nn]ot found|does not exist|does not appear to be a git repository|error: 404", "missing", 0),
    (
        r"timed out|[Cc]onnection|early EOF|hung up|unexpected disconnect|resolve host|RPC failed|SSL|TLS",
        "unreachable",
        99,
    ),
]

REASONS = {
    "missing": "there is no such repository, or the token may not see it",
    "gone": "the planned commit is no longer there",
    "denied": "the host refuses the credentials",
    "unreachable": "the host did not answer",
    "broken": "the repository is damaged",
    "too_large": "it is larger than may be fetched",
    "timeout": "fetching took too long",
    "crashed": "git failed",
}


class Failed(Exception):
    """`status` is a word for a row, `said` what git said, for logs."""

    def __init__(self, status, said=""):
        super().__init__(status)
        self.status, self.said = status, said

    @property
    def reason(self):
        return REASONS[self.status]


def helper(access):
    """The credential helper: a command by git's own contract, or one that reads the named variable or file each time.

    The secret itself stands in no argument, and a file that somebody renews is read anew by every fetch.
    """
    if access.get("helper"):
        return access["helper"]
    file, variable, user = access.get("file"), access.get("variable"), access.get("user") or "x-access-token"
    if file:
        return HELPER.replace("USER", user).replace("READ", f"$(cat '{file}')")
    return HELPER.replace("USER", user).replace("READ", f"${variable}") if variable else None


def settings(access, local):
    all = dict(CAREFUL, **{"protocol.file.allow": "always" if local else "never"})
    flags = [part for name, value in all.items() for part in ("-c", f"{name}={value}")]
    mine = helper(access)
    return flags + (["-c", "credential.helper=", "-c", f"credential.helper={mine}"] if mine else [])


def meaning(said):
    for words, status, again in MEANINGS:
        if re.search(words, said):
            return status, again
    return "crashed", 0


class Git:
    def __init__(self, access=None, seconds=900, retries=5, pause=2.0, max_mib=4096, local=False):
        self.access, self.max_mib, self.local = access or {}, max_mib, local
        self.retries, self.pause, self.end = retries, pause, time.monotonic() + seconds
        self.attempts = 0

    def __call__(self, *arguments, cwd=None):
        """Runs git; what may pass by itself is tried again, after pauses that grow and differ from others'."""
        environment = commands.environment([self.access.get("variable")]) | {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LFS_SKIP_SMUDGE": "1",
        }
        command = ["git", *settings(self.access, self.local), *arguments]
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
                raise Failed(status, done.err)
            time.sleep(pause)

    def tip(self, url, ref=None):
        """The commit of a branch or a tag, or of the default branch; None where nothing was committed yet."""
        found = {}
        for line in self("ls-remote", "-q", url, ref or "HEAD").splitlines():
            commit, name = line.split("\t")
            found[name] = commit
        if ref is None or ref == "HEAD":
            return found.get("HEAD")
        for name in (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", ref):
            if name in found:
                return found[name]
        return None

    def fetch(self, url, commit, directory):
        self("fetch", "-q", "--depth", "1", "--no-tags", "--no-recurse-submodules", url, commit, cwd=directory)

    def checkout(self, url, commit, directory, cache=None):
        """The files of a commit, without its history. In the cache lie objects of earlier nights: what is there is not sent again."""
        self("init", "-q", ".", cwd=directory)
        if cache and self.kept(url, commit, cache):
            (Path(directory) / ".git/objects/info/alternates").write_text(f"{cache.absolute() / 'objects'}\n")
        else:
            self.fetch(url, commit, directory)
        self("checkout", "-q", "--detach", commit, cwd=directory)
        return self("rev-parse", "HEAD^{tree}", cwd=directory).strip()

    def kept(self, url, commit, cache):
        """Whether the commit is in the cache now. Where somebody else writes there at the moment, it is fetched without."""
        if not (cache / "HEAD").exists():
            cache.mkdir(parents=True, exist_ok=True)
            self("init", "-q", "--bare", ".", cwd=cache)
        try:
            self("cat-file", "-e", f"{commit}^{{commit}}", cwd=cache)
            return True
        except Failed:
            pass
        try:
            self.fetch(url, commit, cache)
            return True
        except Failed as failed:
            if failed.status != "crashed":
                raise
            return False

    def blobs(self, directory):
        """Path → the name that git gives to what stands there."""
        entries = self("ls-tree", "-r", "-z", "HEAD", cwd=directory).split("\0")
        pairs = (entry.split("\t", 1) for entry in entries if entry)
        return {path: head.split(" ")[2] for head, path in pairs}
