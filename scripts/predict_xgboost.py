#!/usr/bin/env python3
"""Answers Probity with an XGBoost model.

    pip install xgboost
    probity audit --predictor "command:python3 scripts/predict_xgboost.py model.json" --schema s.toml --data d.csv

The file is one written by save_model (.json or .ubj). The objective must give probabilities: binary:logistic or
multi:softprob. Such a file does not name its classes: class 0, 1, … are the schema's, in its order.

Words enter as their position among the schema's values, or with --onehot as one column a word, called like
`sex_Female`. Columns are found by name where the model names its own, else by position. Missing values are NaN.
"""

import argparse

from probity_predictor import Numbers, serve


def open_model(path, onehot):
    def opened(columns, classes):
        import xgboost

        booster = xgboost.Booster()
        booster.load_model(path)
        numbers = Numbers(columns, onehot)
        names = numbers.names()
        own = booster.feature_names
        if own is not None and set(own) != set(names):
            raise ValueError(f"the model's columns are {', '.join(own)}; the schema makes {', '.join(names)}")
        if booster.num_features() != len(names):
            raise ValueError(f"the model has {booster.num_features()} columns, the schema makes {len(names)}")
        order = None if own is None else [names.index(name) for name in own]

        def predict(rows):
            matrix = numbers(rows)
            if order is not None:
                matrix = matrix[:, order]
            return booster.predict(
                xgboost.DMatrix(matrix, feature_names=own, feature_types=booster.feature_types)
            )

        return predict, None

    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answers Probity with an XGBoost model.")
    parser.add_argument("model", help="file written by save_model")
    parser.add_argument("--onehot", action="store_true", help="one column a word")
    arguments = parser.parse_args()
    serve(open_model(arguments.model, arguments.onehot))
