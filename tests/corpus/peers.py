#!/usr/bin/env python3
"""Judges gpulint by the public tests of other tools: their files, and the answers that they expect.

    peers.py BINARY CHECKOUTS [infracost] [tflint] [reap] [checkov] [--verbose]

CHECKOUTS holds one directory a repository, named owner+name:

    infracost+infracost                     amounts of GPU machines in its golden files
    terraform-linters+tflint-ruleset-aws    lists of valid machine types; also -google and -azurerm
    emphity1+reap                           good and bad manifests, one directory a rule
    bridgecrewio+checkov                    AWS fixtures of its tests

Without a name, all four judges run. Each prints its cases, the cases that differ, and why: `ours` (gpulint is wrong), `theirs`
(the other tool is wrong) or `other` (the two tools answer different questions). KNOWN names the known differences. If a
difference is not in KNOWN, the judge calls it `new`, and the exit code is 1. `--verbose` prints both answers of each difference.
"""
import collections
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

PRICING = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'pricing')

# Machine types with accelerators, by the families that the clouds document, and not by gpulint's catalog.
ACCELERATED = {
    'aws': re.compile(r'(ml\.)?(p\d|g\d|gr\d|inf\d|trn\d|dl\d|vt\d|f\d)[a-z-]*\d*\.'),
    'google': re.compile(r'(a[2-9]x?|g[2-9]|ct\d[a-z]*)-'),
    'azurerm': re.compile(r'standard_n', re.I),
}

# Known differences: a pattern of the case, the verdict and the reason. The first match counts.
KNOWN = {
    'infracost': [
        (r'Standard_NP', 'other', 'FPGAs: the catalog has accelerators for AI only'),
        (r'windows_vms\["Standard_(NC6|NC6s_v2|ND6s|NV6|ND40s_v2)"\]', 'ours', 'retired machines: gpulint knows one price per vCPU for Windows, and these had another'),
        (r'compute_cluster.*Standard_NC', 'theirs', 'Infracost ignores the low priority; gpulint knows no spot price of the retired K80'),
        (r'compute_cluster', 'theirs', 'Infracost ignores the low priority; gpulint prints a range'),
        (r'compute_instance.*Standard_N', 'theirs', 'Infracost ignores the region of the workspace; gpulint estimates the price of that region'),
        (r'hdinsight', 'other', 'gpulint does not price HDInsight; it lists the resource as not evaluated'),
        (r'gpu_with_hours', 'other', 'the usage file of Infracost sets 100 hours per month; gpulint does not read that file'),
        (r'preemptible_gpu', 'other', 'Google Cloud removed the K80, so no preemptible price is current; gpulint prints a range'),
        (r'gpu_l4', 'theirs', 'the published price of a G2 machine includes its L4; Infracost adds the L4 again'),
        (r'f1-micro', 'theirs', 'Google Cloud attaches accelerators to N1 machines only; gpulint reports an impossible machine'),
        (r'a100', 'theirs', 'Google Cloud attaches no A100 to N1 machines; gpulint reports an impossible machine'),
    ],
    'tflint': [
        (r'^(f1|f2|vt1)\.|^standard_np', 'other', 'FPGAs and video encoders: the catalog has accelerators for AI only'),
        (r'^standard_(nc\d+_v3|nd40s_v3|nv(4|10|20|30|40)adm?s_a10_v5|nv28ads_v710_v5)$', 'theirs',
         'Azure has an enum value and documents no such machine'),
        (r'^not listed:', 'other', 'the machine type is newer than the list, or it is only a name in a price list'),
    ],
    'reap': [
        (r'gpu-no-node-targeting|no-pdb|model-server-no-probes', 'other', 'availability, not money: gpulint has no such rule'),
        (r'no-gpu-limit', 'ours', 'the API server refuses the pod; gpulint prices it and reports nothing'),
        (r'bert-pretrain', 'other', 'missing-gang starts at 8 accelerators (`min_accelerators`); this job has 4'),
        (r'embedder', 'other', 'missing-shm applies to several GPUs in one pod; reap warns from one GPU'),
    ],
    'checkov': [
        (r'declared twice', 'theirs', 'Terraform refuses these files, too: a resource or provider is declared twice'),
    ],
}

