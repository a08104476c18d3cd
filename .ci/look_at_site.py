"""Opens the built site in a browser: pages show what they should, pictures are there, and the search finds.

    look_at_site.py FOLDER
"""

import contextlib
import functools
import http.server
import json
import re
import subprocess
import sys
import threading
import time
import urllib.request

#: What is opened, and what must be seen on it within so many seconds.
PATIENCE = 60
SEEN = """
const broken = [...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src);
return [document.querySelector("h1")?.textContent ?? "", broken, document.documentElement.scrollWidth];
"""
FOUND = 'return [...document.querySelectorAll(".md-search-result__link")].map(link => link.href)'
PAGES = {"index.html": "Probity", "tutorials/table.html": "A table", "reference.html": "Reference"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


class Browser:
    """A session of chromedriver."""

    def __init__(self, driver):
        begun = (re.search(r"successfully on port (\d+)", line) for line in driver.stdout)
        self.at = f"http://127.0.0.1:{next(filter(None, begun))[1]}/session"
        arguments = ["--headless", "--no-sandbox", "--window-size=1300,900"]
        wanted = {"alwaysMatch": {"goog:chromeOptions": {"args": arguments}}}
        self.at += "/" + self.ask("", {"capabilities": wanted})["sessionId"]

    def ask(self, path, body):
        request = urllib.request.Request(self.at + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def end(self):
        """Ends the session: a chromedriver that is only terminated leaves its browser behind."""
        urllib.request.urlopen(urllib.request.Request(self.at, method="DELETE"), timeout=PATIENCE).close()

    def run(self, script):
        return self.ask("/execute/sync", {"script": script, "args": []})


def main(folder):
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=site.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{site.server_port}/"
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as driver:
        with contextlib.ExitStack() as stack:
            stack.callback(driver.terminate)
            browser = Browser(driver)
            stack.callback(browser.end)
            for page, words in PAGES.items():
                browser.ask("/url", {"url": home + page})
                heading, broken, width = browser.run(SEEN)
                print(f"{page}: {heading!r}, {width} wide")
                if words not in heading or broken or width > 1300:
                    sys.exit(f"{page}: {heading!r} is shown, not {words!r}; broken: {broken}; {width} wide")
            browser.ask("/url", {"url": home + "index.html?q=counterparts"})
            until = time.monotonic() + PATIENCE
            while not (found := browser.run(FOUND)):
                if time.monotonic() > until:
                    sys.exit("the search finds nothing")
                time.sleep(0.2)
            print("the search finds", len(found), "places, such as", found[0].removeprefix(home))


if __name__ == "__main__":
    main(sys.argv[1])
