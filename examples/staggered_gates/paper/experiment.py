"""The experiment of the paper beside this file: it prints the numbers of Table 1 and Figure 2. CPU, about four minutes.

    python experiment.py            # every method, five seeds each, as a JSON line a method

Needs PyTorch. CC0, like the paper.
"""

import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

DEPTH, WIDTH, HEADS, HIDDEN = 8, 32, 4, 128
VOCABULARY, LENGTH = 10, 12
STEPS, BATCH, PEAK, BETAS, DECAY, CLIP = 240, 32, 8e-3, (0.9, 0.98), 0.01, 1.0
RAMP, STAGGER, WARMUP = 40, 10, 40
DROPOUT, SMOOTHING, Z_WEIGHT = 0.05, 0.1, 1e-4
TEST = 2000

# method: (ramp r, stagger s, warm-up steps); a ramp of 0 is a branch that is open from the start
METHODS = {"open": (0, 0, 0), "warm-up": (0, 0, WARMUP), "together": (RAMP, 0, 0), "staggered": (RAMP, STAGGER, 0)}


def gate(block, step, ramp, stagger):
    """How far block `block` (from 1) is open at step `step` (from 0)."""
    if not ramp:
        return 1.0
    u = min(max((step - (block - 1) * stagger) / ramp, 0.0), 1.0)
    return 3 * u**2 - 2 * u**3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.feed = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, WIDTH))
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.drop = nn.Dropout(DROPOUT)

    def attend(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))

    def forward(self, x, g):
        x = self.norm1(x + g * self.drop(self.attend(x)))
        return self.norm2(x + g * self.drop(self.feed(x)))


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.place = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, gates):
        x = self.token(tokens) + self.place
        for block, g in zip(self.blocks, gates, strict=True):
            x = block(x, g)
        return self.head(x)


def train(method, seed):
    ramp, stagger, warmup = METHODS[method]
    torch.manual_seed(seed)
    model = Sorter()
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=PEAK, betas=BETAS)
    model.train()
    losses = []
    for step in range(STEPS):
        rate = PEAK * (1 - step / STEPS) * (min(1.0, (step + 1) / warmup) if warmup else 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        tokens = torch.randint(VOCABULARY, (BATCH, LENGTH))
        logits = model(tokens, [gate(l, step, ramp, stagger) for l in range(1, DEPTH + 1)])
        cross = F.cross_entropy(logits.flatten(0, 1), tokens.sort(dim=1).values.flatten(), label_smoothing=SMOOTHING)
        loss = cross + Z_WEIGHT * logits.logsumexp(-1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        losses.append(cross.item())
    model.eval()
    with torch.no_grad():
        tokens = torch.randint(VOCABULARY, (TEST, LENGTH), generator=torch.Generator().manual_seed(10_000))
        right = model(tokens, [1.0] * DEPTH).argmax(-1) == tokens.sort(dim=1).values
    curve = [statistics.mean(losses[at : at + 50]) for at in range(0, STEPS, 50)]
    return 100 * right.float().mean().item(), 100 * right.all(1).float().mean().item(), curve


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps({"parameters": sum(p.numel() for p in Sorter().parameters())}))
    for method in args.methods:
        start = time.time()
        runs = [train(method, seed) for seed in range(args.seeds)]
        token, exact = [r[0] for r in runs], [r[1] for r in runs]
        print(json.dumps({
            "method": method, "token": round(statistics.mean(token), 1), "exact": round(statistics.mean(exact), 1),
            "exact_std": round(statistics.stdev(exact), 1) if len(exact) > 1 else None,
            "exact_runs": [round(e, 1) for e in exact],
            "curve": [round(statistics.mean(c), 3) for c in zip(*(r[2] for r in runs), strict=True)],
            "seconds_a_run": round((time.time() - start) / args.seeds, 1),
        }), flush=True)


if __name__ == "__main__":
    main()
