"""Libraries that a machine may lack. What `PROBITY_REQUIRE` names may not be missing: `torch` stands for
PyTorch and transformers, which are large, and `python` for all others."""

import importlib
import os
from types import ModuleType

import pytest


def needed(name: str) -> ModuleType:
    """The module; where it is not there, the test is skipped, or fails."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        kind = "torch" if name in ("torch", "transformers") else "python"
        if kind in os.environ.get("PROBITY_REQUIRE", "").split(","):
            raise
        pytest.skip(f"{error}", allow_module_level=True)
