#!/usr/bin/env python3
"""Checks the files of a release for rehearse.sh. Prints what it compared, and exits with 1 at the first problem.

  rehearse.py bill BILL PROGRAM             each crate whose name the program contains is in the bill of materials
  rehearse.py formula FORMULA DIST          each checksum in a formula or container file is that of its archive in DIST
  rehearse.py step CONTAINERFILE            print the command that installs the program in the image
  rehearse.py code PAGE INFO                print the first code block of a page with this info string
  rehearse.py server PROGRAM DIRECTORY      an editor can start the program and shut it down
  rehearse.py book DIRECTORY                each link inside the book leads to a page and a heading
  rehearse.py report BEFORE AFTER           a program that reads the JSON report BEFORE can read AFTER
  rehearse.py baseline BASELINE REPORT      the baseline accepts each finding of the report that it lists
"""

import hashlib
import html.parser
import json
import os
import re
import subprocess
import sys
import urllib.parse


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def fail(problem):
    sys.exit(f"error: {problem}")


def bill(path, program):
    document = json.loads(read(path))
    listed = {(part["name"], part.get("version")) for part in document["components"]}
    with open(program, "rb") as file:
        content = file.read()
    # Messages of a panic contain the path of the source file. build.sh replaces the part that names this machine.
    found = set(re.findall(rb"/cargo/registry/src/[^/\0]+/([A-Za-z0-9_-]+?)-([0-9]+\.[0-9][0-9A-Za-z.+-]*)/", content))
    found = {(name.decode(), version.decode()) for name, version in found}
    if len(found) < 20:
        fail(f"{program} names only {len(found)} crates")
    if missing := sorted(found - listed):
        fail(f"{path} does not list {missing}")
    main = document["metadata"]["component"]
    print(f"{len(listed)} parts of {main['name']} {main['version']}; the program names {len(found)} of them")


