#!/usr/bin/env python3
"""Accounts for every accelerator name that a plain text scan sees in Kubernetes text.

tokens.py GPULINT CHECKOUTS TOKENS.tsv [--list REASON]

TOKENS.tsv has a row for each name: repo, path, line, class, vendor, token, flags (`c` comment, `t` template, `r` schema of a
custom resource, `v` values, `k` kustomization). A name is accounted for if a resource that gpulint tells has a place in the
same document, or if one of the reasons below holds. What is left is a miss.
"""
import collections, json, os, re, subprocess, sys

TEMPLATES = ('.tpl', '.tmpl', '.j2', '.jinja', '.jinja2', '.gotmpl', '.template')
KUBERNETES = ('.yaml', '.yml', '.json', *TEMPLATES)

# What a document or a line is that names an accelerator and asks for none. The first that holds is the reason.
NO_WORKLOAD_KINDS = {
    'a schema of a custom resource': r'CustomResourceDefinition|CompositeResourceDefinition|ConstraintTemplate',
    'a quota, a profile or a queue': r'ResourceQuota|LimitRange|Profile|ClusterQueue|LocalQueue|Cohort|Queue|ElasticQuota\w*|ClusterResourceQuota|PriorityClass|Topology|AdmissionCheck|ProvisioningRequestConfig|HardwareProfile|AcceleratorProfile|WorkloadPriorityClass|Workload|MultiKueue\w*',
    'a flavour of machines in a queue': r'ResourceFlavor',
    'a device class or claim that no pod here names': r'ResourceClaim|ResourceClaimTemplate|DeviceClass|ResourceSlice|DeviceTaintRule|ResourceClass|DeviceConfig|GpuConfig',
    'settings of a driver, an operator or a monitor': r'ClusterPolicy|NodeFeature\w*|NvidiaDriver|NVIDIADriver|NicClusterPolicy|Sriov\w*|NodeNetwork\w*|MacvlanNetwork|HostDeviceNetwork|IPoIBNetwork|PrometheusRule|ServiceMonitor|Kyverno|Policy|\w*Webhook\w*|KueueConfiguration|Configuration|KubeSchedulerConfiguration|SchedulerConfig\w*|ClusterRole|Role|ConfigMap|Secret|NodePolicy|Tuned|Descheduler\w*|Kubelet\w*|KubeletConfig|ClusterVersion|Subscription|Node|StorageClass|Service|PersistentVolume\w*|NodeOverlay|Autopilot|Config|NodeHealthCheck|Grafana\w*|EnvoyFilter|RuntimeClass|CSIDriver|Kustomization|Component|Accelerator|MLCommons|GatewayClass|Model|OpenModel|ClusterBaseModel|BaseModel|AcceleratorClass|BackendRuntime|ModelDeployment|EC2NodeClass|AKSNodeClass|PodGroup|Stage|NodeSet|KwokConfiguration|MachineConfig\w*|StackConfigPolicy',
}


def documents(text):
    """Ranges of lines, from 1."""
    start, ranges = 1, []
    lines = text.split('\n')
    for number, line in enumerate(lines, 1):
        if re.match(r'---(\s|$)', line) and number > start:
            ranges.append((start, number - 1))
            start = number
    return ranges + [(start, len(lines))]


def inspect(gpulint, where):
    command = [gpulint, 'inspect', '--no-config', '--allow-empty', '.']
    done = subprocess.run(command, cwd=where, capture_output=True, timeout=600)
    return json.loads(done.stdout)


def places(resource):
    yield resource['path'], resource['line']
    for fact in [resource[name] for name in resource] + list(resource['facts'].values()) + resource['links']:
        if isinstance(fact, dict) and 'path' in fact:
            yield os.path.normpath(fact['path']), fact['line']


def kind_of(lines):
    kinds = [m[1] for line in lines if (m := re.match(r'\s*"?kind"?:\s*["\']?([\w{][^\s,"\']*)', line))]
    return kinds[0] if kinds else None


