#!/usr/bin/env python3
"""Creates wheels from built programs, so that `pip install gpulint` compiles nothing.

  wheel.py BINARIES OUT [LICENCES]

BINARIES has one directory per target with its program, as for pack.sh: archives and wheels contain the same bytes.
The metadata come from pyproject.toml. LICENCES is the output of licences.py. The same programs give the same wheels: files
have the date of SOURCE_DATE_EPOCH, or of the packed commit.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import tomllib
import zipfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The platform tags of each target. The Linux programs are static and need no C library, and
# those for macOS need Rust's minimum version: 10.12 and 11.0 (rustc's list of targets, November 2026).
PLATFORMS = {
    "x86_64-unknown-linux-musl": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "aarch64-unknown-linux-musl": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "x86_64-apple-darwin": ["macosx_10_12_x86_64"],
    "aarch64-apple-darwin": ["macosx_11_0_arm64"],
    "x86_64-pc-windows-msvc": ["win_amd64"],
}


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def version():
    return tomllib.loads(read("Cargo.toml"))["package"]["version"]


def moment():
    """Returns the date of all files. A zip file allows no date before 1980."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if not said:
        git = subprocess.run(["git", "-C", SOURCE, "log", "-1", "--format=%ct"], capture_output=True, text=True)
        said = git.stdout.strip() or "0"
    return max(time.gmtime(int(said))[:6], (1980, 1, 1, 0, 0, 0))


def readme(repository):
    """Returns the README with absolute links."""
    tag = f"v{version()}"

    def whole(found):
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}[{found[2]}]({repository}/{kind}/{tag}/{found[3]})"

    text = re.sub(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)", whole, read("README.md"))
    return re.sub(r'\b(src|srcset)="(?![a-z]+:)([^"]+)"', rf'\1="{repository}/raw/{tag}/\2"', text)


def metadata(project, licences):
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version()}"]
    lines += [f"Summary: {project['description']}", f"Keywords: {','.join(project['keywords'])}"]
    lines += [f"License-Expression: {project['license']}"]
    lines += [f"License-File: {name}" for name in licences]
    lines += [f"Project-URL: {name}, {url}" for name, url in project["urls"].items()]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += ["Description-Content-Type: text/markdown", "", readme(project["urls"]["Source"])]
    return "\n".join(lines)


def program(directory):
    names = [name for name in sorted(os.listdir(directory)) if name in ("gpulint", "gpulint.exe")]
    if len(names) != 1:
        sys.exit(f"error: {directory} holds no program")
    return names[0]


def contents(project, directory, platforms, extra):
    """Returns the bytes of each path in the wheel, without the file list."""
    base = f"{project['name']}-{version()}"
    texts = {name: read(name).encode() for name in sorted(os.listdir(SOURCE)) if name.startswith("LICENSE-")}
    bill = {}
    for name in sorted(os.listdir(extra)) if extra else []:
        with open(os.path.join(extra, name), "rb") as file:
            (bill if name.endswith(".json") else texts)[name] = file.read()
    name = program(directory)
    with open(os.path.join(directory, name), "rb") as file:
        files = {f"{base}.data/scripts/{name}": file.read()}
    info = f"{base}.dist-info"
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    files[f"{info}/METADATA"] = metadata(project, texts).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: gpulint\nRoot-Is-Purelib: false\n{tags}".encode()
    files |= {f"{info}/licenses/{name}": text for name, text in texts.items()}
    files |= {f"{info}/sboms/{name}": text for name, text in bill.items()}
    return files, f"{info}/RECORD"


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(path, files, record, at):
    listed = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[record] = f"{listed}{record},,\n".encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, at)
            entry.create_system = 3  # else the mode is not taken for one, and the program may not be run
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    binaries, out = sys.argv[1:3]
    project = tomllib.loads(read("pyproject.toml"))["project"]
    os.makedirs(out, exist_ok=True)
    for target in sorted(os.listdir(binaries)):
        if target not in PLATFORMS:
            sys.exit(f"error: no installer has a name for {target}")
        platforms = PLATFORMS[target]
        files, record = contents(project, os.path.join(binaries, target), platforms, (sys.argv[3:] or [None])[0])
        name = f"{project['name']}-{version()}-py3-none-{'.'.join(platforms)}.whl"
        write(os.path.join(out, name), files, record, moment())
        print(name)


if __name__ == "__main__":
    main()
