#!/usr/bin/env python3
"""Compares exported policies with `gpulint check` for random objects.

    python3 tests/admission/compare.py [--objects 200] [--seed 1] [--tools DIR] [--show RULE] PROGRAM

The rules in `rules` become policies for the API server, for Kyverno and for Gatekeeper. Each object is judged by
`kube-apiserver` with a ValidatingAdmissionPolicy for each rule, by `kyverno apply` and by `gator test`; and alone by
`gpulint check`. Prints for each rule and each engine how many objects have the same result. The exit code is 1 if a policy
reports an object that gpulint does not report, if a policy fails, or if fewer than 80% of a rule's objects have the same
result.
The programs are in DIR, in ~/go/bin or in the path. A missing one is listed.

`go install` makes gator (github.com/open-policy-agent/gatekeeper/v3/cmd/gator). The other modules have `replace`
directives, so `go build` in a module of its own makes them: k8s.io/kubernetes/cmd/kube-apiserver (each k8s.io module at
v0.0.0 is replaced by the release v0.X.Y of v1.X.Y), go.etcd.io/etcd/server/v3 (name it etcd), and
github.com/kyverno/kyverno/cmd/cli/kubectl-kyverno (name it kyverno).
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gitops"))

from objects import Objects  # noqa: E402
from server import Server  # noqa: E402
from trees import dump  # noqa: E402

# A policy lets an object pass if it cannot derive a fact. The objects here are more odd than those of real clusters.
LEAST_SAME = 0.8
RULES = sorted(it.stem for it in (HERE / "rules").glob("*.md"))


def found(name, tools):
    places = [pathlib.Path(tools) / name] if tools else []
    places += [pathlib.Path.home() / "go" / "bin" / name]
    beside = next((str(it) for it in places if it.is_file()), None)
    return beside or shutil.which(name)


def skipped(what):
    line = f"admission policies: {what}"
    print(f"SKIPPED {line}")
    if noted := os.environ.get("GPULINT_SKIPPED"):
        with open(noted, "a") as file:
            file.write(line + "\n")


def run(*command, code=(0, 1)):
    ended = subprocess.run([str(it) for it in command], capture_output=True, text=True)
    if ended.returncode not in code:
        raise RuntimeError(f"{command}: {ended.stdout[-2000:]} {ended.stderr[-2000:]}")
    return ended.stdout


def checked(program, it):
    """The rules that gpulint reports for the object alone."""
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "object.yaml").write_text(dump(it))
        arguments = ["--rules", HERE / "rules", "--select", ",".join(RULES), "--prices", "embedded", "--no-config", "--today", "2026-11-28", "--format", "json"]
        said = json.loads(run(program, "check", place, *arguments))
        return {finding["rule"] for finding in said["findings"]}


def exported(program, target, rule, more=()):
    ended = subprocess.run([program, "rules", "export", "--to", target, "--kubernetes", "1.34", "--rules", str(HERE / "rules"), "--rule", rule, *more], capture_output=True, text=True)
    return ended.stdout, ended.stderr.strip()


def kinds_of(policy):
    """The kinds that a policy judges, as plurals in lower case."""
    return set(re.findall(r"resources: \[(.*)\]", policy))


def documents(text):
    """The documents of a policy as objects. They are read by the only dependency that the API server has, too."""
    import yaml

    return [it for it in yaml.safe_load_all(text) if it]


def by_server(tools, program, objects):
    """Objects → the rules whose policy warns; and the policies that fail."""
    verdicts, failures, invalid = {}, collections.Counter(), {}
    with Server(tools) as server:
        for rule in RULES:
            for it in documents(exported(program, "vap", rule)[0]):
                if it["kind"] == "ValidatingAdmissionPolicy":
                    # An error in the policy must show.
                    it["spec"]["failurePolicy"] = "Fail"
                server.create(it)
        wait_for(server)
        for name, it in objects.items():
            why, reported, failed = server.judge(it)
            if why:
                invalid[name] = why
                continue
            verdicts[name] = reported
            failures.update(failed)
        failures.update(server.judge(large())[2])
        failures.update(f"with --enforce deny: {what}" for what in enforcement(server, program))
    return verdicts, failures, invalid


def enforcement(server, program):
    """What is wrong with a policy that denies: it must refuse a pod, and let pass what it does not judge."""
    documents_of_rule = documents(exported(program, "vap", "four-per-pod", ["--enforce", "deny"])[0])
    for it in documents_of_rule:
        server.ask("DELETE", f"{server.path(it)}/{it['metadata']['name']}")
        server.create(it)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "owner", "uid": "1", "controller": True}

    def pod(count, **metadata):
        container = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": count}}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", **metadata}, "spec": {"containers": [container]}}

    for _ in range(30):
        if server.is_denied(pod(8)):
            break
        time.sleep(1)
    cases = {"8 GPUs": (pod(8), True), "4 GPUs": (pod(4), False), "8 GPUs of a controller": (pod(8, ownerReferences=[owner]), False)}
    return [what for what, (it, is_denied) in cases.items() if server.is_denied(it) != is_denied]


def large():
    """A pod that costs the policies much to evaluate: the server limits the cost."""
    limits = {f"example{place}.com/device": "1" for place in range(20)} | {"nvidia.com/gpu": "1"}
    containers = [{"name": f"c{place}", "image": "registry.example.com/a/b/c:1", "resources": {"limits": limits}} for place in range(40)]
    selector = {f"example.com/label-{place}": "value" * 10 for place in range(40)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large"}, "spec": {"containers": containers, "nodeSelector": selector}}


def wait_for(server):
    """Waits until the server uses the policies: the last one reports this object."""
    probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}
    for _ in range(60):
        if {"team-label", "vendor-nvidia", "time-limit"} - server.judge(probe)[1] <= {"vendor-nvidia"}:
            time.sleep(2)
            return
        time.sleep(1)
    raise RuntimeError("the policies have no effect")


def by_gatekeeper(gator, program, objects):
    verdicts = {name: set() for name in objects}
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        for rule in RULES:
            (place / f"{rule}.yaml").write_text(exported(program, "gatekeeper", rule, ["--enforce", "deny"])[0])
        (place / "objects.yaml").write_text("".join("---\n" + dump(it) for it in objects.values()))
        said = json.loads(run(gator, "test", "-f", place, "-o", "json") or "null")
    failures = collections.Counter()
    for it in said or []:
        rule = it["constraint"]["metadata"]["name"].removeprefix("gpulint-")
        if it["msg"].startswith(rule + ": "):
            verdicts[it["violatingObject"]["metadata"]["name"]].add(rule)
        else:
            failures[f"{rule}: {it['msg']}"] += 1
    return verdicts, failures


def by_kyverno(kyverno, program, objects):
    verdicts, failures = {name: set() for name in objects}, collections.Counter()
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        for rule in RULES:
            (place / f"{rule}.yaml").write_text(exported(program, "kyverno", rule, ["--enforce", "deny"])[0])
        (place / "objects").mkdir()
        (place / "objects" / "objects.yaml").write_text("".join("---\n" + dump(it) for it in objects.values()))
        policies = [place / f"{rule}.yaml" for rule in RULES]
        said = run(kyverno, "apply", *policies, "--resource", place / "objects" / "objects.yaml", "--policy-report", "--output-format", "json", code=(0, 1, 2))
        start = said.index("{")
        report = json.JSONDecoder().raw_decode(said[start:])[0]
    for it in report.get("results", []):
        rule = it["policy"].removeprefix("gpulint-")
        for resource in it.get("resources", []):
            if it["result"] in ("fail", "warn"):
                verdicts[resource["name"]].add(rule)
            elif it["result"] == "error":
                failures[f"{rule}: {it.get('message')}"] += 1
    return verdicts, failures


def compared(engine, verdicts, expected, judged, show):
    """Prints the result for each rule. Returns whether a policy reports more than gpulint."""
    print(f"\n{engine}: {len(verdicts)} objects")
    print(f"{'rule':24} {'judged':>7} {'same':>5} {'reported by both':>17} {'only by the policy':>19} {'only by gpulint':>16}")
    is_wrong, all_verdicts = False, verdicts
    for rule in RULES:
        verdicts = {name: rules for name, rules in all_verdicts.items() if rule in judged[name]}
        more = sorted(name for name, rules in verdicts.items() if rule in rules - expected[name])
        less = sorted(name for name, rules in verdicts.items() if rule in expected[name] - rules)
        both = sum(rule in rules & expected[name] for name, rules in verdicts.items())
        print(f"{rule:24} {len(verdicts):>7} {len(verdicts) - len(more) - len(less):>5} {both:>17} {len(more):>19} {len(less):>16}")
        is_wrong |= bool(more) or len(less) > max(3, (1 - LEAST_SAME) * len(verdicts))
        if show in (rule, "all"):
            print("   only by the policy:", *more[:8])
            print("   only by gpulint:", *less[:8])
    return is_wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--objects", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools")
    parser.add_argument("--show")
    parser.add_argument("--keep", help="write the objects to this directory")
    given = parser.parse_args()
    seeds = range(given.seed * 10_000, given.seed * 10_000 + given.objects)
    objects = {f"object-{seed}": Objects(seed).made() for seed in seeds}
    if given.keep:
        for name, it in objects.items():
            pathlib.Path(given.keep, f"{name}.yaml").write_text(dump(it))
    engines = {name: found(name, given.tools) for name in ["kube-apiserver", "etcd", "gator", "kyverno"]}
    for name in [name for name, place in engines.items() if not place]:
        skipped(f"{name} is not installed")
    try:
        import yaml  # noqa: F401
    except ImportError:
        skipped("PyYAML is not installed, which reads the policies for kube-apiserver")
        engines["kube-apiserver"] = None
    if not any(engines.values()):
        return
    refused = {rule: why for rule in RULES if (why := exported(given.program, "vap", rule)[1])}
    for rule, why in refused.items():
        print(f"not exported: {rule}: {why}")
    RULES[:] = [rule for rule in RULES if rule not in refused]
    kinds = {rule: kinds_of(exported(given.program, "vap", rule)[0]) for rule in RULES}
    judged = {name: {rule for rule in RULES if it["kind"].lower() + "s" in kinds[rule]} for name, it in objects.items()}
    expected = {name: checked(given.program, it) for name, it in objects.items()}
    is_wrong = bool(refused)
    if engines["kube-apiserver"] and engines["etcd"]:
        tools = pathlib.Path(engines["kube-apiserver"]).parent
        verdicts, failures, invalid = by_server(tools, given.program, objects)
        is_wrong |= compared("kube-apiserver", verdicts, expected, judged, given.show) or bool(failures)
        print(f"{len(invalid)} objects are invalid", *list(invalid.values())[:3], sep="\n   ")
        print(*[f"a policy failed {count} times: {what}" for what, count in failures.most_common(10)], sep="\n")
    for engine, judge in [("gator", by_gatekeeper), ("kyverno", by_kyverno)]:
        if engines[engine]:
            verdicts, failures = judge(engines[engine], given.program, objects)
            is_wrong |= compared(engine, verdicts, expected, judged, given.show) or bool(failures)
            print(*[f"a policy failed {count} times: {what}" for what, count in failures.most_common(10)], sep="\n")
    sys.exit(1 if is_wrong else 0)


if __name__ == "__main__":
    main()
