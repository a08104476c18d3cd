"""Pages of the documentation as the shell script that their reader types."""

import re

FENCE = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.S | re.M)
TITLE = re.compile(r'title="([^"]+)"')


def script(text):
    """The commands of the `sh` blocks of a page, and the files that its titled blocks are, in order."""
    parts = []
    for language, words, content in FENCE.findall(text):
        if title := TITLE.search(words):
            parts.append(f"cat > '{title[1]}' <<'END OF {title[1]}'\n{content}END OF {title[1]}\n")
        elif language == "sh":
            parts.append(content)
    return "".join(parts)