# Rules of reap, and the rules of gpulint that ask the same question.
RULES_OF_REAP = {
    'job-no-deadline': {'missing-time-limit'},
    'distributed-training-no-gang-scheduling': {'missing-gang'},
    'shm-too-small': {'missing-shm'},
    'multinode-no-topology-affinity': {'scattered-training', 'no-placement'},
    'notebook-no-idle-culling': {'missing-auto-shutdown'},
    'inference-no-hpa': {'static-replicas'},
    'no-gpu-limit': {'unreadable', 'unschedulable-gpu'},
    'gpu-no-node-targeting': {'unschedulable-gpu'},
    'model-server-no-probes': {'probe-too-early'},
    'no-pdb': set(),
}


class Judge:
    def __init__(self, name, checkout):
        self.name, self.checkout = name, checkout
        self.cases, self.differences = 0, []
        self.unused = set(KNOWN[name])

    def judge(self, case, theirs, ours, equal):
        self.cases += 1
        if not equal:
            known = next((it for it in KNOWN[self.name] if re.search(it[0], case, re.I)), (None, 'new', ''))
            self.unused.discard(known)
            self.differences.append((known[1], known[2], case, theirs, ours))

    def report(self, verbose):
        print(f'{self.name} ({self.checkout}): {self.cases} cases, {len(self.differences)} differ')
        groups = collections.defaultdict(list)
        for verdict, reason, *difference in self.differences:
            groups[verdict, reason].append(difference)
        for (verdict, reason), members in sorted(groups.items()):
            print(f'  {verdict:6} {len(members):4}  {reason or members[0][0]}')
            for case, theirs, ours in members if verbose or verdict == 'new' else []:
                print(f'               {case}: theirs {theirs}, ours {ours}')
        for _, verdict, reason in sorted(self.unused):
            print(f'  no case has this known difference ({verdict}): {reason}')
        return not any(it[0] == 'new' for it in self.differences)


def gpulint(binary, subcommand, directory, config=None):
    """Returns the JSON report, or a line that names the crash."""
    options = ['--config', config] if config else ['--no-config']
    command = [binary, subcommand, *options, '--allow-empty', '--prices', 'embedded', '--format', 'json', '.']
    done = subprocess.run(command, cwd=directory, capture_output=True, timeout=300)
    if done.returncode not in (0, 1):
        return f'exit code {done.returncode}: {done.stderr.decode(errors="replace").strip()[:200]}'
    return json.loads(done.stdout)


def value(fact):
    return fact['value'] if fact else None


def infracost(binary, root, judge):
    """Each resource of a golden file with an accelerator is a case: machine, accelerators and license, without disks."""
    cost_of = lambda line: float(line.rsplit('$', 1)[1].split()[0].replace(',', ''))
    top = os.path.join(root, 'internal/providers/terraform')
    for directory, _, files in sorted(os.walk(top)):
        for golden in sorted(it for it in files if it.endswith('.golden')):
            if not any(it.endswith('.tf') for it in files):
                continue
            amounts, accelerated, address = collections.defaultdict(list), set(), None
            for line in open(os.path.join(directory, golden), encoding='utf-8'):
                if re.match(r' [a-z]', line):
                    address = line.strip()
                row = re.search(r'─ (Instance usage|NVIDIA|\w+ node) ?(.*\))? .*\d+ +hours +\$', line)
                if not (address and row):
                    continue
                name = re.sub(r'.*─ ', '', line).split(')')[0] + ')'
                machine = name.rstrip(')').replace('(', ' ').split()[-1]
                with_accelerator = row[1] == 'NVIDIA' or any(it.match(machine) for it in ACCELERATED.values())
                if row[1].endswith(' node') and not with_accelerator:
                    continue
                amounts[address].append((name, cost_of(line)))
                if with_accelerator:
                    accelerated.add(address)
            if not accelerated:
                continue
            report = gpulint(binary, 'cost', directory)
            ours = {} if isinstance(report, str) else {it['address']: it for it in report['resources']}
            for address in sorted(accelerated):
                rows = amounts[address]
                theirs = sum(amount for _, amount in rows)
                mine = ours.get(address)
                bill = mine and mine['price']['usd_per_month']
                license = sum(float(it) for it in re.findall(r'license of .*?\$([0-9.]+)/hour for each machine', json.dumps(mine)))
                amount = bill and bill['expected'] + license * 730 * mine['count']['expected']
                case = f'{address} {" + ".join(name for name, _ in rows)}'
                shown = mine and (bill and f'{bill["floor"]:.2f} to {bill["ceiling"]:.2f}, with license {amount:.2f}' or mine['price']['reason'])
                judge.judge(case, f'{theirs:.2f}', shown, amount is not None and abs(amount - theirs) <= 0.005 * theirs)


