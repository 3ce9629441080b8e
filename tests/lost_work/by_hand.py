"""Writes cases.csv: the expected lost work of each file in this folder, calculated without gpulint.

The formulas were written before the program. Each case repeats its own arithmetic, from the values in its file,
the frozen prices of tests/catalog (p4d: $24, spot $9.60; p5: $80, spot $32; p4de: $32; g5.xlarge: $1, spot $0.40),
the interruption bands of the test (us-east-1: <5%, p4d in us-west-2: 5-10%, p5 in us-west-2: >20%), and the
assumptions of pricing/startup.csv and pricing/images.csv.
"""

import csv
from math import exp, inf, sqrt

MONTH = 730.0
DAYS = MONTH / 24
WEEKS = MONTH / 168
GIB = 2.0**30


def per(gib, slow, usual, fast):
    """Seconds for a number of GiB, or for a range of them, at three rates."""
    low, middle, high = gib if isinstance(gib, tuple) else (gib, gib, gib)
    return (low / fast, middle / usual, high / slow)


def add(*ranges):
    return tuple(sum(ends) for ends in zip(*ranges))


def times(number, span):
    return tuple(number * end for end in span)


def product(one, two):
    return tuple(0.0 if 0.0 in pair else pair[0] * pair[1] for pair in zip(one, two))


# Assumptions, each from minimum to maximum.
MACHINE = (60, 240, 900)
MAYBE_MACHINE = (0, 0, 900)
SERVER = (14, 59, 120)
PROGRAM = (5, 30, 120)


def pull(gib):
    return per(gib, 0.016, 0.054, 0.078)


def download(gib):
    return per(gib, 0.1, 0.38, 1.0)


def load(gib):
    return per(gib, 0.29, 0.97, 1.86)


VLLM = (4.7, 11.2, 11.8)
W8 = 8.03e9 * 2 / GIB
W70 = 70.55e9 * 2 / GIB
CHECKPOINT = 8.03e9 * 14 / GIB  # 2 for weights, 4 for their copy, 8 for the states of AdamW
WRITE = per(CHECKPOINT, 0.15, 1.0, 2.8)

rows = []


def case(file, unit, starting, restarting, repeating, writing, price, gpus):
    """price: dollars per hour of one pod or machine, which has this number of GPUs."""
    parts = [starting, restarting, repeating, writing]
    known = [part for part in parts if isinstance(part, tuple)]
    usd = sum(part[1] for part in known) * price / gpus if price is not None and known else ""
    cells = [part if isinstance(part, str) else " ".join("inf" if end == inf else repr(end) for end in part) for part in parts]
    rows.append([file, unit, *cells, usd])


# 01: 60 starts of one GPU; the weights are downloaded each time.
start = add(MAYBE_MACHINE, pull(VLLM), download(W8), load(W8), SERVER)
case("01-server-cache-lost.yaml", "month", times(60 / 3600, start), "none", "none", "none", 1.0, 1)

# 02: the weights are on a volume.
start = add(MAYBE_MACHINE, pull(VLLM), load(W8), SERVER)
case("02-server-cache-kept.yaml", "month", times(60 / 3600, start), "none", "none", "none", 1.0, 1)

# 03: perhaps something keeps the weights, so the minimum has no download.
maybe = (0.0, *download(W8)[1:])
start = add(MAYBE_MACHINE, pull(VLLM), maybe, load(W8), SERVER)
case("03-server-cache-unknown.yaml", "month", times(60 / 3600, start), "none", "none", "none", 1.0, 1)

# 04: 20 starts of four GPUs, which are half of a machine of $32.
start = add(MAYBE_MACHINE, pull(VLLM), download(W70), load(W70), SERVER)
case("04-large-server.yaml", "month", times(20 * 4 / 3600, start), "none", "none", "none", 16.0, 4)

# 05: 100 starts of 300 measured seconds.
start = add(MAYBE_MACHINE, (300, 300, 300))
case("05-measured-start.yaml", "month", times(100 / 3600, start), "none", "none", "none", 1.0, 1)

