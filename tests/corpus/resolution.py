#!/usr/bin/env python3
"""How many labelled resources of real repositories gpulint finds, and how many it resolves to their machine.

tests/corpus/resolution.py GPULINT CHECKOUTS LABELS.jsonl [--front terraform|kubernetes] [--found 0.97] [--resolved 0.95]

CHECKOUTS holds repositories as OWNER+NAME. A label is one JSON object a line with repo, path, line, address, lang, kind, sku,
accelerator, count, priceable and confidence. Every miss is printed with what was seen instead. A label with count 1 on a
machine that has a part of an accelerator counts as that part; one that names a slice (`MIG 1g.10gb`) asks for that slice,
of which several accelerators have their own. Exits with 1 where a share is below its bar.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
from collections import defaultdict

NEAR_LINES = 2


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('gpulint')
    parser.add_argument('checkouts', type=pathlib.Path)
    parser.add_argument('labels', type=pathlib.Path)
    parser.add_argument('--front', choices=['terraform', 'kubernetes'])
    parser.add_argument('--found', type=float, default=0.97)
    parser.add_argument('--resolved', type=float, default=0.95)
    return parser.parse_args()


def inspect(program, directory):
    program = str(pathlib.Path(program).resolve()) if '/' in program else program
    run = subprocess.run([program, 'inspect', '--allow-empty', '.'], cwd=directory, capture_output=True, timeout=600)
    if run.returncode not in (0, 1, 3):
        sys.exit(f'{directory}: exit {run.returncode}: {run.stderr.decode(errors="replace")[-300:]}')
    return json.loads(run.stdout)['resources']


def possible(fact):
    """The values that a fact has or may have."""
    if not fact:
        return []
    if fact.get('candidates'):
        return fact['candidates']
    value = fact.get('value')
    return value if isinstance(value, list) else [] if value is None else [value]


def plain(name):
    name = name.get('name', '') if isinstance(name, dict) else name
    name = re.sub(r'[ _]', '-', str(name or '').lower())
    return re.sub(r'standard-|nvidia-|tesla-', '', name)


def holds(whole, part):
    return re.search(rf'(?<![a-z0-9]){re.escape(part)}(?![a-z0-9])', whole) is not None


def meant_by(label, resources):
    """The resources at the place of a label, else at its address, else inside of its module call."""
    def at_path(it):
        return str(pathlib.PurePosixPath(it['path'] or '')) == label['path']
    call = '.'.join((label['address'] or '').split('.')[:2])
    ways = [
        lambda it: at_path(it) and abs((it['line'] or 0) - label['line']) <= NEAR_LINES,
        lambda it: it['address'] == label['address'],
        lambda it: label['kind'].startswith('module:') and call.startswith('module.') and holds(it['address'], call),
    ]
    return next((found for way in ways if (found := [it for it in resources if way(it)])), [])


def is_resolved(label, resource):
    sku, chip = plain(label['sku']), plain(label['accelerator'])
    if chip.startswith('mig-'):
        return chip.removeprefix('mig-') in [plain(it) for it in possible(resource['facts'].get('slice'))]
    machines = [plain(it) for it in possible(resource['machine'])]
    if sku and machines:
        same = any(holds(it, sku) for it in machines)
    else:
        same = any(chip.split('-')[0] in plain(it) for it in possible(resource['accelerator']))
    counts = [float(it) for it in possible(resource['accelerator_count'])]
    wanted = label['count']
    if not same or not counts or not isinstance(wanted, (int, float)) or wanted <= 0 or label['priceable'] == 'range':
        return same
    return any(abs(it - wanted) < 1e-6 or (wanted == 1 and 0 < it < 1) for it in counts)


def main():
    options = arguments()
    by_repository = defaultdict(list)
    for line in options.labels.read_text().splitlines():
        label = json.loads(line)
        front = 'terraform' if label['lang'] == 'terraform' else 'kubernetes'
        counts = label['priceable'] != 'no' and label['confidence'] != 'low'
        if counts and options.front in (None, front):
            by_repository[label['repo']].append(label)
    labelled = found = sized = resolved = 0
    for repository, labels in sorted(by_repository.items()):
        directory = options.checkouts / repository.replace('/', '+')
        if not directory.is_dir():
            print(f'left out: {repository} is not there')
            continue
        resources = inspect(options.gpulint, directory)
        for label in labels:
            near = meant_by(label, resources)
            has_size = bool(label['sku']) or label['accelerator'] not in ('unknown', 'none', '', None)
            good = any(is_resolved(label, it) for it in near)
            labelled, found = labelled + 1, found + bool(near)
            sized, resolved = sized + has_size, resolved + (has_size and good)
            if not near or (has_size and not good):
                seen = [(it['address'], possible(it['machine']), possible(it['accelerator_count'])) for it in near]
                print(f'{"unresolved" if near else "missed"}: {label["id"]} {repository} {label["path"]}:{label["line"]} '
                      f'{label["sku"] or label["accelerator"]} x {label["count"]}; seen {seen[:2]}')
    if not labelled:
        sys.exit('no repository of these labels is there')
    print(f'found {found}/{labelled} ({found / labelled:.1%}), resolved {resolved}/{sized} ({resolved / max(sized, 1):.1%})')
    sys.exit(found / labelled < options.found or resolved / max(sized, 1) < options.resolved)


main()