def tflint(binary, checkouts, judge):
    """Each listed machine type with accelerators is a case, and so is each machine of the catalog: listed, known, or both."""
    lists = {
        'aws': [('rules/models/aws_instance_invalid_type.go', r'^\s+"([a-z0-9-]+\.[a-z0-9-]+)",'),
                ('rules/models/aws_sagemaker_notebook_instance_invalid_instance_type.go', r'^\s+"(ml\.[a-z0-9-]+\.[a-z0-9-]+)",')],
        'azurerm': [('rules/utils.go', r'^\s+"(standard_[^"]+)",')],
        'google': [('rules/utils.go', r'^\s+"([a-z0-9-]+)":\s+true')],
    }
    resources = {
        'aws': ('aws_instance', 'instance_type', ''),
        'ml': ('aws_sagemaker_notebook_instance', 'instance_type', ''),
        'azurerm': ('azurerm_linux_virtual_machine', 'size', '  location = "eastus"\n'),
        'google': ('google_compute_instance', 'machine_type', '  zone = "us-central1-a"\n'),
    }
    types, listed = {}, {}
    text = 'provider "aws" {\n  region = "us-east-1"\n}\n'
    for cloud, files in lists.items():
        root = os.path.join(checkouts, f'terraform-linters+tflint-ruleset-{cloud}')
        found = set()
        for path, pattern in files:
            with open(os.path.join(root, path), encoding='utf-8') as file:
                found |= set(re.findall(pattern, file.read(), re.I | re.M))
        listed[cloud] = {it.lower() for it in found}
        for it in sorted(found):
            if ACCELERATED[cloud].match(it):
                kind, attribute, more = resources['ml' if it.startswith('ml.') else cloud]
                types[f'{kind}.m{len(types)}'] = it
                text += f'resource "{kind}" "m{len(types) - 1}" {{\n  {attribute} = "{it}"\n{more}}}\n'
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, 'main.tf'), 'w', encoding='utf-8') as file:
            file.write(text)
        report = gpulint(binary, 'cost', directory)
    if isinstance(report, str):
        sys.exit(f'tflint: {report}')
    ours = {it['address']: it for it in report['resources']}
    priced = 0
    for address, machine in types.items():
        mine = ours.get(address)
        known = bool(mine and value(mine['accelerator']) and value(mine['accelerator_count']))
        priced += bool(known and mine['price']['usd_per_month'])
        judge.judge(machine, 'a valid type', mine['price']['reason'] if mine else 'no accelerator', known)
    print(f'  {priced} of {len(types)} listed types have a price')
    for cloud, table in (('aws', 'aws'), ('azurerm', 'azure'), ('google', 'gcp')):
        with open(os.path.join(PRICING, f'{table}.csv'), encoding='utf-8') as file:
            for machine in sorted({it['machine'] for it in csv.DictReader(file)}):
                if machine.lower() not in listed[cloud]:
                    judge.judge(f'not listed: {machine}', 'not a valid type', 'in the catalog', False)


