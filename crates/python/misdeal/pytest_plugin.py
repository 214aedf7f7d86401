"""The fixture `assert_scheme` for pytest, which finds it by its entry point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def assert_scheme() -> Callable[..., Any]:
    """`misdeal.testing.assert_scheme`: fails unless a data loader makes its batches by a scheme, without a defect."""
    from .testing import assert_scheme

    return assert_scheme
