"""Prints the licences of everything that is compiled into the command: scripts/licences.py [--target TRIPLE]

One part for each crate: its licence as its author declares it, and the texts that lie in its package. A crate
whose package has no text is named with its expression; the texts of MIT and Apache 2.0 stand at the end, with
those of the data that the command holds.
"""

import argparse
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGINNINGS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
OURS = ("LICENSE-MIT", "LICENSE-APACHE", "crates/text/english/LICENSE-WORDNET", "crates/text/english/LICENSE-SPHINX")


def cargo(*words):
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def compiled(target):
    """Name and version of every crate that the command is made of."""
    words = ["tree", "-p", "probity", "-e", "normal", "--locked", "--target", target]
    lines = cargo(*words, "--prefix", "none", "--format", "{p}").splitlines()
    crates = {tuple(line.split()[:2]) for line in lines if line}
    return {(name, version.removeprefix("v")) for name, version in crates}


def texts(folder):
    found = [file for file in folder.rglob("*") if file.name.upper().startswith(BEGINNINGS)]
    return sorted(file for file in found if file.is_file() and file.suffix not in (".rs", ".html"))


def show(title, content):
    print(f"{'=' * 80}\n{title}\n{'=' * 80}\n\n{content.strip()}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="x86_64-unknown-linux-gnu")
    target = parser.parse_args().target
    crates = compiled(target)
    words = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    described = json.loads(cargo(*words))["packages"]
    print("What is compiled into Probity, and under which licences.\n")
    for package in sorted(described, key=lambda package: (package["name"], package["version"])):
        if (package["name"], package["version"]) not in crates or package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        parts = [f"{file.relative_to(folder)}:\n\n{file.read_text(errors='replace').strip()}" for file in texts(folder)]
        by = ", ".join(package["authors"]) or "not named"
        head = f"{package['name']} {package['version']}\nLicence: {package['license'] or package['license_file']}\nAuthors: {by}"
        show(head, "\n\n".join(parts) or "The package has no text of its licence.")
    for name in OURS:
        show(f"{name}, of this project", (ROOT / name).read_text())


if __name__ == "__main__":
    main()
