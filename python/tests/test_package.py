"""The package as it is installed: its types, and its command."""

import ast
import graphlib
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import probity

HERE = Path(__file__).parent


def test_types():
    api = pytest.importorskip("mypy.api")
    said, errors, code = api.run(["--strict", str(HERE / "typed_user.py")])
    assert code == 0, said + errors


def test_the_command_is_the_same_version():
    program = shutil.which("probity", path=sysconfig.get_path("scripts"))
    if program is None:
        pytest.skip("the package is not installed")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["probity", probity.__version__]


def test_what_is_offered_is_there():
    for name in probity.__all__:
        assert getattr(probity, name).__doc__ or name == "__version__", name
    code = "import sys, probity; sys.exit('sklearn' in sys.modules or 'torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_modules_import_each_other_without_circles():
    imports = {}
    for file in Path(probity.__file__).parent.glob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        found = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 1]
        imports[file.stem] = {node.module or each.name for node in found for each in node.names}
    graphlib.TopologicalSorter(imports).prepare()
