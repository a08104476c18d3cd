"""Models of Python: what they are asked, and what they answer."""

from __future__ import annotations

import hashlib
from typing import Any, Callable, Sequence

import numpy as np
import pyarrow as pa

from ._errors import ModelError, OptionError, ProbityError
from ._frames import Frames, _word

#: Rows at the beginning of the data by whose decisions a model is known again.
_KNOWN_BY = 2000


class Model:
    """A model that can only be asked.

    `classes` are the names of its classes in the order of its outputs, `features` the columns that
    it takes, in this order; both are `None` where it does not say.
    """

    def __init__(self, model: Any, gives: str | None):
        self.classes: list[str] | None = None
        self.features: list[str] | None = None
        self._ask: Callable[[Any], Any]
        self._gives = "probabilities"
        if _is_torch(model):
            self._ask = _torch(model)
            self._gives = "probabilities" if _ends_in_probabilities(model) else "logits"
        elif hasattr(model, "predict_proba"):
            self._ask = _without_names(model, model.predict_proba)
            self._describe(model)
        elif hasattr(model, "decision_function"):
            self._ask = _without_names(model, model.decision_function)
            self._gives = "logits"
            self._describe(model)
        elif _is_booster(model):
            self._ask, self.features = _booster(model)
        elif callable(model):
            self._ask = model
        else:
            raise OptionError(
                f"model is a {type(model).__name__}, but must be a model directory, a fitted "
                "estimator with predict_proba or decision_function, a torch.nn.Module, or a "
                "function from a data frame to probabilities"
            )
        if gives is not None:
            if gives not in ("probabilities", "logits"):
                raise OptionError(f"gives is '{gives}', but must be probabilities or logits")
            self._gives = gives

    def _describe(self, model: Any) -> None:
        classes = getattr(model, "classes_", None)
        if classes is not None:
            self.classes = [_word(value) for value in np.asarray(classes).tolist()]
        for name in ("feature_names_in_", "feature_names_", "feature_name_"):
            features = getattr(model, name, None)
            if features is not None and not callable(features) and len(features):
                self.features = [str(feature) for feature in features]
                break

    def probabilities(self, frame: Any, rows: int, classes: int) -> np.ndarray:
        """One row for each of `frame`, one column for each class."""
        output = self._ask(frame)
        if hasattr(output, "detach"):
            output = output.detach().cpu().numpy()
        values = np.asarray(output, dtype=np.float64)
        if values.ndim == 2 and values.shape[1] == 1 and classes == 2:
            values = values[:, 0]
        if values.shape == (rows,) and classes == 2:
            score = 1.0 / (1.0 + np.exp(-values)) if self._gives == "logits" else values
            return np.stack([1.0 - score, score], axis=1)
        if values.shape != (rows, classes):
            raise ModelError(
                f"the model gave an array of shape {values.shape} for {rows} rows of {classes} "
                f"classes; expected ({rows}, {classes})"
                + (f" or ({rows},)" if classes == 2 else "")
            )
        if self._gives == "logits":
            shifted = np.exp(values - values.max(axis=1, keepdims=True))
            values = shifted / shifted.sum(axis=1, keepdims=True)
        return values


class Asked:
    """A model as Probity asks it: a batch of its columns in, probabilities in its order out."""

    def __init__(self, model: Model, frames: Frames, order: Sequence[int]):
        self._model = model
        self._frames = frames
        self._order = list(order)

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        rows, classes = len(batch), len(self._order)
        values = self._model.probabilities(self._frames(batch), rows, classes)
        return pa.array(np.ascontiguousarray(values[:, self._order]).reshape(-1))

    def sha256(self, table: pa.Table) -> str:
        """What the model decides of the first rows of the data: by this it is known again."""
        digest = hashlib.sha256(b"probity decisions 1")
        for batch in table.slice(0, _KNOWN_BY).to_batches():
            try:
                answer = self(batch).to_numpy().reshape(-1, len(self._order))
            except ProbityError:
                raise
            except Exception as error:
                raise ModelError(f"the model raised an exception: {error!r}") from error
            digest.update(answer.argmax(axis=1).astype("<u4").tobytes())
        return digest.hexdigest()


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
    """A model that was fitted to arrays is asked with arrays."""
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
