"""Starts git and gpulint: each in a process group of its own, with limits, and gone when whoever started it is gone."""

import ctypes
import os
import resource
import signal
import subprocess
import sys

# <linux/prctl.h>: the signal that a process gets when its parent ends.
PR_SET_PDEATHSIG = 1

# What git and gpulint may know of the environment: the way to programs, proxies and certificates, and git's own settings.
PASSED = ("PATH", "HOME", "USER", "LANG", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE")
PASSED_PREFIXES = (
    "GIT_",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
)


class TimedOut(Exception):
    pass


class Finished:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def environment(names=()):
    passed = {k: v for k, v in os.environ.items() if k in PASSED or k.startswith(PASSED_PREFIXES) or k in names}
    return passed | {"LC_ALL": "C.UTF-8"}


def run(arguments, seconds, cwd=None, env=None, file_mib=None, stdout=subprocess.PIPE, text=None):
    """Ends with the command, after so many seconds, or when this process is gone."""

    def prepare():
        # Whoever is killed leaves nobody behind: git passes the signal on to what it started.
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if file_mib:
            # Whoever writes too much is told, and says so, where the signal would end it without a word.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_mib << 20, file_mib << 20))

    process = subprocess.Popen(
        arguments,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=prepare,
    )
    try:
        out, err = process.communicate(text, timeout=max(seconds, 0.01))
    except subprocess.TimeoutExpired:
        raise TimedOut from None
    finally:
        # Also what the command left running: its group is ours.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()
    return Finished(process.returncode, (out or b"").decode(errors="replace"), err.decode(errors="replace"))
