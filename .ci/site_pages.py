"""What MkDocs does not do by itself: pages that lie at the root of the project are part of the site.

Links to the second heading of a name are spelt as MkDocs spells them. And links lead from docs/ to files outside of it (`../CONTRIBUTING.md`), which is where they are for those
who read the files. Two of these files become pages; of any other file the site says the name alone, as
it lies in the checkout.
"""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
#: A link to the second, third … heading of one name, by the way in which GitHub tells them apart.
REPEATED = re.compile(r"(\]\([^)\s]*#[^)\s]*[a-z])-(\d)\)")
LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+)([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files, config):
    for name in PAGES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    here = Path(page.file.src_uri).parent
    is_at_root = page.file.src_uri in PAGES

    def adapted(match):
        words, up, path, anchor = match[1], match[2], match[3], match[4] or ""
        if len(up) // 3 <= len(here.parts):
            return match[0]
        if path in PAGES:
            return f"[{words}]({up[3:]}{path}{anchor})"
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"{page.file.src_uri}: {path}")
        return f"{words} (`{path}`)"

    markdown = REPEATED.sub(r"\1_\2)", markdown)
    if is_at_root:
        # Pages of docs/ are beside them here.
        return markdown.replace("](docs/", "](")
    return LINK.sub(adapted, markdown)
