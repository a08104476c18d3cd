"""An endpoint that takes JSON and answers with JSON, for predictors of Probity (scripts/predict_texts_http.py).

What may go away by itself (429, 500 and above, closed connections, no answer in time) raises `Later`, with the seconds
that Retry-After says; anything else ends the run. The key comes from the environment and is said nowhere.
"""

import http.client
import json
import math
import os
import urllib.parse
from email.utils import parsedate_to_datetime
from datetime import datetime, timezone

from probity_predictor import Later


class Endpoint:
    """`url`, with the key that the environment has as `key_from` in the header `key_header`."""

    def __init__(self, url, key_from=None, key_header="Authorization: Bearer", timeout=30.0):
        parts = urllib.parse.urlsplit(url)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        if parts.scheme not in kinds or not parts.hostname:
            raise ValueError(f"{url} is no address that begins with http:// or https://")
        self.place = parts.path + (f"?{parts.query}" if parts.query else "") or "/"
        self.connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=timeout)
        self.key = None
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key_from is not None:
            key = os.environ.get(key_from)
            if not key:
                raise ValueError(f"the environment has no {key_from}")
            if any(ord(sign) < 32 for sign in key.strip()):
                raise ValueError(f"the environment's {key_from} has a line break or another control character in it")
            self.key = key.strip()
            name, _, before = key_header.partition(":")
            self.headers[name.strip()] = f"{before.strip()} {self.key}".strip()

    def post(self, body):
        """What is answered to `body`, both as JSON."""
        content = json.dumps(body).encode()
        try:
            self.connection.request("POST", self.place, body=content, headers=self.headers)
            response = self.connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Later(self.hushed(f"no answer from the endpoint: {type(error).__name__}: {error}")) from None
        if response.status == 429 or response.status >= 500:
            raise Later(f"the endpoint answers {response.status}", seconds_of(response.getheader("Retry-After")))
        if response.status != 200:
            raise ValueError(f"the endpoint answers {response.status}: {self.excerpt(answer)}")
        try:
            return json.loads(answer)
        except ValueError:
            raise ValueError(f"the endpoint answers with what is no JSON: {self.excerpt(answer)}") from None

    def excerpt(self, answer):
        """The beginning of an answer."""
        return self.hushed(answer.decode("utf-8", "replace"))[:200]

    def hushed(self, text):
        """`text` without the key, which some services repeat, as it is or as JSON or an address writes it."""
        if not self.key:
            return text
        quoted = json.dumps(self.key)[1:-1]
        ways = {self.key, quoted, repr(self.key)[1:-1], urllib.parse.quote(self.key), urllib.parse.quote_plus(self.key)}
        for way in sorted(ways, key=len, reverse=True):
            text = text.replace(way, "***")
        return text

    def value_at(self, answer, path):
        """What stands at `path` of an answer: keys and positions with dots between them, such as scores.0.value."""
        for step in path.split("."):
            try:
                answer = answer[int(step)] if isinstance(answer, list) else answer[step]
            except (KeyError, IndexError, TypeError, ValueError):
                found = self.hushed(json.dumps(answer))[:200]
                raise ValueError(f"the endpoint's answer has nothing at {path}: {found}") from None
        return answer


def seconds_of(after):
    """Seconds that a Retry-After names, or the time from now to its date."""
    if after is None:
        return None
    try:
        seconds = float(after)
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(after) - datetime.now(timezone.utc)).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
