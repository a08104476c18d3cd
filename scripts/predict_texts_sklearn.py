#!/usr/bin/env python3
"""Answers Probity with a scikit-learn pipeline that classifies texts.

    pip install scikit-learn
    probity audit --predictor "command:python3 scripts/predict_texts_sklearn.py model.joblib" --texts comments.csv ...

The file is one written by joblib.dump or pickle.dump; open only files that you trust. The pipeline must take a list of
texts (a vectorizer comes first) and have predict_proba.
"""

import argparse

from probity_predictor import serve_texts


def open_model(path):
    def opened(_classes):
        import joblib

        model = joblib.load(path)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no predict_proba")
        return model.predict_proba, [str(name) for name in model.classes_]

    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answers Probity with a scikit-learn pipeline for texts.")
    parser.add_argument("model", help="file written by joblib.dump or pickle.dump")
    serve_texts(open_model(parser.parse_args().model))
