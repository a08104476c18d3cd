"""Prints the bill of materials that maturin wrote into a wheel, in CycloneDX: scripts/bill-of-materials.py WHEEL

It is of every crate that the extension module and the command are made of. Where the crates lay when it was made
says nothing to anybody, so paths begin at the checkout. What is no CycloneDX is refused.
"""

import json
import re
import sys
import zipfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def main(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if re.search(r"/sboms/.*\.cyclonedx\.json$", name)]
        text = archive.read(name).decode()
    # The component that the bill is of lies in `python/`.
    root = re.search(r"path\+file://([^\"#]*)/python[#\"]", text)
    if root:
        text = text.replace(f"file://{root[1]}", "file://.")
    bill = json.loads(text)
    version = SchemaVersion.from_version(bill["specVersion"])
    if error := JsonStrictValidator(version).validate_str(text):
        sys.exit(f"{wheel}: {error}")
    print(json.dumps(bill, indent=2))


if __name__ == "__main__":
    main(sys.argv[1])
