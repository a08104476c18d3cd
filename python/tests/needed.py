"""Libraries that a machine may lack. What `PROBITY_REQUIRE` names may not be missing: `python` stands for
all of them but PyTorch, which `torch` stands for."""

import importlib
import os
from types import ModuleType

import pytest


def needed(name: str) -> ModuleType:
    """The module; where it is not there, the test is skipped, or fails."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        kind = "torch" if name == "torch" else "python"
        if kind in os.environ.get("PROBITY_REQUIRE", "").split(","):
            raise
        pytest.skip(f"{error}", allow_module_level=True)
