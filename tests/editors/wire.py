"""Controls a server through its pipes, byte by byte, for messages that no editor sends."""

import json
import os
import queue
import subprocess
import threading

from editor import PATIENCE_SECONDS, PROGRAM


class Wire:
    def __init__(self, directory, *arguments):
        self.process = subprocess.Popen(
            [PROGRAM, "server", *arguments], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.came, self.number = queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def read(self):
        out = self.process.stdout
        while True:
            length = None
            while (line := out.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length is None:
                return self.came.put(None)
            self.came.put(json.loads(out.read(length)))

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def say(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method, params=None):
        self.say(method=method, **({} if params is None else {"params": params}))

    def ask(self, method, params=None):
        self.number += 1
        self.say(id=self.number, method=method, **({} if params is None else {"params": params}))
        return self.answer(self.number)

    def answer(self, number):
        while True:
            message = self.came.get(timeout=PATIENCE_SECONDS)
            assert message is not None, f"it is gone: {self.process.wait()} {self.process.stderr.read()}"
            if message.get("id") == number and "method" not in message:
                return message

    def begin(self, directory=None, **more):
        uri = directory.as_uri() if directory else None
        folders = [{"uri": uri, "name": "it"}] if uri else None
        answer = self.ask("initialize", {"processId": os.getpid(), "rootUri": uri, "workspaceFolders": folders, "capabilities": {}, **more})
        self.notify("initialized", {})
        return answer["result"]

    def code(self, seconds):
        return self.process.wait(timeout=seconds)
