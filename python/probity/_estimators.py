"""Estimators that follow scikit-learn's conventions. They need scikit-learn."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _probity, _process
from ._errors import OptionError
from ._inference import infer_schema
from ._runs import train
from ._rust import ask_network, read_schema, to_json


class KMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """k-means from which rows can be deleted exactly.

    After `delete` the estimator is, to the last bit, what fitting the rows that are left gives, under
    the ids that they have (`fit(X_left, row_ids=…)`): no trace of the deleted ones is left in centers,
    labels or state. Ids count the rows of `fit` where none are given; everything random is drawn by
    them.

    Parameters
    ----------
    n_clusters : clusters.
    algorithm : `quantized`, `lloyd` or `divide-conquer`.
    bounds : the least and the largest value of each column, `(min, max)` for all or a list of such
        pairs. By default those of the rows: a deletion that changes them fits anew.
    iterations, restarts, epsilon, gamma, tree : options of `probity kmeans fit`; `None` is their
        default.
    random_state : seed of everything random.

    Attributes
    ----------
    cluster_centers_ : of shape (n_clusters, n_features).
    labels_ : the cluster of each row that is left, in the order of the rows of `fit`.
    row_ids_ : the ids of these rows.
    inertia_ : the sum of the squared distances to the centers, where each column is one wide.
    bounds_ : of shape (n_features, 2).
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        algorithm: str = "quantized",
        bounds: Any = None,
        iterations: int | None = None,
        restarts: int | None = None,
        epsilon: float | None = None,
        gamma: float | None = None,
        tree: str | None = None,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.bounds = bounds
        self.iterations = iterations
        self.restarts = restarts
        self.epsilon = epsilon
        self.gamma = gamma
        self.tree = tree
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, row_ids: Any = None) -> KMeans:
        """Clusters the rows of `X`, whose ids are whole numbers in ascending order."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=1)
        ids = np.arange(len(X)) if row_ids is None else np.asarray(row_ids)
        if not np.issubdtype(ids.dtype, np.integer) or ids.shape != (len(X),):
            raise OptionError("row_ids must be a whole number for each row")
        if (ids > np.iinfo(np.int64).max).any():
            raise OptionError("row_ids must be below 2**63")
        ids = ids.astype(np.int64)
        if (ids < 0).any() or (ids[1:] <= ids[:-1]).any():
            raise OptionError("row_ids must be in ascending order, from 0")
        self._seed = _draw_seed(self.random_state)
        self._rows = X.copy()
        self._fit(ids.astype(np.uint64))
        return self

    def _fit(self, ids: Any) -> None:
        """Clusters the rows that are left, under these ids."""
        _process.begin()
        self.bounds_ = self._find_bounds(self._rows)
        options = {
            "clusters": self.n_clusters,
            "algorithm": self.algorithm,
            "iterations": self.iterations,
            "restarts": self.restarts,
            "epsilon": self.epsilon,
            "gamma": self.gamma,
            "tree": self.tree,
            "seed": self._seed,
            # What is clustered is given, not read.
            "data": "-",
        }
        self._clustering = _probity.Clustering(
            pa.array(self._rows.reshape(-1)),
            [tuple(pair) for pair in self.bounds_.tolist()],
            ids.tolist(),
            to_json(options),
        )
        self._read_clusters()

    def _find_bounds(self, rows: Any) -> Any:
        """Finds the bounds of each column: those that are given, or else those of `rows`."""
        if self.bounds is not None:
            pairs = np.asarray(self.bounds, dtype=np.float64)
            return np.broadcast_to(pairs, (rows.shape[1], 2)).copy()
        low, high = rows.min(axis=0), rows.max(axis=0)
        # A column of one value is in the middle of what it could be.
        flat = high <= low
        low, high = np.where(flat, low - 0.5, low), np.where(flat, low + 0.5, high)
        # Beyond the precision of numbers half a unit is nothing.
        wide = np.where(high > low, 0.0, np.abs(low) * 1e-6)
        return np.stack([low - wide, high + wide], axis=1)

    def _read_clusters(self) -> None:
        """Reads what was clustered into the attributes of the estimator."""
        ids, labels, loss = self._clustering.assignment()
        self.row_ids_ = np.asarray(ids, dtype=np.int64)
        self.labels_ = np.asarray(labels, dtype=np.int32)
        self.inertia_ = float(loss)
        self.cluster_centers_ = np.asarray(self._clustering.centroids()).reshape(
            -1, self._rows.shape[1]
        )

    def predict(self, X: Any) -> Any:
        """Finds the nearest center of each row of `X`, where each column is one wide between its bounds."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        low, width = self.bounds_[:, 0], self.bounds_[:, 1] - self.bounds_[:, 0]
        rows = np.round((X - low) / width * 2.0**24)
        centers = np.round((self.cluster_centers_ - low) / width * 2.0**24)
        nearest = np.empty(len(rows), dtype=np.int32)
        for start in range(0, len(rows), 1024):
            away = rows[start : start + 1024, None, :] - centers[None, :, :]
            nearest[start : start + 1024] = (away**2).sum(axis=2).argmin(axis=1)
        return nearest

    def delete(self, rows: Any) -> KMeans:
        """Deletes rows by their ids, as if they had never been there."""
        check_is_fitted(self)
        _process.begin()
        named = [rows] if np.ndim(rows) == 0 and not isinstance(rows, (set, frozenset)) else list(rows)
        wanted = np.unique(np.asarray(named, dtype=None if named else np.int64))
        if not np.issubdtype(wanted.dtype, np.integer):
            raise OptionError("rows are named by their ids, whole numbers")
        absent = np.setdiff1d(wanted, self.row_ids_)
        if len(absent):
            raise OptionError(f"row {absent[0]} is not there, or was deleted already")
        stays = ~np.isin(self.row_ids_, wanted)
        if stays.sum() < self.n_clusters:
            raise OptionError(f"{stays.sum()} rows would be left for {self.n_clusters} clusters")
        left = self._rows[stays]
        if np.array_equal(self._find_bounds(left), self.bounds_):
            self._clustering.delete(wanted.tolist())
            self._rows = left
            self._read_clusters()
        else:
            ids = self.row_ids_[stays].astype(np.uint64)
            self._rows = left
            self._fit(ids)
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # What the rows that are left give anew.
        return {name: value for name, value in state.items() if name != "_clustering"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_rows" in state:
            self._fit(self.row_ids_.astype(np.uint64))


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A neural network for tables, as `probity.train` trains it, as an estimator.

    `X` is an array of numbers or a data frame, whose columns may hold words. Values that training
    has not seen are moved to the nearest that it has, if they are numbers.

    Parameters
    ----------
    hidden : units of each hidden layer; `None` is the default of `probity train`.
    epochs : passes over the rows; `None` fits them to their number.
    random_state : seed of everything random.
    options : further options of `probity train`, by name.

    Attributes
    ----------
    classes_ : the classes, sorted.
    schema_ : what the columns may hold, as TOML.
    """

    def __init__(
        self,
        hidden: Any = None,
        *,
        epochs: int | None = None,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ):
        self.hidden = hidden
        self.epochs = epochs
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any) -> Classifier:
        """Trains a network on the rows of `X` and their classes `y`."""
        frame, y = self._validate(X, y)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier needs two classes, but y has one class, {self.classes_[0]}")
        words = [f"c{number}" for number in range(len(self.classes_))]
        label = "class"
        while label in frame.column_names:
            label += "_"
        table = frame.append_column(label, pa.array([words[number] for number in numbers]))
        schema = infer_schema(table, label, favourable=words[-1])
        self.schema_ = "[[attribute]]".join(
            part if 'kind = "categorical"' in part else part.replace('outside = "reject"', 'outside = "clip"')
            for part in schema.split("[[attribute]]")
        )
        of_schema = read_schema(self.schema_)["label"]["classes"]
        self._order = [of_schema.index(word) for word in words]
        options = dict(self.options or {})
        if self.hidden is not None:
            options["hidden"] = list(np.atleast_1d(self.hidden).tolist())
        if self.epochs is not None:
            options["epochs"] = self.epochs
        options.setdefault("seed", _draw_seed(self.random_state))
        run = train(table, schema=self.schema_, progress=False, **options)
        self._files = {
            file.name: file.read_bytes() for file in Path(run.directory).iterdir() if file.is_file()
        }
        return self

    def _validate(self, X: Any, y: Any = None) -> tuple[pa.Table, Any]:
        """Checks rows and classes as scikit-learn does, and makes a table of the rows."""
        is_fit = y is not None
        words = hasattr(X, "__arrow_c_stream__") and any(
            not pa.types.is_floating(field.type) and not pa.types.is_integer(field.type)
            for field in pa.table(X).schema
        )
        if words:
            # Words are no numbers: scikit-learn looks at their names and their count alone.
            if is_fit:
                y = np.asarray(y)
                validate_data(self, X, reset=True, skip_check_array=True)
            else:
                validate_data(self, X, reset=False, skip_check_array=True)
            return pa.table(X), y
        if is_fit:
            X, y = validate_data(self, X, y, dtype=np.float64)
        else:
            X = validate_data(self, X, dtype=np.float64, reset=False)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{column}" for column in range(X.shape[1])]
        return pa.table({str(name): X[:, at] for at, name in enumerate(names)}), y

    def predict_proba(self, X: Any) -> Any:
        """Computes the probability of each class for each row, in the order of `classes_`."""
        check_is_fitted(self)
        _process.begin()
        table, _ = self._validate(X)
        with tempfile.TemporaryDirectory(prefix="probity-") as folder:
            for name, content in self._files.items():
                (Path(folder) / name).write_bytes(content)
            flat = ask_network(folder, f"rows of {id(table)}", table)
        return flat.reshape(-1, len(self._order))[:, self._order]

    def predict(self, X: Any) -> Any:
        """Finds the most probable class of each row."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def save(self, directory: Any) -> None:
        """Writes the network as a model directory, for `probity.audit`."""
        check_is_fitted(self)
        place = Path(directory)
        place.mkdir(parents=True, exist_ok=False)
        for name, content in self._files.items():
            (place / name).write_bytes(content)


def _draw_seed(random_state: Any) -> int:
    """Makes a seed of a `random_state` as scikit-learn has them."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return 1 if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
