#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One training step (forward, loss, backward, SGD) of ours against PyTorch's, one thread each, paired and alternating.

Build with -DHOURGLASS_BENCH=ON, target training_step, then:  bench/macro/step_vs_torch.py build/release/bench/macro/training_step
PyTorch (Debian: python3-torch, libopenblas0-pthread) runs in every tuning of TUNINGS; the fastest one is what we compare with. First both
sides take steps from the same parameters and must arrive at the same loss. Figures are CPU seconds of one step, medians over the rounds; the
ratio is the median of the ratios within a round, so that what slows the machine down slows both.
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile

CONV = {  # model: input shape, layers as torch.nn.Sequential has them
    "lenet5": ((1, 28, 28), "c1,6,5,2 r p c6,16,5,0 r p f l400,120 r l120,84 r l84,10"),
    "cnn": ((1, 28, 28), "c1,32,5,2 r p c32,64,5,2 r p f l3136,1024 r l1024,10"),
    "cifar_cnn": ((3, 32, 32), "c3,16,3,1 r p c16,32,3,1 r p c32,64,3,1 r p f l1024,128 r l128,10"),
}
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "4294967295", "MALLOC_TOP_PAD_": "67108864"}
THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
TUNINGS = {  # name: environment, channels last
    "plain": (MALLOC, False),
    "channels_last": (MALLOC, True),
    "haswell": ({**MALLOC, "OPENBLAS_CORETYPE": "Haswell"}, False),
    "haswell channels_last": ({**MALLOC, "OPENBLAS_CORETYPE": "Haswell"}, True),
    "skylakex": ({**MALLOC, "OPENBLAS_CORETYPE": "SkylakeX"}, False),
}
RATE = 0.01


def torch_worker(channels_last):
    import torch

    torch.set_num_threads(1)
    trainers = {}

    def make(name, batch):
        shape, text = CONV[name]
        layers = []
        for word in text.split():
            numbers = [int(n) for n in word[1:].split(",")] if len(word) > 1 else []
            layers.append({"c": lambda n: torch.nn.Conv2d(n[0], n[1], n[2], padding=n[3]), "r": lambda n: torch.nn.ReLU(),
                           "p": lambda n: torch.nn.MaxPool2d(2), "f": lambda n: torch.nn.Flatten(),
                           "l": lambda n: torch.nn.Linear(*n)}[word[0]](numbers))
        model = torch.nn.Sequential(*layers)
        count = batch * shape[0] * shape[1] * shape[2]
        x = ((torch.arange(count) * 7919 % 1009).float() / 1009.0).reshape(batch, *shape)
        if channels_last:
            model = model.to(memory_format=torch.channels_last)
            x = x.contiguous(memory_format=torch.channels_last)
        return model, torch.optim.SGD(model.parameters(), lr=RATE), x, torch.arange(batch) % 10

    def load(model, path):
        data = open(path, "rb").read()
        length, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + length])
        with torch.no_grad():
            entries = sorted((e for n, e in header.items() if n != "__metadata__"), key=lambda e: e["data_offsets"][0])
            for parameter, entry in zip(model.parameters(), entries):
                begin, end = (8 + length + o for o in entry["data_offsets"])
                parameter.copy_(torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).reshape(entry["shape"]))

    import resource
    import time
    for line in sys.stdin:
        words = line.split()
        if words[0] == "load":
            load(model, words[1])
            print("loaded", flush=True)
            continue
        key = (words[0], int(words[1]))
        if key not in trainers:
            trainers[key] = make(*key)
        model, optimizer, x, labels = trainers[key]
        loss_of = torch.nn.CrossEntropyLoss()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        start = time.process_time()
        for _ in range(int(words[2])):
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model(x), labels)
            loss.backward()
            optimizer.step()
        each = (time.process_time() - start) / int(words[2])
        faults = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults) // int(words[2])
        print("%.9f %.9f %d" % (each, loss.item(), faults), flush=True)


class Peer:
    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("a peer died at: " + line)
        return answer.split()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(name, batch, options, ours, peers):
    steps = max(1, int(options.steps * {"lenet5": 8, "cifar_cnn": 4, "cnn": 1}[name] * 32 / batch))
    ours.ask(f"{name} {batch} 1")
    alive = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        ours.ask("save " + path)
        for tuning, peer in peers.items():
            peer.ask(f"{name} {batch} 1")
            peer.ask("load " + path)
            alive[tuning] = float(peer.ask(f"{name} {batch} 20")[1])
    loss = float(ours.ask(f"{name} {batch} 20")[1])
    wrong = {t: l for t, l in alive.items() if abs(l - loss) > 1e-3 * (1 + abs(loss))}
    own, theirs, faults = [], {t: [] for t in alive if t not in wrong}, 0
    for _ in range(options.rounds):
        answer = ours.ask(f"{name} {batch} {steps}")
        own.append(float(answer[0]))
        faults = int(answer[2])
        for tuning in theirs:
            theirs[tuning].append(float(peers[tuning].ask(f"{name} {batch} {steps}")[0]))
    best = min(theirs, key=lambda t: statistics.median(theirs[t]))
    ratio = statistics.median(o / t for o, t in zip(own, theirs[best]))
    return {"model": name, "batch": batch, "ratio": round(ratio, 3), "ours_ms": round(statistics.median(own) * 1e3, 3),
            "torch_ms": {t: round(statistics.median(v) * 1e3, 3) for t, v in theirs.items()}, "best": best, "page_faults": faults,
            "loss": loss, "other_loss": wrong}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="training_step")
    parser.add_argument("--models", default="cnn,lenet5,cifar_cnn")
    parser.add_argument("--batches", default="32,64")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=10, help="of cnn at batch 32 in one round; others in proportion")
    parser.add_argument("--tunings", default="plain,channels_last,haswell,haswell channels_last,skylakex")
    parser.add_argument("--torch-worker", choices=["nchw", "nhwc"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch_worker:
        return torch_worker(options.torch_worker == "nhwc")
    if not options.program:
        parser.error("the path of training_step is missing")
    ours = Peer([options.program], {})
    peers = {}
    for tuning in options.tunings.split(","):
        environment, channels_last = TUNINGS[tuning]
        worker = ["/usr/bin/python3", os.path.abspath(__file__), "--torch-worker", "nhwc" if channels_last else "nchw"]
        peers[tuning] = Peer(worker, {**THREADS, **environment})
    for name in options.models.split(","):
        for batch in options.batches.split(","):
            print(json.dumps(compare(name, int(batch), options, ours, peers)), flush=True)
    for peer in [ours, *peers.values()]:
        peer.close()


main()
