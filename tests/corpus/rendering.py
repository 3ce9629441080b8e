#!/usr/bin/env python3
"""Compares what gpulint renders with what kubectl and helm print.

rendering.py GPULINT CHECKOUTS [--only kustomize|helm] [--part TEXT] [--verbose]

CHECKOUTS holds one directory for each repository. Each kustomization is built with `kubectl kustomize`, each chart is
rendered with `helm template`; gpulint reads that text from its standard input, and the directory itself with `--render`.
Both must tell the same resources with the same facts. A chart is rendered with its own values, and once more with each
file of values that it offers. Charts beside a chart (`file://`) are packed by `helm dependency build` in a copy of the
checkout; what a chart switches off is struck from its list there. Nothing may be downloaded: the programs get a proxy
that does not exist, and no other programs. For charts, the second table shows how much gpulint reports about the same
resources without rendering. The exit code is 1 if there is a difference.
"""
import argparse, collections, json, os, re, shutil, subprocess, sys, tempfile

import yaml

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


def resources(gpulint, where, path, render, text=None, values=None):
    command = [gpulint, 'inspect', '--no-config', '--allow-empty', '--prices', 'embedded']
    options = (['--render'] if render else []) + ([f'--values={values}'] if values else [])
    out, why = run(command + options + [path], where, text)
    if out is None:
        sys.exit(f'gpulint fails in {where}: {why}')
    return json.loads(out)


def told(resource):
    """Returns a resource without positions."""
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


def offered(where):
    """Returns the additional values files of a chart."""
    for below, files in directories(where):
        inside = os.path.relpath(below, where)
        if inside.split('/')[0] in ('charts', 'templates'):
            continue
        for name in sorted(files):
            path = os.path.normpath(os.path.join(inside, name))
            if re.search(r'(^|[-_.])values?([-_.].*)?\.ya?ml$', name.lower()) and path != 'values.yaml':
                yield path


def template(helm, checkouts, where, values, home):
    """Returns Helm's output for a chart. Local dependencies are packed in a copy of the checkout."""
    def render(directory):
        command = [helm, 'template', release(where), '.', '--skip-tests'] + (['--values', values] if values else [])
        return run(command, directory, environment=offline(home))
    out, why = render(where)
    if out is not None or 'missing in charts' not in why:
        return out, why
    checkout = os.path.relpath(where, checkouts).split(os.sep)[0]
    with tempfile.TemporaryDirectory() as place:
        copy = os.path.join(place, checkout)
        shutil.copytree(os.path.join(checkouts, checkout), copy, symlinks=True, ignore=shutil.ignore_patterns('.git'))
        chart = os.path.join(copy, os.path.relpath(where, os.path.join(checkouts, checkout)))
        # One Helm run reads the deciding values from the outermost chart.
        if not pack(helm, chart, [read(chart, name) for name in (values, 'values.yaml') if name], home, 0):
            return None, why
        return render(chart)


def read(where, name):
    try:
        return next(iter(yaml.safe_load_all(open(os.path.join(where, name)))), None) or {}
    except (OSError, yaml.YAMLError):
        return {}


def pack(helm, chart, values, home, depth):
    """Packs the dependencies of a chart, the innermost first."""
    about = read(chart, 'Chart.yaml')
    wanted = []
    for dependency in about.get('dependencies') or []:
        address, name = str(dependency.get('repository') or ''), dependency.get('alias') or dependency['name']
        if is_off(dependency, values):
            continue
        wanted.append(dependency)
        if address.startswith('file://'):
            inside = os.path.normpath(os.path.join(chart, address.removeprefix('file://')))
            below = [it[name] for it in values if isinstance(it.get(name), dict)] + [read(inside, 'values.yaml')]
            if depth > 5 or not pack(helm, inside, below, home, depth + 1):
                return False
    if not wanted and not about.get('dependencies'):
        return True
    with open(os.path.join(chart, 'Chart.yaml'), 'w') as file:
        yaml.safe_dump({**about, 'dependencies': wanted}, file)
    if os.path.exists(os.path.join(chart, 'Chart.lock')):
        os.remove(os.path.join(chart, 'Chart.lock'))
    return run([helm, 'dependency', 'build', '--skip-refresh'], chart, environment=offline(home))[0] is not None


