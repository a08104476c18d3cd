"""Fits classifiers, exports them to ONNX and writes what they decide, into the current folder.

    MODEL.onnx   the export
    MODEL.json   data: the name of DATA.toml and DATA.json; predicted: for each row the probability of each class of
                 the schema, in its order; labels: for each row what `predict` says
    DATA.toml    the schema
    DATA.json    rows as codes

The data are drawn, half of them on a coarser grid than the rows that are asked for, so that thresholds, which lie
between what was seen, are numbers that rows have.
"""

import json
import sys
import warnings

import numpy as np
import pandas
from lightgbm import LGBMClassifier
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as FloatMatrix
from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm as lightgbm_node
from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost as xgboost_node
from skl2onnx import to_onnx, update_registered_converter
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

warnings.filterwarnings("ignore")
ROWS = int(sys.argv[1])
TOP = 40
random = np.random.default_rng(3)
for model, node, name in ((XGBClassifier, xgboost_node, "Xgb"), (LGBMClassifier, lightgbm_node, "Lgbm")):
    options = {"nocl": [True, False], "zipmap": [True, False, "columns"], "raw_scores": [True, False]}
    update_registered_converter(model, name, calculate_linear_classifier_output_shapes, node, options=options)


def drawn(classes, words=False, gaps=False):
    """Frames to fit on and to ask for, the labels of the former, and the rows of the latter as codes."""
    columns = ["age", "hours-per-week", "gain", "score"]

    def frame(rows, step):
        return pandas.DataFrame({name: random.integers(0, TOP // step + 1, rows) * step for name in columns})

    fitted, asked = frame(3000, 2), frame(ROWS, 1)
    codes = asked.copy()
    levels = {"sex": ["woman", "man"], "job": ["smith", "clerk", "élève", "nurse"]} if words else {}
    for name, values in levels.items():
        for one in (fitted, asked):
            one[name] = np.array(values, dtype=object)[random.integers(0, len(values), len(one))]
        codes[name] = [values.index(word) for word in asked[name]]
    if gaps:
        for one in (fitted, asked):
            for name in columns:
                one[name] = one[name].where(random.random(len(one)) > 0.1)
        codes = asked.fillna(TOP + 1).astype(int)
    known = fitted.fillna(TOP / 3)
    signal = np.sin(known["age"] / 7) + (known["gain"] * known["score"]) / 700 - known["hours-per-week"] / 25
    if words:
        signal += (known["sex"] == "man") * 0.8 - (known["job"] == "nurse") * 0.7
    signal += random.normal(0, 0.3, len(fitted))
    # Not sorted: a library sorts them.
    bounds = np.quantile(signal, np.arange(1, len(classes)) / len(classes))
    labels = np.array(classes)[np.searchsorted(bounds, signal)]
    return fitted, asked, labels, codes, levels


def schema(name, classes, columns, levels, gaps):
    lines = [f'name = "{name}"', "[label]", 'name = "label"', f"classes = {json.dumps([str(c) for c in classes])}"]
    for column in columns:
        lines += ["[[attribute]]", f'name = "{column}"']
        if column in levels:
            values = json.dumps(levels[column], ensure_ascii=False)
            lines += ['kind = "categorical"', f"levels = {values}"]
        else:
            lines += ['kind = "integer"', "min = 0", f"max = {TOP}"]
            lines += ['missing = "?"', 'outside = "level"'] if gaps else []
    return "\n".join(lines) + "\n"


def matrix(model, data, element=FloatTensorType, **options):
    """Exported with one matrix as its input."""
    fitted, asked, labels, _, _ = data
    values = np.float64 if element is DoubleTensorType else np.float32
    model.fit(fitted.to_numpy(values), labels)
    width = fitted.shape[1]
    exported = to_onnx(model, initial_types=[("x", element([None, width]))], **options)
    return model, exported, asked.to_numpy(values)


def columns(model, data, **options):
    """Exported with one input for each column."""
    fitted, asked, labels, _, _ = data
    model.fit(fitted, labels)
    return model, to_onnx(model, fitted[:1], **options), asked


def boosted(model, data, convert, **options):
    fitted, asked, labels, _, _ = data
    model.fit(fitted.to_numpy(np.float32), labels)
    exported = convert(model, initial_types=[("x", FloatMatrix([None, fitted.shape[1]]))], **options)
    return model, exported, asked.to_numpy(np.float32)


def write(name, data_name, classes, made):
    model, exported, asked = made
    with open(f"{name}.onnx", "wb") as file:
        file.write(exported.SerializeToString())
    order = [list(model.classes_).index(one) for one in classes]
    predicted = np.asarray(model.predict_proba(asked), dtype=np.float64)[:, order]
    labels = model.predict(asked)
    if name == "machine":
        # Its `predict` is that of its scores, which the export leaves out.
        labels = model.classes_[model.predict_proba(asked).argmax(axis=1)]
    labels = [classes.index(label) for label in labels.tolist()]
    content = {"data": data_name, "predicted": predicted.tolist(), "labels": labels}
    with open(f"{name}.json", "w") as file:
        json.dump(content, file)


def write_data(name, classes, data, gaps=False):
    fitted, _, _, codes, levels = data
    with open(f"{name}.toml", "w") as file:
        file.write(schema(name, classes, fitted.columns, levels, gaps))
    with open(f"{name}.json", "w") as file:
        json.dump(codes.to_numpy().tolist(), file)


def forest(**options):
    return RandomForestClassifier(30, max_depth=8, random_state=1, **options)


def network():
    return MLPClassifier((12, 8), max_iter=60, random_state=1)


def xgboost(**options):
    return XGBClassifier(n_estimators=30, max_depth=4, n_jobs=1, **options)


def lightgbm():
    return LGBMClassifier(n_estimators=30, num_leaves=15, verbose=-1, n_jobs=1)


pair = ["pass", "fail"]
two = drawn(pair)
write_data("two", pair, two)
logistic = LogisticRegression(max_iter=2000)
tree = DecisionTreeClassifier(max_depth=6, random_state=1)
for name, model in {
    "scaled_logistic": make_pipeline(StandardScaler(), logistic),
    "scaled_network": make_pipeline(StandardScaler(), network()),
    "tree": tree,
    "forest": forest(),
    "pure_forest": RandomForestClassifier(20, random_state=1),
    "extra_trees": ExtraTreesClassifier(20, max_depth=8, random_state=1),
    "gradient_boosting": GradientBoostingClassifier(n_estimators=30, random_state=1),
    "ada_boost": AdaBoostClassifier(n_estimators=10, random_state=1),
    "bagging": BaggingClassifier(tree, n_estimators=5, random_state=1),
    "naive_bayes": GaussianNB(),
    "discriminant": LinearDiscriminantAnalysis(),
    "calibrated": CalibratedClassifierCV(logistic, cv=2),
    "machine": make_pipeline(StandardScaler(), SVC(probability=True, random_state=1)),
    "voting": VotingClassifier([("one", logistic), ("two", tree)], voting="soft", flatten_transform=False),
    "stacking": StackingClassifier([("one", logistic), ("two", tree)]),
    "bins": make_pipeline(KBinsDiscretizer(5, encode="onehot-dense", quantile_method="linear"), logistic),
    "normalised": make_pipeline(RobustScaler(), Normalizer(), PCA(3), network()),
}.items():
    write(name, "two", pair, matrix(model, two))
write("no_dictionary", "two", pair, matrix(make_pipeline(MinMaxScaler(), network()), two, options={"zipmap": False}))
write("doubles_forest", "two", pair, matrix(forest(), two, DoubleTensorType))
write("doubles_logistic", "two", pair, matrix(make_pipeline(StandardScaler(), logistic), two, DoubleTensorType))

kinds = [2, 0, 1]
three = drawn(kinds)
write_data("three", kinds, three)
for name, model in {
    "three_logistic": logistic,
    "three_network": make_pipeline(StandardScaler(), network()),
    "three_forest": forest(),
    "three_gradient_boosting": GradientBoostingClassifier(n_estimators=15, random_state=1),
    "three_one_vs_rest": OneVsRestClassifier(logistic),
}.items():
    write(name, "three", kinds, matrix(model, three))
write("three_xgboost", "three", kinds, boosted(xgboost(), three, convert_xgboost))
write("three_lightgbm", "three", kinds, boosted(lightgbm(), three, convert_lightgbm, zipmap=False))

numbers = [0, 1]
gaps = drawn(numbers, gaps=True)
write_data("gaps", numbers, gaps, True)
write("gaps_xgboost", "gaps", numbers, boosted(xgboost(), gaps, convert_xgboost))
write("gaps_lightgbm", "gaps", numbers, boosted(lightgbm(), gaps, convert_lightgbm))
write("gaps_imputed", "gaps", numbers, matrix(make_pipeline(SimpleImputer(), forest()), gaps))

mixed = drawn(pair, words=True)
write_data("mixed", pair, mixed)
named = ["sex", "job"]
onehot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
opsets = {"": 17, "ai.onnx.ml": 3}
for name, model, options in (
    ("mixed_logistic", make_pipeline(make_column_transformer((onehot, named), remainder=StandardScaler()), logistic), {}),
    ("mixed_forest", make_pipeline(make_column_transformer((ordinal, named), remainder="passthrough"), forest()), {}),
    (
        "mixed_network",
        make_pipeline(
            make_column_transformer((OneHotEncoder(drop="first"), named), remainder=MinMaxScaler()), network()
        ),
        {},
    ),
    ("mixed_dropped", make_pipeline(make_column_transformer((onehot, ["job"]), ("passthrough", ["age"])), tree), {}),
):
    write(name, "mixed", pair, columns(model, mixed, **options))
coded = (mixed[0], mixed[1], (mixed[2] == "fail").astype(int), *mixed[3:])
write_data("coded", numbers, coded)
for name, model in (("mixed_xgboost", xgboost()), ("mixed_lightgbm", lightgbm())):
    pipeline = make_pipeline(make_column_transformer((onehot, named), remainder="passthrough"), model)
    write(name, "coded", numbers, columns(pipeline, coded, target_opset=opsets))
