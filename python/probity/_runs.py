"""The kinds of runs, with a function that performs each."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import Any, Sequence

from . import _probity
from ._any_model import (
    Description,
    concerns_texts,
    expect_directory,
    perform_on_directory,
    perform_on_model,
    perform_on_outcomes,
)
from ._audit import Audit
from ._errors import OptionError
from ._files import expect_local, is_path, locate_schema
from ._inference import infer_schema, list_names
from ._progress import Progress
from ._run import Explainer, Run, Runner
from ._rust import Budget, Inputs, Time, to_json
from ._shards import ShardedRun
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
    time: Time | None = None,
    **options: Any,
) -> Audit:
    """Searches `model` for individual discrimination, beginning at the rows of `data`.

    `model` is a model directory (or a run that made one), a fitted estimator with `predict_proba`,
    `decision_function` or `predict`, a booster, a `torch.nn.Module`, or a function from a data frame to
    probabilities or names of classes, which gets frames like `data`. `data` is a path, or a table with
    `__arrow_c_stream__`.

    If `data` are a list of texts, or a `text_column` is named, `model` is one of texts: a model
    directory, a fitted pipeline of scikit-learn, a pipeline of `transformers` for text
    classification, a pair of a `torch.nn.Module` and its tokenizer, or a function from a list of
    texts to probabilities. `classes` are needed where the model does not say them itself.

    For a model that is no directory, `schema` says what its columns may hold (a file, a built-in name
    or TOML). By default it is inferred from the data, of which `label` is the column of the classes
    and `ignore` names other columns that are no inputs. `classes` are the model's, in the order of its
    outputs, where it does not name them itself; without them, and with a label, they are taken to be
    sorted. `gives` says whether its outputs are `probabilities`, `logits` or, of a
    regressor, `numbers`, which an estimator without classes gives by itself; `gap` is then needed.
    `favourable` is the class that is good to get, by default the last one, and of texts none; of numbers
    it is `lower` or `higher`.

    `time` is how long the search may take: a number of seconds, a `timedelta`, or a text such as `5m`.
    The shares are counted whole beside it.

    `out` is the run's directory, by default a temporary one. With `resume` the unfinished run there
    goes on, and all options come from it. Other options are those of the specification:
    `probity.options("audit")`.

    With an `engine`, such as `"ray"` (see `probity.engines`), the run is cut into `shards`, which its
    workers do; the result is the same. The shards are kept beside `out` until all are done, and
    `resume`, with all arguments as they were, does those that are missing.
    """
    description = Description(label, schema, classes, ignore, gives, favourable)
    if time is not None:
        options["time"] = time
    if engine is not None:
        given = {**vars(description), "protected": protected, "device": device, **options}
        if threads is not None:
            given["threads"] = threads
        sharded = ShardedRun(engine, shards, out, resume, progress)
        found: Audit = sharded.perform(audit, (model, data), given)
        return found
    if shards is not None:
        raise OptionError("shards has no meaning without an engine")
    if len(names := list_names("protected", protected)):
        options["protected"] = names
    with Runner(Audit, "audit", options, out, resume, device, progress, threads) as runner:
        run = perform_on_model(runner, model, data, description)
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
    """Explains what `model` decides about one row, or one text, of `data`: what it would decide with all
    other protected values, and the smallest change of anything else after which these no longer matter.

    `row` is its number from 1, also where others are left out: that of `frame.iloc[0]` is 1. `model`,
    `data`, `protected`, `label`, `schema`, `classes`, `ignore` and `gives` are as in `probity.audit`.
    Other options, such as `favourable`, `fixed`, `alternatives`, `max_calls` and `gap`, are listed by
    `probity.options("explain")`.

    What comes back is what `probity explain --json` prints: `class` and `probabilities` of the row,
    `variants`, of which `flips` are decided otherwise, and, where there are any, `undoing`, whose
    `changes` are the smallest ones.
    """
    options["row"] = row
    if len(names := list_names("protected", protected)):
        options["protected"] = names
    with Explainer(options, threads) as runner:
        description = Description(label, schema, classes, ignore, gives)
        return perform_on_model(runner, model, data, description)


def train(data: Any, label: str | None = None, protected: Sequence[str] = (), **options: Any) -> Run:
    """Trains a network on the rows, or the texts, of `data`; the run is a model directory.

    Where no `schema` is among the options, it is inferred, with `label` as the column to learn.
    `probity.options("train")` lists the options.
    """
    with Runner.split_from(Run, "train", options) as runner:
        is_text = options.get("modality") == "text"
        if not runner.began and "schema" not in options and not is_text:
            if label is None:
                raise OptionError("label is needed: the column to learn, where there is no schema")
            options["schema"] = infer_schema(data, label, protected=protected)
        elif protected:
            raise OptionError("protected has no meaning where there is a schema, which marks them")
        return runner.perform({"data": runner.name_data("data", data)})


def repair(model: Any, data: Any, audits: Sequence[Any] = (), **options: Any) -> Run:
    """Retrains `model` on `data` with what `audits` found, and saves it if it became fairer and is not
    worse; the run is then a model directory. `probity.options("repair")` lists the options."""
    runs = [os.path.abspath(os.fspath(audit)) for audit in audits]
    return _run_on_directory("repair", model, data, options, {"runs": runs} if runs else {})


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
    if len(names := list_names("protected", protected)):
        options["protected"] = names
    if is_path(model):
        Description(label, schema, classes, ignore, gives).expect_without(
            "label schema classes ignore gives", "a model directory"
        )
        return _run_on_directory("groups", model, data, options)
    with Runner.split_from(Run, "groups", options) as runner:
        favourable = None
        if schema is None and not concerns_texts(runner, data):
            # The favourable class is the last one of a schema that is drafted.
            favourable = options.get("favourable")
        description = Description(label, schema, classes, ignore, gives, favourable)
        return perform_on_model(runner, model, data, description)


def situations(
    model: Any = None,
    data: Any = None,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    counterfactuals: Any = None,
    **options: Any,
) -> Run:
    """Compares each member of protected groups in `data` with the people most like them in and outside
    of the group: are those outside decided otherwise, whether `model` takes the attribute or not?

    `model` is whatever `probity.audit` takes, with `label`, `schema`, `classes`, `ignore` and `gives` as
    there. Without a model, the outcomes in the column `label` are looked at. Of a model directory
    `schema` is that of the people, with the columns that the model does not know.

    `protected` names groups, such as `sex=female`, or attributes, each of whose values is then one.
    `counterfactuals` is a table like `data`: what the same people, row by row, would have been outside
    of the group. `probity.options("situations")` lists the other options, such as `k`, and `reference`,
    the groups with which members are compared in place of everybody else, such as `race=white`.

    `summary["groups"]` says what was found; every member is in the file `persons.csv` of the run. With an
    `engine`, as in `probity.audit`, its workers look for the people around the members.
    """
    given = Description(label, schema, classes, ignore, gives)
    if (sharded := ShardedRun.split_from(options)) is not None:
        described = {name: value for name, value in vars(given).items() if name != "favourable"}
        options.update(described, counterfactuals=counterfactuals, protected=protected)
        compared: Run = sharded.perform(situations, (model, data), options)
        return compared
    return _compare_people("situations", model, data, protected, given, counterfactuals, options)


def counterparts(
    model: Any = None,
    data: Any = None,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    counterfactuals: Any = None,
    **options: Any,
) -> Run:
    """Matches each member of protected groups in `data` with people outside of the group, so that all
    differ as little as possible on average: who is decided otherwise than their counterpart?

    `model`, `data`, `protected`, `label`, `schema`, `classes`, `ignore` and `gives` are as in
    `probity.situations`. With `counterfactuals`, a table like `data`, the counterpart of each person is
    the same row of it. `probity.options("counterparts")` lists the other options, such as `gap`, by
    which scores are compared in place of decisions, `reference` as there, and `resamples`, the halves of
    the people that are matched again for the intervals of the shares. `counterpart="density"` draws the
    counterparts in place of matching them, with what `unaffected` names as the person has it.

    `summary["groups"]` says what was found; every pair is in the file `pairs.csv` of the run, and whoever
    was drawn in `drawn.csv`.
    """
    given = Description(label, schema, classes, ignore, gives)
    return _compare_people("counterparts", model, data, protected, given, counterfactuals, options)


def proxies(
    model: Any = None,
    data: Any = None,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    **options: Any,
) -> Run:
    """Measures how well the other columns of `data` tell who is in protected groups: all together, each
    alone, and a small set of them.

    `model`, `data`, `protected`, `label`, `schema`, `classes`, `ignore` and `gives` are as in
    `probity.situations`; with a model, it is also said how much of its score the group that is told
    explains. `probity.options("proxies")` lists the other options.

    `summary["groups"]` says what was found.
    """
    given = Description(label, schema, classes, ignore, gives)
    return _compare_people("proxies", model, data, protected, given, None, options)


def _compare_people(
    kind: str,
    model: Any,
    data: Any,
    protected: Sequence[Any],
    given: Description,
    counterfactuals: Any,
    options: dict[str, Any],
) -> Run:
    """Performs a run that compares people in and outside of groups."""
    if data is None:
        raise OptionError("data is needed: the table of the people")
    if len(names := list_names("protected", protected)):
        options["protected"] = names
    for name in ("reference", "unaffected"):
        if name in options:
            options[name] = list_names(name, options[name])
    favourable = options.get("favourable")
    # Only a schema that is drafted can have it last.
    description = replace(given, favourable=favourable if given.schema is None else None)
    with Runner.split_from(Run, kind, options) as runner:
        if counterfactuals is not None:
            runner.options["counterfactuals"] = runner.name_data("counterfactuals", counterfactuals)
        if model is None:
            return perform_on_outcomes(runner, data, description, are_decisions=kind != "proxies")
        if not is_path(model):
            return perform_on_model(runner, model, data, description)
        description.expect_without("label classes ignore gives", "a model directory")
        schema = description.schema
        of_people: Inputs = {} if schema is None else {"schema": locate_schema(schema)}
        return perform_on_directory(runner, model, data, of_people)


def certify(model: Any, data: Any, **options: Any) -> Run:
    """Proves for rows of `data` that no change of protected attributes changes the decision.
    `probity.options("certify")` lists the options."""
    return _run_on_directory("certify", model, data, options)


def prove(
    model: Any,
    *,
    marginals: Any = None,
    population: str | None = None,
    time: Time | None = None,
    **options: Any,
) -> Run:
    """Proves bounds, from both sides, on the share of the whole domain of `model` in which its decision
    depends on protected attributes. With `marginals`, a table, or `population="spn:DIRECTORY"`, a saved
    `SPN`, shares are of people. `time` is how long it may take, as in `probity.audit`;
    `probity.options("prove")` lists the other options.

    `summary["bounds"]` holds the share at least and at most; `summary["ending"]` says why it ended.
    """
    expect_directory(model)
    if time is not None:
        options["time"] = time
    with Runner.split_from(Run, "prove", options) as runner:
        inputs: Inputs = {"model": runner.locate(model)}
        if marginals is not None:
            inputs["marginals"] = runner.name_data("marginals", marginals)
        if population is not None:
            kind, separator, directory = population.partition(":")
            place = os.path.abspath(directory) if separator else ""
            inputs["population"] = f"{kind}{separator}{place}"
        return runner.perform(inputs)


def compare(model: Any, data: Any, *, time: Time | None = None, **options: Any) -> Run:
    """Compares strategies that search `model`, each with the same number of calls. `time` is how long
    each search may take, as in `probity.audit`; `probity.options("compare")` lists the other options."""
    expect_directory(model)
    if time is not None:
        options["time"] = time
    if (sharded := ShardedRun.split_from(options)) is not None:
        compared: Run = sharded.perform(compare, (model, data), options)
        return compared
    return _run_on_directory("compare", model, data, options)


def _run_on_directory(
    kind: str, model: Any, data: Any, options: dict[str, Any], inputs: Inputs | None = None
) -> Run:
    """Performs a run of a kind that takes model directories alone."""
    expect_directory(model)
    with Runner.split_from(Run, kind, options) as runner:
        return perform_on_directory(runner, model, data, inputs)


def knn(train: Any, test: Any = None, *, time_limit: Time | None = None, **options: Any) -> Run:
    """Decides whether poisoned rows of `train` could have changed predictions of k-NN. `time_limit` is
    how long a test input may take, as `time` in `probity.audit`, or `"none"`; `probity.options("knn")`
    lists the other options."""
    if time_limit is not None:
        options["time_limit"] = time_limit
    if (sharded := ShardedRun.split_from(options)) is not None:
        decided: Run = sharded.perform(knn, (train, test), options)
        return decided
    with Runner.split_from(Run, "knn", options) as runner:
        inputs: Inputs = {"train": runner.name_data("train", train)}
        if test is not None:
            inputs["test"] = runner.name_data("test", test)
        return runner.perform(inputs)


def outliers_budget(
    ledger: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    slack: float | None = None,
    columns: Sequence[str] = (),
    schema: str | os.PathLike[str] | None = None,
    names: Sequence[str] = (),
    separator: str = ",",
) -> dict[str, float]:
    """Declares a privacy budget for the file `data` in the new file `ledger`, as the owner of the data
    does once; without `data`, nothing is declared. Returns the `epsilon` and `delta` that are left.

    What is said here of the table, and the number of its records, is public from then on. `names` and
    `separator` describe a file without a header, or with another separator, where there is no schema.
    """
    if data is not None:
        if epsilon is None:
            raise OptionError("epsilon is needed: how much may be given away in all")
        budget = Budget(
            data=str(expect_local(data, "data")),
            epsilon=epsilon,
            delta=delta,
            slack=slack,
            columns=list_names("columns", columns),
            schema=None if schema is None else locate_schema(schema),
            names=list_names("names", names),
            separator=separator,
        )
        _probity.declare_budget(os.fspath(ledger), to_json(asdict(budget)))
    left = _probity.budget_left(os.fspath(ledger))
    return {"epsilon": left[0], "delta": left[1]}


def outliers(data: str | os.PathLike[str], ledger: str | os.PathLike[str], **options: Any) -> Run:
    """Counts the outliers in the file `data` under differential privacy; with `dims`, chooses the
    columns in which there are most of them.

    An outlier has fewer than `k` other records within `radius`. The price, `epsilon` and `delta`, is
    charged to `ledger` before the answer is computed. `probity.options("outliers count")` and
    `probity.options("outliers subspaces")` list the options.
    """
    expect_local(data, "data")
    if "device" in options:
        raise OptionError("device has no meaning for outliers")
    kind = "outliers subspaces" if "dims" in options or "top" in options else "outliers count"
    with Runner.split_from(Run, kind, options) as runner:
        if runner.began:
            raise OptionError("a private answer cannot be resumed: it is asked, and paid for, again")
        ledger = os.path.abspath(os.fspath(ledger))
        return runner.perform({"data": runner.name_data("data", data), "ledger": ledger})
