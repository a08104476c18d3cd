"""Models of Python: how they are asked, and what they answer."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import threading
import time
from typing import Any, Callable, Iterator, Mapping, Protocol, Sequence

import numpy as np
import pyarrow as pa

from ._errors import ModelError, OptionError, ProbityError
from ._frames import to_word
from ._memory import name_model
from ._probity import NamedModel

_log = logging.getLogger("probity")

#: Probabilities of two classes that differ by less are equal up to the rounding of 32-bit numbers,
#: and either class is a most probable one.
_ROUNDING = 1e-6


class Model:
    """A model that can only be asked for its outputs.

    `classes` are the names of its classes in the order of its outputs, `features` the columns that
    it takes, in their order; both are `None` where the model does not name them.
    """

    def __init__(self, model: Any, gives: str | None):
        self.classes: list[str] | None = None
        self.features: list[str] | None = None
        #: The function that gives its decisions, if it has one.
        self.predict: Callable[[Any], Any] | None = None
        self.is_torch = is_torch_module(model)
        #: Whether its features have `_` where columns have blanks.
        self._has_no_blanks = type(model).__module__.startswith("lightgbm")
        if isinstance(model, type):
            raise OptionError(
                f"model is the class {model.__name__}, but must be an instance of it that was fitted, such "
                f"as {model.__name__}().fit(…)"
            )
        self._ask: Callable[[Any], Any]
        self._gives = "probabilities"
        self._is_guess = False
        if gives not in (None, "probabilities", "logits", "numbers"):
            raise OptionError(f"gives is '{gives}', but must be probabilities, logits or numbers")
        #: Whether it is a regressor: it gives one number a row.
        self.gives_numbers = gives == "numbers" or (gives is None and _is_regressor(model))
        #: Whether an answer named the classes.
        self.names_classes = False
        #: Whether the user says what its outputs are.
        self._is_said = gives is not None
        #: Whether its numbers are names of classes; `None` before its first answer.
        self._are_decisions: bool | None = None
        self._take(model)
        if gives is not None:
            self._gives, self._is_guess = gives, False

    def _take(self, model: Any) -> None:
        """Finds out how the model is asked."""
        if self.gives_numbers and hasattr(model, "predict"):
            self._describe(model, model.predict)
            self.classes, self.predict = None, None
        elif self.is_torch:
            self._ask = _wrap_network(model)
            self._gives = "probabilities" if ends_in_probabilities(model) else "logits"
            self._is_guess = self._gives == "logits"
        elif hasattr(model, "predict_proba"):
            self._describe(model, model.predict_proba)
        elif hasattr(model, "decision_function"):
            self._describe(model, model.decision_function)
            self._gives = "logits"
        elif _is_booster(model):
            self._ask, self.features = _wrap_booster(model)
        elif decides(model):
            self._describe(model, model.predict)
            self.ask_for_decisions()
        elif callable(model):
            self._ask = model
        else:
            raise OptionError(
                f"model is a {type(model).__name__}, but must be a model directory, a fitted "
                "estimator with predict_proba, decision_function or predict and classes_, or a "
                "regressor with predict, a torch.nn.Module, or a function from a data frame to "
                "probabilities or names of classes"
            )

    def _describe(self, model: Any, ask: Callable[[Any], Any]) -> None:
        """Takes an estimator that is asked by `ask`, with the classes and features that it names."""
        classes = getattr(model, "classes_", None)
        if classes is not None:
            self.classes = [to_word(value) for value in np.asarray(classes).tolist()]
        for name in ("feature_names_in_", "feature_names_", "feature_name_"):
            features = getattr(model, name, None)
            if features is not None and not callable(features) and len(features):
                self.features = [str(feature) for feature in features]
                break
        self._ask = _wrap_estimator(model, ask)
        if hasattr(model, "predict"):
            self.predict = _wrap_estimator(model, model.predict)

    def match_features(self, columns: Sequence[str]) -> None:
        """Names the features as the columns of the data, and drops their names if the data have none of
        them: the library made them up for an array."""
        if self.features is None:
            return
        if self._has_no_blanks:
            own = {name.replace(" ", "_"): name for name in columns} | {name: name for name in columns}
            self.features = [own.get(name, name) for name in self.features]
        if not set(self.features) & set(columns):
            self.features = None

    def order_classes(self, given: Sequence[str] | None) -> list[str] | None:
        """Orders the classes as the model's outputs: those that are `given`, or else its own."""
        own = self.classes
        if given is None:
            return own
        if own is not None and own != list(given) and sorted(own) == sorted(given):
            raise OptionError(
                f"classes are {', '.join(given)}, but the model has them in another order: "
                f"{', '.join(own)}; leave classes out, or name them in that order"
            )
        return list(given)

    def ask_for_decisions(self) -> None:
        """Has the model asked for its decisions alone from here on."""
        predict, classes = self.predict, self.classes
        assert predict is not None and classes is not None
        self._ask, self._gives = lambda frame: _mark_decisions(predict(frame), classes), "probabilities"
        # There is nothing left to compare them with.
        self.predict = None

    def ask(self, frame: Any, rows: int, classes: Sequence[str]) -> np.ndarray:
        """Asks for probabilities: a row for each of `frame`, a column for each of the model's
        `classes`; of a regressor one column, its numbers."""
        output, is_of_first = self._ask(frame), False
        try:
            output, names = _read_columns(output)
            if names is not None:
                if sorted(names) == sorted(classes):
                    output = output[:, [names.index(name) for name in classes]]
                is_of_first = len(classes) == 2 and names == [classes[0]]
                self.names_classes = {*names} <= {*classes}
            if not self.gives_numbers and (_are_words(output) or self._decides(output, classes)):
                output = _mark_decisions(output, classes)
                self.names_classes = True
            values = np.asarray(output, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(_refuse_answer(output, rows, len(classes), error)) from error
        if self.gives_numbers:
            if values.shape not in ((rows,), (rows, 1)):
                raise ModelError(
                    f"the model gave an array of shape {values.shape} for {rows} rows; expected "
                    f"({rows},), a number for each"
                )
            return values.reshape(rows, 1)
        count = len(classes)
        if values.ndim == 2 and values.shape[1] == 1 and count == 2:
            values = values[:, 0]
        if values.shape not in ((rows, count), (rows,)) or (values.ndim == 1 and count != 2):
            raise ModelError(
                f"the model gave an array of shape {values.shape} for {rows} rows of {count} "
                f"classes; expected ({rows}, {count})"
                + (f" or ({rows},)" if count == 2 else f", or ({rows},) of names of classes")
            )
        if self._is_guess and rows > 1:
            self._expect_logits(values)
        if values.ndim == 1:
            if self._gives == "logits":
                values = 1.0 / (1.0 + np.exp(-np.clip(values, -700, 700)))
            pair = [1.0 - values, values]
            return np.stack(pair[::-1] if is_of_first else pair, axis=1)
        if self._gives == "logits":
            shifted = np.exp(values - values.max(axis=1, keepdims=True))
            values = shifted / shifted.sum(axis=1, keepdims=True)
        return values

    def _decides(self, output: Any, classes: Sequence[str]) -> bool:
        """Whether `output` are numbers that are names of classes, rather than probabilities.

        Of two classes 0 and 1 may be either. What the first answer is, all are: the rows of a later
        one may all be of the class 1.
        """
        if self._is_said or self._gives != "probabilities" or self._is_guess:
            return False
        if self._are_decisions:
            return True
        values = np.asarray(output)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1 or values.dtype.kind not in "iufO":
            return False
        found = np.unique(values.astype(np.float64))
        named = {_to_number(name) for name in classes}
        are_classes = len(found) > 0 and {*found.tolist()} <= named
        are_decisions = are_classes and (len(classes) > 2 or not {*found.tolist()} <= {0.0, 1.0})
        if are_decisions and self._are_decisions is False and len(classes) == 2:
            number = next(to_word(value) for value in found if value not in (0.0, 1.0))
            raise ModelError(
                f"the model gave {number}, which is a class, but of the rows by which it is known only 0 "
                "and 1, which were taken for probabilities; have it give probabilities, or classes as text"
            )
        self._are_decisions = are_decisions
        return are_decisions

    def _expect_logits(self, values: np.ndarray) -> None:
        """Refuses outputs that look like probabilities though the network ends in no layer of them."""
        self._is_guess = False
        within = (values >= 0).all() and (values <= 1).all()
        if within and (values.ndim == 1 or np.allclose(values.sum(axis=1), 1, atol=1e-3)):
            raise OptionError(
                "the network's outputs look like probabilities, but it does not end in Softmax or "
                "Sigmoid; say which they are: gives='probabilities' or gives='logits'"
            )


def decides(model: Any) -> bool:
    """Whether `model` is an estimator that names its classes, and can say which one it decides."""
    return hasattr(model, "predict") and getattr(model, "classes_", None) is not None


def _are_words(output: Any) -> bool:
    values = np.asarray(output)
    return values.dtype.kind in "OUT" and any(isinstance(value, str) for value in values.flat)


def _mark_decisions(decisions: Any, classes: Sequence[str]) -> np.ndarray:
    """Makes probabilities of decisions: 1 of the class that is decided."""
    named = [to_word(value) for value in np.asarray(decisions).reshape(-1).tolist()]
    # 1 and 1.0 are one class.
    spelt = {word: spell_class(word, classes) for word in {*named}}
    if unknown := {*spelt.values()} - {*classes}:
        raise ModelError(f"the model decided '{min(unknown)}', but its classes are {', '.join(classes)}")
    marks: np.ndarray = np.eye(len(classes))[[classes.index(spelt[word]) for word in named]]
    return marks


def _read_columns(output: Any) -> tuple[Any, list[str] | None]:
    """Reads an answer, and the names of its columns if it has them: those of a frame, or the keys of a
    list of dictionaries, one for each row, as ONNX Runtime gives them."""
    if hasattr(output, "detach"):
        output = output.detach().cpu().numpy()
    if hasattr(output, "columns"):
        return np.asarray(output), [to_word(name) for name in output.columns]
    is_listed = isinstance(output, (list, tuple)) or getattr(output, "dtype", None) == object
    rows = list(output) if is_listed else []
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        return output, None
    keys = list(rows[0])
    if any({*row} != {*keys} for row in rows):
        raise ModelError("the model gave dictionaries of different keys; expected each class in each of them")
    return np.array([[row[key] for key in keys] for row in rows]), [to_word(key) for key in keys]


def _refuse_answer(output: Any, rows: int, count: int, error: Exception) -> str:
    """Says that an answer cannot be read, and what is expected in its place."""
    given = f"a {type(output).__name__}"
    is_pair = isinstance(output, (list, tuple)) and len(output) == 2 != rows
    if isinstance(output, tuple) or is_pair:
        given += f" of {', '.join(type(part).__name__ for part in output[:5])}"
    shape = f"({rows}, {count})" if count else f"({rows},)"
    said = (
        f"the model gave {given} for {rows} rows, which cannot be read ({error}); expected an array of "
        f"shape {shape}"
    )
    if is_pair and count:
        said += ". If these are classes and probabilities, have it give the probabilities alone"
    return said


def _is_regressor(model: Any) -> bool:
    """Whether `model` is an estimator that calls itself a regressor."""
    if getattr(model, "_estimator_type", None) == "regressor":
        return True
    try:
        return bool(model.__sklearn_tags__().estimator_type == "regressor")
    except AttributeError:
        return False


class InputMaker(Protocol):
    """What makes inputs of a model, such as data frames, of Arrow batches."""

    def __call__(self, batch: pa.RecordBatch) -> Any:
        """Makes the inputs of a batch."""

    def sample(self) -> tuple[Any, int]:
        """Draws inputs from all of the data, and counts them."""


class Predictor:
    """A function from batches of rows, or of texts, to the probabilities of the classes of the schema,
    in their order: a model of Python as Probity asks it.

    It makes one call at a time, whatever the number of threads: few models are made for more.
    """

    def __init__(
        self,
        model: Model,
        inputs: InputMaker,
        classes: list[str],
        of_schema: Sequence[str],
        columns: list[str] | None = None,
        given: tuple[Any, Any] | None = None,
        is_by_order: bool = False,
    ):
        #: The columns that the model is asked with; `None` of texts.
        self.columns = columns
        #: The model and the data, as the user has them.
        self.given = given
        self._model = model
        self._inputs = inputs
        self._classes = classes
        self._is_by_order = is_by_order
        self._order = [0] if model.gives_numbers else match_classes(classes, of_schema)
        self._lock = threading.Lock()
        # Whether what the model itself decides is compared with its probabilities, and the place of
        # each class in the answer, by the model's own word for it.
        own = model.classes if model.predict is not None else None
        self._is_compared = own is not None and len(own) == len(classes)
        self._places: dict[str, int] = {}
        if own is not None and self._is_compared:
            self._places = {name: self._order.index(place) for place, name in enumerate(own)}
        self._is_told = False
        self.rows, self.seconds = 0, 0.0

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        """Asks the model about a batch: probabilities, row by row."""
        with self._lock:
            started = time.perf_counter()
            frame = self._inputs(batch)
            values = self._ask_in_order(frame, len(batch))
            if self._is_compared:
                self._decide(values, self._ask_decisions(frame, len(batch)))
            self.seconds += time.perf_counter() - started
            self.rows += len(batch)
        return pa.array(np.ascontiguousarray(values).reshape(-1))

    def _ask_in_order(self, frame: Any, rows: int) -> np.ndarray:
        return self._model.ask(frame, rows, self._classes)[:, self._order]

    def name(self, name: str, exactly: bool) -> contextlib.AbstractContextManager[NamedModel]:
        """Gives the model a name by which a specification can call it, for as long as this lasts."""
        sha256 = self.hash_decisions()
        is_said = self._model.names_classes or not self._is_by_order
        by_order = None if is_said else self._classes
        return name_model(name, self, sha256, self.columns, by_order, exactly)

    def hash_decisions(self) -> str:
        """Hashes what the model decides of rows drawn from all of the data, by SHA-256: by this the
        model is known again.

        Where its own decisions (`predict`) are not the most probable classes of these rows, the model
        is asked for its decisions alone from here on. Where they are, it is asked for both, of every
        row, and what it decides counts wherever the two differ.
        """
        try:
            frame, rows = self._inputs.sample()
            answer = self._ask_in_order(frame, rows)
            if self._is_compared:
                answer = self._settle(frame, answer)
        except ProbityError:
            raise
        except Exception as error:
            raise ModelError(f"the model raised an exception: {error!r:.1000}") from error
        digest = hashlib.sha256(b"probity decisions 2")
        if self._model.gives_numbers:
            # Five digits are alike wherever the model is asked.
            digest.update(" ".join(f"{number:.5g}" for number in answer[:, 0]).encode())
            return digest.hexdigest()
        digest.update(answer.argmax(axis=1).astype("<u4").tobytes())
        return digest.hexdigest()

    def _settle(self, frame: Any, answer: np.ndarray) -> np.ndarray:
        """Settles how the model is asked, by the rows by which it is known, and gives its answer."""
        own = self._ask_decisions(frame, len(answer))
        if (own < 0).any():
            # It says something other than classes.
            self._is_compared = False
            return answer
        different = len(self._find_differences(answer, own))
        if different == 0:
            return answer
        _log.warning(
            "predict decides %d of %d rows otherwise than the most probable class; the model is "
            "asked for its decisions alone",
            different,
            len(own),
        )
        self._model.ask_for_decisions()
        self._is_compared = False
        return self._ask_in_order(frame, len(own))

    def _ask_decisions(self, frame: Any, rows: int) -> np.ndarray:
        """Asks for the class that `predict` says of each row: its place in the answer, -1 for none."""
        predict = self._model.predict
        assert predict is not None
        decisions = np.asarray(predict(frame)).reshape(-1).tolist()
        if len(decisions) != rows:
            return np.full(rows, -1)
        places = {value: self._places.get(to_word(value), -1) for value in set(decisions)}
        return np.array([places[value] for value in decisions], dtype=np.int64)

    def _find_differences(self, answer: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Finds the rows of `answer` whose most probable class is not the model's `own`; where the two
        are equally probable, its own becomes the most probable one."""
        decided = answer.argmax(axis=1)
        rows: np.ndarray = np.flatnonzero((own >= 0) & (own != decided))
        most = answer[rows, decided[rows]]
        is_tie = most - answer[rows, own[rows]] <= _ROUNDING
        tied = rows[is_tie]
        answer[tied, own[tied]] = np.nextafter(most[is_tie], np.inf)
        otherwise: np.ndarray = rows[~is_tie]
        return otherwise

    def _decide(self, answer: np.ndarray, own: np.ndarray) -> None:
        """Makes the class that the model itself decides for the decision of each row of `answer`."""
        rows = self._find_differences(answer, own)
        if len(rows) == 0:
            return
        answer[rows] = 0.0
        answer[rows, own[rows]] = 1.0
        if not self._is_told:
            self._is_told = True
            _log.warning(
                "predict decides some rows otherwise than the most probable class, though none of "
                "those by which the model is known; what it decides counts, and stands in place of "
                "its probabilities there"
            )


def spell_class(word: str, classes: Sequence[str]) -> str:
    """Spells a class as one of `classes`, if it is one: 1.0 and 1 are one class."""
    alike = (name for name in classes if _to_number(name) == _to_number(word))
    return word if word in classes else next(alike, word)


def match_classes(classes: Sequence[str], of_schema: Sequence[str]) -> list[int]:
    """Finds the output of the model that belongs to each class of the schema."""
    places = {name: place for place, name in enumerate(classes)}
    spelt = {_to_number(name): place for place, name in enumerate(classes)}
    order = [places.get(name, spelt.get(_to_number(name))) for name in of_schema]
    if None in order or len(classes) != len(of_schema):
        raise OptionError(
            f"the classes of the model are {', '.join(classes)}, but those of the label "
            f"{', '.join(of_schema)}; name the model's in classes=[…], in the order of its outputs"
        )
    return [place for place in order if place is not None]


def _to_number(name: str) -> Any:
    """Reads the name of a class as a number, if it is one: 0, 0.0 and false are one class."""
    if name.lower() in ("true", "false"):
        return float(name.lower() == "true")
    try:
        return float(name)
    except ValueError:
        return name


def _wrap_estimator(model: Any, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Has a model of scikit-learn that was fitted to arrays asked with arrays."""
    known = hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    named = any(getattr(model, name, None) is not None for name in ("feature_names_", "feature_name_"))
    if known and not named:
        return lambda frame: ask(frame.to_numpy() if hasattr(frame, "to_numpy") else frame)
    return ask


def is_torch_module(model: Any) -> bool:
    """Whether `model` is a network of PyTorch; this does not import PyTorch."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(model).__mro__)


def _wrap_network(model: Any) -> Callable[[Any], Any]:
    """Makes a function of a network of PyTorch that asks it, without training it."""
    import torch

    def ask(frame: Any) -> Any:
        values = frame.to_numpy() if hasattr(frame, "to_numpy") else np.asarray(frame)
        with evaluate(model) as parameter:
            tensor = torch.as_tensor(np.asarray(values, dtype=np.float32))
            if parameter is not None:
                tensor = tensor.to(device=parameter.device, dtype=parameter.dtype)
            return model(tensor).float()

    return ask


@contextlib.contextmanager
def evaluate(network: Any) -> Iterator[Any]:
    """Has a network of PyTorch asked without being trained, and gives its first parameter."""
    import torch

    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            yield next(network.parameters(), None)
    finally:
        network.train(was_training)


def ends_in_probabilities(model: Any) -> bool:
    """Whether the last layer of a network of PyTorch gives probabilities."""
    last = list(model.modules())[-1]
    return type(last).__name__ in ("Sigmoid", "Softmax")


def _is_booster(model: Any) -> bool:
    return type(model).__name__ == "Booster" and type(model).__module__.split(".")[0] in (
        "xgboost",
        "lightgbm",
    )


def _wrap_booster(model: Any) -> tuple[Callable[[Any], Any], list[str] | None]:
    """Makes a function of a booster that asks it, and lists its features, if it names them."""
    if type(model).__module__.startswith("xgboost"):
        import xgboost

        def ask(frame: Any) -> Any:
            return model.predict(xgboost.DMatrix(frame, enable_categorical=True))

        return ask, list(model.feature_names) if model.feature_names else None
    return model.predict, list(model.feature_name())
