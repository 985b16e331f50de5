#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The peer: the same network, optimizer and batch in PyTorch, one process, one thread. One JSON object a run on stdout.

    /usr/bin/python3 bench/macro/torch_baseline.py --model cnn --batch 64 --learning-rate 0.03 --epochs 3 --seed 1

Needs Debian's python3-torch and libopenblas0-pthread. Best-tuned means OPENBLAS_NUM_THREADS=1 and a raised mmap threshold; the script
starts itself again with these set.
"""
import argparse
import gzip
import json
import math
import os
import struct
import sys
import time

TUNED = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "1073741824",
         "MALLOC_TRIM_THRESHOLD_": "1073741824"}


def tuned_environment():
    if all(os.environ.get(key) == value for key, value in TUNED.items()):
        return
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**environment, **TUNED})


def read_idx(path):
    import numpy as np
    with gzip.open(path) as file:
        _, kind, rank = struct.unpack(">HBB", file.read(4))
        if kind != 8:
            raise ValueError(f"{path}: only unsigned bytes are known here")
        shape = struct.unpack(f">{rank}I", file.read(4 * rank))
        return np.frombuffer(file.read(), np.uint8).reshape(shape)


def load(folder, stem):
    import numpy as np
    import torch
    images = read_idx(os.path.join(folder, f"{stem}-images-idx3-ubyte.gz")).astype(np.float32)
    labels = read_idx(os.path.join(folder, f"{stem}-labels-idx1-ubyte.gz")).astype(np.int64)
    return torch.from_numpy((images / 255 - 0.2860) / 0.3530).unsqueeze(1), torch.from_numpy(labels)


def build(name):
    from torch import nn

    def conv(inputs, outputs, kernel, padding):
        return [nn.Conv2d(inputs, outputs, kernel, padding=padding), nn.ReLU(), nn.MaxPool2d(2)]

    if name == "cnn":
        return nn.Sequential(*conv(1, 32, 5, 2), *conv(32, 64, 5, 2), nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))
    if name == "lenet5":
        return nn.Sequential(*conv(1, 6, 5, 2), *conv(6, 16, 5, 0), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                             nn.Linear(84, 10))
    raise SystemExit(f"unknown model {name}: cnn or lenet5")


def cosine(progress, warmup):
    if progress < warmup:
        return progress / warmup
    return 0.5 * (1 + math.cos(math.pi * (progress - warmup) / (1 - warmup)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="cnn")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.03)
    parser.add_argument("--schedule", choices=["constant", "cosine"], default="cosine")
    parser.add_argument("--warmup", type=float, default=0.02)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=0, help="stop after so many training samples")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-dir", default="/usr/share/datasets/fashion-mnist")
    options = parser.parse_args()
    tuned_environment()
    import torch
    from torch.nn import functional
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    model = build(options.model)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=options.momentum)
    images, labels = load(options.data_dir, "train")
    test_images, test_labels = load(options.data_dir, "t10k")
    total = options.samples or options.epochs * len(images)
    history, done, training_seconds, cpu_seconds = [], 0, 0.0, 0.0
    while done < total:
        order = torch.randperm(len(images))[: total - done]
        begin, cpu_begin = time.perf_counter(), time.process_time()
        for first in range(0, len(order), options.batch):
            chosen = order[first:first + options.batch]
            if options.schedule == "cosine":
                optimizer.param_groups[0]["lr"] = options.learning_rate * cosine((done + first) / total, options.warmup)
            optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(model(images[chosen]), labels[chosen]).backward()
            optimizer.step()
        training_seconds += time.perf_counter() - begin
        cpu_seconds += time.process_time() - cpu_begin
        done += len(order)
        with torch.no_grad():
            logits = torch.cat([model(test_images[i:i + 500]) for i in range(0, len(test_images), 500)])
            history.append({"samples": done, "accuracy": (logits.argmax(1) == test_labels).float().mean().item(),
                            "loss": functional.cross_entropy(logits, test_labels).item()})
    print(json.dumps({"model": options.model, "seed": options.seed, "batch": options.batch, "learning_rate": options.learning_rate,
                      "samples": done, "seconds": training_seconds, "cpu_seconds": cpu_seconds, "samples_per_s": done / training_seconds,
                      "accuracy": history[-1]["accuracy"], "loss": history[-1]["loss"], "history": history}))


if __name__ == "__main__":
    main()
