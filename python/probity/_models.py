"""Models of Python: what they are asked, and what they answer."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from typing import Any, Callable, Protocol, Sequence

import numpy as np
import pyarrow as pa

from ._errors import ModelError, OptionError, ProbityError
from ._frames import _word

_log = logging.getLogger("probity")

#: Probabilities of two classes that differ by less are equal up to the rounding of 32-bit numbers,
#: and either class is a most probable one.
_ROUNDING = 1e-6


class Model:
    """A model that can only be asked.

    `classes` are the names of its classes in the order of its outputs, `features` the columns that
    it takes, in this order; both are `None` where it does not say.
    """

    def __init__(self, model: Any, gives: str | None):
        self.classes: list[str] | None = None
        self.features: list[str] | None = None
        #: What it decides, where it says so itself.
        self.predict: Callable[[Any], Any] | None = None
        self.is_torch = _is_torch(model)
        self._ask: Callable[[Any], Any]
        self._gives = "probabilities"
        self._is_guess = False
        if gives not in (None, "probabilities", "logits", "numbers"):
            raise OptionError(f"gives is '{gives}', but must be probabilities, logits or numbers")
        #: Whether it is a regressor: it gives one number a row.
        self.gives_numbers = gives == "numbers" or (gives is None and _is_regressor(model))
        self._take(model)
        if gives is not None:
            self._gives, self._is_guess = gives, False

    def _take(self, model: Any) -> None:
        """Finds out how the model is asked."""
        if self.gives_numbers and hasattr(model, "predict"):
            self._describe(model, model.predict)
            self.classes, self.predict = None, None
        elif self.is_torch:
            self._ask = _torch(model)
            self._gives = "probabilities" if _ends_in_probabilities(model) else "logits"
            self._is_guess = self._gives == "logits"
        elif hasattr(model, "predict_proba"):
            self._describe(model, model.predict_proba)
        elif hasattr(model, "decision_function"):
            self._describe(model, model.decision_function)
            self._gives = "logits"
        elif _is_booster(model):
            self._ask, self.features = _booster(model)
        elif callable(model):
            self._ask = model
        else:
            raise OptionError(
                f"model is a {type(model).__name__}, but must be a model directory, a fitted "
                "estimator with predict_proba or decision_function or a regressor with predict, a "
                "torch.nn.Module, or a function from a data frame to probabilities"
            )

    def _describe(self, model: Any, ask: Callable[[Any], Any]) -> None:
        classes = getattr(model, "classes_", None)
        if classes is not None:
            self.classes = [_word(value) for value in np.asarray(classes).tolist()]
        for name in ("feature_names_in_", "feature_names_", "feature_name_"):
            features = getattr(model, name, None)
            if features is not None and not callable(features) and len(features):
                self.features = [str(feature) for feature in features]
                break
        self._ask = _without_names(model, ask)
        if hasattr(model, "predict"):
            self.predict = _without_names(model, model.predict)

    def knows(self, columns: Sequence[str]) -> None:
        """Forgets names of features that are none of the data's: the library made them up for an
        array of as many columns."""
        if self.features is not None and not set(self.features) & set(columns):
            self.features = None

    def named_classes(self, given: Sequence[str] | None) -> list[str] | None:
        """The classes in the order of its outputs: those that are `given`, else its own."""
        own = self.classes
        if given is None:
            return own
        if own is not None and own != list(given) and sorted(own) == sorted(given):
            raise OptionError(
                f"classes are {', '.join(given)}, but the model has them in another order: "
                f"{', '.join(own)}; leave classes out, or name them in that order"
            )
        return list(given)

    def decides(self) -> None:
        """From here on the model is asked for its decisions alone."""
        predict, classes = self.predict, self.classes
        assert predict is not None and classes is not None

        def ask(frame: Any) -> Any:
            said = [_word(value) for value in np.asarray(predict(frame)).reshape(-1).tolist()]
            return np.array([[word == name for name in classes] for word in said], dtype=np.float64)

        self._ask, self._gives = ask, "probabilities"

    def probabilities(self, frame: Any, rows: int, classes: Sequence[str]) -> np.ndarray:
        """One row for each of `frame`, one column for each of the model's `classes`; of a regressor
        one column, its number."""
        output = self._ask(frame)
        if hasattr(output, "detach"):
            output = output.detach().cpu().numpy()
        if hasattr(output, "columns"):
            output = _by_name(output, classes)
        values = np.asarray(output, dtype=np.float64)
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
                f"classes; expected ({rows}, {count})" + (f" or ({rows},)" if count == 2 else "")
            )
        if self._is_guess and rows > 1:
            self._expect_logits(values)
        if values.ndim == 1:
            if self._gives == "logits":
                values = 1.0 / (1.0 + np.exp(-np.clip(values, -700, 700)))
            return np.stack([1.0 - values, values], axis=1)
        if self._gives == "logits":
            shifted = np.exp(values - values.max(axis=1, keepdims=True))
            values = shifted / shifted.sum(axis=1, keepdims=True)
        return values

    def _expect_logits(self, values: np.ndarray) -> None:
        """Refuses what looks like probabilities of a network that does not end in a layer of them."""
        self._is_guess = False
        within = (values >= 0).all() and (values <= 1).all()
        if within and (values.ndim == 1 or np.allclose(values.sum(axis=1), 1, atol=1e-3)):
            raise OptionError(
                "the network's outputs look like probabilities, but it does not end in Softmax or "
                "Sigmoid; say which they are: gives='probabilities' or gives='logits'"
            )


def _is_regressor(model: Any) -> bool:
    """Whether it is an estimator that says of itself that it gives numbers."""
    if getattr(model, "_estimator_type", None) == "regressor":
        return True
    try:
        return bool(model.__sklearn_tags__().estimator_type == "regressor")
    except AttributeError:
        return False


def _by_name(frame: Any, classes: Sequence[str]) -> Any:
    """The columns of an answer by the names of the classes, where they have them."""
    names = [_word(name) for name in frame.columns]
    values = np.asarray(frame)
    if sorted(names) == sorted(classes):
        return values[:, [names.index(name) for name in classes]]
    return values


class Inputs(Protocol):
    """What a model is asked about, of batches as Probity has them."""

    def __call__(self, batch: pa.RecordBatch) -> Any: ...

    def sample(self) -> tuple[Any, int]: ...


class Asked:
    """A model as Probity asks it: a batch of its columns, or of texts, in, probabilities in its order
    out.

    One call at a time, whatever the number of threads: few models are made for more.
    """

    def __init__(
        self,
        model: Model,
        frames: Inputs,
        classes: list[str],
        of_schema: Sequence[str],
        columns: list[str] | None = None,
        given: tuple[Any, Any] | None = None,
    ):
        #: The columns that it is asked with; `None` of texts.
        self.columns = columns
        #: The model and the data, as the user has them.
        self.given = given
        self._model = model
        self._frames = frames
        self._classes = classes
        self._order = [0] if model.gives_numbers else in_order(classes, of_schema)
        self._lock = threading.Lock()
        #: Of what the model decides, in its own words, the class; none where it says something else.
        own = model.classes if model.predict is not None else None
        self._is_compared = own is not None and len(own) == len(classes)
        self._places: dict[str, int] = {}
        if own is not None and self._is_compared:
            self._places = {name: self._order.index(place) for place, name in enumerate(own)}
        self._is_told = False
        self.rows, self.seconds = 0, 0.0

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        with self._lock:
            started = time.perf_counter()
            frame = self._frames(batch)
            values = self._ordered(frame, len(batch))
            if self._is_compared:
                self._decide(values, self._decided(frame, len(batch)))
            self.seconds += time.perf_counter() - started
            self.rows += len(batch)
        return pa.array(np.ascontiguousarray(values).reshape(-1))

    def _ordered(self, frame: Any, rows: int) -> np.ndarray:
        return self._model.probabilities(frame, rows, self._classes)[:, self._order]

    def sha256(self) -> str:
        """What the model decides of rows drawn from all of the data: by this it is known again.

        Where it says its decisions itself and they are not the most probable classes there, it is
        asked for its decisions from here on. Where they are, it is asked for both, of every row:
        what it decides counts, wherever the rows are on which the two differ.
        """
        try:
            frame, rows = self._frames.sample()
            answer = self._ordered(frame, rows)
            if self._is_compared:
                answer = self._known(frame, answer)
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

    def _known(self, frame: Any, answer: np.ndarray) -> np.ndarray:
        """The answer to the rows by which the model is known; how it is asked follows from them."""
        own = self._decided(frame, len(answer))
        if (own < 0).any():
            # It says something else than classes.
            self._is_compared = False
            return answer
        different = len(self._otherwise(answer, own))
        if different == 0:
            return answer
        _log.warning(
            "predict decides %d of %d rows otherwise than the most probable class; the model is "
            "asked for its decisions alone",
            different,
            len(own),
        )
        self._model.decides()
        self._is_compared = False
        return self._ordered(frame, len(own))

    def _decided(self, frame: Any, rows: int) -> np.ndarray:
        """The class of each row that `predict` says, by its place in the answer; -1 for none."""
        predict = self._model.predict
        assert predict is not None
        said = np.asarray(predict(frame)).reshape(-1).tolist()
        if len(said) != rows:
            return np.full(rows, -1)
        places = {value: self._places.get(_word(value), -1) for value in set(said)}
        return np.array([places[value] for value in said], dtype=np.int64)

    def _otherwise(self, answer: np.ndarray, own: np.ndarray) -> np.ndarray:
        """The rows of `answer` whose most probable class is another than its `own`; where the two are
        equally probable, its own becomes the most probable one."""
        decided = answer.argmax(axis=1)
        rows: np.ndarray = np.flatnonzero((own >= 0) & (own != decided))
        most = answer[rows, decided[rows]]
        is_tie = most - answer[rows, own[rows]] <= _ROUNDING
        tied = rows[is_tie]
        answer[tied, own[tied]] = np.nextafter(most[is_tie], np.inf)
        otherwise: np.ndarray = rows[~is_tie]
        return otherwise

    def _decide(self, answer: np.ndarray, own: np.ndarray) -> None:
        """Makes the `own` class of each row of `answer` its decision."""
        rows = self._otherwise(answer, own)
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


def in_order(classes: Sequence[str], of_schema: Sequence[str]) -> list[int]:
    """For each class of the schema, which output of the model is its."""
    places = {name: place for place, name in enumerate(classes)}
    spelt = {_number(name): place for place, name in enumerate(classes)}
    order = [places.get(name, spelt.get(_number(name))) for name in of_schema]
    if None in order or len(classes) != len(of_schema):
        raise OptionError(
            f"the classes of the model are {', '.join(classes)}, but those of the label "
            f"{', '.join(of_schema)}; name the model's in classes=[…], in the order of its outputs"
        )
    return [place for place in order if place is not None]


def _number(name: str) -> Any:
    """0, 0.0 and false are one class."""
    if name.lower() in ("true", "false"):
        return float(name.lower() == "true")
    try:
        return float(name)
    except ValueError:
        return name


def _without_names(model: Any, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A model of scikit-learn that was fitted to arrays is asked with arrays."""
    known = hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    named = any(getattr(model, name, None) is not None for name in ("feature_names_", "feature_name_"))
    if known and not named:
        return lambda frame: ask(frame.to_numpy() if hasattr(frame, "to_numpy") else frame)
    return ask