def formula(path, dist):
    text = read(path)
    # A container file sets the target and its checksum on one line, and a formula has an address and its checksum.
    pairs = re.findall(r"target=(\S+); sum=(\S+)", text)
    pairs += re.findall(r'url "\S*/gpulint-[0-9][0-9.]*-(\S+)\.tar\.gz"\s+sha256 "(\S+)"', text)
    version = re.search(r"/releases/download/v([0-9A-Za-z.+-]+)/", text)[1]
    compared, missing = 0, []
    for target, checksum in pairs:
        archive = os.path.join(dist, f"gpulint-{version}-{target}.tar.gz")
        if not os.path.exists(archive):
            if checksum != f"@SHA256:{target}@":
                fail(f"{path} has the checksum {checksum}, and {archive} does not exist")
            missing.append(target)
            continue
        with open(archive, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != checksum:
                fail(f"{path} has another checksum than {archive}")
        compared += 1
    if not compared or len(pairs) != len(set(re.findall(r"(?:aarch64|x86_64)-[a-z]+-[a-z]+(?:-[a-z]+)?", text))):
        fail(f"{path} names a target without a checksum")
    # A release has every target, and the workflow refuses a file with a placeholder.
    if left := set(re.findall(r"@[A-Z0-9]+[:@]", text)) - {"@SHA256:"} or (not missing and "@SHA256:" in text):
        fail(f"{path} still has placeholders: {left}")
    print(f"{compared} checksums agree; placeholders for targets that were not built: {', '.join(missing) or 'none'}")


def step(path):
    lines, taken = read(path).splitlines(), []
    for line in lines[next(at for at, line in enumerate(lines) if line.startswith("RUN ")) :]:
        taken.append(line)
        if not line.endswith("\\"):
            break
    print("\n".join(taken).removeprefix("RUN ").replace("\\\n", ""))


def code(page, info):
    print(read(page).split(f"\n```{info}\n", 1)[1].split("\n```\n", 1)[0])


def server(program, directory):
    process = subprocess.Popen([os.path.abspath(program), "server"], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(message):
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        process.stdin.flush()

    def answer(number):
        while True:
            length = None
            while line := process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if length is None:
                fail(f"{program} ended without an answer")
            message = json.loads(process.stdout.read(length))
            if message.get("id") == number and "method" not in message:
                return message["result"]

    root = "file://" + urllib.parse.quote(os.path.abspath(directory))
    send({"id": 1, "method": "initialize", "params": {"processId": os.getpid(), "rootUri": root, "capabilities": {}}})
    result = answer(1)
    send({"method": "initialized", "params": {}})
    send({"id": 2, "method": "shutdown"})
    answer(2)
    send({"method": "exit"})
    if code := process.wait(20):
        fail(f"{program} server exited with {code}")
    print(f"initialize: {result['serverInfo']['name']} {result['serverInfo']['version']}, {len(result['capabilities'])} capabilities")


class Page(html.parser.HTMLParser):
    """The links and the names of places of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(read(path))

    def handle_starttag(self, _, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.names.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def book(directory):
    paths = [os.path.join(at, name) for at, _, names in os.walk(directory) for name in names if name.endswith(".html")]
    pages = {os.path.realpath(path): Page(path) for path in paths}
    followed = 0
    for path, page in pages.items():
        if os.path.basename(path) in ("404.html", "toc.html"):
            continue  # their links begin at the address of the published book
        for link in page.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                continue
            there = os.path.join(os.path.dirname(path), urllib.parse.unquote(address.path)) if address.path else path
            there = os.path.realpath(os.path.join(there, "index.html") if there.endswith("/") else there)
            if not os.path.isfile(there):
                fail(f"{path}: {link} leads to no file")
            name = urllib.parse.unquote(address.fragment)
            if name and there in pages and name not in pages[there].names:
                fail(f"{path}: {link} leads to no heading")
            followed += 1
    if not os.path.isfile(os.path.join(directory, "index.html")) or followed < 1000:
        fail(f"{directory} has no first page, or only {followed} links")
    print(f"{len(pages)} pages, {followed} links inside the book")


def paths(value, at=""):
    """Yields the path of each field with the type of its value; `[]` stands for all elements of a list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{at}.{name}", type(inner).__name__.replace("int", "float")
            yield from paths(inner, f"{at}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}[]")


def report(before, after):
    reports = [json.loads(read(path)) for path in (before, after)]
    if reports[0]["version"] != reports[1]["version"]:
        fail(f"version {reports[0]['version']} became {reports[1]['version']}")
    fields = [{}, {}]
    for found, document in zip(fields, reports):
        for path, kind in paths(document):
            found.setdefault(path, set()).add(kind)
    gone = sorted(set(fields[0]) - set(fields[1]))
    changed = [path for path in fields[0] if path in fields[1] and (fields[0][path] ^ fields[1][path]) - {"NoneType"}]
    print(f"version {reports[0]['version']} in both; {len(fields[0])} fields before, {len(fields[1])} after")
    if gone or changed:
        fail(f"fields without a value after: {gone}; with another type: {changed}")


def baseline(path, report):
    """Compares by rule, file and resource: an entry also knows facts and a price, which a new version can correct."""
    entries = {(it["rule"], it["path"], it.get("address")) for it in json.loads(read(path))["entries"]}
    findings = [it for it in json.loads(read(report))["findings"] if not it["suppressed"]]
    known = [it for it in findings if (it["rule"], it["path"], it["address"]) in entries]
    accepted = [it for it in known if it["baseline"]]
    print(f"{len(entries)} entries; {len(accepted)} of {len(known)} findings with an entry are accepted; {len(findings) - len(known)} have none")
    for finding in known:
        if not finding["baseline"]:
            print(f"  reported again: {finding['rule']} {finding['path']} {finding['address']}: {finding['message']}")
    if not accepted:
        fail(f"{path} accepts nothing")


def main():
    checks = [bill, formula, step, code, server, book, report, baseline]
    chosen = next((check for check in checks if [check.__name__] == sys.argv[1:2]), None)
    if not chosen:
        sys.exit(__doc__)
    chosen(*sys.argv[2:])


if __name__ == "__main__":
    main()
