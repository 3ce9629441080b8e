#!/usr/bin/env python3
"""Measures the time from a keystroke to its diagnostics: `gpulint server` with trees of several sizes, one letter at a time.

    python3 benches/keystrokes.py target/dist/gpulint [--edits 200] [--memory 100000]

The next edit is sent after the answer to the previous one. `whole.py` generates the trees."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import whole  # noqa: E402


class Editor:
    def __init__(self, program, folder):
        self.process = subprocess.Popen(
            [program, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.folder = folder
        capabilities = {"general": {"positionEncodings": ["utf-8"]}, "textDocument": {"inlayHint": {}}}
        self.send({"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities}})
        self.wait(lambda it: it.get("id") == 1)
        self.say("initialized", {})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def say(self, method, params):
        self.send({"method": method, "params": params})

    def wait(self, is_wanted):
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    length = int(value)
            message = json.loads(self.process.stdout.read(length))
            if is_wanted(message):
                return message

    def told(self, uri, version):
        def is_it(message):
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and params.get("version") == version
            )

        return self.wait(is_it)

    def memory_mib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) // 1024


def typed(editor, file, edits, each_so_many=0):
    """Returns the milliseconds of each edit, and samples of the memory."""
    uri, text = file.as_uri(), file.read_text()
    began = time.perf_counter()
    editor.say("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "terraform", "version": 1, "text": text}})
    editor.told(uri, 1)
    first = (time.perf_counter() - began) * 1000
    line = text.count("\n") // 2
    taken, memory = [], []
    for number in range(edits):
        version = number + 2
        at = {"line": line, "character": 0}
        after = at if number % 2 == 0 else {"line": line + 1, "character": 0}
        new = f"# {number}\n" if number % 2 == 0 else ""
        change = {"range": {"start": at, "end": after}, "text": new}
        began = time.perf_counter()
        document = {"uri": uri, "version": version}
        editor.say("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        editor.told(uri, version)
        taken.append((time.perf_counter() - began) * 1000)
        if each_so_many and number % each_so_many == 0:
            memory.append(editor.memory_mib())
    return first, sorted(taken), memory


def report(name, editor, file, edits):
    first, taken, _ = typed(editor, file, edits)
    middle, late = taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
    print(f"| {name} | {first:.0f} ms | {middle:.1f} ms | {late:.1f} ms | {editor.memory_mib()} MiB |", flush=True)
    editor.process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--memory", type=int, default=0, help="so many edits of the small root, with its memory")
    parser.add_argument("--files", type=int, nargs="*", default=[5_625, 45_000])
    arguments = parser.parse_args()
    small = Path(__file__).parent.parent.resolve() / "examples/training-platform-eks"
    print("| what | opened | median | p99 | memory |\n|---|---|---|---|---|")
    report("one small root", Editor(arguments.program, small), small / "main.tf", arguments.edits)
    for count in arguments.files:
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory).resolve() / "tree"
            whole.generate(folder, count)
            edited = sorted(folder.rglob("live/**/*.tf"))[0]
            report(f"monorepo of {count:,} files", Editor(arguments.program, folder), edited, arguments.edits)
    if arguments.memory:
        editor = Editor(arguments.program, small)
        _, _, memory = typed(editor, small / "main.tf", arguments.memory, max(1, arguments.memory // 10))
        print(f"\nmemory over {arguments.memory:,} edits, in MiB: {memory}")
        editor.process.kill()


if __name__ == "__main__":
    main()
