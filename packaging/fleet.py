#!/usr/bin/env python3
"""Creates the wheel of gpulint-fleet.

  fleet.py OUT

The metadata come from fleet/pyproject.toml. No build tool of an index is necessary, and the same sources give the same wheel: files have
the date of SOURCE_DATE_EPOCH, or of the packed commit. Refuses another version than that of gpulint.
"""

import os
import re
import sys
import tomllib

import wheel

# setuptools knows more keys. A key that this script does not know would be missing in the wheel.
KNOWN = {
    "name", "version", "description", "license", "readme", "requires-python", "dependencies", "optional-dependencies", "scripts",
    "urls",
}


def requirements(project):
    """Returns the lines of the metadata about other packages."""
    lines = [f"Requires-Dist: {needed}" for needed in project["dependencies"]]
    for extra, packages in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"]
        lines += [f'Requires-Dist: {needed}; extra == "{extra}"' for needed in packages]
    return lines


def metadata(project, licences):
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {project['version']}"]
    lines += [f"Summary: {project['description']}", f"License-Expression: {project['license']}"]
    lines += [f"License-File: {name}" for name in licences]
    lines += [f"Project-URL: {name}, {url}" for name, url in project["urls"].items()]
    lines += [f"Requires-Python: {project['requires-python']}", *requirements(project)]
    lines += ["Description-Content-Type: text/markdown", "", wheel.read("fleet", project["readme"])]
    return "\n".join(lines)


def modules(settings):
    """Returns the bytes of each file of the packages: modules, and the data that the settings name."""
    files = {}
    for package in settings["packages"]:
        directory = os.path.join(wheel.SOURCE, "fleet", package)
        data = settings["package-data"].get(package, [])
        for name in sorted(os.listdir(directory)):
            if name.endswith(".py") or name in data:
                with open(os.path.join(directory, name), "rb") as file:
                    files[f"{package}/{name}"] = file.read()
    return files


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    settings = tomllib.loads(wheel.read("fleet", "pyproject.toml"))
    project = settings["project"]
    if unknown := set(project) - KNOWN:
        sys.exit(f"error: fleet/pyproject.toml has keys that packaging/fleet.py does not write: {', '.join(sorted(unknown))}")
    if project["version"] != wheel.version():
        sys.exit(f"error: gpulint-fleet is {project['version']} and gpulint is {wheel.version()}: run packaging/pin.sh")
    licences = {name: wheel.read(name).encode() for name in sorted(os.listdir(wheel.SOURCE)) if name.startswith("LICENSE-")}
    files = modules(settings["tool"]["setuptools"])
    base = f"{re.sub('[-_.]+', '_', project['name'])}-{project['version']}"
    info = f"{base}.dist-info"
    files[f"{info}/METADATA"] = metadata(project, licences).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: gpulint\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    scripts = "".join(f"{name} = {place}\n" for name, place in project["scripts"].items())
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    files |= {f"{info}/licenses/{name}": text for name, text in licences.items()}
    os.makedirs(out, exist_ok=True)
    name = f"{base}-py3-none-any.whl"
    wheel.write(os.path.join(out, name), files, f"{info}/RECORD", wheel.moment())
    print(name)


if __name__ == "__main__":
    main()
