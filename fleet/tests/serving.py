"""A code host on the loopback address: git's http-backend, behind the answers of busy hosts."""

import base64
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Served:
    """`refuse` gets each request first. It returns an answer (code, headers, body), or None to let the request pass."""

    def __init__(self, refuse=lambda request: None, root=None, tls=None):
        served = self
        self.requests = []

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                served.requests.append((self.command, self.path, dict(self.headers), body))
                answer = refuse(self)
                if answer is None:
                    answer = from_git(root, self, body)
                code, headers, text = answer
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = handle_any

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def from_git(root, request, body):
    path, _, query = request.path.partition("?")
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": request.command,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "REMOTE_USER": "x",
    }
    done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment)
    head, _, text = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
    return int(headers.pop("Status", "200").split()[0]), headers, text


def password(request):
    said = request.headers.get("Authorization", "")
    return (
        base64.b64decode(said.removeprefix("Basic ")).decode().partition(":")[2] if said.startswith("Basic ") else None
    )


ASK = (401, {"WWW-Authenticate": 'Basic realm="git"'}, b"who are you?")
