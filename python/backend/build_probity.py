"""Builds the wheel by maturin, and the source distribution.

`PROBITY_FEATURES=wgpu` builds the wheel with GPUs. A source distribution is the checkout, but for what only
tests and readers need, with this package's description at its root.
"""

import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

import maturin
from maturin import get_requires_for_build_editable, get_requires_for_build_wheel  # noqa: F401

_HERE = Path(__file__).resolve().parent.parent


def _features() -> list[str]:
    return [name for name in os.environ.get("PROBITY_FEATURES", "").split(",") if name]


def _settings(config_settings):
    settings = dict(config_settings or {})
    if _features():
        settings["maturin.build-args"] = f"--features {','.join(_features())}"
    return settings


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, _settings(config_settings))


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return maturin.build_wheel(wheel_directory, _settings(config_settings), metadata_directory)


#: Folders of the checkout that no build reads.
_UNREAD = (".ci/", ".github/", "docs/", "tests/", "python/notebooks/", "python/tests/")
#: What lies elsewhere, seen from the root of a source distribution.
_MOVED = {
    'backend-path = ["backend"]': 'backend-path = ["python/backend"]',
    'readme = "README.md"': 'readme = "python/README.md"',
    'manifest-path = "Cargo.toml"': 'manifest-path = "python/Cargo.toml"\npython-source = "python"',
}


def build_sdist(sdist_directory, config_settings=None):
    with tempfile.TemporaryDirectory() as folder:
        metadata = (Path(folder) / prepare_metadata_for_build_wheel(folder) / "METADATA").read_bytes()
    version = next(line for line in metadata.decode().splitlines() if line.startswith("Version: "))
    name = f"probity_audit-{version.removeprefix('Version: ')}"
    project = (_HERE / "pyproject.toml").read_text(encoding="utf-8")
    for here, there in _MOVED.items():
        assert project.count(here) == 1, here
        project = project.replace(here, there)
    root = _HERE.parent
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    files = [file for file in listed.decode().split("\0") if file and not file.startswith(_UNREAD)]
    out = Path(sdist_directory) / f"{name}.tar.gz"
    with tarfile.open(out, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file in files:
            archive.add(root / file, f"{name}/{file}")
        for file, content in (("PKG-INFO", metadata), ("pyproject.toml", project.encode())):
            about = tarfile.TarInfo(f"{name}/{file}")
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return out.name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return maturin.build_editable(wheel_directory, _settings(config_settings), metadata_directory)
