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

from ._probity import __version__ as __version__

# Type checkers take it for true, as they do that of `typing`, whose import takes longer than all others of
# the command.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from . import engines as engines
    from ._audit import Audit as Audit, Share as Share
    from ._errors import (
        DataError as DataError,
        ModelError as ModelError,
        OptionError as OptionError,
        ProbityError as ProbityError,
    )
    from ._estimators import Classifier as Classifier, KMeans as KMeans
    from ._inference import infer_schema as infer_schema
    from ._networks import import_network as import_network, import_text_network as import_text_network
    from ._run import Run as Run
    from ._runs import (
        audit as audit,
        certify as certify,
        compare as compare,
        counterparts as counterparts,
        explain as explain,
        groups as groups,
        knn as knn,
        outliers as outliers,
        outliers_budget as outliers_budget,
        prove as prove,
        proxies as proxies,
        repair as repair,
        situations as situations,
        train as train,
    )
    from ._rust import options as options, schema_of as schema_of
    from ._spn import SPN as SPN

#: What is imported when it is first asked for, by the module that has it: the command needs neither numpy nor
#: PyArrow, and nothing but the estimators scikit-learn, which need not be installed.
_LAZY = {
    "_audit": ["Audit", "Share"],
    "_errors": ["DataError", "ModelError", "OptionError", "ProbityError"],
    "_estimators": ["Classifier", "KMeans"],
    "_inference": ["infer_schema"],
    "_networks": ["import_network", "import_text_network"],
    "_run": ["Run"],
    "_runs": [
        "audit",
        "certify",
        "compare",
        "counterparts",
        "explain",
        "groups",
        "knn",
        "outliers",
        "outliers_budget",
        "prove",
        "proxies",
        "repair",
        "situations",
        "train",
    ],
    "_rust": ["options", "schema_of"],
    "_spn": ["SPN"],
}

__all__ = sorted(["__version__", *(name for names in _LAZY.values() for name in names)])

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "engines":
            return import_module(".engines", __name__)
        for module, names in _LAZY.items():
            if name in names:
                return getattr(import_module(f".{module}", __name__), name)
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, "engines"})
