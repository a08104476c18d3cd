"""What the checks make of the words of cargo and pytest, of locks, and of pages."""

import unittest

import cargo_output
import checks
import pages

CARGO = """\
     Running unittests src/lib.rs (target/release/deps/probity_run-1a)

running 2 tests
test stream::tests::keyed ... ok
test lock::tests::held ... FAILED

failures:

---- lock::tests::held stdout ----
thread 'lock::tests::held' panicked at crates/run/src/lock.rs:10:5:
assertion failed: is_held

failures:
    lock::tests::held

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `-p probity-run --lib`
     Running tests/command/main.rs (target/release/deps/command-2b)

running 2 tests
skipped (data): no folder
test shards::many ... ok
test shards::more ... error: process didn't exit successfully: `command-2b` (signal: 9, SIGKILL: kill)
   Doc-tests probity_data

running 1 test
test crates/data/src/lib.rs - read (line 3) ... FAILED

failures:

---- crates/data/src/lib.rs - read (line 3) stdout ----
error[E0425]: cannot find value `x`

failures:
    crates/data/src/lib.rs - read (line 3)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s
""".splitlines()

PYTEST = """\
..F.s
=================================== FAILURES ===================================
______________________________ test_of_shares[a b] _____________________________

    def test_of_shares():
>       assert 1 == 2
E       assert 1 == 2

python/tests/test_audit.py:3: AssertionError
=========================== short test summary info ============================
SKIPPED [1] python/tests/test_torch.py:4: no torch
FAILED python/tests/test_audit.py::test_of_shares[a b] - assert 1 == 2
1 failed, 3 passed, 1 skipped in 0.12s
""".splitlines()


PAGE = """\
# A page

```sh
pip install it
```

```python title="it.py"
print(1)
```

```sh
python3 it.py
```

```text
1
```
"""

LOCK = """\
# Made by a script
a-b==1.0 \\
    --hash=sha256:00
c==2.0 ; sys_platform == 'win32' \\
    --hash=sha256:01
    # via a-b
"""


class Pages(unittest.TestCase):
    def test_commands_and_files_in_their_order(self):
        file = "cat > 'it.py' <<'END OF it.py'\nprint(1)\nEND OF it.py\n"
        self.assertEqual([name for name, _ in pages.blocks(PAGE)], [None, "it.py", None])
        self.assertEqual(pages.script(PAGE), f"pip install it\n{file}python3 it.py\n")


class Locks(unittest.TestCase):
    def test_names_and_versions(self):
        self.assertEqual(checks.without_hashes(LOCK), "a-b==1.0\nc==2.0 ; sys_platform == 'win32'\n")


class Outcomes(unittest.TestCase):
    def test_cargo(self):
        outcome = cargo_output.of_cargo(CARGO)
        self.assertEqual(outcome.passed, 1)
        names = [(failure.program, failure.test) for failure in outcome.failures]
        self.assertEqual(
            names,
            [
                ("target/release/deps/probity_run-1a", "lock::tests::held"),
                ("target/release/deps/command-2b", ""),
                ("probity_data", "crates/data/src/lib.rs - read (line 3)"),
            ],
        )
        self.assertIn("assertion failed: is_held", outcome.failures[0].lines)
        self.assertIn("SIGKILL", outcome.failures[1].lines[-1])
        self.assertEqual(outcome.skipped, ["skipped (data): no folder"])

    def test_pytest(self):
        outcome = cargo_output.of_pytest(PYTEST)
        self.assertEqual(outcome.passed, 3)
        (failure,) = outcome.failures
        self.assertEqual(failure.test, "python/tests/test_audit.py::test_of_shares[a b]")
        self.assertIn("E       assert 1 == 2", failure.lines)
        self.assertEqual(len(outcome.skipped), 1)


if __name__ == "__main__":
    unittest.main()