# 06: the size of the image is unknown.
case("06-unknown-image.yaml", "month", "unknown", "none", "none", "none", None, 1)

# 07: an image of 8 GiB.
start = add(MAYBE_MACHINE, pull(8), load(W8), SERVER)
case("07-declared-image.yaml", "month", times(60 / 3600, start), "none", "none", "none", 1.0, 1)

# 08: two replicas start on five days a week.
start = add(MAYBE_MACHINE, pull(VLLM), load(W8), SERVER)
case("08-clock.yaml", "month", times(2 * 5 * WEEKS / 3600, start), "none", "none", "none", 1.0, 1)

# 09: one start of eight GPUs a day.
nightly = times(DAYS * 8 / 3600, add(MAYBE_MACHINE, (300, 300, 300)))
case("09-nightly-on-demand.yaml", "month", nightly, "none", "none", "none", 24.0, 8)

# 10: each night up to two hours on spot (0 to 5% of machines a month), a checkpoint each quarter of an hour. The size
# of a checkpoint is unknown, because the training method is not set.
hours = (0, 2 * DAYS, 2 * DAYS)
interruptions = product((0, 0.025 / MONTH, 0.05 / MONTH), hours)
restart = times(8 / 3600, product(interruptions, add(MACHINE, (300, 300, 300))))
repeat = times(8 * 0.25 / 2, interruptions)
case("10-nightly-spot.yaml", "month", nightly, restart, repeat, "unknown", 9.6, 8)


def lost(rate, hours):
    """Hours that a run without checkpoints repeats: (e^(rate x hours) - 1) / rate - hours."""
    if rate == 0 or hours == 0:
        return 0.0
    return inf if rate == inf else (exp(rate * hours) - 1) / rate - hours


def again(rate, hours):
    """Interruptions until one attempt without checkpoints is complete: e^(rate x hours) - 1."""
    return 0.0 if 0 in (rate, hours) else inf if rate == inf else exp(rate * hours) - 1


# 11: eight machines work together for up to 48 hours, no checkpoint, more than 20% of machines a month.
gang = times(8 * 8 / 3600, add(MAYBE_MACHINE, (300, 300, 300)))
rates = (8 * 0.2 / MONTH, 8 * 0.2 / MONTH, inf)
limits = (0, 48, 48)
repeat = tuple(64 * lost(rate, limit) for rate, limit in zip(rates, limits))
restart = product(tuple(64 * again(rate, limit) for rate, limit in zip(rates, limits)), times(1 / 3600, add(MACHINE, (300, 300, 300))))
case("11-gang-no-upper-end.yaml", "run", gang, restart, repeat, "none", 32.0, 8)

# 12: the same with 5 to 10% of machines a month.
rates = (8 * 0.05 / MONTH, 8 * 0.075 / MONTH, 8 * 0.1 / MONTH)
repeat = tuple(64 * lost(rate, limit) for rate, limit in zip(rates, limits))
restart = product(tuple(64 * again(rate, limit) for rate, limit in zip(rates, limits)), times(1 / 3600, add(MACHINE, (300, 300, 300))))
case("12-gang-without-checkpoints.yaml", "run", gang, restart, repeat, "none", 9.6, 8)


def failed(rate, hours):
    """Hours of work until a run fails, times the chance that it fails: (1 - e^(-rate x hours)) / rate - hours x e^(-rate x hours)."""
    return 0.0 if 0 in (rate, hours) else (1 - exp(-rate * hours)) / rate - hours * exp(-rate * hours)


# 13: no retry, so an interruption ends the run, and nothing restarts.
repeat = tuple(64 * failed(rate, limit) for rate, limit in zip(rates, limits))
case("13-no-retry.yaml", "run", gang, "none", repeat, "none", 9.6, 8)

