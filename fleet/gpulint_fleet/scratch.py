"""Makes directories for checkouts and for the files of one run, and removes them."""

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

PREFIX = "gpulint-fleet-"


def sweep():
    """Removes the directories that killed processes of this user left. Each name has the number of its process."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = path.name.removeprefix(PREFIX).partition("-")[0]
        try:
            is_ours = path.lstat().st_uid == os.getuid() and path.is_dir() and not path.is_symlink()
        except FileNotFoundError:
            continue
        if is_ours and owner.isdigit() and not Path(f"/proc/{owner}").exists() and Path("/proc/self").exists():
            remove(path)


def remove(path):
    """Removes a directory. Python's own `rmtree` fails on the depth of directories that a repository can have."""
    subprocess.run(["rm", "-rf", "--", path], stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def scratch():
    """Yields a directory that only this user can read, and removes it when the block ends."""
    path = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
    try:
        yield path
    finally:
        remove(path)
