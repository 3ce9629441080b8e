#!/usr/bin/env python3
"""Explains every accelerator name that a plain text search finds in Kubernetes files.

tokens.py GPULINT CHECKOUTS TOKENS.tsv [--list REASON]

TOKENS.tsv has a row for each name: repo, path, line, class, vendor, token, flags (`c` comment, `t` template, `r` schema of a
custom resource, `v` values, `k` kustomization). A name is accounted for if a resource that gpulint tells has a place in the
same document, or if one of the reasons below holds. What is left is a miss.
"""
import collections, json, os, re, subprocess, sys

TEMPLATES = ('.tpl', '.tmpl', '.j2', '.jinja', '.jinja2', '.gotmpl', '.template')
KUBERNETES = ('.yaml', '.yml', '.json', *TEMPLATES)

# Reasons why a document or a line names an accelerator and requests none. The first match applies.
NO_WORKLOAD_KINDS = {
    'a schema of a custom resource': r'CustomResourceDefinition|CompositeResourceDefinition|ConstraintTemplate',
    'a quota, a profile or a queue': r'ResourceQuota|LimitRange|Profile|ClusterQueue|LocalQueue|Cohort|Queue|ElasticQuota\w*|ClusterResourceQuota|PriorityClass|Topology|AdmissionCheck|ProvisioningRequestConfig|HardwareProfile|AcceleratorProfile|WorkloadPriorityClass|Workload|MultiKueue\w*',
    'a flavour of machines in a queue': r'ResourceFlavor',
    'a device class or claim that no pod here names, or that names no accelerator': r'ResourceClaim|ResourceClaimTemplate|DeviceClass|ResourceSlice|DeviceTaintRule|ResourceClass|DeviceConfig|GpuConfig',
    'settings of a driver, an operator or a monitor': r'ClusterPolicy|NodeFeature\w*|NvidiaDriver|NVIDIADriver|NicClusterPolicy|Sriov\w*|NodeNetwork\w*|MacvlanNetwork|HostDeviceNetwork|IPoIBNetwork|PrometheusRule|ServiceMonitor|Kyverno|Policy|\w*Webhook\w*|KueueConfiguration|Configuration|KubeSchedulerConfiguration|SchedulerConfig\w*|ClusterRole|Role|ConfigMap|Secret|NodePolicy|Tuned|Descheduler\w*|Kubelet\w*|KubeletConfig|ClusterVersion|Subscription|Node|StorageClass|Service|PersistentVolume\w*|NodeOverlay|Autopilot|Config|NodeHealthCheck|Grafana\w*|EnvoyFilter|RuntimeClass|CSIDriver|Kustomization|Component|Accelerator|MLCommons|GatewayClass|Model|OpenModel|ClusterBaseModel|BaseModel|AcceleratorClass|BackendRuntime|ModelDeployment|EC2NodeClass|AKSNodeClass|PodGroup|Stage|NodeSet|KwokConfiguration|MachineConfig\w*|StackConfigPolicy|Environment|Cluster|ClusterServiceVersion|DRAConfig|NodeConfig|CheckpointConfiguration',
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


AMOUNT = re.compile(r'(/(gpu|tpu|neuron\w*|gaudi|vgpu|dcu|npu|xpu|mlu|mig-[\w.]+|nvidia-gpu|gpu\.shared)|gpumem\w*|gpucores|i915|xe)["\']?\s*:\s*["\']?'
                    r'([1-9]|\$|\{|<|PLACE)')
CLAIM = re.compile(r'resourceClaim(Template)?Name|deviceClassName')


def reason(row, lines, span, skipped):
    line = lines[row['line'] - 1] if row['line'] <= len(lines) else ''
    document = lines[span[0] - 1:span[1]]
    path, token = row['path'], row['token']
    kind = kind_of(document)
    live = [it for it in document if not it.lstrip().startswith('#')]
    asks = any(AMOUNT.search(it.split(' #')[0]) for it in live)
    if 'r' in row['flags']:
        return 'a schema of a custom resource'
    text = '\n'.join(lines)
    if re.search(r'AWSTemplateFormatVersion|^Resources:|blueprint_name:|^vars:\n|^Parameters:', text, re.M):
        return 'CloudFormation or a blueprint of another tool'
    if kind == 'ConfigMap' and asks and 'containers:' in text:
        return 'a manifest in the text of a ConfigMap, for another tool to fill in'
    if kind:
        for why, pattern in NO_WORKLOAD_KINDS.items():
            if re.fullmatch(pattern, kind):
                return why
    if re.search(r'playbooks?/|/ansible/', path):
        return 'a document that is no object: settings of another tool, playbooks, tests'
    if re.search(r'(^|/)\.github/|\.gitlab-ci|azure-pipelines|buildspec|cloudbuild|\.circleci|/workflows/', path):
        return 'a pipeline of builds'
    if re.search(r'rdma|hostdev|\.deploy\.|gpu\.present|/mlnx|efa$', token):
        return 'a label or a network device'
    if path in skipped:
        return 'a template that cannot be read without rendering it; gpulint says so'
    if re.search(r'gpu"?\s*:\s*["\']?(0|present|true|exists|nvidia)\b', line, re.I):
        return 'an amount of zero, or a label'
    if re.search(r'recommended-accelerators|kubectl|jq |Description:|curl |default: ', line):
        return 'a word in a script, an annotation or a parameter'
    if re.search(r'profileList|kubespawner_override', text):
        return 'a menu that people choose from'
    if 'v' in row['flags'] or (not kind and 'values' in os.path.basename(path)):
        return 'values of a chart without an amount of accelerators beside them'
    whole = kind and not any(re.search(r'toYaml|include |tpl ', it) for it in live)
    if ('t' in row['flags'] or path.endswith(TEMPLATES)) and (asks or not whole):
        return 'a template that only rendering tells'
    if kind and any(CLAIM.search(it) for it in live) and not asks:
        return 'a claim that is not in the text, or whose class names no accelerator'
    if kind and not asks:
        return 'a pod that asks for none: it tolerates, selects or installs'
    if not kind:
        return 'a document that is no object: settings of another tool, playbooks, tests'
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
        document = inspect(gpulint, where)
        skipped = {os.path.normpath(it['path']) for it in document['skipped']}
        for resource in document['resources']:
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
                why = reason(row, lines, span, skipped)
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
