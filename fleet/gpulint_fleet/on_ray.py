"""Scans on Ray, one task for each repository. Ray places the tasks, and runs them again if a worker or a node is lost."""

import time

from .address import parse
from .scan import scan_one, write_failure

# The memory of a task in bytes, in addition to the limits of gpulint itself.
LEAST_MEMORY, MOST_MEMORY = 256 << 20, 2 << 30

# The number of waiting tasks for each CPU: enough to keep all CPUs busy, few enough to keep the driver small.
WAITING = 4


def run(store, head, entries, options, address, per_host):
    """Yields the outcome of each repository, in the order in which they end."""
    import ray

    begun = not ray.is_initialized()
    if begun:
        ray.init(address=None if address == "local" else address, log_to_driver=False, logging_level="error")
    try:
        yield from tasks(ray, store, head, entries, options, per_host)
    finally:
        if begun:
            ray.shutdown()


def memory(entry):
    return max(LEAST_MEMORY, min(MOST_MEMORY, 2 * (entry["size"] or 0)))


def tasks(ray, store, head, entries, options, per_host):
    task = ray.remote(num_cpus=1, max_retries=5)(scan_one)
    root, head_of_all = str(store.root.absolute()), ray.put(head)
    under_way, busy, waiting = {}, {}, {}
    for entry in reversed(entries):
        waiting.setdefault(parse(entry["url"]).host, []).append(entry)

    def start():
        """Starts the largest repositories of hosts that are below their limit."""
        room = WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
        while len(under_way) < room:
            free = [host for host, left in waiting.items() if left and busy.get(host, 0) < per_host]
            if not free:
                return
            host = max(free, key=lambda it: (waiting[it][-1]["size"] or 0, it))
            entry = waiting[host].pop()
            busy[host] = busy.get(host, 0) + 1
            reference = task.options(memory=memory(entry)).remote(root, head_of_all, entry, options)
            under_way[reference] = (entry, host)

    start()
    while under_way:
        done, _ = ray.wait(list(under_way), num_returns=1)
        for reference in done:
            entry, host = under_way.pop(reference)
            busy[host] -= 1
            yield outcome(ray, store, head, entry, reference)
        start()


def outcome(ray, store, head, entry, reference):
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        # An error of gpulint-fleet ends the run, because it would be the same for every repository.
        raise error.as_instanceof_cause() from None
    except ray.exceptions.RayError as error:
        # The worker was lost repeatedly, on different nodes, so this repository is the cause.
        write_failure(store, head, entry, "crashed", "every process that scanned it crashed")
        return {
            "id": entry["id"],
            "status": "crashed",
            "bytes": 0,
            "seconds": 0,
            "said": str(error)[-500:],
            "at": time.time(),
        }
