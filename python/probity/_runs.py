"""The kinds of runs: a function for each, which asks for it and gives it back."""

from __future__ import annotations

import os
from typing import Any, Sequence

from ._asking import _expect_directory, _is_of_texts, _of_any_model, _of_model
from ._audit import Audit
from ._errors import OptionError
from ._files import is_path
from ._inference import _names, infer_schema
from ._progress import Progress
from ._run import Run, _Answering, _Setting
from ._shards import _Cut
from .engines import Engine


def audit(
    model: Any,
    data: Any,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    favourable: Any = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    device: str = "auto",
    progress: bool | Progress | None = None,
    threads: int | None = None,
    engine: str | Engine | None = None,
    shards: int | None = None,
    **options: Any,
) -> Audit:
    """Searches `model` for individual discrimination, beginning at the rows of `data`.

    `model` is a model directory (or a run that made one), a fitted estimator with `predict_proba` or
    `decision_function`, a booster, a `torch.nn.Module`, or a function from a data frame to
    probabilities; frames are like `data`. `data` is a path, or a table with `__arrow_c_stream__`.

    `data` that are a list of texts, or have a `text_column`, are texts. `model` is then a model
    directory, a fitted pipeline of scikit-learn, a pipeline of `transformers` for text
    classification, a pair of a `torch.nn.Module` and its tokenizer, or a function from a list of
    texts to probabilities. `classes` are needed where the model does not say them itself.

    For a model that is no directory, `schema` says what its columns may hold (a file, a built-in name
    or TOML); by default it is inferred from the data, where `label` is the column of the classes and
    no input, and `ignore` names other columns that are none. `classes` are the model's, in the order
    of its outputs, where it does not say them itself; without them, and with a label, they are taken
    to be sorted. `gives` says whether its outputs are `probabilities`, `logits` or, of a
    regressor, `numbers`, which an estimator without classes gives by itself; `gap` is then needed.

    `out` is the run's directory, by default a temporary one. With `resume` the unfinished run there
    goes on, and all options come from it. Other options are those of the specification:
    `probity.options("audit")`.

    With an `engine`, such as `"ray"` (see `probity.engines`), the run is cut into `shards`, which its
    workers do; the result is the same. The shards are kept beside `out` until all are done, and
    `resume`, with all arguments as they were, does those that are missing.
    """
    if engine is not None:
        for_python = {
            "protected": protected, "label": label, "schema": schema, "classes": classes,
            "favourable": favourable, "ignore": ignore, "gives": gives, "device": device,
        }
        if threads is not None:
            options["threads"] = threads
        given = {**for_python, **options}
        cut = _Cut(engine, shards, out, resume, progress)
        found: Audit = cut.perform(audit, (model, data), given)
        return found
    if shards is not None:
        raise OptionError("shards has no meaning without an engine")
    told = {
        "label": label, "schema": schema, "classes": classes, "favourable": favourable,
        "ignore": ignore, "gives": gives,
    }
    if len(names := _names(protected)):
        options["protected"] = names
    with _Setting(out, resume, device, progress, threads) as setting:
        run: Audit
        run, kept = _of_any_model(Audit, "audit", setting, (model, data), told, options)
        if kept is not None:
            kept.folder = (run._keep, kept.folder)
            run._keep = kept
        run._warn()
        return run


