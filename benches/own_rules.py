#!/usr/bin/env python3
"""Fifty pages of rules over a thousand resources, beside the same run without them: python3 benches/own_rules.py GPULINT"""

import os
import resource
import subprocess
import sys
import tempfile

PAGES, RESOURCES, ROUNDS = 50, 1000, 5

CONDITIONS = [
    "accelerator_count > {}.0 && !has(time_limit_seconds)",
    "object.spec.template.spec.containers.exists(c, c.image.startsWith('old{0}')"
    " || has(c.resources.limits) && c.resources.limits.exists(k, k.startsWith('example.com/{0}')))",
    "!(labels.team in ['a{}', 'b', 'c'])",
    "bill.monthly.expected > {0}000.0 && labels.team.startsWith('t{0}')",
    "count.ceiling > {}.0 && labels.all(key, value, key != 'x')",
]

JOB = """apiVersion: batch/v1
kind: Job
metadata:
  name: job-{number}
  labels: {{ team: t{team} }}
spec:
  parallelism: {pods}
  template:
    spec:
      nodeSelector: {{ cloud.google.com/gke-accelerator: nvidia-l4 }}
      containers:
        - name: a
          image: registry/train:{number}
          resources: {{ limits: {{ nvidia.com/gpu: {gpus} }} }}
"""


def write(directory, pages):
    os.makedirs(os.path.join(directory, "policy"))
    for page in range(pages):
        condition = CONDITIONS[page % len(CONDITIONS)].format(page % 10)
        with open(os.path.join(directory, "policy", f"own-{page}.md"), "w") as out:
            out.write(f'---\nname: own-{page}\nwhen: >-\n  {condition}\nmessage: "{{gpus}}"\nuntested: true\n---\n# own-{page}\n\nText.\n')
    for start in range(0, RESOURCES, 10):
        jobs = (JOB.format(number=n, team=n % 7, pods=n % 5 + 1, gpus=n % 8 + 1) for n in range(start, start + 10))
        with open(os.path.join(directory, f"jobs-{start}.yaml"), "w") as out:
            out.write("---\n".join(jobs))
    with open(os.path.join(directory, "gpulint.toml"), "w") as out:
        out.write('rules-dir = ["policy"]\n' if pages else "")


def run(gpulint, directory):
    command = [gpulint, "check", "--prices", "embedded", "--format", "json", "--output", os.devnull, directory]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    gpulint = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as without, tempfile.TemporaryDirectory() as with_pages:
        write(without, 0)
        write(with_pages, PAGES)
        times = [(run(gpulint, without), run(gpulint, with_pages)) for _ in range(ROUNDS)]
    plain, own = min(it[0] for it in times), min(it[1] for it in times)
    print(f"{RESOURCES} resources: {plain:.2f} s of CPU; with {PAGES} own pages: {own:.2f} s, {own / plain:.1f} times as much")


main()
