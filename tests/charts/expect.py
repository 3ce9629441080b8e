#!/usr/bin/env python3
"""Writes helm's output for each line of cases.txt to expected.txt, and checks that helm refuses each line of errors.txt.

    python3 tests/charts/expect.py HELM
"""

import base64
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
KUBERNETES = "v1.34.0"


def chart(directory, lines):
    (directory / "templates").mkdir(parents=True)
    (directory / "files").mkdir()
    (directory / "Chart.yaml").write_text((HERE / "Chart.yaml").read_text())
    (directory / "values.yaml").write_text((HERE / "values.yaml").read_text())
    (directory / "files/a.txt").write_text("one\ntwo\n")
    (directory / "files/b.conf").write_text("b: 1")
    (directory / "templates/_help.tpl").write_text('{{ define "help.name" }}name-{{ .a }}{{ end }}')
    for number, line in enumerate(lines):
        name = f"case.{number:03}"
        text = f'{{{{- define "{name}" -}}}}{line}{{{{- end -}}}}v: {{{{ include "{name}" . | b64enc | quote }}}}\n'
        # A line may define templates, which must not exist in another chart.
        if "{{- define" in line or "{{ block" in line:
            text = f"{{{{- $text := {quoted(line)} -}}}}v: {{{{ tpl $text . | b64enc | quote }}}}\n"
        (directory / f"templates/{number:03}.yaml").write_text(text)


def quoted(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rendered(helm, lines):
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch) / "cases"
        chart(directory, lines)
        command = [helm, "template", "cases", str(directory), "--kube-version", KUBERNETES]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    helm = sys.argv[1]
    lines = (HERE / "cases.txt").read_text().splitlines()
    done = rendered(helm, lines)
    if done.returncode:
        sys.exit(done.stderr)
    found = re.findall(r'# Source: cases/templates/(\d+)\.yaml\nv: "(.*)"', done.stdout)
    answers = {int(number): base64.b64decode(text).decode() for number, text in found}
    out = []
    for number, line in enumerate(lines):
        out.append(f"> {line}\n" + "".join(f"= {part}\n" for part in answers[number].split("\n")))
    (HERE / "expected.txt").write_text("\n".join(out))
    for line in (HERE / "errors.txt").read_text().splitlines():
        if rendered(helm, [line]).returncode == 0:
            print(f"helm takes {line}")


if __name__ == "__main__":
    main()
