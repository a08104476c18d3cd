"""Reads what `cargo test` and `pytest` print: how many tests passed, and which failed, with their words."""

import re
from dataclasses import dataclass, field

#: Lines of a failure that are shown.
LAST_LINES = 15


@dataclass
class Failure:
    """A test that failed, or a whole program that ended before it had said what became of its tests."""

    #: The executable, the crate of a documentation test, or "pytest".
    program: str
    #: The test; empty for a whole program.
    test: str
    #: The last lines that it printed.
    lines: list = field(default_factory=list)

    @property
    def name(self):
        return f"{self.program} {self.test}".strip()


@dataclass
class Outcome:
    """What became of the tests of a command."""

    passed: int = 0
    failures: list = field(default_factory=list)
    #: Lines of tests that say why they did nothing.
    skipped: list = field(default_factory=list)


_RUNNING = re.compile(r"^\s+Running .*\((.*)\)$")
_DOCUMENTED = re.compile(r"^\s+Doc-tests (\S+)$")
_TEST = re.compile(r"^test (.*?)(?: - should panic)? \.\.\. (?:.*\s)?(ok|FAILED|ignored.*)$")
_SECTION = re.compile(r"^---- (.*?)(?: - should panic)? stdout ----$")
_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;")


def of_cargo(lines):
    """The outcome of `cargo test --no-fail-fast` by its lines, stdout and stderr together."""
    outcome = Outcome()
    program, failed, sections, section, is_open = None, [], {}, None, False

    def close():
        if program is None:
            return
        if is_open:
            outcome.failures.append(Failure(program, "", tail))
        for test in failed:
            outcome.failures.append(Failure(program, test, sections.get(test, [])[-LAST_LINES:]))

    tail = []
    for line in lines:
        begins = _RUNNING.match(line) or _DOCUMENTED.match(line)
        if begins:
            close()
            program, failed, sections, section, is_open, tail = begins[1], [], {}, None, True, []
            continue
        if program is None:
            continue
        tail = [*tail, line][-LAST_LINES:]
        if line.startswith("skipped ("):
            outcome.skipped.append(line)
        if found := _SECTION.match(line):
            section = sections.setdefault(found[1], [])
        elif line == "failures:":
            section = None
        elif section is not None:
            section.append(line)
        elif (found := _TEST.match(line)) and found[2] == "FAILED":
            failed.append(found[1])
        if found := _RESULT.match(line):
            outcome.passed += int(found[1])
            # The names of those that failed come once more, also where their own line was torn.
            failed += [test for test in sections if test not in failed][: max(0, int(found[2]) - len(failed))]
            is_open, section = False, None
    close()
    return outcome


_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$")
_PYTEST_RESULT = re.compile(r"^=*\s*(?:.*?)(\d+) passed\b.* in [\d.]+s")
_PYTEST_SECTION = re.compile(r"^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(.*?) _{3,}$")


def of_pytest(lines):
    """The outcome of `pytest -rfEs` by its lines."""
    outcome = Outcome()
    sections, section = {}, None
    for line in lines:
        if found := _PYTEST_SECTION.match(line):
            section = sections.setdefault(found[1], [])
        elif line.startswith("==="):
            section = None
        elif section is not None:
            section.append(line)
        if line.startswith("SKIPPED "):
            outcome.skipped.append(line)
        if found := _PYTEST_FAILED.match(line):
            test = found[1]
            short = test.split("::", 1)[-1].replace("::", ".")
            own = sections.get(short) or sections.get(test) or []
            outcome.failures.append(Failure("pytest", test, own[-LAST_LINES:]))
        if found := _PYTEST_RESULT.match(line):
            outcome.passed = int(found[1])
    return outcome
