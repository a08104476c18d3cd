import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# Two libraries with threads of their own in one process get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Whatever a test writes by a relative name goes with it."""
    monkeypatch.chdir(tmp_path)
