#!/usr/bin/env python3
"""Answers Probity with a sequence classifier of the transformers library.

    pip install torch transformers
    probity audit --predictor "command:python3 scripts/predict_texts_transformers.py MODEL" --texts comments.csv ...

MODEL is a directory that save_pretrained wrote, or a name that from_pretrained knows. A model of one output is asked
for a score (the sigmoid of it), for which two names of classes are needed: --predictor-classes OTHER,SCORED.

Texts of a batch are padded to one length, by which some models' answers differ in the last digits: either ask about one
at a time (--alone), or allow it (--predictor-tolerance 0.001).
"""

import argparse

from probity_predictor import serve_texts


def positions_of(model):
    """Pieces that the model has positions for: RoBERTa counts them from behind its padding."""
    positions = getattr(model.config, "max_position_embeddings", 10**9)
    is_roberta = "roberta" in getattr(model.config, "model_type", "")
    return positions - (model.config.pad_token_id or 0) - 1 if is_roberta else positions


def open_model(arguments):
    def opened(_classes):
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(arguments.model)
        model = AutoModelForSequenceClassification.from_pretrained(arguments.model).to(arguments.device).eval()
        kind = getattr(model.config, "problem_type", None)
        if kind == "multi_label_classification" or (kind == "regression" and model.config.num_labels > 1):
            raise ValueError(f"the model's problem_type is {kind}: it does not put a text into one class")
        longest = min(tokenizer.model_max_length, positions_of(model))
        labels = model.config.id2label
        names = [labels[number] for number in range(model.config.num_labels)]

        def predict(texts):
            with torch.inference_mode():
                tokens = tokenizer(
                    texts, truncation=True, max_length=longest, padding=True, return_tensors="pt"
                ).to(arguments.device)
                logits = model(**tokens).logits.double()
                if len(names) == 1:
                    return torch.sigmoid(logits)[:, 0].tolist()
                return torch.softmax(logits, dim=1).tolist()

        return predict, names if len(names) > 1 else None

    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answers Probity with a transformers sequence classifier.")
    parser.add_argument("model", help="directory, or name of a model")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, mps ...")
    parser.add_argument("--batch", type=int, default=64, help="texts at a time")
    parser.add_argument("--alone", action="store_true", help="one text at a time")
    arguments = parser.parse_args()
    serve_texts(open_model(arguments), texts_at_most=1 if arguments.alone else arguments.batch)
