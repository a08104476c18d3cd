#!/usr/bin/env python3
"""PyTorch's CPU recurrent kernels in the shape of benches/recurrent.rs, for comparison.

3 layers x 10 units, 50-d embeddings of 10,000 tokens, 512 texts x 80 tokens, f32: forward rows a
second, and input-gradient rows a second (gradient of a logit difference with respect to every
embedding). Needs torch (CPU). Prints the best of several rounds as JSON lines.

Usage: python scripts/recurrent_benchmark.py [--rounds 20]
"""

import argparse
import json
import time

import torch

ROWS, STEPS, DIMENSION, UNITS, LAYERS, VOCABULARY, CLASSES = 512, 80, 50, 10, 3, 10_000, 2


def best_seconds(rounds, work):
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(cell, threads, rounds):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    embedding = torch.nn.Embedding(VOCABULARY, DIMENSION)
    network = cell(DIMENSION, UNITS, LAYERS, batch_first=True)
    linear = torch.nn.Linear(UNITS, CLASSES)
    for module in (embedding, network, linear):
        module.requires_grad_(False)
    tokens = torch.randint(VOCABULARY, (ROWS, STEPS))

    def forward():
        with torch.inference_mode():
            output, _ = network(embedding(tokens))
            linear(output[:, -1])

    def gradients():
        vectors = embedding(tokens).requires_grad_(True)
        output, _ = network(vectors)
        logits = linear(output[:, -1])
        torch.autograd.grad((logits[:, 1] - logits[:, 0]).sum(), vectors)

    return {
        "library": f"torch {torch.__version__}",
        "cell": cell.__name__.lower(),
        "threads": threads,
        "forward_rows_per_second": round(ROWS / best_seconds(rounds, forward)),
        "input_gradient_rows_per_second": round(ROWS / best_seconds(rounds, gradients)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    for cell in (torch.nn.LSTM, torch.nn.GRU):
        for threads in (1, 2):
            print(json.dumps(measure(cell, threads, arguments.rounds)), flush=True)


if __name__ == "__main__":
    main()
