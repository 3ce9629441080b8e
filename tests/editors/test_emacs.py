"""Emacs with eglot, in batch mode, where it is installed (Debian: `emacs-nox elpa-eglot`)."""

import json
import os
import shutil
import subprocess

import pytest

from editor import HERE, PATIENCE_SECONDS, PROGRAM, check
from test_fixes import JOB, MAIN, fixed
from test_neovim import EDITORS, written


@pytest.fixture
def emacs(workspace, tmp_path):
    if not shutil.which("emacs"):
        pytest.skip("emacs is not installed")
    probe = subprocess.run(["emacs", "--batch", "-f", "package-initialize", "--eval", "(require 'eglot)"], capture_output=True)
    if probe.returncode:
        pytest.skip("this emacs has no eglot")
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "gpulint").symlink_to(PROGRAM)
    seen = tmp_path / "seen.json"

    def run(task=None):
        environment = {
            **os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "GPULINT_EMACS": str(EDITORS / "emacs"),
            "WORKSPACE": str(workspace), "TASK": json.dumps(task or {}), "SEEN": str(seen),
        }
        command = ["emacs", "--batch", "-f", "package-initialize", "-l", str(HERE / "emacs/eglot.el")]
        done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=4 * PATIENCE_SECONDS)
        assert done.returncode == 0 and seen.exists(), done.stderr[-4000:]
        return json.loads(seen.read_text())

    return run


def test_findings_hover_and_typed_text(emacs, workspace):
    seen = emacs()
    findings = [it for it in check(workspace)["findings"] if it["path"] == MAIN]
    assert len(seen["texts"]) == len(findings)
    assert all(any(it["message"] in text for text in seen["texts"]) for it in findings), seen
    assert "10,726" in seen["hover"]


@pytest.mark.parametrize(
    "task, arguments",
    [
        ({"file": JOB, "act": "^fix: ", "near": "apiVersion"}, ["--select", "missing-ttl"]),
        ({"file": "terraform/notebook/main.tf", "act": "^change how the workload runs: ", "near": 'resource "google_compute'}, ["--unsafe-fixes", "--select", "missing-auto-shutdown"]),
    ],
)
def test_an_action_writes_what_check_writes(emacs, workspace, tmp_path, task, arguments):
    wanted = fixed(workspace, tmp_path / "wanted", *arguments)
    emacs(task)
    assert written(workspace) == wanted
