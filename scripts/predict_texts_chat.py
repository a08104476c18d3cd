#!/usr/bin/env python3
"""Answers Probity with a chat model behind an endpoint of the OpenAI kind, told to say one class and nothing else.

    probity audit --texts comments.csv --text-column text --predictor-votes 3 --predictor-concurrency 8 \\
        --predictor-classes fine,toxic \\
        --predictor "command:python3 scripts/predict_texts_chat.py http://localhost:8000/v1/chat/completions --model NAME"

The class that it says has the probability 1. An answer that is none of the classes counts as no answer: the text is sent
again. Chat models are seldom repeatable, even at temperature 0: --predictor-votes 3 takes the class that most of three
answers say. --key names the variable of the environment that holds the key.
"""

import argparse

from probity_http import Endpoint
from probity_predictor import Later, serve_texts

INSTRUCTION = "Classify the text that the user sends as one of: {classes}. Answer with that word alone, nothing else."


def open_model(arguments):
    def opened(classes):
        if classes is None:
            raise ValueError("name the classes in predictor.classes")
        endpoint = Endpoint(arguments.url, arguments.key, timeout=arguments.timeout)
        instruction = arguments.instruction.replace("{classes}", ", ".join(classes))

        def said(text):
            messages = [{"role": "system", "content": instruction}, {"role": "user", "content": text}]
            body = {"model": arguments.model, "messages": messages, "temperature": 0, "max_tokens": 16}
            answer = endpoint.value_at(endpoint.post(body), "choices.0.message.content")
            word = str(answer).strip().strip(".\"'").lower()
            places = [place for place, name in enumerate(classes) if name.lower() == word]
            if len(places) != 1:
                raise Later(f"the model says {endpoint.hushed(repr(answer))[:60]}, none of {', '.join(classes)}")
            return [float(place == places[0]) for place in range(len(classes))]

        return (lambda texts: [said(text) for text in texts]), None

    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answers Probity with a chat model.")
    parser.add_argument("url", help="endpoint of chat completions")
    parser.add_argument("--model", required=True, help="name of the model")
    parser.add_argument("--key", metavar="VARIABLE", help="variable of the environment with the key")
    parser.add_argument("--instruction", default=INSTRUCTION, help="what the model is told; {classes} are the classes")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="time for an answer")
    serve_texts(open_model(parser.parse_args()), texts_at_most=1)
