"""Pages of the documentation as the shell script that their reader types."""

import re

FENCE = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.S | re.M)
TITLE = re.compile(r'title="([^"]+)"')


def blocks(text):
    """The blocks of a page that a reader takes over: name of the file or nothing for commands, and content."""
    for language, words, content in FENCE.findall(text):
        if title := TITLE.search(words):
            yield title[1], content
        elif language == "sh":
            yield None, content


def script(text):
    """The commands of the `sh` blocks of a page, and the files that its titled blocks are, in order."""
    parts = []
    for name, content in blocks(text):
        parts.append(f"cat > '{name}' <<'END OF {name}'\n{content}END OF {name}\n" if name else content)
    return "".join(parts)
