#!/usr/bin/env python3
"""Answers Probity with a service that scores texts over HTTP: one text a request, JSON in and out.

    probity audit --texts comments.csv --text-column text --predictor-concurrency 8 --predictor-classes fine,toxic \\
        --predictor "command:python3 scripts/predict_texts_http.py https://example.org/score --score toxicity.score"

--score says where the answer has the probability of the second class: keys and positions with dots between them. --body
is what is sent; the text takes the place of "TEXT" in it. --key names the variable of the environment that holds the key
of the service; --key-header the header that carries it, with what stands before it.
"""

import argparse
import json

from probity_http import Endpoint
from probity_predictor import serve_texts


def with_text(body, text):
    """`body` with `text` in the place of "TEXT"."""
    if isinstance(body, dict):
        return {key: with_text(value, text) for key, value in body.items()}
    if isinstance(body, list):
        return [with_text(value, text) for value in body]
    return text if body == "TEXT" else body


def open_model(arguments):
    def opened(_classes):
        endpoint = Endpoint(arguments.url, arguments.key, arguments.key_header, arguments.timeout)
        body = json.loads(arguments.body)

        def score(text):
            found = endpoint.value_at(endpoint.post(with_text(body, text)), arguments.score)
            if isinstance(found, bool) or not isinstance(found, (int, float)):
                raise ValueError(f"the endpoint's answer has no number at {arguments.score}: {endpoint.hushed(repr(found))[:200]}")
            return found

        return (lambda texts: [score(text) for text in texts]), None

    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answers Probity with a service that scores texts over HTTP.")
    parser.add_argument("url", help="where texts are sent by POST")
    parser.add_argument("--score", default="score", metavar="PATH", help="where the answer has the score")
    parser.add_argument("--body", default='{"text": "TEXT"}', metavar="JSON", help="what is sent")
    parser.add_argument("--key", metavar="VARIABLE", help="variable of the environment with the key")
    parser.add_argument("--key-header", default="Authorization: Bearer", metavar="HEADER", help="what carries the key")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS", help="time for an answer")
    serve_texts(open_model(parser.parse_args()), texts_at_most=1)
