"""A cluster with Flux and Argo CD: applies a tree from its root on, with the real programs and libraries."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from trees import ROOT

WORKLOADS = {"Deployment": "replicas", "StatefulSet": "replicas", "Job": "parallelism"}
KUSTOMIZATIONS = ["kustomization.yaml", "kustomization.yml", "Kustomization"]
GPU = "nvidia.com/gpu"
MANIFEST = re.compile(r".*\.(yaml|yml|json|jsonnet)")
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
# Real trees need far fewer rounds.
ROUNDS = 20


class Refused(Exception):
    """A program refused to apply an object."""


class Libraries:
    """The helper in Go: one line per request and per answer."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer.get("error"):
            raise Refused(answer["error"])
        return answer

    def parse(self, *texts):
        return [it for it in self.ask(op="parse", texts=texts).get("objects", []) if isinstance(it, dict)]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def command(*arguments):
    ended = subprocess.run([str(it) for it in arguments], capture_output=True, text=True)
    if ended.returncode:
        raise Refused(f"{' '.join(map(str, arguments[:2]))}: {ended.stderr.strip()[-300:]}")
    return ended.stdout


class Cluster:
    """Objects by kind, namespace and name, each with the object that applied it."""

    def __init__(self, place, libraries, kustomize, helm):
        self.place, self.libraries, self.kustomize, self.helm = pathlib.Path(place), libraries, kustomize, helm
        self.objects, self.times, self.refused = {}, {}, {}
        # Folders that an object applies, with or without all subfolders.
        self.folders = set()
        self.conflicts = set()

    def run(self):
        """Applies the root, then everything that applied objects name, until nothing is new."""
        for path in sorted((self.place / ROOT).rglob("*.yaml")):
            for made in self.libraries.parse(path.read_text()):
                self.apply(made, ("root",), "default")
        controllers = {
            ("kustomize.toolkit.fluxcd.io", "Kustomization"): self.flux,
            ("helm.toolkit.fluxcd.io", "HelmRelease"): self.release,
            ("argoproj.io", "Application"): self.application,
            ("argoproj.io", "ApplicationSet"): self.application_set,
        }
        done = set()
        for _ in range(ROUNDS):
            waiting = [(key, it) for key, it in self.objects.items() if key not in done and (key[0], key[1]) in controllers]
            if not waiting:
                return
            progress = False
            for key, (made, chain) in waiting:
                try:
                    controllers[key[0], key[1]](made, (*chain, "/".join(key[1:])))
                except Refused as why:
                    self.refused["/".join(key[1:])] = str(why)
                    continue
                self.refused.pop("/".join(key[1:]), None)
                done.add(key)
                progress = True
            if not progress:
                return

    def apply(self, made, chain, namespace):
        metadata = made.get("metadata") or {}
        group = made.get("apiVersion", "").rpartition("/")[0]
        key = (group, made.get("kind", ""), metadata.get("namespace") or namespace, metadata.get("name", ""))
        if not key[3]:
            raise Refused(f"{key[1]} without a name")
        self.times[key] = self.times.get(key, 0) + 1
        before = self.objects.get(key)
        if before and before[0].get("spec") != made.get("spec"):
            # If a parent and its child render the same file, the variables of the child apply.
            longer, shorter = sorted([before[1], chain], key=len, reverse=True)
            if longer[: len(shorter)] != shorter:
                self.conflicts.add(key)
        if not before or len(chain) > len(before[1]):
            self.objects[key] = (made, chain)

    # Flux.

    def flux(self, made, chain):
        namespace = made["metadata"].get("namespace", "default")
        data = {}
        for (_, kind, within, name), (it, _) in self.objects.items():
            if kind in ("ConfigMap", "Secret") and within == namespace:
                data[f"{kind}/{name}"] = it.get("data") or {}
        with tempfile.TemporaryDirectory() as copy:
            tree = pathlib.Path(copy).resolve() / "tree"
            shutil.copytree(self.place, tree, symlinks=True)
            answer = self.libraries.ask(op="flux", root=str(tree), kustomization=made, data=data)
        objects = answer.get("objects") or []
        # One refused object blocks all of them.
        self.folders.add((made_path(made["spec"].get("path", "")), True))
        for it in objects:
            check(it)
        for it in objects:
            self.apply(it, chain, "default")

    def release(self, made, chain):
        spec, metadata = made["spec"], made["metadata"]
        own = metadata.get("namespace", "default")
        namespace = spec.get("targetNamespace") or own
        name = spec.get("releaseName") or (f"{spec['targetNamespace']}-{metadata['name']}" if spec.get("targetNamespace") else metadata["name"])
        chart = spec["chart"]["spec"]
        texts = [(self.place / it).read_text() for it in chart.get("valuesFiles", [])]
        for reference in spec.get("valuesFrom", []):
            key = ("", reference["kind"], own, reference["name"])
            if key not in self.objects:
                raise Refused(f"{reference['name']} is not there yet")
            texts.append(self.objects[key][0]["data"][reference.get("valuesKey", "values.yaml")])
        texts.append(json.dumps(spec.get("values", {})))
        self.template(self.place / chart["chart"], name, namespace, texts, [], chain)

    def template(self, chart, name, namespace, texts, parameters, chain):
        with tempfile.TemporaryDirectory() as values:
            arguments = []
            for number, text in enumerate(texts):
                path = pathlib.Path(values) / f"{number}.yaml"
                path.write_text(text)
                arguments += ["--values", path]
            for it in parameters:
                arguments += ["--set-string" if it.get("forceString") else "--set", f"{it['name']}={it['value']}"]
            printed = command(self.helm, "template", name, chart, "--namespace", namespace, *arguments)
        for it in self.libraries.parse(printed):
            self.apply(it, chain, namespace)

    # Argo CD.

    def application(self, made, chain):
        spec = made["spec"]
        namespace = spec["destination"].get("namespace", "default")
        name = made["metadata"]["name"]
        sources = spec.get("sources") or [spec["source"]]
        for source in sources:
            if "path" in source:
                self.source(source, name, namespace, chain)

    def source(self, source, name, namespace, chain):
        directory = self.place / source["path"]
        if not directory.is_dir():
            raise Refused(f"{source['path']} does not exist")
        if "helm" in source or "directory" not in source and (directory / "Chart.yaml").is_file():
            self.helm_source(source, directory, name, namespace, chain)
            return
        if "kustomize" in source or "directory" not in source and any((directory / it).is_file() for it in KUSTOMIZATIONS):
            made = self.libraries.parse(command(self.kustomize, "build", directory))
        else:
            said = source.get("directory", {})
            self.folders.add((made_path(source["path"]), bool(said.get("recurse"))))
            made = self.folder(directory, said)
        for it in made:
            self.apply(it, chain, namespace)

    def helm_source(self, source, directory, name, namespace, chain):
        helm = source.get("helm", {})
        texts = []
        for it in helm.get("valueFiles", []):
            if it.startswith("$"):
                path = self.place / it.split("/", 1)[1]
            else:
                path = self.place / it.lstrip("/") if it.startswith("/") else directory / it
            texts.append(path.read_text())
        if "valuesObject" in helm:
            texts.append(json.dumps(helm["valuesObject"]))
        elif "values" in helm:
            texts.append(helm["values"])
        self.template(directory, helm.get("releaseName", name), namespace, texts, helm.get("parameters", []), chain)

    def folder(self, directory, said):
        """As findManifests of Argo CD: links to files are followed, links to folders are not."""
        found = directory.rglob("*") if said.get("recurse") else directory.iterdir()
        paths = [it for it in sorted(found) if it.is_file() and MANIFEST.fullmatch(it.name)]
        names = [str(it.relative_to(directory)) for it in paths]
        keep = [True] * len(paths)
        if said.get("exclude"):
            keep = [not it for it in self.libraries.ask(op="glob", pattern=said["exclude"], texts=names).get("matches", [])]
        if said.get("include"):
            fits = self.libraries.ask(op="glob", pattern=said["include"], texts=names).get("matches", [])
            keep = [it and fit for it, fit in zip(keep, fits)]
        return self.libraries.parse(*[path.read_text() for path, it in zip(paths, keep) if it])

    def application_set(self, made, chain):
        spec = made["spec"]
        for generator in spec["generators"]:
            for member in self.members(generator, spec.get("goTemplate", False)):
                template = filled(spec["template"], member)
                metadata = {"namespace": made["metadata"].get("namespace", "argocd"), **template["metadata"]}
                it = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata, "spec": template["spec"]}
                self.apply(it, chain, "argocd")

    def members(self, generator, is_go):
        """Returns the members of a generator, with the names that a template can use."""
        if "list" in generator:
            return [{f".{key}" if is_go else key: value for key, value in it.items()} for it in generator["list"]["elements"]]
        git = generator["git"]
        all_paths = [str(it.relative_to(self.place)) for it in sorted(self.place.rglob("*")) if it.is_dir() and not it.is_symlink()]
        fits = lambda it: self.libraries.ask(op="path", pattern=it["path"], texts=all_paths).get("matches", [])
        wanted, unwanted = set(), set()
        for it in git["directories"]:
            (unwanted if it.get("exclude") else wanted).update(path for path, fit in zip(all_paths, fits(it)) if fit)
        words = (".path.path", ".path.basename") if is_go else ("path", "path.basename")
        return [dict(zip(words, (path, path.rsplit("/", 1)[-1]))) for path in sorted(wanted - unwanted)]

    # The final result.

    def is_by_hand(self, path):
        """Whether a file is in a folder that nothing here applies: a person may."""
        around = [str(it) for it in pathlib.PurePosixPath(path).parents]
        around = ["" if it == "." else it for it in around]
        beside = any((self.place / around[0] / it).is_file() for it in KUSTOMIZATIONS)
        return not beside and not any(folder in (around if below else around[:1]) for folder, below in self.folders)

    def workloads(self):
        """Kind, namespace, name, copies and GPUs of each workload with GPUs, by its key."""
        found = {}
        for key, (made, _) in self.objects.items():
            if key[1] not in WORKLOADS:
                continue
            containers = made["spec"]["template"]["spec"]["containers"]
            gpus = sum(int((it.get("resources", {}).get("limits") or {}).get(GPU, 0)) for it in containers)
            copies = made["spec"].get(WORKLOADS[key[1]])
            copies = 1 if copies is None else int(copies)
            # A Job runs at most as many pods at once as its completions.
            copies = min(copies, int(made["spec"].get("completions") or copies))
            if gpus:
                found[key[1:]] = (copies, gpus)
        return found


def made_path(path):
    return str(pathlib.PurePosixPath("/") / path)[1:]


def check(made):
    """Refuses objects with variables that are not filled in, like a cluster."""
    name = (made.get("metadata") or {}).get("name") or ""
    if not NAME.fullmatch(name):
        raise Refused(f"{made.get('kind')} has the name {name!r}")
    copies = (made.get("spec") or {}).get(WORKLOADS.get(made.get("kind"), ""))
    if isinstance(copies, str):
        raise Refused(f"{name} has {copies} copies")
    # All kinds of these trees have one.
    if not made["metadata"].get("namespace"):
        raise Refused(f"{made['kind']}/{name} has no namespace")


def filled(value, member):
    if isinstance(value, dict):
        return {key: filled(inner, member) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, member) for inner in value]
    if isinstance(value, str):
        return re.sub(r"\{\{\s*([^{}]*?)\s*\}\}", lambda it: str(member.get(it.group(1), it.group(0))), value)
    return value
