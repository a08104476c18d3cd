"""The notebook runs from its first cell to its last, and shows pictures."""

from pathlib import Path

import pytest
from needed import needed

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.mark.parametrize("name", sorted(file.name for file in NOTEBOOKS.glob("*.ipynb")))
def test_it_runs(name):
    needed("matplotlib")
    nbformat = needed("nbformat")
    nbclient = needed("nbclient")
    needed("ipykernel")
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": "."}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds
