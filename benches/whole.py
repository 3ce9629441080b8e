#!/usr/bin/env python3
"""Measures complete runs of gpulint and of ripgrep over the same files, in one session, and prints Markdown.

    cargo build --release
    python3 benches/whole.py target/release/gpulint [--corpus DIR] [--rounds 5] [--files 45000] [--plot FILE.svg]

The script generates a monorepo in a temporary directory. One in four files is Terraform and the others are YAML, most of
them without accelerators, as in real repositories. Both programs run in turn, so that other load affects both. The result
is the ratio of the medians. With `--corpus`, the script measures a directory of checkouts too.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Words that a person would search for; gpulint's own list is longer.
WORDS = r"nvidia\.com/|amd\.com/gpu|google\.com/tpu|habana\.ai|aws\.amazon\.com/neuron|guest_accelerator|accelerator|gpu"

MODULES = 40
ROOTS = 300


def main():
    arguments = parse()
    gpulint = str(Path(arguments.gpulint).resolve())
    if not shutil.which("rg"):
        sys.exit("ripgrep (rg) is not installed: it is what runs are compared with")
    rows, compared = [], []
    with tempfile.TemporaryDirectory(prefix="gpulint-bench-") as directory:
        base = Path(directory)
        small = base / "small"
        shutil.copytree(Path(__file__).parent.parent / "examples" / "notebooks-gcp", small)
        rows.append(measure("one small root", gpulint, small, arguments.rounds * 4))
        growth = []
        for files in sorted({1000, arguments.files // 8, arguments.files // 2, arguments.files}):
            tree = base / f"monorepo-{files}"
            generate(tree, files)
            row = measure(f"monorepo of {files:,} files", gpulint, tree, arguments.rounds)
            growth.append((files, row))
            rows.append(row)
            if files == arguments.files:
                compared = compare(gpulint, tree, arguments.rounds)
            shutil.rmtree(tree)
        if arguments.corpus:
            rows.append(measure("corpus", gpulint, Path(arguments.corpus), arguments.rounds))
    table(rows)
    print("\n| for one changed file of the largest | median | ratio to check | memory | ratio |")
    print("|---|---|---|---|---|")
    for name, seconds, memory in compared:
        print(f"| {name} | {milliseconds(seconds)} | {seconds / compared[0][1]:.2f} | {memory / 1024:.0f} MiB | {memory / compared[0][2]:.2f} |")
    if arguments.plot:
        Path(arguments.plot).write_text(plot(growth), encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpulint", help="the program, built for release")
    parser.add_argument("--corpus", help="a directory of checkouts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=45_000)
    parser.add_argument("--plot", help="where to write time and memory over files, as SVG")
    return parser.parse_args()


def measure(name, gpulint, directory, rounds):
    """Returns the median wall times of both programs, and the peak memory of gpulint."""
    files, size = size_of(directory)
    ours, theirs, memory = [], [], 0
    grep = ["rg", "--count", "--no-messages", "--hidden", "--ignore-case", "--glob", "*.{tf,tfvars,yaml,yml,json,tpl}", WORDS, "."]
    check = [gpulint, "check", "--no-config", "--allow-empty", "--prices", "embedded", "--format", "json", "."]
    for turn in range(rounds + 1):
        seconds, peak = run(check, directory, {0, 1})
        grep_seconds, _ = run(grep, directory, {0, 1})
        if turn > 0:  # the first fills the cache of the file system
            ours.append(seconds)
            theirs.append(grep_seconds)
            memory = max(memory, peak)
    return {"name": name, "files": files, "mb": size / 1e6, "ours": statistics.median(ours), "best": min(ours),
            "theirs": statistics.median(theirs), "memory": memory / 1024}


def compare(gpulint, tree, rounds):
    """Returns the median times and the peak memory of a check, of a comparison with the last commit, and of hooks for one file.
    One hook compares staged changes, without and with a cache. The other hook gets the files as arguments."""
    # The background collection of git would disturb the measurement and remove counted objects.
    quiet = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"]
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *quiet]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "all"]):
        subprocess.run(git + command, cwd=tree, check=True)
    changed = "live/root-1/part-0.tf"
    with (tree / changed).open("a") as file:
        file.write('\nresource "aws_instance" "changed" {\n  instance_type = "g5.xlarge"\n}\n')
    subprocess.run(["git", *quiet, "add", changed], cwd=tree, check=True)
    options = ["--no-config", "--allow-empty", "--prices", "embedded"]
    staged = ["diff", "--staged", *options, "."]
    commands = {
        "check": ["check", *options, "."],
        "diff --base HEAD": ["diff", "--base", "HEAD", *options, "."],
        "hook, cold": staged,
        "hook, warm": staged,
        "hook of files": ["check", *options, "--", changed],
    }
    times, memory = {name: [] for name in commands}, dict.fromkeys(commands, 0)
    cache = Path(f"{tree}-cache")
    for turn in range(rounds + 1):
        for name, command in commands.items():
            if name.endswith("cold"):
                shutil.rmtree(cache, ignore_errors=True)
            seconds, peak = run([gpulint, *command], tree, {0, 1}, {"GPULINT_CACHE_DIR": str(cache)})
            if turn > 0:
                times[name].append(seconds)
                memory[name] = max(memory[name], peak)
    shutil.rmtree(cache, ignore_errors=True)
    return [(name, statistics.median(times[name]), memory[name]) for name in commands]


def run(command, directory, allowed, environment=None):
    start = time.perf_counter()
    environment = {**os.environ, **(environment or {})}
    process = subprocess.Popen(command, cwd=directory, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    if code not in allowed:
        sys.exit(f"{' '.join(command)} ended with {code}")
    return seconds, usage.ru_maxrss


def size_of(directory):
    files = [path for path in directory.rglob("*") if path.is_file() and ".git" not in path.parts]
    return len(files), sum(path.stat().st_size for path in files)


def table(rows):
    print("| what | files | MB | gpulint, median | best | ripgrep, median | ratio | memory |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['name']} | {row['files']:,} | {row['mb']:.1f} | {milliseconds(row['ours'])} | {milliseconds(row['best'])} "
              f"| {milliseconds(row['theirs'])} | {row['ours'] / row['theirs']:.2f} | {row['memory']:.0f} MiB |")


def milliseconds(seconds):
    return f"{seconds * 1000:,.1f} ms"


def generate(tree, files):
    """Generates a repository of `files` files: shared modules, roots that call them, services, jobs, and many unrelated files."""
    chance = random.Random(20261121)
    write(tree / ".gitignore", "node_modules/\n")
    for number in range(MODULES):
        write(tree / f"modules/pool-{number}/main.tf", module(number))
    terraform = files // 4 - MODULES
    for number in range(terraform):
        root = tree / f"live/root-{number % ROOTS}"
        write(root / f"part-{number // ROOTS}.tf", part(chance, number))
    for number in range(files - files // 4):
        write(tree / f"services/team-{number % 97}/service-{number}/manifest.yaml", manifest(chance, number))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def module(number):
    return f"""variable "size" {{
  type    = number
  default = {number % 4 + 1}
}}

variable "type" {{
  type    = string
  default = "g5.xlarge"
}}

resource "aws_eks_node_group" "this" {{
  cluster_name    = "shared"
  node_group_name = "pool-{number}"
  node_role_arn   = "role"
  subnet_ids      = ["subnet"]
  instance_types  = [var.type]
  labels          = {{ pool = "pool-{number}" }}

  scaling_config {{
    desired_size = var.size
    min_size     = 0
    max_size     = var.size * 2
  }}
}}
"""


def part(chance, number):
    if number < ROOTS:
        return f"""module "pool" {{
  source = "../../modules/pool-{number % MODULES}"
  size   = {number % 5}
}}

locals {{
  team = "team-{number % 97}"
}}
"""
    rules = "\n".join(f"""resource "aws_security_group_rule" "rule_{number}_{at}" {{
  type              = "ingress"
  from_port         = {chance.randrange(1, 65000)}
  to_port           = {chance.randrange(1, 65000)}
  protocol          = "tcp"
  cidr_blocks       = ["10.{chance.randrange(256)}.0.0/16"]
  security_group_id = "sg-{chance.randrange(1 << 40):x}"
  description       = "rule {at} of ${{local.team}}"
}}
""" for at in range(chance.randrange(1, 6)))
    return rules


def manifest(chance, number):
    gpu = number % 200 == 0
    limits = 'limits: { nvidia.com/gpu: 1 }' if gpu else 'limits: { cpu: "2", memory: 4Gi }'
    documents = []
    for at in range(chance.randrange(1, 8)):
        environment = "\n".join(f"            - {{ name: SETTING_{n}, value: \"{chance.randrange(1 << 60):x}\" }}"
                                for n in range(chance.randrange(4, 40)))
        documents.append(f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: service-{number}-{at}
  labels: {{ app: service-{number}, team: team-{number % 97} }}
spec:
  replicas: {chance.randrange(1, 9)}
  selector: {{ matchLabels: {{ app: service-{number} }} }}
  template:
    metadata: {{ labels: {{ app: service-{number} }} }}
    spec:
      containers:
        - name: main
          image: registry.example.com/service-{number}:{chance.randrange(1000)}
          env:
{environment}
          resources: {{ {limits if at == 0 else 'limits: { cpu: "1" }'} }}
""")
    config = "\n".join(f"  key-{n}: \"{chance.randrange(1 << 200):x}\"" for n in range(chance.randrange(0, 60)))
    documents.append(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: settings-{number} }}\ndata:\n{config}\n")
    return "---\n".join(documents)


def plot(growth):
    """Draws time and memory against the number of files."""
    width, height, edge = 640, 320, 48
    most = max(files for files, _ in growth)
    panels = []
    for name, color, value, unit in (("gpulint, s", "#2563eb", lambda row: row["ours"], "s"),
                                     ("ripgrep, s", "#9ca3af", lambda row: row["theirs"], "s"),
                                     ("memory, GiB", "#16a34a", lambda row: row["memory"] / 1024, "GiB")):
        panels.append((name, color, [(files, value(row)) for files, row in growth], unit))
    top = max(value for _, _, points, _ in panels for _, value in points) * 1.1
    place = lambda files, value: (edge + (width - 2 * edge) * files / most, height - edge - (height - 2 * edge) * value / top)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for step in range(5):
        value = top * step / 4
        _, y = place(0, value)
        lines.append(f'<line x1="{edge}" x2="{width - edge}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        lines.append(f'<text x="{edge - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for files, _ in growth:
        x, _ = place(files, 0)
        lines.append(f'<text x="{x:.1f}" y="{height - edge + 18}" text-anchor="middle">{files:,}</text>')
    for at, (name, color, points, _) in enumerate(panels):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(files, value) for files, value in points))
        lines.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>'
                  for x, y in (place(files, value) for files, value in points)]
        lines.append(f'<text x="{edge + 8 + at * 110}" y="{edge - 16}" fill="{color}">{name}</text>')
    lines.append(f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">files</text></svg>')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
