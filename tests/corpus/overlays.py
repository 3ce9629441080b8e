#!/usr/bin/env python3
"""Compares gpulint and kustomize on random overlays.

usage: overlays.py GPULINT KUSTOMIZE [--count 1000] [--seed 1] [--write DIRECTORY --cases 200]

With --write, the first overlays that kustomize builds become case files, with the output of kustomize as the expectation.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import yaml

NAMES = ["web", "llm", "train", "db"]
KINDS = [("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("batch/v1", "Job"), ("example.com/v1", "Server")]


class Tree:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.files = {}

    def pick(self, *some):
        return self.random.choice(some)

    def chance(self, part=0.5):
        return self.random.random() < part

    def container(self, name):
        made = {"name": name, "image": self.pick("nginx", "nginx:1.2", "host:5000/llm:v1", "llm@sha256:" + "0" * 8)}
        if self.chance():
            made["env"] = [{"name": n, "value": self.pick("1", "yes", "$(HOST)")} for n in self.random.sample("ABCD", 2)]
        if self.chance():
            made["resources"] = {"limits": {"nvidia.com/gpu": self.pick(1, 2, "4"), "memory": "8Gi"}}
        if self.chance():
            made["ports"] = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}, {"containerPort": 90, "name": "n"}]
        if self.chance(0.3):
            made["args"] = ["--a=$(HOST)", "--b"]
        if self.chance(0.3):
            made["envFrom"] = [{"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "keys"}}]
        if self.chance(0.3):
            made["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        return made

    def pod(self):
        spec = {"containers": [self.container(name) for name in self.random.sample(["main", "side", "log"], self.pick(1, 2))]}
        if self.chance(0.4):
            spec["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
        if self.chance(0.4):
            spec["volumes"] = [{"name": "data", "configMap": {"name": "settings"}}, {"name": "tmp", "emptyDir": {}}]
        if self.chance(0.3):
            spec["serviceAccountName"] = "runner"
        if self.chance(0.3):
            spec["nodeSelector"] = {"pool": "gpu"}
        return spec

    def workload(self, kind, name):
        version, kind = kind
        made = {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
        if self.chance(0.4):
            made["metadata"]["labels"] = {"app": name, "tier": self.pick("a", "b")}
        if self.chance(0.2):
            made["metadata"]["annotations"] = {"note": self.pick("x", "true"), "config": "a: b"}
        if self.chance(0.2):
            made["metadata"]["namespace"] = self.pick("default", "other")
        spec = made["spec"] = {"template": {"spec": self.pod()}}
        if kind != "Job":
            spec["replicas"] = self.pick(1, 2, 3)
            spec["selector"] = {"matchLabels": {"app": name}}
        if self.chance():
            spec["template"]["metadata"] = {"labels": {"app": name}}
        return made

    def base(self, directory):
        objects = [self.workload(self.pick(*KINDS), name) for name in self.random.sample(NAMES, self.pick(1, 2, 3))]
        main = objects[0]["metadata"]["name"]
        if self.chance():
            objects.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": main}, "spec": {"selector": {"app": main}, "ports": [{"port": 80}]}})
        if self.chance(0.3):
            objects.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "runner"}})
            objects.append({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "runs"},
                            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "may"},
                            "subjects": [{"kind": "ServiceAccount", "name": self.pick("runner", "default")}]})
            objects.append({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "may"}, "rules": []})
        if self.chance(0.3):
            objects.append({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "scale"},
                            "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": objects[0]["kind"], "name": main}}})
        if self.chance(0.3):
            objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "home"}})
        self.files[f"{directory}/all.yaml"] = yaml.safe_dump_all(objects, sort_keys=False)
        settings = {"resources": ["all.yaml"]}
        if self.chance():
            settings["configMapGenerator"] = [{"name": "settings", "literals": ["a=1", 'b="x y"', "c=<&>"]}]
        if self.chance(0.3):
            settings["secretGenerator"] = [{"name": "keys", "literals": ["password=secret" * 5]}]
        self.decorate(settings)
        self.write(directory, settings)
        return objects

    def decorate(self, settings):
        if self.chance(0.4):
            settings["namePrefix"] = self.pick("dev-", "a-")
        if self.chance(0.2):
            settings["nameSuffix"] = "-v2"
        if self.chance(0.4):
            settings["namespace"] = self.pick("prod", "home")
        if self.chance(0.3):
            settings["commonLabels"] = {"team": self.pick("a", "1")}
        if self.chance(0.3):
            settings["labels"] = [{"pairs": {"unit": "x"}, "includeSelectors": self.chance(), "includeTemplates": self.chance()}]
        if self.chance(0.3):
            settings["commonAnnotations"] = {"owner": "me"}
        if self.chance(0.4):
            settings["images"] = [self.pick({"name": "nginx", "newTag": "9"}, {"name": "host:5000/llm", "newName": "other/llm"},
                                            {"name": "llm", "digest": "sha256:11"}, {"name": "nginx", "tagSuffix": "-x"})]

    def write(self, directory, settings):
        self.files[f"{directory}/kustomization.yaml"] = yaml.safe_dump(settings, sort_keys=False)

    def patch(self, target):
        body = {"apiVersion": target["apiVersion"], "kind": target["kind"], "metadata": dict(target["metadata"])}
        body["metadata"].pop("labels", None)
        pod = {}
        containers = target["spec"]["template"]["spec"]["containers"]
        change = {"name": self.pick(containers[-1]["name"], "new")}
        change.update(self.pick({"image": "new:1"}, {"env": [{"name": "A", "value": "z"}, {"name": "Z", "value": None}]},
                                {"ports": [{"containerPort": 90}, {"containerPort": 80, "protocol": "TCP"}]},
                                {"resources": {"limits": {"nvidia.com/gpu": 8, "memory": None}}}, {"$patch": "delete"},
                                {"args": ["--c"]}, {"$patch": "replace", "image": "r"}))
        if self.chance(0.8):
            pod["containers"] = [change]
        if self.chance(0.3):
            pod["tolerations"] = self.pick([], [{"key": "x"}], None)
        if self.chance(0.2):
            pod["nodeSelector"] = self.pick({"$patch": "replace", "a": "b"}, {"c": "d"}, None)
        if self.chance(0.2):
            pod["volumes"] = [{"name": "data", "configMap": None, "emptyDir": {}}]
        body["spec"] = {"template": {"spec": pod}}
        if self.chance(0.3):
            body["spec"]["replicas"] = self.pick(0, 7)
        if self.chance(0.2):
            body["metadata"]["labels"] = {"app": None, "more": "1"}
        if self.chance(0.05):
            body = {**{key: body[key] for key in ("apiVersion", "kind", "metadata")}, "$patch": "delete"}
        return body

    def operations(self, target):
        some = [{"op": "add", "path": "/metadata/labels", "value": {"x": "y"}},
                {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "p:1"},
                {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "extra", "image": "e"}},
                {"op": "add", "path": "/spec/template/spec/containers/0/resources", "value": {"limits": {"nvidia.com/gpu": 1}}},
                {"op": "add", "path": "/metadata/annotations", "value": {"a/b": "1"}},
                {"op": "remove", "path": "/metadata/annotations/a~1b"},
                {"op": "test", "path": "/kind", "value": target["kind"]},
                {"op": "copy", "from": "/metadata/name", "path": "/spec/copied"},
                {"op": "move", "from": "/spec/copied", "path": "/spec/moved"}]
        return [it for it in some if self.chance(0.6)] or some[:1]

    def overlay(self):
        objects = self.base("base")
        workloads = [it for it in objects if "template" in it.get("spec", {})]
        settings = {"resources": ["../base"]}
        target = self.pick(*workloads)
        prefixed = yaml.safe_load(self.files["base/kustomization.yaml"])
        if self.chance(0.6):
            self.files["overlay/patch.yaml"] = yaml.safe_dump(self.patch(target), sort_keys=False)
            settings[self.pick("patches", "patchesStrategicMerge")] = ["patch.yaml"]
            if "patches" in settings:
                settings["patches"] = [{"path": "patch.yaml"}]
        if self.chance():
            selector = self.pick({"kind": target["kind"]}, {"name": target["metadata"]["name"]}, {"labelSelector": "tier in (a, b)"}, {"name": ".*"[:2], "kind": "Deployment|Job"})
            patch = self.pick(yaml.safe_dump(self.operations(target), sort_keys=False), yaml.safe_dump({**self.patch(target), "metadata": {"name": "any"}}, sort_keys=False))
            settings.setdefault("patches", []).append({"target": selector, "patch": patch})
        if self.chance(0.3):
            settings["replicas"] = [{"name": target["metadata"]["name"], "count": 5}]
        if self.chance(0.3) and "configMapGenerator" in prefixed:
            settings["configMapGenerator"] = [{"name": "settings", "behavior": self.pick("merge", "replace"), "literals": ["a=2", "z=3"]}]
        if self.chance(0.3):
            settings["replacements"] = [{"source": {"kind": target["kind"], "name": target["metadata"]["name"]},
                                         "targets": [{"select": {"kind": self.pick(target["kind"], "Service")},
                                                      "fieldPaths": [self.pick("metadata.labels.app", "spec.template.spec.containers.*.image", "metadata.annotations.[a.b/c]")],
                                                      "options": self.pick({"create": True}, {"create": True, "delimiter": "/", "index": 1}, {"delimiter": ":", "index": 0})}]}]
        if self.chance(0.2):
            settings["vars"] = [{"name": "HOST", "objref": {"kind": target["kind"], "apiVersion": target["apiVersion"], "name": target["metadata"]["name"]}}]
        self.decorate(settings)
        self.write("overlay", settings)
        return self.files


def lay_out(files, directory):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(directory, path)), exist_ok=True)
        with open(os.path.join(directory, path), "w") as file:
            file.write(text)


def objects_of(text):
    return [it for it in yaml.load_all(text, Loader=yaml.CSafeLoader) if it is not None]


def write_case(path, number, files, objects):
    with open(path, "w") as out:
        out.write(f"# Random overlay {number}\n")
        for name, text in files.items():
            out.write(f"\n```yaml file={name}\n{text}```\n")
        out.write("\n```kustomize file=overlay\n")
        out.write("".join(json.dumps(it, separators=(",", ":"), sort_keys=True) + "\n" for it in objects))
        out.write("```\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpulint")
    parser.add_argument("kustomize")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write")
    parser.add_argument("--cases", type=int, default=200)
    given = parser.parse_args()
    equal = different = refused = only_ours = only_theirs = 0
    for seed in range(given.seed, given.seed + given.count):
        files = Tree(seed).overlay()
        with tempfile.TemporaryDirectory() as place:
            lay_out(files, place)
            theirs = subprocess.run([given.kustomize, "build", "overlay"], cwd=place, capture_output=True, text=True)
            ours = subprocess.run([given.gpulint, "render", "--json", "overlay"], cwd=place, capture_output=True, text=True)
        if theirs.returncode != 0:
            refused += 1
            if ours.returncode == 0:
                only_ours += 1
                print(f"{seed}: only we build it: {theirs.stderr.strip()[-300:]}")
            continue
        expected = objects_of(theirs.stdout)
        if given.write and equal + different + only_theirs < given.cases:
            os.makedirs(given.write, exist_ok=True)
            write_case(os.path.join(given.write, f"random-{seed:04}.md"), seed, files, expected)
        if ours.returncode != 0:
            only_theirs += 1
            print(f"{seed}: only kustomize builds it: {ours.stderr.strip()}")
        elif [json.loads(line) for line in ours.stdout.splitlines()] == expected:
            equal += 1
        else:
            different += 1
            for mine, wanted in zip((json.loads(line) for line in ours.stdout.splitlines()), expected):
                if mine != wanted:
                    print(f"{seed}: ours {json.dumps(mine, sort_keys=True)}\n{seed}: real {json.dumps(wanted, sort_keys=True)}")
                    break
    print(f"equal {equal}, different {different}, only kustomize {only_theirs}, only we {only_ours}, refused by kustomize {refused}")
    sys.exit(different + only_theirs > 0)


main()
