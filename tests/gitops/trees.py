"""Generates random GitOps trees. The same seed always gives the same tree.

Everything in a tree is applied by something, except for files that a kustomization does not list and files that an
Application excludes. An owner never applies a folder that another owner applies with other results.
"""

import json
import random
import re

NAMES = "atlas birch cedar delta ember fjord grove heron inlet jade kelp lotus maple north olive pearl quartz river slate tulip".split()
MACHINES = {1: ["g6.2xlarge", "g5.xlarge"], 2: ["g6.48xlarge"], 4: ["g5.12xlarge", "g6.12xlarge"], 8: ["p4d.24xlarge", "g6.48xlarge"]}
REPOSITORY = "https://git.example.org/platform/deploy"
CLUSTER = "https://kubernetes.default.svc"
ROOT = "clusters/main"
PLAIN = re.compile(r"[A-Za-z./$][A-Za-z0-9._/${}:=-]*[A-Za-z0-9}]")


def scalar(value):
    if not isinstance(value, str):
        return json.dumps(value)
    is_word = PLAIN.fullmatch(value) and ": " not in value and value.lower() not in ("true", "false", "null", "yes", "no", "on", "off")
    return value if is_word else json.dumps(value)


def dump(value, indent=0):
    """A value as YAML in block style."""
    space = "  " * indent
    if isinstance(value, dict) and value:
        lines = []
        for key, inner in value.items():
            if isinstance(inner, (dict, list)) and inner:
                lines.append(f"{space}{scalar(key)}:\n{dump(inner, indent + 1)}")
            elif isinstance(inner, str) and "\n" in inner:
                lines.append(f"{space}{scalar(key)}: |\n" + "".join(f"{space}  {line}\n" for line in inner.splitlines()))
            else:
                lines.append(f"{space}{scalar(key)}: {scalar(inner)}\n")
        return "".join(lines)
    if isinstance(value, list) and value:
        lines = []
        for inner in value:
            text = dump(inner, indent + 1)
            lines.append(f"{space}- {text[len(space) + 2:]}" if isinstance(inner, (dict, list)) and inner else f"{space}- {scalar(inner)}\n")
        return "".join(lines)
    return f"{space}{scalar(value)}\n"


CHART_MAIN = """apiVersion: apps/v1
kind: {kind}
metadata:
  name: {{{{ .Release.Name }}}}-{name}
{namespace}spec:
  replicas: {{{{ .Values.replicas }}}}
  selector:
    matchLabels: {{ app: {name} }}
  template:
    metadata:
      labels: {{ app: {name} }}
    spec:
      nodeSelector:
        node.kubernetes.io/instance-type: {{{{ .Values.machine }}}}
      containers:
        - name: main
          image: "{{{{ .Values.image }}}}"
          resources:
            limits:
              nvidia.com/gpu: {{{{ .Values.gpus }}}}
"""

CHART_SWITCHED = """{{{{- if .Values.{switch}.enabled }}}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{{{ .Release.Name }}}}-{switch}
spec:
  parallelism: {{{{ .Values.{switch}.copies | default 1 }}}}
  template:
    spec:
      restartPolicy: Never
      nodeSelector:
        node.kubernetes.io/instance-type: g6.2xlarge
      containers:
        - name: main
          image: example.org/tools:1
          resources:
            limits:
              nvidia.com/gpu: 1
{{{{- end }}}}
"""


