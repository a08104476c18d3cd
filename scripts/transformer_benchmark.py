#!/usr/bin/env python3
"""Transformers of Probity and of PyTorch on this machine, in turn, in the same shape.

    pip install torch transformers
    python scripts/transformer_benchmark.py [PROGRAM]

PROGRAM is the built benchmark `transformer`; without it `cargo bench` builds and runs it.
"""

import subprocess
import sys
import time

import torch
import transformers

TEXTS, PIECES, ROUNDS = 256, 32, 7


def rows_a_second(work):
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return TEXTS / min(times)


def main():
    command = sys.argv[1:] or ["cargo", "bench", "--bench", "transformer"]
    print(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
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

    for threads in (1, 2):
        torch.set_num_threads(threads)
        forward()
        row = f"{rows_a_second(forward):.0f} | {rows_a_second(backward):.0f}"
        print(f"| PyTorch {torch.__version__} | {threads} | {row} |")


if __name__ == "__main__":
    main()
