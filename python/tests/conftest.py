import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# Two libraries with threads of their own in one process get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Else scikit-learn skips one of its checks of an estimator.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

#: Whether a test that lacks a library fails, rather than being skipped.
IS_REQUIRED = "python" in os.environ.get("PROBITY_REQUIRE", "").split(",")

#: What a test may lack even so: no package brings it.
OF_THE_SYSTEM = ("there is no fork here",)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Whatever a test writes by a relative name goes with it."""
    monkeypatch.chdir(tmp_path)


def required(report):
    """The report; where nothing may be skipped, what was skipped has failed."""
    if not IS_REQUIRED or not report.skipped or hasattr(report, "wasxfail"):
        return report
    reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not reason.endswith(OF_THE_SYSTEM):
        report.outcome = "failed"
        report.longrepr = f"PROBITY_REQUIRE names python, but this was skipped: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Of a module, all of whose tests lack something."""
    return required((yield))
