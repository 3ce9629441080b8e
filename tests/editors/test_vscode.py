"""The packed extension in Visual Studio Code, where its build for browsers is installed: see CONTRIBUTING.md."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from editor import HERE, PROGRAM
from test_fixes import JOB, fixed

ROOT = HERE.parents[1]


@pytest.fixture(scope="session")
def extension(tmp_path_factory):
    if not os.environ.get("GPULINT_CODE_SERVER"):
        pytest.skip("GPULINT_CODE_SERVER names no code-server")
    at = tmp_path_factory.mktemp("extension")
    binaries = at / "binaries/x86_64-unknown-linux-musl"
    binaries.mkdir(parents=True)
    shutil.copy(PROGRAM, binaries / "gpulint")
    pack = [sys.executable, str(ROOT / "packaging/vscode.py"), str(at / "binaries"), str(at / "out"), "--target", "linux-x64"]
    subprocess.run(pack, check=True)
    return next((at / "out").glob("*.vsix"))


def test_it_works_where_people_work(extension, workspace, tmp_path):
    pictures = pathlib.Path(os.environ.get("GPULINT_PICTURES") or tmp_path / "pictures")
    pictures.mkdir(parents=True, exist_ok=True)
    wanted = fixed(workspace, tmp_path / "wanted", "--select", "missing-ttl")
    environment = {
        **os.environ,
        "CODE_SERVER": os.environ["GPULINT_CODE_SERVER"],
        "PLAYWRIGHT": os.environ["GPULINT_PLAYWRIGHT"],
        "CHROMIUM": os.environ.get("CHROMIUM") or shutil.which("chromium"),
        "VSIX": str(extension),
        "WORKSPACE": str(workspace),
        "PICTURES": str(pictures),
    }
    done = subprocess.run(["node", str(HERE / "vscode.mjs")], env=environment, capture_output=True, text=True, timeout=400)
    seen = json.loads((pictures / "seen.json").read_text())
    assert done.returncode == 0, (seen, done.stdout, done.stderr)
    assert seen["installed"].startswith("gpulint.gpulint@")
    assert seen["restricted"] and seen["typed"]
    assert any("10,726" in it for it in seen["hints"]), seen["hints"]
    assert seen["saved"] == wanted[JOB]
    assert "[error]" not in seen["log"], seen["log"]
