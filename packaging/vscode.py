#!/usr/bin/env python3
"""Packs built programs as extensions for Visual Studio Code, one for each platform.

  vscode.py BINARIES OUT [LICENCES] [--target PLATFORM …]

BINARIES has one directory per target with its program. LICENCES is the output of licences.py. NOTICES.txt lists the bundled packages
with their licenses, and a package that `packaging/licences.toml` does not allow is refused. Needs node and npm. `npm ci` installs the
packages of `editors/vscode/package-lock.json` without running their scripts. The same programs give the same bytes.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXTENSION = os.path.join(SOURCE, "editors", "vscode")
# Static programs run on every Linux, including those with musl.
PLATFORMS = {
    "linux-x64": "x86_64-unknown-linux-musl",
    "alpine-x64": "x86_64-unknown-linux-musl",
    "linux-arm64": "aarch64-unknown-linux-musl",
    "alpine-arm64": "aarch64-unknown-linux-musl",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
    "win32-x64": "x86_64-pc-windows-msvc",
}
# The size limit of everything except the program, because users download it at each update.
MOST_BESIDE = 200_000
SHIPPED = ["package.json", "README.md", "icon.png", "dist/extension.js"]


def run(*command, cwd=EXTENSION):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


def epoch():
    told = os.environ.get("SOURCE_DATE_EPOCH")
    done = subprocess.run(["git", "-C", SOURCE, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return told or done.stdout.strip() or "0"


def notices():
    """Returns the packages in the bundle, each with its license text."""
    with open(os.path.join(SOURCE, "packaging", "licences.toml"), "rb") as file:
        allowed = tomllib.load(file)["allowed"]
    with open(os.path.join(EXTENSION, "dist", "inputs.json"), encoding="utf-8") as file:
        inputs = json.load(file)["inputs"]
    # A package may be inside another one.
    found = {match[0] for it in inputs if (match := re.match(r"(?:.*/)?node_modules/(?:@[^/]+/)?[^/]+", it))}
    parts = []
    for place in sorted(found):
        directory = os.path.join(EXTENSION, place)
        with open(os.path.join(directory, "package.json"), encoding="utf-8") as file:
            package = json.load(file)
        texts = sorted(it for it in os.listdir(directory) if re.match(r"licen[cs]e|copying", it, re.IGNORECASE))
        if package.get("license") not in allowed or not texts:
            sys.exit(f"error: {place}: `{package.get('license')}` is not allowed, or its text is not there")
        with open(os.path.join(directory, texts[0]), encoding="utf-8") as file:
            parts.append(f"{package['name']} {package['version']} ({package['license']})\n\n{file.read().strip()}\n")
    if not parts:
        sys.exit("error: nothing is known of what the bundle was made from")
    return f"\n{'-' * 80}\n\n".join(parts)


def lay(directory, program, licences):
    """Creates a directory with the content of an extension."""
    for name in SHIPPED:
        os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
        shutil.copyfile(os.path.join(EXTENSION, name), os.path.join(directory, name))
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md"]:
        shutil.copyfile(os.path.join(SOURCE, name), os.path.join(directory, name))
    if licences:
        shutil.copyfile(os.path.join(licences, "LICENCES.txt"), os.path.join(directory, "LICENCES.txt"))
    with open(os.path.join(directory, "NOTICES.txt"), "w", encoding="utf-8") as file:
        file.write(notices())
    os.mkdir(os.path.join(directory, "bin"))
    inside = os.path.join(directory, "bin", os.path.basename(program))
    shutil.copyfile(program, inside)
    os.chmod(inside, 0o755)
    # One license file, because the manifest names a single file.
    with open(os.path.join(directory, "LICENSE.txt"), "w", encoding="utf-8") as file:
        file.write("MIT or Apache-2.0, as you like. LICENSE-MIT and LICENSE-APACHE hold the texts, NOTICES.txt and LICENCES.txt those of others.\n")


def beside(archive):
    with zipfile.ZipFile(archive) as packed:
        if broken := packed.testzip():
            sys.exit(f"error: {archive}: {broken} is broken")
        entries = packed.infolist()
    programs = [it for it in entries if it.filename.startswith("extension/bin/")]
    if len(programs) != 1:
        sys.exit(f"error: {archive} holds {len(programs)} programs")
    return sum(it.compress_size for it in entries) - programs[0].compress_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries")
    parser.add_argument("out")
    parser.add_argument("licences", nargs="?")
    parser.add_argument("--target", action="append", choices=PLATFORMS, help="only this platform; may be given several times")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = epoch()
    with open(os.path.join(SOURCE, "Cargo.toml"), "rb") as file:
        version = tomllib.load(file)["package"]["version"]

    run("npm", "ci", "--ignore-scripts")
    run("npm", "run", "types")
    run("npm", "run", "bundle")
    for platform in arguments.target or PLATFORMS:
        target = PLATFORMS[platform]
        suffix = ".exe" if "windows" in target else ""
        name = f"gpulint-vscode-{version}-{platform}.vsix"
        out = os.path.join(os.path.abspath(arguments.out), name)
        program = os.path.join(os.path.abspath(arguments.binaries), target, f"gpulint{suffix}")
        if not os.path.isfile(program):
            sys.exit(f"error: {program} is not there, which the extension for {platform} holds")
        with tempfile.TemporaryDirectory(prefix="gpulint-vscode.") as directory:
            lay(directory, program, arguments.licences)
            vsce = os.path.join(EXTENSION, "node_modules", ".bin", "vsce")
            run(vsce, "package", version, "--no-dependencies", "--no-git-tag-version", "--no-update-package-json",
                "--target", platform, "--out", out, cwd=directory)
        bytes_beside = beside(out)
        if bytes_beside > MOST_BESIDE:
            sys.exit(f"error: {name} holds {bytes_beside} bytes beside the program, more than {MOST_BESIDE}")
        print(f"{name}  {os.path.getsize(out)} bytes, {bytes_beside} of them beside the program")


main()
