"""Remembers which hosts accept connections. A run does not connect again to a host that refused.

git waits minutes for such a host. Without this memory, the fleet would wait again for each repository of the host.
"""

import socket
import threading
import urllib.request

from .address import DEFAULT_PORTS

CONNECT_SECONDS = 5

# (host, port) → why the host accepts no connection, or None if it accepted one. Each process has its own memory.
KNOWN = {}


def forget():
    KNOWN.clear()


def remember_silent(address, problem):
    KNOWN[address.host, address.port] = problem


def forget_open(address):
    """Makes `find_problem` connect again, because git failed to."""
    if not KNOWN.get((address.host, address.port), True):
        del KNOWN[address.host, address.port]


def find_problem(address):
    """Returns why the host of an address cannot be reached, or None. It takes `CONNECT_SECONDS` at most."""
    key = address.host, address.port
    if key not in KNOWN and is_direct(address):
        KNOWN[key] = connect(address)
    return KNOWN.get(key)


def is_direct(address):
    """Returns whether git itself connects to the host, without a proxy or ssh, whose settings can rename the host."""
    if address.scheme not in ("https", "http"):
        return False
    proxies = urllib.request.getproxies()
    return not (address.scheme in proxies or "all" in proxies) or bool(urllib.request.proxy_bypass(address.host))


def connect(address):
    host, port = address.host.strip("[]"), address.port or DEFAULT_PORTS[address.scheme]
    problems = []

    def work():
        try:
            socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
            problems.append(None)
        except OSError as error:
            problems.append(f"{host} port {port}: {error.strerror or error}")

    # The system's resolver has no time limit. A daemon thread that waits for it does not block the end of the process.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    return problems[0] if problems else f"{host} port {port}: no connection within {CONNECT_SECONDS} seconds"
