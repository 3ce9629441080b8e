"""Tests the features that an editor gets, by its announced capabilities."""

import pytest
from lsprotocol import types

from editor import CLIENTS, UTF8, UTF16, UTF32, check, editing, label, text_of, units

LEVELS = {"error": 1, "warning": 2, "note": 3, "info": 3}


def told(editor, names):
    """Returns the expected diagnostics of these files, from the command line."""
    return {(name, it.code, it.range.start.line + 1, int(it.severity)) for name in names for it in editor.shown(name)}


def wanted(report):
    counted = [it for it in report["findings"] if not it["suppressed"] and not it["baseline"]]
    return {(it["path"], it["rule"], it["line"], LEVELS[it["level"]]) for it in counted}


@pytest.mark.parametrize("like", CLIENTS)
async def test_what_is_told_is_what_check_says(workspace, like):
    report = check(workspace)
    names = {it["path"] for it in report["findings"]}
    assert len(names) == 3 and len(report["findings"]) > 8, report["findings"]
    async with editing(workspace, like=like) as editor:
        editor.open("terraform/main.tf")
        await editor.current("terraform/main.tf")
        await editor.until(lambda: told(editor, names) == wanted(report), "what check says")
        for finding in report["findings"]:
            shown = [it for it in editor.shown(finding["path"]) if it.code == finding["rule"] and it.range.start.line == finding["line"] - 1]
            assert any(finding["message"] in it.message and it.source == "gpulint" for it in shown), (finding, shown)
            if editor.capabilities.text_document.publish_diagnostics.code_description_support:
                assert all(it.code_description.href.endswith(f"rules/{it.code}.html") for it in shown), shown
        # Files that are not open have no version.
        assert editor.last("manifests/job.yaml").version is None


@pytest.mark.parametrize("like", CLIENTS)
async def test_a_server_offers_what_others_do_not(workspace, like):
    async with editing(workspace, like=like) as editor:
        offers = editor.server.capabilities
        assert offers.text_document_sync.change == types.TextDocumentSyncKind.Incremental
        assert offers.text_document_sync.open_close
        assert offers.hover_provider
        # An editor that cannot resolve actions later gets the edits in the list.
        resolves = editor.capabilities.text_document.code_action.resolve_support
        assert bool(offers.code_action_provider.resolve_provider) == bool(resolves and "edit" in resolves.properties)
        assert {types.CodeActionKind.QuickFix, "source.fixAll.gpulint"} <= set(offers.code_action_provider.code_action_kinds)
        assert offers.inlay_hint_provider or not editor.capabilities.text_document.inlay_hint
        # Each price is shown once: code lenses only without inlay hints.
        assert not (offers.inlay_hint_provider and offers.code_lens_provider)
        # Other servers have this feature, and editors use the first server that offers it.
        for name in ["document_formatting_provider", "definition_provider", "references_provider", "rename_provider",
                     "semantic_tokens_provider", "workspace_symbol_provider", "diagnostic_provider", "document_symbol_provider"]:
            assert not getattr(offers, name), name
        assert editor.server.server_info.name == "gpulint" and editor.server.server_info.version


@pytest.mark.parametrize(
    "offered, agreed",
    [(None, UTF16), ([UTF16], UTF16), ([UTF8, UTF16], UTF8), ([UTF16, UTF8], UTF8), ([UTF32, UTF16], None), ([UTF32], UTF32), ([], UTF16)],
)
async def test_an_encoding_is_agreed_on(workspace, offered, agreed):
    async with editing(workspace, like="neovim@v0.7.0", encodings=offered) as editor:
        if agreed:
            assert editor.encoding == agreed
        else:
            assert editor.encoding in offered


# One line, in which what is told stands behind letters of two and four bytes.
POD = """apiVersion: v1
kind: Pod
metadata: { name: notebook, labels: { team: research } }
spec:
  containers:
    - { name: train, env: [{ name: WHO, value: "é𝛼\u200d" }], image: "pytorch/pytorch:2.8", command: [torchrun, --nproc_per_node=2, train.py], resources: { limits: { nvidia.com/gpu: 2 } } }
"""


@pytest.mark.parametrize("encoding", [UTF8, UTF16, UTF32])
@pytest.mark.parametrize("shape", ["plain", "crlf", "bom", "tabs"])
async def test_columns_are_those_of_the_editor(workspace, encoding, shape):
    text = POD
    if shape == "crlf":
        text = text.replace("\n", "\r\n")
    if shape == "bom":
        text = "\ufeff" + text
    if shape == "tabs":
        text = text.replace("value: ", "value:\t")
    async with editing(workspace, encodings=[encoding]) as editor:
        editor.open("manifests/pod.yaml", text, "yaml")
        await editor.current("manifests/pod.yaml")
        found = [it for it in editor.shown("manifests/pod.yaml") if it.code == "missing-shm"]
        assert len(found) == 1, editor.shown("manifests/pod.yaml")
        line = text.splitlines()[5]
        start = found[0].range.start
        assert start.line == 5
        assert start.character in {units(line[: line.index(it)], encoding) for it in ("nvidia.com/gpu", "2 } }")}, (start, line)
        editor.offset(text, found[0].range.end)


async def test_a_change_between_wide_letters_is_taken_as_it_is_meant(workspace):
    for encoding in (UTF8, UTF16, UTF32):
        async with editing(workspace, encodings=[encoding]) as editor:
            editor.open("manifests/pod.yaml", POD, "yaml")
            await editor.current("manifests/pod.yaml")
            before = editor.rules("manifests/pod.yaml")
            assert "missing-shm" in before
            # Behind the wide letters, over a line end, and in several steps of one message.
            editor.replace("manifests/pod.yaml", "gpu: 2 } }", "gpu: 1 } }")
            editor.replace("manifests/pod.yaml", "--nproc_per_node=2", "--nproc_per_node=1")
            await editor.current("manifests/pod.yaml")
            assert "missing-shm" not in editor.rules("manifests/pod.yaml")
            editor.replace("manifests/pod.yaml", "gpu: 1 } }", "gpu: 2 } }")
            editor.replace("manifests/pod.yaml", "--nproc_per_node=1", "--nproc_per_node=2")
            await editor.current("manifests/pod.yaml")
            assert editor.rules("manifests/pod.yaml") == before


async def test_a_price_stands_at_the_end_of_the_line(workspace):
    async with editing(workspace) as editor:
        for name in ("terraform/main.tf", "terraform/notebook/main.tf"):
            editor.open(name)
        await editor.current("terraform/main.tf")
        hints = await editor.hints("terraform/main.tf")
        lines = editor.texts[editor.uri("terraform/main.tf")].splitlines()
        opened = next(at for at, line in enumerate(lines) if line.startswith('resource "google_container_node_pool"'))
        here = [it for it in hints if it.position.line == opened]
        assert len(here) == 1, hints
        assert here[0].position.character == units(lines[opened], editor.encoding)
        assert "10,726" in label(here[0]), label(here[0])
        inside = await editor.labels("terraform/notebook/main.tf")
        assert any("5,363" in it for it in inside.values()), inside
        # Only the requested kind is returned.
        nothing = types.InlayHintParams(
            text_document=editor.identifier("terraform/main.tf"),
            range=types.Range(start=types.Position(line=0, character=0), end=types.Position(line=2, character=0)),
        )
        assert not await editor.client.text_document_inlay_hint_async(nothing)


async def test_a_hover_says_how_a_price_came_to_be(workspace):
    async with editing(workspace) as editor:
        editor.open("terraform/main.tf")
        await editor.current("terraform/main.tf")
        lines = editor.texts[editor.uri("terraform/main.tf")].splitlines()
        opened = next(at for at, line in enumerate(lines) if line.startswith('resource "google_container_node_pool"'))
        hover = await editor.hover("terraform/main.tf", opened, 12)
        said = text_of(hover)
        assert "10,726" in said and "7.3467" in said, said
        # In other places, other servers answer.
        cluster = next(at for at, line in enumerate(lines) if "cluster " in line)
        assert await editor.hover("terraform/main.tf", cluster, 6) is None
        assert await editor.hover("terraform/main.tf", 0, 2) is None


async def test_old_editors_see_prices_in_the_hover(workspace):
    async with editing(workspace, like="neovim@v0.7.0") as editor:
        editor.open("terraform/main.tf")
        await editor.current("terraform/main.tf")
        assert "10,726" in text_of(await editor.hover("terraform/main.tf", 8, 12))


async def test_requests_that_make_no_sense_are_answered(workspace):
    async with editing(workspace) as editor:
        editor.open("terraform/main.tf")
        await editor.current("terraform/main.tf")
        assert await editor.hover("terraform/main.tf", 100_000, 100_000) is None
        assert await editor.hover("terraform/nobody.tf", 0, 0) is None
        assert not await editor.client.text_document_inlay_hint_async(types.InlayHintParams(
            text_document=editor.identifier("terraform/nobody.tf"),
            range=types.Range(start=types.Position(line=9, character=0), end=types.Position(line=2, character=0))))
        # By the protocol, a column after the end of the line means the end.
        editor.tell("terraform/main.tf", [types.TextDocumentContentChangePartial(
            range=types.Range(start=types.Position(line=0, character=5_000), end=types.Position(line=0, character=5_000)), text=" ")])
        await editor.current("terraform/main.tf")
