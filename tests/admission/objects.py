"""Generates random Kubernetes objects. The same seed always gives the same object."""

import random

KINDS = ["Pod", "Pod", "Deployment", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Job", "CronJob", "NodePool", "NodePool"]
IMAGES = [
    "pytorch/pytorch",
    "pytorch/pytorch:2.9",
    "ghcr.io/acme/train:latest",
    "ghcr.io/acme/train:v3",
    "ghcr.io/acme/train:v3@sha256:" + "a" * 64,
    "ghcr.io/acme/train@sha256:" + "b" * 64,
    "localhost:5000/test",
    "registry.example.com/test:1",
    "registry.example.com:8443/team/app",
    "test",
]
DEVICES = ["nvidia.com/gpu"] * 10 + ["amd.com/gpu", "nvidia.com/mig-1g.10gb", "google.com/tpu", "aws.amazon.com/neuroncore", "nvidia.com/gpu.shared", "habana.ai/gaudi2", "nvidia.com/h100", "huawei.com/Ascend910B"]
ACCELERATORS = {
    "cloud.google.com/gke-accelerator": ["nvidia-l4", "nvidia-tesla-t4", "nvidia-tesla-k80", "nvidia-h100-80gb", "nvidia-tesla-p100"],
    "nvidia.com/gpu.product": ["NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-SXM4-40GB", "Tesla-T4", "NVIDIA-L40S", "NVIDIA-H100-80GB-HBM3", "NVIDIA-A10G-SHARED", "Tesla-V100-SXM2-16GB", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "made-up"],
    "karpenter.k8s.aws/instance-gpu-name": ["a10g", "l4", "t4", "h100", "v100"],
    "k8s.amazonaws.com/accelerator": ["nvidia-tesla-v100"],
    "gpu.nvidia.com/class": ["A40", "H100_NVLINK_80GB"],
}
MACHINES = ["p5.48xlarge", "p4d.24xlarge", "g6.xlarge", "g5.12xlarge", "g4dn.xlarge", "m5.large", "a2-highgpu-1g", "a3-highgpu-8g", "Standard_ND96isr_H100_v5", "Standard_NC24ads_A100_v4", "ct5lp-hightpu-4t", "no-such-type"]
OTHER_LABELS = [
    ("cloud.google.com/gke-spot", ["true"]),
    ("karpenter.sh/capacity-type", ["spot", "on-demand", "reserved"]),
    ("eks.amazonaws.com/capacityType", ["SPOT", "ON_DEMAND"]),
    ("topology.kubernetes.io/zone", ["us-east-1a", "eu-west-1b", "us-central1-a"]),
    ("cloud.google.com/gke-nodepool", ["gpu-l4-pool", "default-pool", "a100-pool"]),
    ("karpenter.k8s.aws/instance-family", ["g5", "p5", "m5"]),
    ("pool", ["gpu", "h100-nodes", "cpu"]),
    ("kubernetes.io/arch", ["amd64"]),
    ("nvidia.com/gpu.memory", ["24576", "81920"]),
    ("kueue.x-k8s.io/queue-name", ["train"]),
]
TOLERATIONS = [
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu", "operator": "Equal", "value": "NVIDIA-A10G", "effect": "NoSchedule"},
    {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
    {"key": "cloud.google.com/gke-spot", "operator": "Exists"},
    {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule"},
    {"operator": "Exists"},
]


class Objects:
    """Makes one object from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f"object-{seed}"

    def may(self, share):
        return self.random.random() < share

    def one(self, values):
        return self.random.choice(values)

    def made(self):
        kind = self.one(KINDS)
        return self.pool() if kind == "NodePool" else self.workload(kind)

    def metadata(self):
        metadata = {"name": self.name}
        if self.may(0.8):
            metadata["namespace"] = self.one(["ml", "ml", "research", "other"])
        metadata.update(self.marks())
        return metadata

    def marks(self):
        """Labels and annotations."""
        marks = {}
        labels = {"app": self.name}
        if self.may(0.4):
            labels["team"] = self.one(["search", "vision"])
        if self.may(0.05):
            labels["kueue.x-k8s.io/queue-name"] = "gpus"
        marks["labels"] = labels
        if self.may(0.1):
            marks["annotations"] = {"team": self.one(["search", "x" * 300])}
        return marks

    def workload(self, kind):
        metadata = self.metadata()
        if kind == "Pod":
            return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": self.pod(self.one([None, "Never", "OnFailure", "Always"]))}
        if kind == "Job":
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": self.job()}
        if kind == "CronJob":
            spec = {"schedule": "0 3 * * *", "jobTemplate": {"spec": self.job()}}
            if self.may(0.15):
                spec["suspend"] = self.may(0.7)
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}
        template = {"metadata": self.marks(), "spec": self.pod(None)}
        spec = {"selector": {"matchLabels": {"app": self.name}}, "template": template}
        if kind != "DaemonSet" and self.may(0.7):
            spec["replicas"] = self.one([0, 1, 2, 3, 4, 8, 20])
        if kind == "StatefulSet":
            spec["serviceName"] = "service"
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}

    def job(self):
        spec = {"template": {"spec": self.pod(self.one(["Never", "OnFailure"]))}}
        if self.may(0.3):
            spec["template"]["metadata"] = {"labels": {"team": "search"}}
        if self.may(0.4):
            spec["activeDeadlineSeconds"] = self.one([3600, 86400, 90000])
        if self.may(0.4):
            spec["parallelism"] = self.one([1, 2, 4, 8])
        if self.may(0.3):
            spec["completions"] = self.one([1, 2, 6])
        if self.may(0.1):
            spec["suspend"] = True
        return spec

    def pod(self, restart):
        spec = {"containers": [self.container(place) for place in range(self.one([1, 1, 1, 2]))]}
        if restart:
            spec["restartPolicy"] = restart
        if self.may(0.15):
            init = self.container(9)
            if self.may(0.3):
                init["restartPolicy"] = "Always"
            spec["initContainers"] = [init]
        self.place(spec)
        if self.may(0.5):
            spec["tolerations"] = self.random.sample(TOLERATIONS, self.one([1, 1, 2]))
        if self.may(0.5):
            spec["priorityClassName"] = self.one(["gpu-low", "gpu-high", "other"])
        if self.may(0.15):
            spec["activeDeadlineSeconds"] = self.one([600, 100000])
        if self.may(0.05):
            spec["runtimeClassName"] = "nvidia"
        return spec

    def container(self, place):
        container = {"name": f"c{place}", "image": self.one(IMAGES)}
        resources = {}
        if self.may(0.75):
            key, count = self.one(DEVICES), self.one([0, 1, 1, 2, 4, 8, 8])
            resources["limits"] = {key: self.one([count, str(count)])}
            if self.may(0.4):
                resources["requests"] = {key: str(count)}
        if self.may(0.3):
            resources.setdefault("limits", {})["memory"] = self.one(["64Gi", 1073741824])
            resources.setdefault("requests", {})["cpu"] = self.one([1, "500m", "1.5"])
        if resources:
            container["resources"] = resources
        if self.may(0.15):
            container["command"] = self.one([["sleep", "3600"], ["python", "train.py"], ["bash", "-c", "sleep infinity"], ["nvidia-smi"]])
        if self.may(0.1):
            container["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": self.one(["all", "none", "0"])}]
        return container

    def labels(self):
        chosen = {}
        if self.may(0.55):
            key = self.one(list(ACCELERATORS))
            chosen[key] = ACCELERATORS[key]
        if self.may(0.25):
            chosen["node.kubernetes.io/instance-type"] = MACHINES
        for key, values in OTHER_LABELS:
            if self.may(0.08):
                chosen[key] = values
        return chosen

    def place(self, spec):
        """Node selector, affinity, or both."""
        expressions = []
        for key, values in self.labels().items():
            if self.may(0.6):
                spec.setdefault("nodeSelector", {})[key] = self.one(values)
            else:
                operator = self.one(["In", "In", "In", "In", "NotIn", "Exists"])
                expression = {"key": key, "operator": operator}
                if operator != "Exists":
                    expression["values"] = self.random.sample(values, min(len(values), self.one([1, 1, 2])))
                expressions.append(expression)
        if not expressions:
            return
        if self.may(0.15):
            affinity = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": expressions}}]}
        else:
            terms = [{"matchExpressions": expressions}]
            if self.may(0.1):
                terms.append({"matchExpressions": [{"key": "pool", "operator": "In", "values": ["gpu"]}]})
            affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": affinity}

    def pool(self):
        """A pool of Karpenter."""
        requirements = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": self.random.sample(MACHINES, self.one([1, 1, 2, 3]))}]
        if self.may(0.15):
            requirements = [{"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": [self.one(["g5", "p5"])]}]
        if self.may(0.6):
            requirements.append({"key": "karpenter.sh/capacity-type", "operator": "In", "values": self.one([["spot"], ["on-demand"], ["spot", "on-demand"]])})
        if self.may(0.3):
            requirements.append({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [self.one(["us-east-1a", "eu-west-1b"])]})
        if self.may(0.3):
            requirements.append({"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]})
        spec = {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": requirements}
        metadata = {"name": self.name, **self.marks()}
        return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": metadata, "spec": {"template": {"spec": spec}}}
