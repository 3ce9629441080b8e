#!/usr/bin/env python3
"""Measures which share of the workloads that name a model anywhere in their text is recognized.

    python3 tests/fit/recognition.py target/debug/gpulint DIRECTORY-OF-REPOSITORIES [--list]

What a text names is found by words alone, without gpulint: names of families of models with a size or a version, and
identifiers of the hub in the document or block of each resource. That over-counts (a comment, a client, a label), so the
share is a lower bound; --list prints each resource with what the words say and what gpulint read, for reading.
"""

import json
import pathlib
import re
import subprocess
import sys

FAMILIES = (
    r"llama|mistral|mixtral|ministral|codestral|qwen|qwq|gemma|phi|deepseek|falcon|gpt-oss|gpt2|gpt-j|gpt-neox?|opt|bloomz?|"
    r"starcoder|codellama|vicuna|zephyr|granite|command-r|yi|internlm|baichuan|chatglm|glm|dbrx|olmo|nemotron|solar|"
    r"smollm|tinyllama|stablelm|mpt|flan-t5|t5|bert|distilbert|roberta|bge|gte|e5|minilm|whisper|stable-diffusion|sdxl|"
    r"flux|llava|pixtral|kimi|minimax|dolly|pythia|nv-embedqa|parakeet|aya|jamba|mamba|moonlight|seed-oss|exaone|vit|clip"
)
NAME = re.compile(
    rf"(?<![\w.])(?:[\w.-]+/)*[\w.]*?(?:{FAMILIES})[-_:.]?v?\d[\w.:-]*|"
    rf"(?<![\w.])(?:facebook|meta-llama|mistralai|google|microsoft|Qwen|deepseek-ai|BAAI|openai|sentence-transformers|"
    rf"stabilityai|nvidia|HuggingFaceH4|TheBloke|NousResearch|EleutherAI|bigscience|tiiuae|black-forest-labs|ibm-granite)"
    rf"/(?:{FAMILIES})[\w.:-]*",
    re.IGNORECASE,
)


def body(lines, at, front_end):
    """The document or block around a line."""
    start = end = at
    if front_end in ("terraform", "plan"):
        while end < len(lines) and not lines[end].startswith("}"):
            end += 1
        return lines[start : end + 1]
    while start > 0 and not lines[start - 1].startswith("---"):
        start -= 1
    while end < len(lines) and not lines[end].startswith("---"):
        end += 1
    return lines[start:end]


def said(value):
    if not isinstance(value, dict):
        return None
    if "value" in value:
        return str(value["value"])
    return "unknown: " + str(value.get("unknown", value.get("reason", "?")))


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if len(arguments) != 2:
        sys.exit(__doc__)
    binary, corpus = arguments
    counts = {"recognized": 0, "unknown, with a cause": 0, "missed": 0}
    silent = 0
    for repository in sorted(pathlib.Path(corpus).iterdir()):
        command = [binary, "inspect", str(repository), "--format", "json", "--no-config"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=corpus)
        if not done.stdout.startswith("{"):
            continue
        for resource in json.loads(done.stdout)["resources"]:
            path = pathlib.Path(corpus) / resource["path"]
            try:
                lines = path.read_text(errors="replace").splitlines()
            except OSError:
                continue
            text = "\n".join(
                line for line in body(lines, resource["line"] - 1, resource["front_end"]) if not line.lstrip().startswith("#")
            )
            found = sorted({match.group(0) for match in NAME.finditer(text)})
            model = said(resource["model"])
            if not found:
                silent += model is not None and not model.startswith("unknown")
                continue
            kind = "missed" if model is None else "unknown, with a cause" if model.startswith("unknown") else "recognized"
            counts[kind] += 1
            if "--list" in sys.argv:
                print(f"{kind:<22} {resource['path']}:{resource['line']} {resource['address']}")
                print(f"    words {found[:4]}  gpulint {model}  program {said(resource['facts'].get('program'))}")
    total = sum(counts.values())
    for kind, count in counts.items():
        print(f"{kind:<22} {count:>4} of {total}: {count / max(total, 1):.1%}")
    print(f"models that only gpulint read (variables, files elsewhere): {silent}")


if __name__ == "__main__":
    main()
