"""Files and directories at URLs."""

from pathlib import Path

from ._errors import DataError, OptionError


def fetched(url: str, folder: Path) -> str:
    """The file or directory at a URL, copied into `folder`."""
    try:
        import fsspec
    except ImportError as error:
        raise OptionError(f"{url} needs fsspec: pip install fsspec") from error
    try:
        system, inside = fsspec.core.url_to_fs(url)
        # What says which version, or who may read it, is no part of the name.
        name = inside.partition("?")[0].rstrip("/").rpartition("/")[2]
        place = folder / name
        if system.isdir(inside):
            system.get(inside.rstrip("/") + "/", str(place) + "/", recursive=True)
        else:
            system.get_file(inside, str(place))
    except Exception as error:
        raise DataError(f"cannot read {url}: {error}") from error
    return str(place)