# 14: a checkpoint every 500 steps of unknown length, so the repeated work is unknown.
one = times(8 / 3600, add(MAYBE_MACHINE, (300, 300, 300)))
interruptions = product((0, 0.025 / MONTH, 0.05 / MONTH), limits)
restart = times(8 / 3600, product(interruptions, add(MACHINE, (300, 300, 300))))
case("14-steps.yaml", "run", one, restart, "unknown", "unknown", 9.6, 8)

# 15: the provider publishes no band.
case("15-unknown-rate.yaml", "run", one, "unknown", "unknown", "unknown", None, 8)

# 16: 0.3 interruptions per machine and month are declared.
interruptions = product((0.3 / MONTH,) * 3, limits)
restart = times(8 / 3600, product(interruptions, add(MACHINE, (300, 300, 300))))
case("16-declared-rate.yaml", "run", one, restart, times(8 * 0.5 / 2, interruptions), "unknown", None, 8)

# 17: a machine on spot runs all month, with a checkpoint each hour. Nothing shows how often it starts otherwise.
interruptions = times(MONTH, (0.05 / MONTH, 0.075 / MONTH, 0.1 / MONTH))
restart = times(8 / 3600, product(interruptions, add(MACHINE, (300, 300, 300))))
writing = times(8 * MONTH / 1 / 3600, WRITE)
case("17-instance.tf", "month", "unknown", restart, times(8 * 1 / 2, interruptions), writing, 9.6, 8)

# 18: a task on spot. The settings of the test declare 20 hours, a checkpoint each half hour and 300 seconds of start. A
# new machine starts for it.
limits = (20, 20, 20)
interruptions = product((0.05 / MONTH, 0.075 / MONTH, 0.1 / MONTH), limits)
start = times(8 / 3600, add(MACHINE, (300, 300, 300)))
restart = times(8 / 3600, product(interruptions, add(MACHINE, (300, 300, 300))))
case("18-skypilot.yaml", "run", start, restart, times(8 * 0.5 / 2, interruptions), "unknown", 9.6, 8)

# 19: four servers on spot; a server repeats no work.
interruptions = (0, 4 * 0.025, 4 * 0.05)
start = add(MACHINE, pull(VLLM), load(W8), SERVER)
case("19-server-spot.yaml", "month", "unknown", times(1 / 3600, product(interruptions, start)), "none", "none", 0.4, 1)

# 20: a probe restarts the server before it can have loaded its weights.
case("20-probe.yaml", "month", "unknown", "none", "none", "none", None, 4)

# 21: the checkpoints are lost with the pod.
limits = (0, 48, 48)
rates = (0.05 / MONTH, 0.075 / MONTH, 0.1 / MONTH)
repeat = tuple(8 * lost(rate, limit) for rate, limit in zip(rates, limits))
restart = product(tuple(8 * again(rate, limit) for rate, limit in zip(rates, limits)), times(1 / 3600, add(MACHINE, (300, 300, 300))))
case("21-checkpoints-lost.yaml", "run", one, restart, repeat, "none", 9.6, 8)

# 22: only an autoscaler knows how often a server starts.
case("22-autoscaler.yaml", "month", "unknown", "none", "none", "none", None, 1)

# 23: each night up to ten hours on spot, a checkpoint each quarter of an hour.
hours = (0, 10 * DAYS, 10 * DAYS)
interruptions = product((0.05 / MONTH, 0.075 / MONTH, 0.1 / MONTH), hours)
restart = times(8 / 3600, product(interruptions, add(MACHINE, (300, 300, 300))))
writing = times(8 / 0.25 / 3600, product(hours, WRITE))
case("23-written-checkpoints.yaml", "month", nightly, restart, times(8 * 0.25 / 2, interruptions), writing, 9.6, 8)

# The interval by Young and Daly of case 23: sqrt(2 x time to write x hours between interruptions).
BEST_23 = sqrt(2 * WRITE[1] / 3600 * MONTH / 0.075)

if __name__ == "__main__":
    with open("cases.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "per", "starting", "restarting", "repeating", "writing", "usd"])
        writer.writerows(rows)
    print("best interval of case 23 in hours:", BEST_23)