def _is_torch(model: Any) -> bool:
    return any(kind.__module__.startswith("torch.nn") for kind in type(model).__mro__)


def _torch(model: Any) -> Callable[[Any], Any]:
    import torch

    def ask(frame: Any) -> Any:
        values = frame.to_numpy() if hasattr(frame, "to_numpy") else np.asarray(frame)
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                parameter = next(model.parameters(), None)
                tensor = torch.as_tensor(np.asarray(values, dtype=np.float32))
                if parameter is not None:
                    tensor = tensor.to(device=parameter.device, dtype=parameter.dtype)
                return model(tensor).float()
        finally:
            model.train(was_training)

    return ask


def _ends_in_probabilities(model: Any) -> bool:
    last = list(model.modules())[-1]
    return type(last).__name__ in ("Sigmoid", "Softmax")


def _is_booster(model: Any) -> bool:
    return type(model).__name__ == "Booster" and type(model).__module__.split(".")[0] in (
        "xgboost",
        "lightgbm",
    )


def _booster(model: Any) -> tuple[Callable[[Any], Any], list[str] | None]:
    if type(model).__module__.startswith("xgboost"):
        import xgboost

        def ask(frame: Any) -> Any:
            return model.predict(xgboost.DMatrix(frame, enable_categorical=True))

        return ask, list(model.feature_names) if model.feature_names else None
    return model.predict, list(model.feature_name())
