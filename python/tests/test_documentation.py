"""Every block of docs/python.md does what it says, in order, in one folder."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_recipes_run():
    pytest.importorskip("sklearn")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 8
    names: dict = {"__name__": "recipes"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    for file in ("report.html", "certificates.html", "audits/first/summary.json"):
        assert Path(file).is_file()
