#!/usr/bin/env python3
"""Prints a random sample of findings for review, the same one each time.

    sample.py BINARY CHECKOUTS [--number 100] [--seed 8] [--context 6]

Prints each finding with the lines around it, and a table of all findings by rule.
"""
import argparse
import collections
import json
import os
import random
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument('binary')
parser.add_argument('checkouts')
parser.add_argument('--number', type=int, default=100)
parser.add_argument('--seed', type=int, default=8)
parser.add_argument('--context', type=int, default=6)
parser.add_argument('--profile', default='standard')
asked = parser.parse_args()
binary = os.path.abspath(asked.binary)
every = []
for repo in sorted(os.listdir(asked.checkouts)):
    where = os.path.join(asked.checkouts, repo)
    command = [binary, 'check', '--format', 'json', '--allow-empty', '--profile', asked.profile, '.']
    run = subprocess.run(command, cwd=where, capture_output=True)
    every += [(repo, it) for it in json.loads(run.stdout or '{"findings": []}')['findings'] if not it['suppressed']]
by_rule = collections.Counter(it['rule'] for _, it in every)
print(len(every), 'findings:', ', '.join(f'{rule} {count}' for rule, count in by_rule.most_common()))
random.seed(asked.seed)
for number, (repo, it) in enumerate(random.sample(every, min(asked.number, len(every))), 1):
    print(f'\n=== {number}. {it["rule"]} [{it["level"]}, {it["confidence"]}] {repo} {it["path"]}:{it["line"]} {it["address"]}')
    print(f'    {it["message"]}\n    help: {it["help"]}')
    with open(os.path.join(asked.checkouts, repo, it['path']), errors='replace') as file:
        lines = file.read().splitlines()
    for at in range(max(0, it['line'] - 1 - asked.context), min(len(lines), it['line'] + asked.context)):
        print(f'    {at + 1:5}{">" if at + 1 == it["line"] else " "} {lines[at][:150]}')
