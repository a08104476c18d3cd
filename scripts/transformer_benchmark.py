#!/usr/bin/env python3
"""Transformers of Probity and of PyTorch on this machine, in turns, in the same shape.

    pip install torch transformers
    python scripts/transformer_benchmark.py [--turns 5] [PROGRAM]

PROGRAM is the built benchmark `transformer`; without it `cargo bench` builds and runs it. Each turn
runs it and then PyTorch; the medians of all turns are printed last. Columns are those of the
benchmark: texts a second by the clock and a second of processor time, forward and with gradients.
"""

import argparse
import statistics
import subprocess
import time

import torch
import transformers

TEXTS, PIECES, ROUNDS = 256, 32, 3


def rows_a_second(work):
    """By the clock, and of processor time: medians of the rounds."""
    work()
    wall, spent = [], []
    for _ in range(ROUNDS):
        begun, before = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - begun)
        spent.append(time.process_time() - before)
    return [TEXTS / statistics.median(seconds) for seconds in (wall, spent)]


def ours(command):
    """Rows by number of threads, as the benchmark prints them."""
    printed = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
    print(printed.splitlines()[-1])
    cells = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines()]
    rows = [row for row in cells if len(row) > 2 and row[1] == "kernels"]
    return {int(row[2]): [float(cell) for cell in row[3:7]] for row in rows}


def theirs():
    config = transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    )
    model = transformers.BertForSequenceClassification(config).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    numbers = torch.arange(TEXTS * PIECES)
    ids = ((numbers * 7907 + numbers // 13) % 30522).reshape(TEXTS, PIECES)
    embedded = model.get_input_embeddings()(ids)

    def forward():
        with torch.inference_mode():
            model(input_ids=ids)

    def backward():
        inputs = embedded.detach().requires_grad_()
        logits = model(inputs_embeds=inputs).logits
        (logits[:, 0] - logits[:, 1]).sum().backward()

    rows = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        rows[threads] = rows_a_second(forward) + rows_a_second(backward)
    return rows


def line(name, threads, rows):
    print(f"| {name} | {threads} | " + " | ".join(f"{row:.1f}" for row in rows) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("program", nargs="*")
    arguments = parser.parse_args()
    command = arguments.program or ["cargo", "bench", "--bench", "transformer"]
    taken = []
    for _ in range(arguments.turns):
        for name, rows in (("Probity", ours(command)), (f"PyTorch {torch.__version__}", theirs())):
            taken.append((name, rows))
            for threads in rows:
                line(name, threads, rows[threads])
    print(f"\nMedians of {arguments.turns} turns:")
    for name in dict.fromkeys(name for name, _ in taken):
        of_name = [rows for own, rows in taken if own == name]
        for threads in of_name[0]:
            columns = zip(*(rows[threads] for rows in of_name))
            line(name, threads, [statistics.median(column) for column in columns])


if __name__ == "__main__":
    main()
