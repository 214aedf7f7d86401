#!/usr/bin/env python3
"""Prints what CHANGELOG.md says of a version, for the notes of its release.

    docs/release-notes.py 0.2.0

Exits with 1 if the changelog has no such heading (`## 0.2.0 - 2026-12-01`), or Cargo.toml has another version.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def notes(version: str) -> str:
    """The text below the heading of a version, up to the next one."""
    stated = re.search(r'(?m)^version = "(.+)"$', (ROOT / "Cargo.toml").read_text())
    if stated is None or stated[1] != version:
        sys.exit(f"version is {version}, but Cargo.toml says {stated and stated[1]}; change one of them")
    sections = re.split(r"(?m)^## ", (ROOT / "CHANGELOG.md").read_text())
    found = [section for section in sections if re.match(rf"{re.escape(version)}( |$)", section.splitlines()[0])]
    if not found:
        sys.exit(f"CHANGELOG.md has no heading '## {version} - DATE'; rename 'Unreleased' to it")
    return found[0].split("\n", 1)[1].strip()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(notes(sys.argv[1]))
