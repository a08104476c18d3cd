"""Every block of Python in the documentation does what it says, in order, in one folder."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_blocks(page):
    """Runs the blocks of a page, which share their names, and gives how many there are."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    names: dict = {"__name__": "recipes"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    return len(blocks)


def command(*words):
    """Runs the command that was installed with the package."""
    program = shutil.which("probity", path=sysconfig.get_path("scripts"))
    if program is None:
        pytest.skip("the package is not installed")
    subprocess.run([program, *words], check=True)


def test_the_recipes_run():
    pytest.importorskip("sklearn")
    assert run_blocks("docs/python.md") >= 8
    for file in ("report.html", "certificates.html", "audits/first/summary.json"):
        assert Path(file).is_file()


def test_the_readme_runs():
    pytest.importorskip("sklearn")
    command("data", "generate", "people", "--rows", "3000", "--out", "people.csv")
    assert run_blocks("README.md") == 1
    assert Path("report-of-sklearn.html").is_file()
