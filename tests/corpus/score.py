#!/usr/bin/env python3
"""Measures rules on manually labeled resources, and on repositories without accelerators.

    score.py BINARY CHECKOUTS REPOSITORIES.tsv LABELS.jsonl [--front terraform|kubernetes] [--verbose] [--cases]

CHECKOUTS holds one directory a repository, named owner+name. REPOSITORIES has the columns `repo` and `role`; where the role is
`none`, every finding is a false alarm. A label names a resource (repo, path, line, address), the rules that must report it
(`expect`) and those that must not (`traps`, each with a reason; `any` means all rules). Labels of low confidence are left out.

Prints one line per rule: recall on `expect`, false alarms on `traps`. The exit code is 1 if recall is below 90%, or if more
than 3% of the traps are reported.
"""
import collections
import json
import os
import subprocess
import sys

# The names of rules in labels, with the rules that they mean.
MEANT = {
    'missing-tags': ['missing-labels'],
    'oversized': ['oversized-gpu', 'cpu-would-do', 'fraction-would-do'],
    'undersized': ['undersized-gpu'],
    'tp-mismatch': ['idle-gpus', 'parallelism-mismatch'],
    'spot-inference': ['spot-serving'],
    'no-checkpoint-on-spot': ['spot-without-checkpoint'],
    'missing-job-deadline': ['missing-time-limit'],
    'cpu-starved-pod': ['cpu-starved-gpu'],
}
NOT_ABOUT_RESOURCES = {'unreadable', 'stale-prices', 'broken-suppression', 'stale-suppression'}
NEAR = 2  # lines between where a label and where a finding sees a resource


def told(binary, verb, where):
    run = subprocess.run([binary, verb, '--format', 'json', '--allow-empty', '.'], cwd=where, capture_output=True, timeout=300)
    if run.returncode not in (0, 1, 3):
        sys.exit(f'{where}: {verb} ends with {run.returncode}: {run.stderr.decode(errors="replace")[-300:]}')
    return json.loads(run.stdout)


def resources_of(label, resources):
    """Returns the results at the place of a label; for a module, all resources of its call."""
    at = lambda it: os.path.normpath(it['path'])
    near = [it for it in resources if at(it) == label['path'] and abs(it['line'] - label['line']) <= NEAR]
    near = near or [it for it in resources if at(it) == label['path'] and it['address'] == label['address']]
    near = near or [it for it in resources if it['address'] == label['address']]
    if not near and label['kind'].startswith('module:'):
        call = '.'.join((label['address'] or '').split('.')[:2])
        near = [it for it in resources if it['address'] == call or it['address'].startswith((call + '.', call + '['))]
    # Several roots may use the same module address. If the label is in a root, that root counts.
    root = os.path.dirname(label['path']) or '.'
    near = [it for it in near if it['root'] == root] or near
    return {(at(it), it['address'], it['root']) for it in near}


def main():
    front = sys.argv[sys.argv.index('--front') + 1] if '--front' in sys.argv else None
    binary, checkouts, table, labels = [it for it in sys.argv[1:] if not it.startswith('--') and it != front]
    binary = os.path.abspath(binary)
    by_repo = collections.defaultdict(list)
    for line in open(labels):
        label = json.loads(line)
        asked = front in (None, 'terraform' if label['lang'] == 'terraform' else 'kubernetes')
        if label['confidence'] != 'low' and asked:
            by_repo[label['repo']].append(label)
    lines = open(table).read().splitlines()
    columns = lines[0].split('\t')
    spoke, expected, alarms, traps, said_none = *(collections.Counter() for _ in range(4)), 0
    for line in lines[1:]:
        repo = dict(zip(columns, line.split('\t')))
        where = os.path.join(checkouts, repo['repo'].replace('/', '+'))
        if not os.path.isdir(where):
            print('missing', repo['repo'])
            continue
        findings = [it for it in told(binary, 'check', where)['findings']
                    if not it['suppressed'] and it['rule'] not in NOT_ABOUT_RESOURCES]
        if repo['role'] == 'none':
            said_none += len(findings)
            for it in findings:
                print('NONE', repo['repo'], it['path'], it['line'], it['rule'])
            continue
        if not by_repo[repo['repo']]:
            continue
        resources = told(binary, 'inspect', where)['resources']
        for label in by_repo[repo['repo']]:
            mine = resources_of(label, resources)
            fired = {it['rule'] for it in findings if (os.path.normpath(it['path']), it['address'], it['root']) in mine
                     or os.path.normpath(it['path']) == label['path'] and abs(it['line'] - label['line']) <= NEAR
                     or label['lang'] == 'terraform' and any((it['address'], it['root']) == known[1:] for known in mine)}
            place = f"{label['id']} {label['repo']} {label['path']}:{label['line']}"
            for rule in label['expect']:
                hit = bool(fired & set(MEANT.get(rule, [rule])))
                expected[rule] += 1
                spoke[rule] += hit
                if not hit and '--verbose' in sys.argv:
                    print('SILENT', rule, place, '' if mine else '(not found)')
            for trap in label['traps']:
                rule = trap['rule']
                hit = fired if rule == 'any' else fired & set(MEANT.get(rule, [rule]))
                traps[rule] += 1
                alarms[rule] += bool(hit)
                if hit and '--verbose' in sys.argv:
                    print('ALARM', rule, sorted(hit), place, trap['why'])
    print(f'{"rule":28}{"recall":>10}{"false alarms":>15}')
    for rule in sorted(set(expected) | set(traps)):
        print(f'{MEANT.get(rule, [rule])[0]:28}{spoke[rule]:>6}/{expected[rule]:<3}{alarms[rule]:>11}/{traps[rule]:<3}')
    wanted, dangerous = sum(expected.values()), sum(traps.values())
    recall, alarm = sum(spoke.values()) / max(wanted, 1), sum(alarms.values()) / max(dangerous, 1)
    print(f'recall {sum(spoke.values())}/{wanted} = {recall:.1%}, false alarms {sum(alarms.values())}/{dangerous} = {alarm:.1%}, '
          f'findings without accelerators {said_none}')
    sys.exit(0 if recall >= 0.9 and alarm <= 0.03 and said_none == 0 else 1)


main()
