"""The notebook runs from its first cell to its last, and shows pictures."""

from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.mark.parametrize("name", sorted(file.name for file in NOTEBOOKS.glob("*.ipynb")))
def test_it_runs(name):
    pytest.importorskip("matplotlib")
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    # A cell takes seconds; what hangs is named.
    patience = {"timeout": 600, "startup_timeout": 600}
    nbclient.NotebookClient(notebook, **patience, resources={"metadata": {"path": "."}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds
