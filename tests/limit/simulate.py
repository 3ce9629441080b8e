"""Compares the most that a month can cost, as `gpulint limit` proves it, with simulated months.

    python3 tests/limit/simulate.py GPULINT [--trees 500] [--seed 1] [--keep DIRECTORY]

Each tree has random pools, autoscalers, jobs and quotas. The simulation implements what the controllers do, not what gpulint
calculates: it starts machines and pods hour by hour under a random or greedy load, and refuses what a limit refuses. The exit
code is 1 if a month costs more than gpulint proves, or if gpulint reports a limit where the simulation finds none.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HOURS = 730
TODAY = "2025-11-20"
AWS = ["g5.xlarge", "g5.12xlarge", "g5.48xlarge", "g4dn.xlarge", "g4dn.12xlarge", "p4d.24xlarge"]
GCP = ["g2-standard-4", "g2-standard-24", "g2-standard-48", "a2-highgpu-1g", "a2-highgpu-8g"]
# No pool of a tree has these accelerators, so the pods run on machines that the files do not define.
PODS = ["nvidia-tesla-t4", "nvidia-h100-80gb"]


class Prices:
    """Prices and sizes of machines, from `gpulint price`."""

    def __init__(self, gpulint):
        self.gpulint, self.known = gpulint, {}

    def machine(self, name, region):
        if (name, region) not in self.known:
            rows = run(self.gpulint, "price", name, "--region", region, "--format", "json", "--today", TODAY)
            row = next(row for row in json.loads(rows) if row["region"] == region)
            self.known[name, region] = row
        return self.known[name, region]

    def on_demand(self, name, region):
        return self.machine(name, region)["on_demand_usd_per_hour"]

    def spot(self, name, region):
        return self.machine(name, region)["spot_usd_per_hour"] or self.on_demand(name, region)


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{words}: {done.returncode}\n{done.stderr}")
    return done.stdout


CPUS = {"g5.xlarge": 4, "g5.12xlarge": 48, "g5.48xlarge": 192, "g4dn.xlarge": 4, "g4dn.12xlarge": 48, "p4d.24xlarge": 96}


class Part:
    """One independent part of a tree: the files that declare it, and a simulation of its hours."""

    limited = True

    def hour(self, load, hour):
        """Returns the cost of an hour under a load: a number from 0 to 1, or `greedy`."""
        raise NotImplementedError

    def price(self, load, purchase, name, region):
        if purchase == "on-demand" or load.greedy:
            return self.prices.on_demand(name, region)
        low = self.prices.spot(name, region)
        high = self.prices.on_demand(name, region)
        return low + (high - low) * load.random.random() ** 3


class AutoScalingGroup(Part):
    def __init__(self, prices, rng, number):
        self.prices, self.name = prices, f"asg{number}"
        self.machine, self.region = rng.choice(AWS), "us-east-1"
        self.least = rng.choice([0, 0, 1, 2])
        self.most = self.least + rng.choice([0, 1, 3, 8, 20])
        self.desired = rng.randint(self.least, self.most)
        self.schedule = rng.choice([None, None, rng.randint(0, self.most + 4)])
        self.most = max(self.most, 1)

    def files(self):
        text = f'''
resource "aws_launch_template" "{self.name}" {{
  instance_type = "{self.machine}"
}}
resource "aws_autoscaling_group" "{self.name}" {{
  min_size         = {self.least}
  desired_capacity = {self.desired}
  max_size         = {self.most}
  launch_template {{ id = aws_launch_template.{self.name}.id }}
}}
'''
        if self.schedule is not None:
            text += f'''
resource "aws_autoscaling_schedule" "{self.name}" {{
  scheduled_action_name  = "night"
  autoscaling_group_name = aws_autoscaling_group.{self.name}.name
  min_size               = {min(self.least, self.schedule)}
  max_size               = {self.schedule}
  desired_capacity       = {self.schedule}
  recurrence             = "0 20 * * *"
}}
'''
        return {"aws.tf": text}

    def hour(self, load, hour):
        # The action sets the size until something sets it again: a person, or the next apply.
        most, least = self.most, self.least
        is_set = self.schedule > self.most if load.greedy and self.schedule is not None else load.random.random() < 0.5
        if self.schedule is not None and hour >= 20 and is_set:
            most, least = self.schedule, min(self.least, self.schedule)
        number = most if load.greedy else load.between(least, most)
        return number * self.price(load, "on-demand", self.machine, self.region)


class NodeGroup(Part):
    def __init__(self, prices, rng, number):
        self.prices, self.name, self.region = prices, f"group{number}", "us-east-1"
        self.machines = rng.sample(AWS, rng.choice([1, 1, 2, 3]))
        self.purchase = rng.choice(["ON_DEMAND", "SPOT"])
        self.least, self.most = 0, rng.choice([1, 2, 5, 12])

    def files(self):
        types = ", ".join(f'"{name}"' for name in self.machines)
        return {"aws.tf": f'''
resource "aws_eks_node_group" "{self.name}" {{
  cluster_name   = "main"
  instance_types = [{types}]
  capacity_type  = "{self.purchase}"
  scaling_config {{
    min_size     = {self.least}
    desired_size = {self.least}
    max_size     = {self.most}
  }}
}}
'''}

    def hour(self, load, hour):
        number = self.most if load.greedy else load.between(self.least, self.most)
        purchase = "spot" if self.purchase == "SPOT" else "on-demand"
        def of(name):
            return self.price(load, purchase, name, self.region)
        if load.greedy:
            return number * max(of(name) for name in self.machines)
        return sum(of(load.random.choice(self.machines)) for _ in range(number))


class NodePoolGke(Part):
    def __init__(self, prices, rng, number):
        self.prices, self.name, self.region = prices, f"pool{number}", "us-central1"
        self.machine = rng.choice(GCP)
        self.is_total = rng.random() < 0.5
        self.zones = rng.choice([1, 2, 3])
        self.least, self.most = 0, rng.choice([1, 2, 6])
        self.spot = rng.random() < 0.5
        # Pods on the pool, whose autoscaler allows more than the pool has.
        self.pods = rng.choice([0, 0, 3, 50])

    def pods_on_it(self):
        labels = {"app": self.name}
        pod = {
            "nodeSelector": {"cloud.google.com/gke-nodepool": self.name},
            "containers": [{"name": "main", "image": "main:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}],
        }
        meta = {"name": self.name, "namespace": self.name}
        deployment = {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
        }
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.name}
        spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": self.pods, "metrics": []}
        scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec}
        return {f"{self.name}-pods.yaml": "\n---\n".join(json.dumps(it, indent=2) for it in (deployment, scaler)) + "\n"}

    def files(self):
        zones = ", ".join(f'"us-central1-{zone}"' for zone in "abc"[: self.zones])
        word = "total_" if self.is_total else ""
        return (self.pods_on_it() if self.pods else {}) | {"gcp.tf": f'''
resource "google_container_node_pool" "{self.name}" {{
  name           = "{self.name}"
  cluster        = "main"
  location       = "us-central1"
  node_locations = [{zones}]
  autoscaling {{
    {word}min_node_count = {self.least}
    {word}max_node_count = {self.most}
  }}
  node_config {{
    machine_type = "{self.machine}"
    spot         = {str(self.spot).lower()}
  }}
}}
'''}

    def hour(self, load, hour):
        most = self.most if self.is_total else self.most * self.zones
        # Pods of other repositories can use the pool, too.
        number = most if load.greedy else load.between(self.least, most)
        return number * self.price(load, "spot" if self.spot else "on-demand", self.machine, self.region)


class Karpenter(Part):
    def __init__(self, prices, rng, number):
        self.prices, self.name, self.region = prices, f"kar{number}", "us-east-1"
        self.machines = rng.sample(AWS, rng.choice([1, 2, 4]))
        self.gpus = rng.choice([None, 4, 7, 16, 33])
        self.cpus = rng.choice([None, None, 100, 500])
        self.limited = self.gpus is not None or self.cpus is not None
        self.purchase = rng.choice([["spot"], ["on-demand"], ["spot", "on-demand"]])
        self.running, self.greedy_for = [], None

    def files(self):
        limits = {"nvidia.com/gpu": self.gpus, "cpu": self.cpus}
        limits = {key: value for key, value in limits.items() if value is not None}
        pool = {
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": self.name},
            "spec": {
                "template": {"spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                    "requirements": [
                        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": self.machines},
                        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": self.purchase},
                        {"key": "topology.kubernetes.io/region", "operator": "In", "values": [self.region]},
                    ],
                }},
            },
        }
        if limits:
            pool["spec"]["limits"] = limits
        return {f"{self.name}.json": json.dumps(pool, indent=2)}

    def fits(self, running, name):
        """Karpenter starts a machine only if all machines then stay within each limit."""
        gpus = sum(self.prices.machine(it, self.region)["count"] for it in [*running, name])
        cpus = sum(CPUS[it] for it in [*running, name])
        return (self.gpus is None or gpus <= self.gpus) and (self.cpus is None or cpus <= self.cpus)

    def best(self):
        """Returns the most expensive of many ways to fill the limits."""
        best = []
        rng = random.Random(self.name)
        for turn in range(60):
            order, running = self.machines[:], []
            rng.shuffle(order)
            if turn == 0:
                order.sort(key=lambda it: -self.prices.on_demand(it, self.region))
            for name in order:
                while self.fits(running, name) and len(running) < 300:
                    running.append(name)
            if sum(map(self.cost, running)) > sum(map(self.cost, best)):
                best = running
        return best

    def cost(self, name):
        return self.prices.on_demand(name, self.region)

    def hour(self, load, hour):
        if load.greedy:
            self.greedy_for = self.greedy_for or self.best()
            return sum(map(self.cost, self.greedy_for))
        for _ in range(load.between(0, 3)):
            name = load.random.choice(self.machines)
            if self.fits(self.running, name):
                self.running.append(name)
        while self.running and load.random.random() < 0.4:
            self.running.pop(load.random.randrange(len(self.running)))
        purchase = load.random.choice(self.purchase)
        return sum(self.price(load, purchase, name, self.region) for name in self.running)


class Pods(Part):
    """Pods on machines that the files do not define, at the price that gpulint assumes for one of them."""

    def __init__(self, prices, rng, number):
        self.prices, self.name, self.space = prices, f"pods{number}", f"space{number}"
        self.label = rng.choice(PODS)
        self.gpus = rng.choice([1, 1, 2, 4]) if self.label == "nvidia-tesla-t4" else 8
        self.form = rng.choice(["fixed", "hpa", "keda", "cron", "allow", "job", "many"])
        self.least, self.most = 1, rng.choice([1, 3, 10])
        self.minutes = rng.choice([10, 90, 400])
        self.every = rng.choice([1, 4])
        self.quota = rng.choice([None, 4, 9])
        self.limited = self.form not in ("allow", "many") or self.quota is not None
        self.running = []

    def spec(self):
        return {
            "restartPolicy": "Never" if self.form in ("cron", "allow", "job", "many") else "Always",
            "nodeSelector": {"cloud.google.com/gke-accelerator": self.label},
            "containers": [{
                "name": "main", "image": "main:1", "resources": {"limits": {"nvidia.com/gpu": self.gpus}},
            }],
        }

    def files(self):
        meta = {"name": self.name, "namespace": self.space}
        template = {"metadata": {"labels": {"app": self.name}}, "spec": self.spec()}
        deployment = {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
            "spec": {"replicas": self.least, "selector": {"matchLabels": {"app": self.name}}, "template": template},
        }
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.name}
        job = {"template": {"spec": self.spec()}}
        if self.form == "fixed":
            deployment["spec"]["replicas"] = self.most
            all_ = [deployment]
        elif self.form == "hpa":
            scaler = {
                "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta,
                "spec": {"scaleTargetRef": target, "minReplicas": self.least, "maxReplicas": self.most, "metrics": []},
            }
            all_ = [deployment, scaler]
        elif self.form == "keda":
            scaler = {
                "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": meta,
                "spec": {
                    "scaleTargetRef": {"name": self.name}, "minReplicaCount": 0, "maxReplicaCount": self.most,
                    "triggers": [{"type": "prometheus", "metadata": {"query": "x", "threshold": "1"}}],
                },
            }
            all_ = [deployment, scaler]
        elif self.form in ("cron", "allow"):
            spec = {"schedule": f"0 */{self.every} * * *", "jobTemplate": {"spec": job}}
            if self.form == "cron":
                spec["concurrencyPolicy"] = "Forbid"
                job["activeDeadlineSeconds"] = self.minutes * 60
            all_ = [{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": spec}]
        else:
            meta = {"name": self.name, "namespace": self.space}
            if self.form == "many":
                meta = {"generateName": self.name + "-", "namespace": self.space}
            job["parallelism"] = self.most if self.form == "job" else 1
            job["completions"] = job["parallelism"]
            all_ = [{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": job}]
        if self.quota is not None:
            all_.append({
                "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "gpus", "namespace": self.space},
                "spec": {"hard": {"requests.nvidia.com/gpu": str(self.quota)}},
            })
        return {f"{self.name}.yaml": "\n---\n".join(json.dumps(it, indent=2) for it in all_) + "\n"}

    def admitted(self, asked):
        """The API server refuses a pod whose request exceeds the quota of its namespace."""
        return asked if self.quota is None else min(asked, self.quota // self.gpus)

    def hour(self, load, hour):
        if self.form in ("fixed", "job"):
            return self.admitted(self.most) * self.each
        if self.form in ("hpa", "keda"):
            least = self.least if self.form == "hpa" else 0
            return self.admitted(self.most if load.greedy else load.between(least, self.most)) * self.each
        if self.form == "cron":
            # Runs of one job never overlap, and each ends at its time limit.
            self.running = [end for end in self.running if end > hour]
            if hour % self.every == 0 and not self.running and self.admitted(1):
                lasts = self.minutes / 60 * (1 if load.greedy else load.random.random())
                self.running = [hour + lasts]
                self.paid = lasts
            else:
                self.paid = 0
            return self.paid * self.each
        starts = 8 if load.greedy else load.between(0, 3)
        self.running = [end for end in self.running if end > hour]
        for _ in range(starts):
            if self.admitted(len(self.running) + 1) > len(self.running) and len(self.running) < 500:
                self.running.append(hour + (10_000 if load.greedy else load.random.random() * 20 + 1))
        return len(self.running) * self.each


class Batch(Part):
    """AWS Batch starts machines while fewer CPUs run than the maximum, so the last machine may exceed it."""

    def __init__(self, prices, rng, number):
        self.prices, self.name, self.region = prices, f"batch{number}", "us-east-1"
        self.machines = rng.sample(AWS, rng.choice([1, 2, 3]))
        self.cpus = rng.choice([16, 100, 256])
        self.spot = rng.random() < 0.5
        self.greedy_for, self.running = None, []

    def files(self):
        types = ", ".join(f'"{name}"' for name in self.machines)
        kind, strategy = ("SPOT", "SPOT_CAPACITY_OPTIMIZED") if self.spot else ("EC2", "BEST_FIT_PROGRESSIVE")
        return {"aws.tf": f'''
resource "aws_batch_compute_environment" "{self.name}" {{
  type = "MANAGED"
  compute_resources {{
    type                = "{kind}"
    allocation_strategy = "{strategy}"
    instance_type       = [{types}]
    min_vcpus           = 0
    max_vcpus           = {self.cpus}
    subnets             = []
    security_group_ids  = []
    instance_role       = "x"
  }}
}}
'''}

    def cost(self, name):
        return self.prices.on_demand(name, self.region)

    def best(self):
        best, rng = [], random.Random(self.name)
        for turn in range(60):
            order, running = self.machines[:], []
            rng.shuffle(order)
            last = max(self.machines, key=self.cost) if turn % 2 else None
            for name in order:
                while sum(CPUS[it] for it in running) + CPUS[name] < self.cpus:
                    running.append(name)
            if sum(CPUS[it] for it in running) < self.cpus:
                running.append(last or order[-1])
            if sum(map(self.cost, running)) > sum(map(self.cost, best)):
                best = running
        return best

    def hour(self, load, hour):
        if load.greedy:
            self.greedy_for = self.greedy_for or self.best()
            return sum(map(self.cost, self.greedy_for))
        while sum(CPUS[it] for it in self.running) < self.cpus and load.random.random() < 0.7:
            self.running.append(load.random.choice(self.machines))
        while self.running and load.random.random() < 0.5:
            self.running.pop(load.random.randrange(len(self.running)))
        return sum(self.price(load, "spot" if self.spot else "on-demand", name, self.region) for name in self.running)


class Kueue(Part):
    """Kueue admits jobs while the accelerators of its queue suffice. Any number of jobs may wait."""

    def __init__(self, prices, rng, number):
        self.prices, self.name, self.space = prices, f"queue{number}", f"queue{number}"
        self.nominal, self.borrow = rng.choice([2, 5, 12]), rng.choice([None, None, 3])
        self.sizes = rng.sample([1, 2, 4], 2)
        self.running = []

    def files(self):
        flavor = {"name": "gpu", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": self.nominal}]}
        spec = {"resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [flavor]}]}
        if self.borrow is not None:
            spec["cohort"] = "all"
            flavor["resources"][0]["borrowingLimit"] = self.borrow
        meta = {"name": self.name, "namespace": self.space}
        all_ = [
            {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": self.name}, "spec": spec},
            {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": meta,
             "spec": {"clusterQueue": self.name}},
        ]
        for size in self.sizes:
            pod = {
                "restartPolicy": "Never", "nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"},
                "containers": [{"name": "m", "image": "m:1", "resources": {"limits": {"nvidia.com/gpu": size}}}],
            }
            meta = {
                "generateName": f"{self.name}-{size}-", "namespace": self.space,
                "labels": {"kueue.x-k8s.io/queue-name": self.name},
            }
            all_.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": {"spec": pod}}})
        return {f"{self.name}.yaml": "\n---\n".join(json.dumps(it, indent=2) for it in all_) + "\n"}

    def hour(self, load, hour):
        most = self.nominal + (self.borrow or 0)
        if load.greedy:
            return max(fill(most, list(zip(self.sizes, self.each))))
        self.running = [(end, size) for end, size in self.running if end > hour]
        for _ in range(load.between(0, 6)):
            size = load.random.choice(self.sizes)
            if sum(it for _, it in self.running) + size <= most:
                self.running.append((hour + load.random.random() * 30 + 1, size))
        price = dict(zip(self.sizes, self.each))
        return sum(price[size] for _, size in self.running)


def fill(most, sizes):
    """Yields the price of each way to fill a number of accelerators with jobs of two sizes."""
    (one, price), (other, other_price) = sizes
    for number in range(most // one + 1):
        yield number * price + (most - number * one) // other * other_price


class Load:
    def __init__(self, rng, greedy):
        self.random, self.greedy = rng, greedy
        self.level = 1.0 if greedy else rng.random()

    def between(self, least, most):
        share = min(1.0, max(0.0, self.level * 2 * self.random.random()))
        return least + round((most - least) * share)


def month(parts, rng, greedy):
    total = 0.0
    for part in parts:
        part.running = []
        load = Load(rng, greedy)
        total += sum(part.hour(load, hour) for hour in range(HOURS))
    return total


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("gpulint", type=Path)
    asked.add_argument("--trees", type=int, default=500)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--keep", type=Path)
    asked = asked.parse_args()
    gpulint, prices = asked.gpulint.resolve(), Prices(asked.gpulint.resolve())
    kinds = [AutoScalingGroup, NodeGroup, NodePoolGke, Karpenter, Batch, Kueue, Pods, Pods]
    counts = {"limited": 0, "tight": 0, "unlimited": 0, "above": 0, "wrong": 0, "months": 0}
    for seed in range(asked.seed, asked.seed + asked.trees):
        rng = random.Random(seed)
        parts = [rng.choice(kinds)(prices, rng, number) for number in range(rng.randint(1, 5))]
        with tempfile.TemporaryDirectory() as folder:
            folder = asked.keep / str(seed) if asked.keep else Path(folder)
            folder.mkdir(parents=True, exist_ok=True)
            texts = {"aws.tf": 'provider "aws" { region = "us-east-1" }\n'}
            for part in parts:
                for name, text in part.files().items():
                    texts[name] = texts.get(name, "") + text
            for name, text in texts.items():
                (folder / name).write_text(text)
            said = json.loads(run(gpulint, "limit", folder, "--format", "json", "--today", TODAY))
            costs = json.loads(run(gpulint, "cost", folder, "--format", "json", "--today", TODAY))
        for part in parts:
            if isinstance(part, Pods):
                own = [it for it in costs["resources"] if f"/{part.name}" in it["address"]]
                part.each = own[0]["price"]["usd_per_hour"] if own else 0.0
            if isinstance(part, Kueue):
                by_size = {it["accelerator_count"]["value"]: it["price"]["usd_per_hour"] for it in costs["resources"]
                           if f"/{part.name}-" in it["address"]}
                part.each = [by_size[size] for size in part.sizes]
        most, is_limited = said["worst_month"]["usd"], all(part.limited for part in parts)
        if (most is None) == is_limited:
            counts["wrong"] += 1
            print(f"{seed}: gpulint {'has no' if most is None else 'has a'} limit: {said['worst_month']['unlimited']}")
            continue
        if most is None:
            counts["unlimited"] += 1
            continue
        counts["limited"] += 1
        months = [month(parts, random.Random(seed * 10 + turn), turn == 0) for turn in range(3)]
        counts["months"] += len(months)
        if max(months) > most + 0.01:
            counts["above"] += 1
            print(f"{seed}: {max(months):.2f} > {most:.2f}: {[type(part).__name__ for part in parts]}")
        elif max(months) >= 0.95 * most:
            counts["tight"] += 1
        else:
            names = [(type(part).__name__, getattr(part, "form", "")) for part in parts]
            print(f"{seed}: at most {max(months) / most:.0%} reached: {names}")
    print(json.dumps(counts))
    sys.exit(1 if counts["above"] or counts["wrong"] else 0)


if __name__ == "__main__":
    main()
