"""A real notebook: how an audit shows how far it is, what is left of that, and what its result looks like.

Needs nbclient and ipykernel, as crates/python/test.sh installs them.
"""

import re

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")

# One thread, so that no machine is done before there is something to see.
CELLS = ["import misdeal", "misdeal.audit_mechanism(observations=1e8, threads=1, device='cpu')", "misdeal.audit_mechanism(observations=1e13, device='cpu')"]


class Client(nbclient.NotebookClient):
    """Keeps what was drawn, cell by cell."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.drawn = {}

    def process_message(self, message, cell, cell_index):
        if message["msg_type"] in ("display_data", "update_display_data"):
            content = message["content"]
            shown = (message["msg_type"], content["transient"]["display_id"], content["data"])
            self.drawn.setdefault(cell_index, []).append(shown)
        return super().process_message(message, cell, cell_index)


@pytest.fixture(scope="module")
def notebook():
    """The notebook, run; the last cell is interrupted as a user interrupts it."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    patience = {"timeout_func": lambda cell: 3 if "1e13" in cell.source else 300, "interrupt_on_timeout": True}
    client = Client(book, kernel_name="python3", allow_errors=True, **patience)
    client.execute()
    return client


def test_progress_is_one_bar_that_moves(notebook):
    (first, *others) = notebook.drawn[1]
    assert first[0] == "display_data" and len(others) >= 2
    assert {kind for kind, _, _ in others} == {"update_display_data"}
    assert len({display for _, display, _ in notebook.drawn[1]}) == 1
    *moving, last = [content for _, _, content in notebook.drawn[1]]
    done = [int(re.search(r'<progress value="(\d+)" max="100000000"', content["text/html"])[1]) for content in moving]
    assert done == sorted(done) and done[0] < done[-1] <= 10**8
    assert all("observations" in content["text/plain"] for content in moving)
    assert last == {"text/html": "", "text/plain": ""}


def test_nothing_is_left_but_the_result(notebook):
    bar, result = notebook.nb.cells[1].outputs
    assert bar["data"] == {"text/html": "", "text/plain": ""}
    assert result["output_type"] == "execute_result" and "is REFUTED" in result["data"]["text/plain"]
    assert "<svg" in result["data"]["text/html"] and "empirical_epsilon" in result["data"]["text/html"]


def test_an_interrupted_cell_ends_and_clears_its_bar(notebook):
    bar, *others = notebook.nb.cells[2].outputs
    assert bar["data"] == {"text/html": "", "text/plain": ""}
    assert [other["ename"] for other in others if other["output_type"] == "error"] == ["KeyboardInterrupt"]