class Tree:
    """Files by path, and links with their targets."""

    def __init__(self, seed):
        self.random = random.Random(f"gitops {seed}")
        self.files, self.links, self.features = {}, {}, set()
        self.names = self.random.sample(NAMES, len(NAMES))
        self.style = self.one("flux", "flux", "argo", "argo", "both")
        self.settings = {}
        # A parent can only deploy files with Flux if the files set their namespace.
        self.says_namespaces = self.chance(0.4)
        self.children = {"flux": [], "argo": []}
        count = self.random.randint(2, 5)
        for _ in range(count):
            tool = self.style if self.style != "both" else self.one("flux", "argo")
            self.app(tool)
        self.finish()

    # Small helpers.

    def one(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def name(self):
        return self.names.pop()

    def write(self, path, *objects):
        assert path not in self.files, path
        self.files[path] = "---\n".join(dump(it) for it in objects)

    def mark(self, feature):
        self.features.add(feature)

    # Workloads.

    def workload(self, name, namespace=None, replicas=None, gpus=None, kind=None):
        kind = kind or self.one("Deployment", "Deployment", "StatefulSet", "Job")
        count = gpus if isinstance(gpus, int) else self.one(*MACHINES)
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        pod = {
            "nodeSelector": {"node.kubernetes.io/instance-type": self.one(*MACHINES[count])},
            "containers": [{"name": "main", "image": "example.org/serve:1", "resources": {"limits": {"nvidia.com/gpu": gpus if gpus is not None else count}}}],
        }
        replicas = replicas if replicas is not None else self.one(1, 1, 2, 3)
        if kind == "Job":
            spec = {"parallelism": replicas, "completions": replicas, "template": {"spec": {"restartPolicy": "Never", **pod}}}
            if isinstance(replicas, str):
                del spec["completions"]
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}
        labels = {"app": name}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}

    def other(self, name, namespace=None):
        """Something without accelerators."""
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        if self.chance(0.5):
            return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"level": "info"}}
        containers = [{"name": "main", "image": "example.org/web:1", "resources": {"limits": {"cpu": "1"}}}]
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"selector": {"matchLabels": {"app": name}}, "template": template}}

    # Applications: each creates a folder and the object that applies it.

    def app(self, tool):
        shapes = ["plain", "listed", "overlay", "chart", "twice", "common"]
        shapes += ["filled", "filled", "patched", "layered"] if tool == "flux" else ["parts", "set", "set_of_charts"]
        if self.says_namespaces and tool == "flux" and self.chance(0.8):
            shapes = ["plain", "listed", "filled", "filled"]
        getattr(self, f"{self.one(*shapes)}")(tool)

    def plain(self, tool):
        """A folder of files without a kustomization."""
        self.mark("folder")
        name = self.name()
        folder, deep = f"apps/{name}", self.chance(0.4)
        own = name if self.says_namespaces or self.chance(0.5) else None
        self.write(f"{folder}/main.yaml", self.workload(name, own), *([self.other(f"{name}-web", own)] if self.chance(0.4) else []))
        if self.chance(0.4):
            self.write(f"{folder}/{self.one('settings', 'more')}.yaml", self.other(f"{name}-settings", own))
        if deep:
            self.mark("folder in folder")
            self.write(f"{folder}/batch/tune.yaml", self.workload(f"{name}-tune", own))
        if self.chance(0.25):
            self.mark("link to a file")
            self.write(f"shared/{name}/probe.yaml", self.workload(f"{name}-probe", own, replicas=1))
            self.links[f"{folder}/probe.yaml"] = f"../../shared/{name}/probe.yaml"
        if tool == "flux":
            self.kustomization(name, folder, target=None if own else name)
        else:
            recurse = deep and self.chance(0.5)
            source = {"path": folder, **({"directory": {"recurse": True}} if recurse else {})}
            self.application(name, source)

    def listed(self, tool):
        """A kustomization, with a file beside it that it does not list."""
        self.mark("kustomization")
        name = self.name()
        folder = f"apps/{name}"
        namespace = name if self.says_namespaces or self.chance(0.5) else None
        self.write(f"{folder}/main.yaml", self.workload(name))
        listed = ["main.yaml"]
        if self.chance(0.5):
            self.write(f"{folder}/batch.yaml", self.workload(f"{name}-batch", kind="Job"))
            listed.append("./batch.yaml")
        if self.chance(0.6):
            self.mark("file beside a kustomization")
            self.write(f"{folder}/old.yaml", self.workload(f"{name}-old"))
        if self.chance(0.3):
            self.mark("link in a kustomization")
            self.write(f"{folder}/parts/side.yaml", self.workload(f"{name}-side"))
            self.links[f"{folder}/side.yaml"] = "parts/side.yaml"
            listed.append("side.yaml")
        self.write(f"{folder}/kustomization.yaml", {"resources": listed, **({"namespace": namespace} if namespace else {})})
        if tool == "flux":
            self.kustomization(name, folder, target=None if namespace else name)
        else:
            self.application(name, {"path": folder})

    def overlay(self, tool):
        """Overlays over a base, with patches and components."""
        self.mark("overlay")
        name = self.name()
        folder = f"apps/{name}"
        main = self.workload(name)
        self.write(f"{folder}/base/main.yaml", main)
        resources = ["main.yaml"]
        if self.chance(0.4):
            self.write(f"{folder}/base/web.yaml", self.other(f"{name}-web"))
            resources.append("web.yaml")
        if self.chance(0.3):
            self.mark("file beside a kustomization")
            self.write(f"{folder}/base/spare.yaml", self.workload(f"{name}-spare"))
        self.write(f"{folder}/base/kustomization.yaml", {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources})
        if has_component := self.chance(0.4):
            self.mark("component")
            if self.chance(0.5):
                self.write(f"{folder}/components/tools/tool.yaml", self.workload(f"{name}-tool", kind="Job"))
                part = {"resources": ["tool.yaml"]}
            else:
                part = {"patches": [self.of_count(main)]}
            self.write(f"{folder}/components/tools/kustomization.yaml", {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", **part})
        for variant in self.random.sample(["prod", "staging", "dev"], self.one(1, 1, 2)):
            place = f"{folder}/overlays/{variant}"
            base = "../../base"
            if self.chance(0.2):
                self.mark("link to a base")
                self.links[f"{place}/below"] = "../../base"
                base = "below"
            made = {"resources": [base]}
            if self.chance(0.3):
                self.write(f"{place}/extra.yaml", self.workload(f"{name}-extra"))
                made["resources"].append("extra.yaml")
            inside = self.chance(0.6)
            if inside:
                made["namespace"] = f"{name}-{variant}"
            if self.chance(0.4):
                made[self.one("namePrefix", "nameSuffix")] = "x"
            if has_component and self.chance(0.7):
                made["components"] = ["../../components/tools"]
            if self.chance(0.4) and main["kind"] != "Job":
                self.mark("replicas of a kustomization")
                made["replicas"] = [{"name": name, "count": self.one(2, 4, 5)}]
            elif self.chance(0.4):
                self.mark("patch of a count")
                made["patches"] = [self.of_count(main)]
            if self.chance(0.4):
                self.mark("patch of GPUs")
                made.setdefault("patches", []).append(self.of_gpus(main))
            self.write(f"{place}/kustomization.yaml", made)
            if tool == "flux":
                self.kustomization(f"{name}-{variant}", place, target=None if inside else f"{name}-{variant}")
            else:
                self.application(f"{name}-{variant}", {"path": place})

    def twice(self, tool):
        """Creates one folder that is deployed into two namespaces."""
        self.mark("folder in two namespaces")
        name = self.name()
        folder = f"apps/{name}"
        self.write(f"{folder}/main.yaml", self.workload(name))
        if self.chance(0.5):
            self.write(f"{folder}/kustomization.yaml", {"resources": ["main.yaml"]})
        for place in ("blue", "green"):
            if tool == "flux":
                self.kustomization(f"{name}-{place}", folder, target=f"{name}-{place}")
            else:
                self.application(f"{name}-{place}", {"path": folder})

    def common(self, tool):
        """Creates a base that is applied on its own, and again by an overlay."""
        self.mark("base that is applied, too")
        name = self.name()
        main = self.workload(name)
        self.write(f"common/{name}/main.yaml", main)
        self.write(f"common/{name}/kustomization.yaml", {"resources": ["main.yaml"], "namespace": name})
        made = {"resources": [f"../../common/{name}"], "namespace": f"{name}-second"}
        if self.chance(0.6):
            made["patches"] = [self.of_count(main)]
        self.write(f"apps/{name}/kustomization.yaml", made)
        for called, path in ((name, f"common/{name}"), (f"{name}-second", f"apps/{name}")):
            if tool == "flux":
                self.kustomization(called, path)
            else:
                self.application(called, {"path": path})

    def patched(self, tool):
        """A folder that a Flux Kustomization changes by patches or components of its own."""
        name = self.name()
        folder = f"apps/{name}"
        main = self.workload(name)
        self.write(f"{folder}/main.yaml", main)
        self.write(f"{folder}/kustomization.yaml", {"resources": ["main.yaml"], "namespace": name})
        self.kustomization(name, folder)
        spec = self.children["flux"][-1]["spec"]
        if self.chance(0.6):
            self.mark("patches of Flux")
            spec["patches"] = [{"target": {"kind": main["kind"], "name": name}, **self.one(self.of_count, self.of_gpus)(main)}]
        else:
            self.mark("components of Flux")
            self.write(f"components/{name}/tool.yaml", self.workload(f"{name}-tool"))
            self.write(f"components/{name}/kustomization.yaml", {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "resources": ["tool.yaml"]})
            spec["components"] = [f"../../components/{name}"]

    def layered(self, tool):
        """A HelmRelease that overlays patch."""
        self.mark("HelmRelease in overlays")
        name = self.name()
        folder = f"charts/{name}"
        self.write(f"{folder}/Chart.yaml", {"apiVersion": "v2", "name": name, "version": "0.1.0"})
        self.write(f"{folder}/values.yaml", {"replicas": 1, "gpus": 1, "machine": "g6.2xlarge", "image": "example.org/serve:1"})
        self.files[f"{folder}/templates/main.yaml"] = CHART_MAIN.format(kind="Deployment", name="server", namespace="")
        source = {"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}
        release = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": name}, "spec": {"interval": "10m", "chart": {"spec": {"chart": f"./{folder}", "sourceRef": source}}, "values": {"replicas": 2}}}
        self.write(f"releases/{name}/base/release.yaml", release)
        self.write(f"releases/{name}/base/kustomization.yaml", {"resources": ["release.yaml"]})
        for variant in self.random.sample(["east", "west"], self.one(1, 2)):
            patch = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": name}, "spec": {"values": {"replicas": self.one(3, 4)}}}
            place = f"releases/{name}/{variant}"
            self.write(f"{place}/patch.yaml", patch)
            self.write(f"{place}/kustomization.yaml", {"resources": ["../base"], "namespace": f"{name}-{variant}", "patches": [{"path": "patch.yaml"}]})
            self.kustomization(f"{name}-{variant}", place)

    def set_of_charts(self, tool):
        """An ApplicationSet that releases one chart for each member of a list."""
        self.mark("ApplicationSet of releases")
        name = self.name()
        folder = f"charts/{name}"
        self.write(f"{folder}/Chart.yaml", {"apiVersion": "v2", "name": name, "version": "0.1.0"})
        self.write(f"{folder}/values.yaml", {"replicas": 1, "gpus": 1, "machine": "g6.2xlarge", "image": "example.org/serve:1"})
        self.files[f"{folder}/templates/main.yaml"] = CHART_MAIN.format(kind="Deployment", name="server", namespace="")
        members = self.random.sample(["east", "west", "south"], self.one(2, 3))
        helm = {"parameters": [{"name": "replicas", "value": "{{copies}}"}]}
        if self.chance(0.5):
            for it in members:
                self.write(f"settings/{name}/{it}.yaml", {"replicas": self.one(2, 3)})
            helm = {"valueFiles": [f"/settings/{name}/{{{{site}}}}.yaml"]}
        elements = [{"site": it, "copies": str(self.one(1, 2, 3))} for it in members]
        source = {"repoURL": REPOSITORY, "targetRevision": "main", "path": folder, "helm": helm}
        template = {"metadata": {"name": f"{name}-{{{{site}}}}"}, "spec": {"project": "default", "source": source, "destination": {"server": CLUSTER, "namespace": f"{name}-{{{{site}}}}"}}}
        spec = {"generators": [{"list": {"elements": elements}}], "template": template}
        self.children["argo"].append({"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": name, "namespace": "argocd"}, "spec": spec})

    def of_count(self, main):
        field = "parallelism" if main["kind"] == "Job" else "replicas"
        name, kind = main["metadata"]["name"], main["kind"]
        if self.chance(0.5):
            text = dump({"apiVersion": main["apiVersion"], "kind": kind, "metadata": {"name": name}, "spec": {field: self.one(2, 4, 6)}})
            return {"patch": text}
        return {"target": {"kind": kind, "name": name}, "patch": dump([{"op": "replace", "path": f"/spec/{field}", "value": self.one(2, 4, 6)}])}

    def of_gpus(self, main):
        patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu", "value": 1}]
        return {"target": {"kind": main["kind"]}, "patch": dump(patch)}

    def chart(self, tool):
        """A chart of the tree, released once or twice."""
        self.mark("chart")
        name, switch = self.name(), self.one("warm", "index")
        folder = f"charts/{name}"
        gpus = self.one(*MACHINES)
        self.write(f"{folder}/Chart.yaml", {"apiVersion": "v2", "name": name, "version": "0.1.0"})
        values = {"replicas": 1, "gpus": gpus, "machine": self.one(*MACHINES[gpus]), "image": "example.org/serve:1", switch: {"enabled": self.chance(0.3)}}
        self.write(f"{folder}/values.yaml", values)
        namespace = "  namespace: {{ .Release.Namespace }}\n" if self.chance(0.5) else ""
        self.files[f"{folder}/templates/main.yaml"] = CHART_MAIN.format(kind=self.one("Deployment", "StatefulSet"), name="server", namespace=namespace)
        self.files[f"{folder}/templates/{switch}.yaml"] = CHART_SWITCHED.format(switch=switch)
        self.write(f"{folder}/templates/config.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-config"}})
        for number in range(self.one(1, 1, 2)):
            release = name if number == 0 else f"{name}-{self.one('beta', 'canary')}"
            given = {"replicas": self.one(2, 3, 4)}
            if self.chance(0.4):
                given[switch] = {"enabled": True, "copies": self.one(1, 2)}
            getattr(self, f"released_by_{tool}")(release, folder, given)

    def released_by_flux(self, name, folder, given):
        self.mark("HelmRelease")
        spec = {"interval": "10m", "chart": {"spec": {"chart": f"./{folder}", "sourceRef": {"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}}}}
        extra = []
        way = self.one("inline", "map", "file", "none")
        self.mark(f"HelmRelease, values: {way}")
        if way == "inline":
            spec["values"] = given
        elif way == "map":
            extra.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-values", "namespace": name}, "data": {"values.yaml": dump(given)}})
            spec["valuesFrom"] = [{"kind": "ConfigMap", "name": f"{name}-values"}]
            if self.chance(0.4):
                spec["values"] = {"replicas": 5}
        elif way == "file":
            path = f"{folder}/values-{name}.yaml"
            self.write(path, given)
            spec["chart"]["spec"]["valuesFiles"] = [f"./{folder}/values.yaml", f"./{path}"]
        if self.chance(0.3):
            spec["releaseName"] = f"{name}-own"
        if self.chance(0.3):
            spec["targetNamespace"] = f"{name}-inside"
        release = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": name, "namespace": name}, "spec": spec}
        place = f"apps/{name}-release"
        self.write(f"{place}/release.yaml", release)
        files = ["release.yaml"]
        if extra:
            self.write(f"{place}/values.yaml", *extra)
            files.append("values.yaml")
        if self.chance(0.5):
            self.write(f"{place}/kustomization.yaml", {"resources": files})
        self.kustomization(name, place)

    def released_by_argo(self, name, folder, given):
        way = self.one("object", "text", "beside", "root", "source", "parameters", "none")
        self.mark(f"Helm source, values: {way}")
        helm = {}
        if way == "object":
            helm["valuesObject"] = given
        elif way == "text":
            helm["values"] = dump(given)
        elif way == "beside":
            self.write(f"{folder}/values-{name}.yaml", given)
            helm["valueFiles"] = [f"values-{name}.yaml"]
        elif way in ("root", "source"):
            self.write(f"settings/{name}.yaml", given)
            helm["valueFiles"] = [f"/settings/{name}.yaml" if way == "root" else f"$repo/settings/{name}.yaml"]
        elif way == "parameters":
            helm["parameters"] = [{"name": "replicas", "value": "4"}]
        if self.chance(0.3):
            helm["releaseName"] = f"{name}-own"
        source = {"path": folder, **({"helm": helm} if helm else {})}
        self.application(name, source, [{"repoURL": REPOSITORY, "targetRevision": "main", "ref": "repo"}] if way == "source" else None)

    def filled(self, tool):
        """Variables that a Flux Kustomization fills in."""
        self.mark("postBuild")
        name = self.name()
        folder, own = f"apps/{name}/{self.one('app', 'live')}", self.says_namespaces or self.chance(0.5)
        variables = {}
        # The variable is a number, or only the value of a label.
        replicas = self.one("${COPIES}", "${COPIES:=2}", None, 2)
        if replicas == "${COPIES}" or isinstance(replicas, str) and self.chance(0.5):
            variables["COPIES"] = str(self.one(2, 3, 4))
        called = name
        if self.chance(0.3):
            variables["APP"], called = name, "${APP}"
        kind = self.one("Deployment", "StatefulSet")
        namespace = name if own else None
        main = self.workload(called, namespace, replicas=replicas, kind=kind)
        if not isinstance(replicas, str) or self.chance(0.3):
            main["metadata"]["labels"] = {"team": self.one("${TEAM}", "${TEAM:=core}")}
            variables["TEAM"] = "search"
        self.write(f"{folder}/main.yaml", main)
        if self.chance(0.3):
            self.write(f"{folder}/fixed.yaml", self.workload(f"{name}-fixed", namespace))
        if self.chance(0.2) and "COPIES" in variables:
            self.mark("link to a file with variables")
            self.write(f"shared/{name}/twin.yaml", self.workload(f"{name}-twin", namespace, replicas="${COPIES}", kind="Deployment"))
            self.links[f"{folder}/twin.yaml"] = f"../../../shared/{name}/twin.yaml"
        if self.chance(0.7):
            self.write(f"{folder}/kustomization.yaml", {"resources": sorted(it.rsplit("/", 1)[1] for it in self.files if it.startswith(f"{folder}/"))})
        build = {}
        if variables and self.chance(0.4):
            self.mark("substituteFrom")
            self.settings.setdefault("COPIES", "3")
            variables.pop("COPIES", None)
            build["substituteFrom"] = [{"kind": "ConfigMap", "name": "cluster-settings"}]
        if variables or not build:
            build["substitute"] = variables or {"REGION": "eu"}
        self.kustomization(name, folder, target=None if own else name, build=build)

    def parts(self, tool):
        """Two Applications that take different files of a folder."""
        self.mark("include and exclude")
        name = self.name()
        folder = f"apps/{name}"
        for part in ("serve", "train", "eval"):
            self.write(f"{folder}/{part}.yaml", self.workload(f"{name}-{part}"))
        if deep := self.chance(0.4):
            self.write(f"{folder}/deep/{self.one('serve', 'extra')}.yaml", self.workload(f"{name}-deep"))
        first = self.one("serve.yaml", "s*.yaml", "{serve,none}.yaml")
        recurse = {"recurse": True} if deep and self.chance(0.6) else {}
        self.application(f"{name}-first", {"path": folder, "directory": {"include": first, **recurse}}, namespace=name)
        if self.chance(0.7):
            second = self.one({"exclude": "serve.yaml"}, {"include": "train.yaml"}, {"include": "{train,eval}.yaml"}, {"exclude": "{serve,eval}.yaml"}, {"include": "*.yaml", "exclude": "s*"})
            self.application(f"{name}-second", {"path": folder, "directory": second}, namespace=name)

    def set(self, tool):
        """An ApplicationSet over folders or over a list."""
        name = self.name()
        is_go = self.chance(0.5)
        dot = "." if is_go else ""
        members = self.random.sample(["one", "two", "three"], self.one(2, 3))
        for member in members:
            place = f"fleets/{name}/{member}"
            self.write(f"{place}/main.yaml", self.workload(f"{name}-{member}"))
            if self.chance(0.4):
                self.write(f"{place}/kustomization.yaml", {"resources": ["main.yaml"]})
        if self.chance(0.5):
            self.mark("ApplicationSet of directories")
            directories = [{"path": f"fleets/{name}/*"}]
            if self.chance(0.4):
                directories.append({"path": f"fleets/{name}/{members[0]}", "exclude": True})
            generator = {"git": {"repoURL": REPOSITORY, "revision": "main", "directories": directories}}
            path, called = f"{{{{{dot}path{'.path' if is_go else ''}}}}}", f"{name}-{{{{{dot}path.basename}}}}"
        else:
            self.mark("ApplicationSet of a list")
            generator = {"list": {"elements": [{"tier": it} for it in members]}}
            path, called = f"fleets/{name}/{{{{{dot}tier}}}}", f"{name}-{{{{{dot}tier}}}}"
        source = {"repoURL": REPOSITORY, "targetRevision": "main", "path": path}
        template = {"metadata": {"name": called}, "spec": {"project": "default", "source": source, "destination": {"server": CLUSTER, "namespace": name}}}
        spec = {**({"goTemplate": True} if is_go else {}), "generators": [generator], "template": template}
        self.children["argo"].append({"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": name, "namespace": "argocd"}, "spec": spec})

    # The object that applies a folder.

    def kustomization(self, name, path, target=None, build=None):
        spec = {"interval": "10m", "prune": True, "path": f"./{path}", "sourceRef": {"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}}
        if target:
            self.mark("targetNamespace")
            spec["targetNamespace"] = target
        if build:
            spec["postBuild"] = build
        self.children["flux"].append({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": name, "namespace": "flux-system"}, "spec": spec})

    def application(self, name, source, more=None, namespace=None):
        source = {"repoURL": REPOSITORY, "targetRevision": "main", **source}
        sources = {"sources": [source, *more]} if more else {"source": source}
        spec = {"project": "default", **sources, "destination": {"server": CLUSTER, "namespace": namespace or name}}
        self.children["argo"].append({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name, "namespace": "argocd"}, "spec": spec})

    def finish(self):
        """Puts the objects that apply the folders where the cluster finds them."""
        for tool, objects in self.children.items():
            if objects:
                getattr(self, f"finish_{tool}")(objects)
        if self.settings:
            data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-settings", "namespace": "flux-system"}, "data": self.settings}
            self.write(f"{ROOT}/settings.yaml", data)
        if self.style == "flux" and self.chance(0.3):
            self.mark("root that applies itself")
            spec = {"interval": "10m", "path": f"./{ROOT}", "prune": True, "sourceRef": {"kind": "GitRepository", "name": "flux-system"}}
            sync = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "flux-system", "namespace": "flux-system"}, "spec": spec}
            self.write(f"{ROOT}/flux-system/sync.yaml", sync)
        if self.chance(0.2):
            self.mark("workload in the root")
            name = self.name()
            self.write(f"{ROOT}/{name}.yaml", self.workload(name, name))

    def finish_flux(self, objects):
        way = self.one("direct", "parent", "parent", "around", "around", "around")
        path_of = lambda it: it["spec"]["path"].removeprefix("./")
        # Flux refuses a component, a repeated object, and an object without a namespace.
        if any("/overlays/" in path or "/components/" in path for path in self.files) or any("targetNamespace" in it["spec"] for it in objects):
            way = "parent" if way == "around" else way
        self.mark(f"Flux: {way}")
        if way == "direct":
            for it in objects:
                self.write(f"{ROOT}/{it['metadata']['name']}.yaml", it)
            return
        parent = {"interval": "10m", "prune": True, "sourceRef": {"kind": "GitRepository", "name": "flux-system"}}
        if self.chance(0.5):
            self.mark("parent with postBuild")
            if self.settings and self.chance(0.5):
                parent["postBuild"] = {"substituteFrom": [{"kind": "ConfigMap", "name": "cluster-settings"}]}
            else:
                parent["postBuild"] = {"substitute": {"ZONE": "b"}}
        if way == "parent":
            # A folder of Kustomizations only, listed or not.
            for it in objects:
                self.write(f"deployments/{it['metadata']['name']}/ks.yaml", it)
            if self.chance(0.5):
                self.write("deployments/kustomization.yaml", {"resources": [f"{it['metadata']['name']}/ks.yaml" for it in objects]})
            parent["path"] = "./deployments"
        else:
            # The parent applies all files below `apps`, including those of the children.
            for it in objects:
                top = "/".join(path_of(it).split("/")[:2])
                if f"{top}/kustomization.yaml" in self.files:
                    self.write(f"apps/{it['metadata']['name']}-ks.yaml", it)
                else:
                    self.write(f"{top}/ks-{it['metadata']['name']}.yaml", it)
            parent["path"] = "./apps"
        if self.chance(0.3):
            self.mark("parent of a parent")
            above = {"interval": "10m", "path": "./stages/first", "prune": True, "sourceRef": parent["sourceRef"]}
            self.write(f"{ROOT}/stages.yaml", {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "stages", "namespace": "flux-system"}, "spec": above})
            self.write("stages/first/apps.yaml", {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "apps", "namespace": "flux-system"}, "spec": parent})
            return
        self.write(f"{ROOT}/apps.yaml", {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "apps", "namespace": "flux-system"}, "spec": parent})

    def finish_argo(self, objects):
        way = self.one("direct", "apps of apps", "one file")
        self.mark(f"Argo CD: {way}")
        if way == "direct":
            for it in objects:
                self.write(f"{ROOT}/{it['metadata']['name']}-app.yaml", it)
            return
        if way == "one file":
            self.write(f"{ROOT}/applications.yaml", *objects)
            return
        deep = self.chance(0.5)
        for it in objects:
            self.write(f"argo/{'live/' if deep else ''}{it['metadata']['name']}.yaml", it)
        source = {"repoURL": REPOSITORY, "targetRevision": "main", "path": "argo", **({"directory": {"recurse": True}} if deep else {})}
        spec = {"project": "default", "source": source, "destination": {"server": CLUSTER, "namespace": "argocd"}}
        self.write(f"{ROOT}/root.yaml", {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "root", "namespace": "argocd"}, "spec": spec})


def put(tree, place):
    """Writes a tree below a directory."""
    for path, text in tree.files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for path, target in tree.links.items():
        link = place / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
