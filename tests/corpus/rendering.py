#!/usr/bin/env python3
"""Compares what gpulint renders with what kubectl and helm print.

rendering.py GPULINT CHECKOUTS [--only kustomize|helm] [--part TEXT] [--verbose]

CHECKOUTS holds one directory for each repository. Each kustomization is built with `kubectl kustomize`, each chart is
rendered with `helm template`; gpulint reads that text from its standard input, and the directory itself with `--render`.
Both must tell the same resources with the same facts. Nothing may be fetched: the programs get a proxy that is not there
and nothing else to run. The exit code is 1 if something differs.
"""
import argparse, collections, json, os, re, shutil, subprocess, sys, tempfile

NAMES = ('kustomization.yaml', 'kustomization.yml', 'Kustomization')
FACTS = ('machine', 'accelerator', 'accelerator_count', 'purchase', 'purpose', 'model', 'provider', 'region')


def offline(home):
    proxy = {name: 'http://127.0.0.1:9' for name in ('HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy')}
    homes = ('HOME', 'HELM_CACHE_HOME', 'HELM_CONFIG_HOME', 'HELM_DATA_HOME', 'HELM_PLUGINS')
    return {**proxy, **{name: home for name in homes}, 'KUBECONFIG': '/dev/null', 'PATH': ''}


def run(command, where, text=None, environment=None):
    try:
        done = subprocess.run(command, cwd=where, input=text, capture_output=True, timeout=60, env=environment)
    except subprocess.TimeoutExpired:
        return None, 'it took longer than 60 seconds'
    return (done.stdout, None) if done.returncode == 0 else (None, done.stderr.decode(errors='replace').strip())


def resources(gpulint, where, path, render, text=None):
    command = [gpulint, 'inspect', '--no-config', '--allow-empty', '--prices', 'embedded']
    out, why = run(command + (['--render'] if render else []) + [path], where, text)
    if out is None:
        sys.exit(f'gpulint fails in {where}: {why}')
    return json.loads(out)


def told(resource):
    """What a resource is, without the places that say so."""
    def plain(fact):
        return None if fact is None else json.dumps([fact.get('value'), fact.get('candidates'), fact.get('unknown')])
    count = {key: value for key, value in resource['count'].items() if key != 'origin'}
    others = {name: plain(fact) for name, fact in resource['facts'].items()}
    return json.dumps([resource['address'], resource['role'], count, [plain(resource[name]) for name in FACTS], others,
                       resource['labels']], sort_keys=True)


def directories(top):
    for where, below, files in os.walk(top):
        below[:] = sorted(name for name in below if name not in ('.git', 'node_modules'))
        yield where, files


def charts(top):
    for where, files in directories(top):
        inside = re.search(r'(^|/)charts/[^/]+$', where) and os.path.exists(os.path.join(where, '../../Chart.yaml'))
        if 'Chart.yaml' in files and not inside and '/templates/' not in where:
            yield where


def release(where):
    name = re.search(r'^name: *["\']?([^"\'\s#]+)', open(os.path.join(where, 'Chart.yaml'), errors='replace').read(), re.M)
    name = re.sub('[^a-z0-9]', '-', name[1].lower() if name else 'release')[:53].strip('-')
    return name or 'release'


class Table:
    def __init__(self):
        self.rows = collections.Counter()
        self.refused = collections.Counter()
        self.different = []

    def compare(self, what, gpulint, where, text, verbose):
        expected = resources(gpulint, where, '-', False, text)['resources']
        document = resources(gpulint, where, '.', True)
        mine = [it for it in document['resources']
                if any(link['to'].split()[0] == what and os.path.normpath(link['path']) in
                       ('Chart.yaml', *NAMES) for link in it['links'])]
        self.rows['rendered by both' if mine or not expected else 'rendered by the program only'] += 1
        self.rows['resources that the program\'s text holds'] += len(expected)
        a, b = collections.Counter(map(told, expected)), collections.Counter(map(told, mine))
        self.rows['resources told alike'] += sum((a & b).values())
        if expected:
            self.rows['with accelerators'] += 1
        if a != b:
            why = [it['reason'] for it in document['skipped'] if 'without rendering' in it['reason']]
            self.different.append((where, list((a - b).elements()), list((b - a).elements()), why))
        elif verbose:
            print(where, len(expected))

    def show(self, title):
        print(f'\n{title}')
        for name, number in self.rows.items():
            print(f'  {number:6} {name}')
        for why, number in self.refused.most_common(12):
            print(f'  {number:6} not rendered: {why}')
        print(f'  {len(self.different):6} that differ')
        for where, missing, added, why in self.different:
            print(f'    {where}: {len(missing)} missing, {len(added)} more {why}')
            for it in missing[:1]:
                print(f'      - {it[:600]}')
            for it in added[:1]:
                print(f'      + {it[:600]}')


def cause(why):
    known = (('it would fetch something', r'github|https?://|git |dial tcp|proxyconnect|exec: "git"'),
             ('a security check', r'security;'),
             ('a chart it depends on is not there', r'missing in charts|dependenc'),
             ('its values do not suffice', r'execution error|nil pointer|required|schema|wrong type|error calling'),
             ('a file is missing', r'no such file|must exist|evalsymlink|not a valid directory'))
    return next((name for name, pattern in known if re.search(pattern, why)), why.splitlines()[-1][:100] if why else '?')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('gpulint', type=os.path.abspath)
    parser.add_argument('checkouts', type=os.path.abspath)
    parser.add_argument('--only')
    parser.add_argument('--part', default='')
    parser.add_argument('--verbose', action='store_true')
    asked = parser.parse_args()
    programs = {name: shutil.which(name) for name in ('kubectl', 'helm')}
    kustomizations, helm = Table(), Table()
    with tempfile.TemporaryDirectory() as home:
        for where, files in directories(asked.checkouts):
            if asked.part in where and asked.only != 'helm' and any(name in files for name in NAMES):
                if not programs['kubectl']:
                    sys.exit('kubectl is not installed')
                out, why = run([programs['kubectl'], 'kustomize', '.'], where, environment=offline(home))
                if out is None:
                    kustomizations.refused[cause(why)] += 1
                else:
                    kustomizations.compare('kustomize', asked.gpulint, where, out, asked.verbose)
        for where in charts(asked.checkouts) if asked.only != 'kustomize' else ():
            if asked.part not in where:
                continue
            if not programs['helm']:
                sys.exit('helm is not installed')
            command = [programs['helm'], 'template', release(where), '.', '--skip-tests']
            out, why = run(command, where, environment=offline(home))
            if out is None:
                helm.refused[cause(why)] += 1
            else:
                helm.compare('helm', asked.gpulint, where, out, asked.verbose)
    kustomizations.show('kustomizations')
    helm.show('charts')
    sys.exit(1 if kustomizations.different or helm.different else 0)


main()
