"""The predictor protocol of Probity in Python: docs/predictors.md says what the lines mean.

    from probity_predictor import serve

    def open_model(columns, classes):
        model = ...
        return predict, names    # names: the classes in the order of predict's columns, or None

    serve(open_model)   # or serve_texts

`columns` is a list of dictionaries with `name`, `kind` and the domain, `classes` the list of the schema's
classes. `predict(rows)` gets a list of rows, each a list of numbers, words or None, and returns one list of
probabilities a row, or for two classes one probability of the second class a row. NumPy arrays will do.
"""

import gc
import json
import os
import sys


def serve(open_model):
    """Answers until the input ends. An exception ends the run with its message."""
    talk(lambda greeting: open_model(greeting["columns"], greeting["classes"]), "rows")


def serve_texts(open_model, texts_at_most=None):
    """The same for texts: `open_model(classes)` gets the classes, or None where they are not given, and returns
    `predict, names` as above. `predict(texts)` may have None for a text about which nothing can be said now, or
    raise `Later`: Probity asks again. It is given at most `texts_at_most` texts at a time."""
    talk(lambda greeting: open_model(greeting["classes"]), "texts", {"texts_at_most": texts_at_most})


class Later(Exception):
    """Nothing can be said now, because of `reason`; perhaps in `seconds`, where that is known."""

    def __init__(self, reason, seconds=None):
        super().__init__(reason)
        self.seconds = seconds


def talk(open_model, asked, besides=None):
    # What libraries print goes to standard error: standard output is for answers only.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def write(line):
        answers.write(json.dumps(line, allow_nan=True) + "\n")
        answers.flush()

    requests = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
    line = requests.readline()
    if not line:
        sys.exit("this program is started by: probity audit --predictor \"command:python3 SCRIPT\"")
    greeting = json.loads(line)
    try:
        if greeting["protocol"] != 1:
            raise ValueError(f"protocol {greeting['protocol']} is not known here")
        if (greeting["probity"] == "text predictor") != (asked == "texts"):
            raise ValueError(f"this program answers about {asked}")
        predict, names = open_model(greeting)
    except Exception as error:
        write({"error": describe(error)})
        raise
    welcome = {"protocol": 1, **(besides or {})}
    if names is not None:
        welcome["classes"] = list(names)
    write(welcome)
    # What is there now stays: the collector need not go through it again and again.
    gc.freeze()
    for line in requests:
        request = json.loads(line)
        answer = {"batch": request["batch"]}
        try:
            found = predict(request[asked])
        except Later as later:
            found = [None] * len(request[asked])
            answer["reason"] = str(later)
            if later.seconds is not None:
                answer["retry_after"] = later.seconds
        except Exception as error:
            write({"error": describe(error)})
            raise
        found = as_scores(found)
        found = found.tolist() if hasattr(found, "tolist") else list(found)
        is_lists = any(isinstance(one, (list, tuple)) for one in found)
        key = "probabilities" if is_lists or not found else "scores"
        write({**answer, key: found})


def as_scores(found):
    """Of a NumPy matrix of two columns the second, where it says what the first one is: half to write and to read."""
    if getattr(found, "ndim", 0) == 2 and found.shape[1] == 2 and found.dtype == float:
        if (found[:, 0] == 1 - found[:, 1]).all():
            return found[:, 1]
    return found


def describe(error):
    return f"{type(error).__name__}: {error}"


class Numbers:
    """Rows as a NumPy matrix of numbers: words as their position, or (`onehot`) one column a word.

    Missing values are NaN."""

    def __init__(self, columns, onehot=False):
        self.columns = columns
        self.onehot = onehot
        self.positions = [
            {word: at for at, word in enumerate(column["values"])} if column["kind"] == "categorical" else None
            for column in columns
        ]

    def names(self):
        """The names of the matrix's columns: `sex`, or `sex_Female`, `sex_Male`."""
        found = []
        for column, positions in zip(self.columns, self.positions):
            if positions is not None and self.onehot:
                found += [f"{column['name']}_{word}" for word in positions]
            else:
                found.append(column["name"])
        return found

    def __call__(self, rows):
        import numpy as np

        parts = []
        for cells, positions in zip(zip(*rows), self.positions):
            if positions is None:
                parts.append(np.array([[float("nan") if cell is None else cell] for cell in cells], dtype=float))
                continue
            codes = np.array([positions[cell] for cell in cells])
            if self.onehot:
                parts.append(np.eye(len(positions))[codes])
            else:
                parts.append(codes[:, None].astype(float))
        return np.hstack(parts)
