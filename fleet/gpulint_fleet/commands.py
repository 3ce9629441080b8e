"""Starts git and gpulint. Each has its own process group and limits, and ends when the process that started it ends."""

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from .text import Refused

# <linux/prctl.h>: the signal that a process gets when its parent ends.
PR_SET_PDEATHSIG = 1

# git and gpulint get these variables of the environment, and no others: no token, and none of git's variables that name a
# program, a repository or a configuration.
PASSED = ("USER", "LANG", "TMPDIR")

# The most bytes to read of a command's messages. The other side of a fetch can write without end.
MOST_MESSAGES = 64 << 10


class TimedOut(Exception):
    pass


class Finished:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def search_path():
    """Returns the absolute directories of PATH. A relative one would lead into the checkout of a repository."""
    return os.pathsep.join(it for it in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(it))


def find_program(name):
    """Returns the absolute path of a program, so that no file of a checkout runs instead."""
    found = shutil.which(name, path=search_path())
    if not found:
        raise Refused(f"gpulint-fleet cannot find the program `{name}`: install it, or write its path")
    return os.path.abspath(found)


def environment(names=()):
    passed = {name: os.environ[name] for name in (*PASSED, *names) if name in os.environ}
    return passed | {"PATH": search_path(), "LC_ALL": "C.UTF-8"}


def gpulint_environment(home):
    """Returns an environment in which gpulint finds no setting, no cached price and no token of this machine."""
    return {"PATH": search_path(), "HOME": str(home), "LC_ALL": "C.UTF-8"} | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def run(arguments, seconds, cwd=None, env=None, file_mib=None, stdout=subprocess.PIPE):
    """Runs a command. It ends with the command, after `seconds`, or when this process ends."""

    def prepare():
        # If this process is killed, its children end too: git passes the signal on to the programs that it started.
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if file_mib:
            # Ignore the signal, so that a program that writes too much gets an error and reports it instead of ending silently.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_mib << 20, file_mib << 20))

    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            arguments,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=messages,
            start_new_session=True,
            preexec_fn=prepare,
        )
        try:
            out, _ = process.communicate(timeout=max(seconds, 0.01))
        except subprocess.TimeoutExpired:
            raise TimedOut from None
        finally:
            # Also end what the command left running in its process group.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            process.wait()
        messages.seek(max(0, messages.seek(0, os.SEEK_END) - MOST_MESSAGES))
        err = messages.read().decode(errors="replace")
    return Finished(process.returncode, (out or b"").decode(errors="replace"), err)
