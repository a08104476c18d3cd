"""Finds, measures and repairs individual discrimination in classifiers.

>>> audit = probity.audit(model, people, protected=["sex"], label="income")
>>> audit.share  # of the rows of the data; audit.uniform is that of random inputs
>>> audit.pairs().to_pandas()

`probity.audit` takes whatever decides: a model directory, a fitted estimator, a network of PyTorch, a
function from a data frame to probabilities. The options of a run are the fields of its
specification, by the names that they have on the command line (`seeds=100`), by their paths
(`**{"search.seeds": 100}`) or as dictionaries (`search={"seeds": 100}`); `probity.options("audit")`
lists them.
"""

from typing import TYPE_CHECKING

from ._audit import Audit, Share
from ._errors import DataError, ModelError, OptionError, ProbityError
from ._inference import infer_schema
from ._networks import import_network, import_text_network
from ._probity import __version__
from ._run import Run
from ._runs import (
    audit,
    certify,
    compare,
    counterparts,
    explain,
    groups,
    knn,
    outliers,
    outliers_budget,
    prove,
    proxies,
    repair,
    situations,
    train,
)
from ._rust import options, schema_of
from ._spn import SPN

if TYPE_CHECKING:
    from ._estimators import Classifier, KMeans
else:

    def __getattr__(name: str) -> object:
        # They need scikit-learn, which need not be installed for anything else.
        if name in ("Classifier", "KMeans"):
            from . import _estimators

            return getattr(_estimators, name)
        raise AttributeError(f"module 'probity' has no attribute '{name}'")


__all__ = [
    "Audit",
    "Classifier",
    "DataError",
    "KMeans",
    "ModelError",
    "OptionError",
    "ProbityError",
    "Run",
    "SPN",
    "Share",
    "__version__",
    "audit",
    "certify",
    "compare",
    "counterparts",
    "explain",
    "groups",
    "import_network",
    "import_text_network",
    "infer_schema",
    "knn",
    "options",
    "outliers",
    "outliers_budget",
    "prove",
    "proxies",
    "repair",
    "schema_of",
    "situations",
    "train",
]