def reason(row, lines, span, seen):
    line = lines[row['line'] - 1] if row['line'] <= len(lines) else ''
    document = lines[span[0] - 1:span[1]]
    path, token, base = row['path'], row['token'], os.path.basename(row['path'])
    kind = kind_of(document)
    if 'c' in row['flags'] or line.lstrip().startswith(('#', '//', '{{/*')):
        return 'in a comment'
    if 'r' in row['flags']:
        return 'a schema of a custom resource'
    if kind:
        for why, pattern in NO_WORKLOAD_KINDS.items():
            if re.fullmatch(pattern, kind):
                return why
    if re.search(r'(^|/)\.github/|\.gitlab-ci|azure-pipelines|buildspec|cloudbuild|\.circleci|/workflows/', path):
        return 'a pipeline of builds'
    if re.search(r'AWSTemplateFormatVersion|^Resources:|blueprint_name:|^vars:\n', '\n'.join(lines), re.M) and not kind:
        return 'CloudFormation or a blueprint of another tool'
    if re.search(r'rdma|hostdev|\.deploy\.|gpu\.present|/mlnx|efa$', token):
        return 'a label or a network device'
    if re.search(r'resources:\s*$', '') or re.search(r'(key|operator|topologyKey|resourceName|resource|name)"?:\s', line) \
            and 'limits' not in line and not re.search(r'gpu"?\s*:\s*"?\d', line):
        seen_near = 'a toleration, an affinity or a name in a pod without accelerators'
        if kind:
            return seen_near
    if re.search(r'gpu"?\s*:\s*"?(0|present|true|exists|nvidia)\b', line, re.I):
        return 'an amount of zero, or a label'
    if 'v' in row['flags'] or (not kind and re.search('values', base)):
        return 'values of a chart without an amount of accelerators beside them'
    if 't' in row['flags'] or path.endswith(TEMPLATES):
        return 'a template that only rendering tells'
    if not kind:
        return 'a document that is no object: settings of another tool, patches, tests'
    return None


def main():
    gpulint, checkouts, table = (os.path.abspath(it) for it in sys.argv[1:4])
    wanted = sys.argv[5] if len(sys.argv) > 5 and sys.argv[4] == '--list' else None
    rows = collections.defaultdict(list)
    with open(table) as file:
        names = next(file).rstrip('\n').split('\t')
        for line in file:
            row = dict(zip(names, line.rstrip('\n').split('\t')))
            row['line'] = int(row['line'])
            row.setdefault('flags', '')
            if row['path'].endswith(KUBERNETES) and not row['path'].endswith(('.tf.json', '.tofu.json')):
                rows[row['repo']].append(row)
    count, missed, listed = collections.Counter(), collections.Counter(), []
    for repo, tokens in sorted(rows.items()):
        where = os.path.join(checkouts, repo.replace('/', '+'))
        if not os.path.isdir(where):
            count['the repository is not there'] += len(tokens)
            continue
        told = collections.defaultdict(set)
        for resource in inspect(gpulint, where)['resources']:
            for path, line in places(resource):
                told[os.path.normpath(path)].add(line)
        texts = {}
        for row in tokens:
            path = row['path']
            if path not in texts:
                try:
                    text = open(os.path.join(where, path), errors='replace').read()
                except OSError:
                    text = ''
                texts[path] = (text.split('\n'), documents(text))
            lines, ranges = texts[path]
            span = next((it for it in ranges if it[0] <= row['line'] <= it[1]), (1, len(lines)))
            if 'c' in row['flags'] or lines[min(row['line'], len(lines)) - 1].lstrip().startswith('#'):
                why = 'in a comment'
            elif any(span[0] <= line <= span[1] for line in told[path]):
                why = 'extracted'
            else:
                why = reason(row, lines, span, told)
            if why is None:
                missed[kind_of(lines[span[0] - 1:span[1]])] += 1
            count[why or 'MISSED'] += 1
            if wanted and (why or 'MISSED').startswith(wanted):
                listed.append(f"{repo}\t{path}:{row['line']}\t{row['token']}\t{lines[row['line'] - 1].strip()[:80]}")
    for why, number in count.most_common():
        print(f'{number:6} {why}')
    print(f'{sum(count.values()):6} in all')
    for kind, number in missed.most_common():
        print(f'       missed in {kind}: {number}')
    print('\n'.join(listed))
    sys.exit(1 if count['MISSED'] else 0)


main()