def reap(binary, root, judge):
    """Each object of a bad manifest is a case that needs a finding; each object of a good one must have none of that rule."""
    top = os.path.join(root, 'testdata')
    with tempfile.TemporaryDirectory() as work:
        settings = os.path.join(work, 'gpulint.toml')
        with open(settings, 'w', encoding='utf-8') as file:
            file.write('profile = "all"\n')
        for rule in sorted(os.listdir(top)):
            for name in sorted(os.listdir(os.path.join(top, rule))):
                with open(os.path.join(top, rule, name), encoding='utf-8') as file:
                    documents = file.read()
                directory = os.path.join(work, rule, name)
                os.makedirs(directory)
                with open(os.path.join(directory, 'manifest.yaml'), 'w', encoding='utf-8') as file:
                    file.write(documents)
                report = gpulint(binary, 'check', directory, settings)
                if isinstance(report, str):
                    judge.judge(f'{rule}/{name}', '', report, False)
                    continue
                found = [it for it in report['findings'] if it['rule'] in RULES_OF_REAP.get(rule, ())]
                for kind, meta in re.findall(r'^kind: (\w+)\nmetadata:\n((?: +.*\n)+)', documents, re.M):
                    if kind in ('HorizontalPodAutoscaler', 'PodDisruptionBudget'):
                        continue
                    thing = re.search(r'^ +name: (\S+)', meta, re.M)[1]
                    mine = sorted({it['rule'] for it in found if re.search(rf'/{re.escape(thing)}(:|$)', it['address'] or '')})
                    expected = name.startswith('bad')
                    judge.judge(f'{rule}/{name} {kind}/{thing}', 'a finding' if expected else 'none', ', '.join(mine) or 'none', bool(mine) == expected)


def checkov(binary, root, judge):
    """Each directory is a case: no crash, and no error or warning, because the fixtures have no accelerators."""
    top = os.path.join(root, 'tests/terraform/checks/resource/aws')
    for directory, _, files in sorted(os.walk(top)):
        sources = [it for it in files if it.endswith(('.tf', '.tf.json'))]
        if not sources:
            continue
        report = gpulint(binary, 'check', directory)
        name = os.path.relpath(directory, top)
        if isinstance(report, str):
            judge.judge(name, 'no finding', report, False)
            continue
        text = ''.join(open(os.path.join(directory, it), encoding='utf-8', errors='replace').read() for it in sources)
        accelerated = any(ACCELERATED['aws'].match(it) for it in re.findall(r'"((?:ml\.)?[a-z0-9-]+\.\w*(?:large|xlarge|metal))"', text))
        alarms = [] if accelerated else [it for it in report['findings'] if it['level'] != 'note']
        judge.judge(f'{name} {alarms[0]["message"] if alarms else ""}', 'no finding', f'{len(alarms)} findings', not alarms)


def main():
    names = {'infracost': infracost, 'tflint': tflint, 'reap': reap, 'checkov': checkov}
    arguments = [it for it in sys.argv[1:] if not it.startswith('--')]
    if len(arguments) < 2 or any(it not in names for it in arguments[2:]):
        sys.exit(__doc__)
    binary, checkouts = (os.path.abspath(it) for it in arguments[:2])
    roots = {'infracost': 'infracost+infracost', 'tflint': 'terraform-linters+tflint-ruleset-aws', 'reap': 'emphity1+reap', 'checkov': 'bridgecrewio+checkov'}
    fine = True
    for name in arguments[2:] or names:
        root = os.path.join(checkouts, roots[name])
        if not os.path.isdir(root):
            print(f'{name}: no checkout at {roots[name]}, not judged')
            continue
        judge = Judge(name, roots[name])
        names[name](binary, checkouts if name == 'tflint' else root, judge)
        fine &= judge.report('--verbose' in sys.argv)
    sys.exit(0 if fine else 1)


if __name__ == '__main__':
    main()
