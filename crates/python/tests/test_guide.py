"""Python in the guide (docs/src) runs: each page's blocks in order, in a folder of their own; `>>>` blocks as doctests."""

import doctest
import pathlib
import re

import pytest

PAGES = pathlib.Path(__file__).resolve().parents[3] / "docs" / "src"
# A block that a comment gives a file's name is that file, and not run.
BLOCK = re.compile(r"(<!-- file: [^>]* -->\n)?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = {
    "one-run.md": ("opacus",), "check-up.md": ("opacus",), "your-own-training.md": ("opacus", "jax"), "diagnosing-a-loader.md": ("torch",),
}  # fmt: skip


def blocks(page):
    return [code for file, code in BLOCK.findall(page.read_text()) if not file]


@pytest.mark.parametrize("page", [page.name for page in sorted(PAGES.glob("*.md")) if blocks(page)])
def test_blocks_run(page, tmp_path, monkeypatch, capsys):
    for module in NEEDS.get(page, ()):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page}
    for number, code in enumerate(blocks(PAGES / page), 1):
        place = f"{page}, block {number}"
        if ">>>" in code:
            example = doctest.DocTestParser().get_doctest(code, names, place, page, 0)
            found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, clear_globs=False)
            assert found.failed == 0, capsys.readouterr().out
            names.update(example.globs)
        else:
            exec(compile(code, place, "exec"), names)


def test_there_are_blocks():
    assert sum(len(blocks(page)) for page in PAGES.glob("*.md")) >= 5