def is_off(dependency, values):
    for path in (dependency.get('condition') or '').split(','):
        for found in values:
            for key in path.strip().split('.'):
                found = found.get(key) if isinstance(found, dict) else None
            if isinstance(found, bool):
                return not found
    return False


class Table:
    def __init__(self):
        self.rows = collections.Counter()
        self.refused = collections.Counter()
        self.different = []
        self.holding = set()
        self.unrendered = collections.Counter()

    def compare(self, what, gpulint, where, text, verbose, values=None):
        expected = resources(gpulint, where, '-', False, text)['resources']
        document = resources(gpulint, where, '.', True, values=values)
        mine = [it for it in document['resources']
                if any(link['to'].split()[0] == what and os.path.normpath(link['path']) in
                       ('Chart.yaml', *NAMES) for link in it['links'])]
        self.rows['rendered by both' if mine or not expected else 'rendered by the program only'] += 1
        self.rows['resources that the program\'s text holds'] += len(expected)
        a, b = collections.Counter(map(told, expected)), collections.Counter(map(told, mine))
        self.rows['resources told alike'] += sum((a & b).values())
        if expected:
            self.rows['with accelerators'] += 1
            self.holding.add(where)
        if a != b:
            why = [it['reason'] for it in document['skipped'] if 'without rendering' in it['reason']]
            self.different.append((f'{where} {values or ""}', list((a - b).elements()), list((b - a).elements()), why))
        elif verbose:
            print(where, values or '', len(expected))
        if what == 'helm' and not values and expected:
            self.without(expected, resources(gpulint, where, '.', False)['resources'])

    def without(self, expected, read):
        """Returns how much of the result is known without rendering, by kinds and numbers, because names are unknown."""
        def what(it):
            facts = [plain(it, name) for name in ('accelerator', 'accelerator_count')]
            return json.dumps([it['kind'], it['count'].get('expected'), *facts])

        def plain(it, name):
            return None if it[name] is None else it[name].get('value')
        a, b = collections.Counter(map(what, expected)), collections.Counter(map(what, read))
        kinds, ours = (collections.Counter(it['kind'] for it in all) for all in (expected, read))
        self.unrendered['resources that rendering tells'] += len(expected)
        self.unrendered['told without it, with the same kind, accelerators and number'] += sum((a & b).values())
        self.unrendered['told without it, in one of these differently'] += sum((kinds & ours).values()) - sum((a & b).values())
        self.unrendered['not told without it'] += sum((kinds - ours).values())
        self.unrendered['told only without it'] += sum((ours - kinds).values())

    def show(self, title):
        print(f'\n{title}')
        for name, number in self.rows.items():
            print(f'  {number:6} {name}')
        print(f'  {len(self.holding):6} directories with accelerators')
        for why, number in self.refused.most_common(12):
            print(f'  {number:6} not rendered: {why}')
        print(f'  {len(self.different):6} that differ')
        for where, missing, added, why in self.different:
            print(f'    {where}: {len(missing)} missing, {len(added)} more {why}')
            for it in missing[:1]:
                print(f'      - {it[:600]}')
            for it in added[:1]:
                print(f'      + {it[:600]}')
        for name, number in self.unrendered.items():
            print(f'  {number:6} {name}')


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
            for values in (None, *offered(where)):
                out, why = template(programs['helm'], asked.checkouts, where, values, home)
                if out is None:
                    helm.refused[cause(why)] += 1
                else:
                    helm.compare('helm', asked.gpulint, where, out, asked.verbose, values)
    kustomizations.show('kustomizations')
    helm.show('charts')
    sys.exit(1 if kustomizations.different or helm.different else 0)


main()
