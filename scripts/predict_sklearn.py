#!/usr/bin/env python3
"""Answers Probity with a scikit-learn classifier.

    pip install scikit-learn pandas
    probity audit --predictor "command:python3 scripts/predict_sklearn.py model.joblib" --schema s.toml --data d.csv

The file is one written by joblib.dump or pickle.dump; open only files that you trust. The classifier (or Pipeline) needs
predict_proba.

- Fitted on a DataFrame, it gets a DataFrame with its own columns, found by name, with the cells as they stand in
  the data file; pandas is needed.
- Fitted on a matrix, it gets a matrix of the schema's columns in their order: words as their position among the
  schema's values, or with --onehot one column a word.

Its classes must be those of the schema's label (numbers are compared as text), in any order.
"""

import argparse

from probity_predictor import Numbers, serve


def open_model(path, onehot):
    def opened(columns, classes):
        import joblib

        model = joblib.load(path)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no predict_proba")
        names = [column["name"] for column in columns]
        fitted_on = getattr(model, "feature_names_in_", None)
        numbers = Numbers(columns, onehot)
        if fitted_on is None or set(fitted_on) == set(numbers.names()) != set(names):
            transform = numbers
            found, expected = len(numbers.names()), getattr(model, "n_features_in_", None)
            if expected not in (None, found):
                raise ValueError(f"the model was fitted on {expected} columns, the schema makes {found}")
        else:
            missing = [name for name in fitted_on if name not in names]
            if missing:
                raise ValueError(f"the schema lacks the model's columns {', '.join(missing)}")
            import pandas

            def transform(rows):
                return pandas.DataFrame(rows, columns=names)[list(fitted_on)]

        known = [str(name) for name in model.classes_]
        return (lambda rows: model.predict_proba(transform(rows))), known

    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answers Probity with a scikit-learn classifier.")
    parser.add_argument("model", help="file written by joblib.dump or pickle.dump")
    parser.add_argument("--onehot", action="store_true", help="for a matrix: one column a word")
    arguments = parser.parse_args()
    serve(open_model(arguments.model, arguments.onehot))
