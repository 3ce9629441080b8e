import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ.setdefault("GIT_CONFIG_GLOBAL", "/dev/null")
# A separate cache, without the prices of the user who runs the tests.
os.environ.setdefault("GPULINT_CACHE_DIR", "/nonexistent")

import editor  # noqa: E402


@pytest.fixture
def workspace(tmp_path):
    return editor.copied(tmp_path / "workspace")