def explain(
    model: Any,
    data: Any,
    row: int,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Explains what `model` decides of one row, or one text, of `data`: what it would decide with all
    other protected values, and the smallest change of anything else after which these no longer matter.

    `row` is its number from 1, also where others are left out: that of `frame.iloc[0]` is 1. `model`,
    `data`, `protected`, `label`, `schema`, `classes`, `ignore` and `gives` are as in `probity.audit`.
    Other options, such as `favourable`, `fixed`, `alternatives`, `max_calls` and `gap`, are listed by
    `probity.options("explain")`.

    What comes back is what `probity explain --json` prints: `class` and `probabilities` of the row,
    `variants`, of which `flips` are decided otherwise, and, where there are any, `undoing`, whose
    `changes` are the smallest ones.
    """
    told = {
        "label": label, "schema": schema, "classes": classes, "favourable": None,
        "ignore": ignore, "gives": gives,
    }
    options["row"] = row
    if len(names := _names(protected)):
        options["protected"] = names
    with _Answering(progress=False, threads=threads) as setting:
        explanation: dict[str, Any]
        explanation, _ = _of_any_model(dict, "explain", setting, (model, data), told, options)
        return explanation


def train(data: Any, label: str | None = None, protected: Sequence[str] = (), **options: Any) -> Run:
    """Trains a network on the rows, or the texts, of `data`; the run is a model directory.

    Where no `schema` is among the options, it is inferred, with `label` as the column to learn.
    `probity.options("train")` lists the options.
    """
    setting = _Setting.split_from(options)
    with setting:
        is_text = options.get("modality") == "text"
        if not setting.began and "schema" not in options and not is_text:
            if label is None:
                raise OptionError("label is needed: the column to learn, where there is no schema")
            options["schema"] = infer_schema(data, label, protected=protected)
        elif protected:
            raise OptionError("protected has no meaning where there is a schema, which marks them")
        inputs = {"data": setting.path("data", data)}
        run: Run = setting.perform(Run, "train", options, inputs)
        return run


def repair(model: Any, data: Any, audits: Sequence[Any] = (), **options: Any) -> Run:
    """Retrains `model` on `data` with what `audits` found, and saves it if it became fairer and is not
    worse; the run is then a model directory. `probity.options("repair")` lists the options."""
    runs = [os.path.abspath(os.fspath(audit)) for audit in audits]
    return _of_model("repair", model, data, options, {"runs": runs} if runs else {})


def groups(
    model: Any,
    data: Any,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    **options: Any,
) -> Run:
    """Measures how differently `model` treats the groups of protected attributes in `data`, whether it
    takes these attributes or not.

    `model` is whatever `probity.audit` takes, with `label`, `schema`, `classes`, `ignore` and `gives` as
    there; texts are a table with a `text_column` and a `label_column`. `probity.options("groups")`
    lists the options."""
    if len(names := _names(protected)):
        options["protected"] = names
    told = {
        "label": label, "schema": schema, "classes": classes, "ignore": ignore, "gives": gives,
    }
    if is_path(model):
        for name, value in told.items():
            if value is not None and (name != "ignore" or len(value)):
                raise OptionError(f"{name} has no meaning for a model directory")
        return _of_model("groups", model, data, options)
    setting = _Setting.split_from(options)
    with setting:
        run: Run
        # The favourable class is the last one of a schema that is drafted.
        told["favourable"] = options.get("favourable") if schema is None else None
        if _is_of_texts(setting, data, options):
            told["favourable"] = None
        run, kept = _of_any_model(Run, "groups", setting, (model, data), told, options)
        if kept is not None:
            kept.folder = (run._keep, kept.folder)
            run._keep = kept
        return run


def certify(model: Any, data: Any, **options: Any) -> Run:
    """Proves of rows of `data` that no change of protected attributes changes the decision.
    `probity.options("certify")` lists the options."""
    return _of_model("certify", model, data, options)


def prove(
    model: Any, *, marginals: Any = None, population: str | None = None, **options: Any
) -> Run:
    """Proves for what share of the whole domain of `model` its decision depends on protected
    attributes, from both sides. With `marginals`, a table, or `population="spn:DIRECTORY"`, a saved
    `SPN`, shares are of people. `probity.options("prove")` lists the options.

    `summary["bounds"]` holds the share at least and at most; `summary["ending"]` says why it ended.
    """
    _expect_directory(model)
    setting = _Setting.split_from(options)
    with setting:
        inputs = {"model": setting.located(model)}
        if marginals is not None:
            inputs["marginals"] = setting.path("marginals", marginals)
        if population is not None:
            kind, separator, directory = population.partition(":")
            place = os.path.abspath(directory) if separator else ""
            inputs["population"] = f"{kind}{separator}{place}"
        run: Run = setting.perform(Run, "prove", options, inputs)
        return run


def compare(model: Any, data: Any, **options: Any) -> Run:
    """Searches `model` by several strategies, for the same number of calls.
    `probity.options("compare")` lists the options."""
    _expect_directory(model)
    if (cut := _Cut.split_from(options)) is not None:
        compared: Run = cut.perform(compare, (model, data), options)
        return compared
    return _of_model("compare", model, data, options)


def knn(train: Any, test: Any = None, **options: Any) -> Run:
    """Decides of predictions of k-NN whether poisoned rows of `train` could have changed them.
    `probity.options("knn")` lists the options."""
    if (cut := _Cut.split_from(options)) is not None:
        decided: Run = cut.perform(knn, (train, test), options)
        return decided
    setting = _Setting.split_from(options)
    with setting:
        inputs = {"train": setting.path("train", train)}
        if test is not None:
            inputs["test"] = setting.path("test", test)
        run: Run = setting.perform(Run, "knn", options, inputs)
        return run
