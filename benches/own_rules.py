#!/usr/bin/env python3
"""Compares a run with a hundred custom rules over a thousand resources with the same run without them: python3 benches/own_rules.py GPULINT"""

import os
import resource
import subprocess
import sys
import tempfile

PAGES, RESOURCES, ROUNDS = 100, 1000, 5

CONDITIONS = [
    "accelerator_count > {}.0 && !has(time_limit_seconds)",
    "object.spec.template.spec.containers.exists(c, c.image.startsWith('old{0}')"
    " || has(c.resources.limits) && c.resources.limits.exists(k, k.startsWith('example.com/{0}')))",
    "!(labels.team in ['a{}', 'b', 'c'])",
    "bill.monthly.expected > {0}000.0 && labels.team.startsWith('t{0}')",
    "count.ceiling > {}.0 && labels.all(key, value, key != 'x')",
    # joins: same deployment, references, pods, groups
    "!here(objects).exists(it, it.kind == 'PodDisruptionBudget{}' && it.metadata.namespace == object.metadata.namespace)",
    "referenced_by(resource).exists(it, it.kind == 'aws_appautoscaling_target{}')",
    "references(resource).all(it, it.kind == 'aws_subnet' && it.block.cidr_block != '10.0.{}.0/24')",
    "pod.containers.exists(c, c.registry == 'old{}.example' || c.mounts.exists(m, has(m.volume.emptyDir)))",
    "!('example.com/pool-{}' in pod.node_labels) && same_namespace(resources).size() > 2000",
]

GROUP = """---
name: own-{page}
for: repository
params: {{ teams: {{ t0: 10, t1: 20, t2: 30, t3: 40, t4: 50, t5: 60, t6: 70 }} }}
each: params.teams.map(team, team)
members: resources.filter(it, it.is_paid && it.labels.team == each)
amount: members.map(it, it.bill.monthly.expected).sum()
when: amount > double(params.teams[each]) * 1000000.0
message: "{{each}}"
untested: true
---
# own-{page}

Text.
"""

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

MACHINE = """resource "aws_subnet" "s{number}" {{
  cidr_block = "10.0.{gpus}.0/24"
}}
resource "aws_instance" "m{number}" {{
  instance_type = "g5.xlarge"
  subnet_id     = aws_subnet.s{number}.id
  tags          = {{ team = "t{team}" }}
}}
"""


def write(directory, pages):
    os.makedirs(os.path.join(directory, "policy"))
    for page in range(pages):
        condition = CONDITIONS[page % len(CONDITIONS)].format(page % 10)
        with open(os.path.join(directory, "policy", f"own-{page}.md"), "w") as out:
            if page % 20 == 19:
                out.write(GROUP.format(page=page))
                continue
            out.write(f'---\nname: own-{page}\nwhen: >-\n  {condition}\nmessage: "{{gpus}}"\nuntested: true\n---\n# own-{page}\n\nText.\n')
    # half of them are pods in folders of fifty, and half are machines in roots of fifty
    for start in range(0, RESOURCES, 10):
        numbers = [dict(number=n, team=n % 7, pods=n % 5 + 1, gpus=n % 8 + 1) for n in range(start, start + 10)]
        is_pods = start < RESOURCES // 2
        folder = os.path.join(directory, f"{'apps' if is_pods else 'roots'}-{start // 50}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{start}.{'yaml' if is_pods else 'tf'}"), "w") as out:
            out.write("---\n".join(JOB.format(**it) for it in numbers) if is_pods else "".join(MACHINE.format(**it) for it in numbers))
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
