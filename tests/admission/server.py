"""Runs kube-apiserver with etcd, and asks it what it thinks of an object."""

import json
import pathlib
import re
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

PORT, ETCD, PEER = 26443, 23790, 23800
TOKEN = "token-of-a-test"
PATHS = {
    "Pod": "/api/v1/namespaces/{}/pods",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "CronJob": "/apis/batch/v1/namespaces/{}/cronjobs",
    "NodePool": "/apis/karpenter.sh/v1/nodepools",
    "Namespace": "/api/v1/namespaces",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
}
POOLS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "nodepools.karpenter.sh"},
    "spec": {
        "group": "karpenter.sh",
        "names": {"kind": "NodePool", "plural": "nodepools"},
        "scope": "Cluster",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}],
    },
}


class Server:
    """A server of its own, in a directory of its own."""

    def __init__(self, tools):
        self.tools = pathlib.Path(tools)
        self.place = tempfile.TemporaryDirectory(prefix="admission-")
        self.processes = []
        self.tls = ssl._create_unverified_context()

    def __enter__(self):
        place = pathlib.Path(self.place.name)
        key = place / "key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        (place / "tokens.csv").write_text(f'{TOKEN},admin,admin,"system:masters"\n')
        clients, peers = f"http://127.0.0.1:{ETCD}", f"http://127.0.0.1:{PEER}"
        self.start("etcd", f"--data-dir={place}/etcd", f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}", f"--listen-peer-urls={peers}", "--unsafe-no-fsync")
        time.sleep(1)
        self.start(
            "kube-apiserver",
            f"--etcd-servers={clients}",
            f"--secure-port={PORT}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={place}",
            f"--token-auth-file={place}/tokens.csv",
            "--authorization-mode=AlwaysAllow",
            "--service-account-issuer=https://test",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount",
        )
        for _ in range(90):
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    self.prepare()
                    return self
            except OSError:
                pass
            time.sleep(1)
        self.__exit__()
        raise RuntimeError("kube-apiserver does not start")

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        self.place.cleanup()

    def start(self, program, *arguments):
        log = open(pathlib.Path(self.place.name) / f"{program}.log", "w")
        self.processes.append(subprocess.Popen([self.tools / program, *arguments], stdout=log, stderr=log))

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"https://127.0.0.1:{PORT}{path}", method=method, data=body and json.dumps(body).encode())
        request.add_header("Authorization", f"Bearer {TOKEN}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, context=self.tls, timeout=60) as answer:
                return answer.status, answer.read().decode(), answer.headers.get_all("Warning") or []
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), []

    def prepare(self):
        self.create(POOLS)
        for name in ["ml", "research", "other"]:
            self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for name, value in [("gpu-low", 1), ("gpu-high", 2), ("other", 3)]:
            self.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
        self.create({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"})
        for _ in range(60):
            if self.ask("GET", PATHS["NodePool"])[0] == 200:
                return
            time.sleep(1)

    def path(self, it):
        return PATHS[it["kind"]].format(it["metadata"].get("namespace", "default"))

    def create(self, it):
        status, text, _ = self.ask("POST", self.path(it), it)
        if status not in (200, 201):
            raise RuntimeError(f"{it['kind']}/{it['metadata']['name']}: {text}")

    def judge(self, it):
        """Returns why the object is invalid, the rules that warn about it, and what went wrong in a policy."""
        status, text, warnings = self.ask("POST", self.path(it) + "?dryRun=All", it)
        if status not in (200, 201):
            return json.loads(text).get("message", text), set(), []
        reported, failed = set(), []
        for warning in warnings:
            if found := re.search(r"ValidatingAdmissionPolicy 'gpulint-([a-z0-9-]+)'", warning):
                own = re.search(r"binding '[^']*': " + re.escape(found[1]) + ": ", warning)
                (reported.add(found[1]) if own else failed.append(warning))
        return None, reported, failed

    def is_denied(self, it):
        status, text, _ = self.ask("POST", self.path(it) + "?dryRun=All", it)
        return status == 422 and "denied request" in text
