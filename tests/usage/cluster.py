#!/usr/bin/env python3
"""Writes the metrics of a simulated cluster as OpenMetrics, for `promtool tsdb create-blocks-from`.

    cluster.py DIRECTORY [--nodes 4] [--days 14] [--to 2026-11-22] [--step 300] [--exporter 4.5|4.8|4.9] [--exported] [--twice]

A file a day. Every number follows from its place, so that what comes out can be said in advance:

  node 0      StatefulSet train/busy: one pod with 4 GPUs at 1.00; the other 4 GPUs are held by nobody, at 0
  node 1      CronJob train/nightly: 8 GPUs from 02:00 to 06:00 of each day at 0.62; held by nobody at other times
  node 2...   Deployment serving/llm-K (K = node % 16): 8 pods a node with 1 GPU, at 0.07; from 12:00 to 13:00 at 0.9
              vLLM in each: 1 request and 100 tokens a second, 3 running, none waiting, the cache at 0.11

`--exported`: labels of the scrape won over those of the exporter. `--twice`: a second job scrapes the same exporters.
"""

import argparse
import datetime
import os

MODEL = "NVIDIA H100 80GB HBM3"
DRAWN = "bcdfghjklmnpqrstvwxz2456789"


def drawn(number, length):
    text = ""
    for _ in range(length):
        number, rest = divmod(number, len(DRAWN))
        text += DRAWN[rest]
    return text


def names(exporter):
    if exporter == "4.9":
        return {
            "engine": ("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", 1), "util": ("DCGM_FI_DEV_GPU_UTIL_RATIO", 1),
            "memory": ("DCGM_FI_DEV_FB_USED_BYTES", 1048576), "host": "hostname",
        }
    return {
        "engine": ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1), "util": ("DCGM_FI_DEV_GPU_UTIL", 100),
        "memory": ("DCGM_FI_DEV_FB_USED", 1), "host": "Hostname" if exporter == "4.5" else "hostname",
    }


def labelled(name, labels):
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


class Day:
    def __init__(self, options, start):
        self.options, self.start = options, start
        self.names = names(options.exporter)
        self.moments = list(range(start, start + 86400, options.step))
        self.out = None

    def series(self, name, labels, value, begin=0, end=24):
        head = labelled(name, labels)
        low, high = self.start + begin * 3600, self.start + end * 3600
        call = value if callable(value) else lambda _: value
        self.out.write("".join(f"{head} {call(at):g} {at}\n" for at in self.moments if low <= at < high))

    def device(self, node, gpu, holder, busy, memory, begin=0, end=24):
        for job in ["dcgm", "dcgm-again"] if self.options.twice else ["dcgm"]:
            own = {"namespace": "gpu-operator", "pod": f"nvidia-dcgm-exporter-{drawn(node, 5)}", "container": "exporter"}
            labels = {
                "UUID": f"GPU-{node:04d}-{gpu}", "gpu": gpu, "device": f"nvidia{gpu}", "modelName": MODEL,
                self.names["host"]: f"node-{node}", "instance": f"10.0.{node // 250}.{node % 250}:9400", "job": job,
            }
            pod = dict(zip(["namespace", "pod", "container"], holder)) if holder else {}
            if self.options.exported:
                labels |= own | {"exported_" + key: value for key, value in pod.items()}
            else:
                labels |= own | pod
            for what, value in [("engine", busy), ("util", busy), ("memory", memory)]:
                name, factor = self.names[what]
                call = value if callable(value) else lambda _, value=value: value
                self.series(name, labels, lambda at, call=call, factor=factor: call(at) * factor, begin, end)

    def pod(self, namespace, pod, container, node, gpus, owner, begin=0, end=24):
        base = {"namespace": namespace, "pod": pod, "uid": f"uid-{pod}-{node}"}
        self.series("kube_pod_container_resource_requests", base | {
            "container": container, "node": f"node-{node}", "resource": "nvidia_com_gpu", "unit": "integer"}, gpus, begin, end)
        self.series("kube_pod_owner", base | {
            "owner_kind": owner[0], "owner_name": owner[1], "owner_is_controller": "true"}, 1, begin, end)

    def owned(self, metric, label, namespace, name, owner, begin=0, end=24):
        self.series(metric, {"namespace": namespace, label: name, "owner_kind": owner[0], "owner_name": owner[1],
                             "owner_is_controller": "true"}, 1, begin, end)

    def write(self, out):
        self.out = out
        for node in range(self.options.nodes):
            self.node(node)
        out.write("# EOF\n")

    def node(self, node):
        pool = {0: "train", 1: "batch"}.get(node, "serve")
        self.series("kube_node_info", {"node": f"node-{node}"}, 1)
        self.series("kube_node_labels", {"node": f"node-{node}", "label_eks_amazonaws_com_nodegroup": pool}, 1)
        if node == 0:
            self.pod("train", "busy-0", "trainer", 0, 4, ("StatefulSet", "busy"))
            for gpu in range(8):
                held = ("train", "busy-0", "trainer") if gpu < 4 else None
                self.device(0, gpu, held, 1 if held else 0, 70000 if held else 0)
        elif node == 1:
            job = f"nightly-{self.start // 60}"
            pod = f"{job}-{drawn(self.start, 5)}"
            self.pod("train", pod, "trainer", 1, 8, ("Job", job), 2, 6)
            self.owned("kube_job_owner", "job_name", "train", job, ("CronJob", "nightly"), 2, 6)
            for gpu in range(8):
                self.device(1, gpu, ("train", pod, "trainer"), 0.62, 60000, 2, 6)
                self.device(1, gpu, None, 0, 0, 0, 2)
                self.device(1, gpu, None, 0, 0, 6, 24)
        else:
            self.serving(node)

    def serving(self, node):
        name = f"llm-{node % 16}"
        replica_set = f"{name}-{drawn(node % 16 + 7, 9)}"
        for gpu in range(8):
            pod = f"{replica_set}-{drawn(node * 8 + gpu, 5)}"
            self.pod("serving", pod, "server", node, 1, ("ReplicaSet", replica_set))
            noon = lambda at: 0.9 if 43200 <= at % 86400 < 46800 else 0.07
            self.device(node, gpu, ("serving", pod, "server"), noon, 72000)
            labels = {"namespace": "serving", "pod": pod, "model_name": "org/model", "engine": "0"}
            self.series("vllm:request_success_total", labels | {"finished_reason": "stop"}, lambda at: at - self.start)
            self.series("vllm:generation_tokens_total", labels, lambda at: 100 * (at - self.start))
            self.series("vllm:num_requests_running", labels, 3)
            self.series("vllm:num_requests_waiting", labels, 0)
            self.series("vllm:kv_cache_usage_perc", labels, 0.11)
        if node < 18:
            self.owned("kube_replicaset_owner", "replicaset", "serving", replica_set, ("Deployment", name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--days", type=int, default=14)
    parser.add_argument("--to", default="2026-11-22")
    parser.add_argument("--step", type=int, default=300)
    parser.add_argument("--exporter", choices=["4.5", "4.8", "4.9"], default="4.5")
    parser.add_argument("--exported", action="store_true")
    parser.add_argument("--twice", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    end = datetime.datetime.fromisoformat(options.to).replace(tzinfo=datetime.timezone.utc)
    for back in range(options.days, 0, -1):
        day = end - datetime.timedelta(days=back)
        with open(os.path.join(options.directory, f"{day:%Y-%m-%d}.om"), "w", encoding="utf-8") as out:
            Day(options, int(day.timestamp())).write(out)


if __name__ == "__main__":
    main()
