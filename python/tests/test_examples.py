"""The notebook and the scripts of the guide are run."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "examples/three_systems.ipynb", as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "examples")}})
    client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("<b>" in output.get("data", {}).get("text/html", "") for output in shown)
