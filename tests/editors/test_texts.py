"""Tests unsaved changes, changes by other programs, and folder paths."""

import asyncio
import os
import pathlib
import random

import pytest
from lsprotocol import types

from editor import UTF8, UTF16, check, copied, editing, types_path

MAIN, VARIABLES, JOB = "terraform/main.tf", "terraform/variables.tf", "manifests/job.yaml"
NEW = 'resource "google_compute_instance" "more" {\n  name         = "more"\n  machine_type = "a2-highgpu-1g"\n  zone         = "us-central1-a"\n}\n'


async def priced(editor, name, amount):
    async def has():
        return any(amount in it for it in (await editor.labels(name)).values())

    for _ in range(600):
        if await has():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{name} has no {amount}: {await editor.labels(name)}")


async def test_a_variable_that_is_not_saved_changes_the_price_elsewhere(workspace):
    async with editing(workspace) as editor:
        editor.open(MAIN)
        editor.open(VARIABLES)
        await editor.current(MAIN)
        await priced(editor, MAIN, "10,726")
        refreshed = editor.refreshed
        editor.replace(VARIABLES, "a2-highgpu-2g", "a2-highgpu-8g")
        await priced(editor, MAIN, "42,9")
        await editor.until(lambda: any("42,9" in it.message for it in editor.shown(MAIN)), "the new amount")
        assert editor.refreshed > refreshed, "an editor asks for hints of a file only when its text changes"
        assert pathlib.Path(editor.path(VARIABLES)).read_text().count("8g") == 0


async def test_a_file_that_was_never_saved_counts(workspace):
    async with editing(workspace) as editor:
        editor.open("terraform/more.tf", NEW)
        await editor.current("terraform/more.tf")
        assert "missing-auto-shutdown" in editor.rules("terraform/more.tf")
        # Closing without saving discards the changes.
        editor.close("terraform/more.tf")
        await editor.until(lambda: editor.shown("terraform/more.tf") == [], "nothing of a file that is not there")


async def test_what_others_write_counts(workspace):
    async with editing(workspace) as editor:
        editor.open(MAIN)
        await editor.current(MAIN)
        more = workspace / "terraform/more.tf"
        more.write_text(NEW)
        editor.watch("terraform/more.tf", types.FileChangeType.Created)
        await editor.until(lambda: editor.shown("terraform/more.tf"), "a new file")
        more.rename(workspace / "terraform/other.tf")
        editor.watch("terraform/more.tf", types.FileChangeType.Deleted)
        editor.watch("terraform/other.tf", types.FileChangeType.Created)
        await editor.until(lambda: editor.shown("terraform/other.tf") and not editor.shown("terraform/more.tf"), "the new name")
        (workspace / "terraform/other.tf").unlink()
        editor.watch("terraform/other.tf", types.FileChangeType.Deleted)
        await editor.until(lambda: not editor.shown("terraform/other.tf"), "a deleted file")
        # For an open file, the editor's text counts, even if another program writes the file.
        (workspace / MAIN).write_text("")
        editor.watch(MAIN, types.FileChangeType.Changed)
        await editor.quiet()
        assert editor.rules(MAIN)


async def test_saving_is_enough_where_nobody_watches(workspace):
    """Neovim tells of no files on Linux: what is saved tells that others may have changed too."""
    async with editing(workspace, like="neovim@v0.7.0") as editor:
        editor.open(MAIN)
        await editor.current(MAIN)
        (workspace / "terraform/more.tf").write_text(NEW)
        editor.save(MAIN)
        await editor.until(lambda: editor.shown("terraform/more.tf"), "a new file")


async def test_settings_count_as_they_are_edited(workspace):
    async with editing(workspace) as editor:
        editor.open("gpulint.toml", language="toml")
        editor.open(MAIN)
        await editor.current(MAIN)
        assert "on-demand-batch" in editor.rules(MAIN)
        editor.splice("gpulint.toml", len(editor.texts[editor.uri("gpulint.toml")]), len(editor.texts[editor.uri("gpulint.toml")]), 'ignore = ["on-demand-batch"]\n')
        await editor.until(lambda: "on-demand-batch" not in editor.rules(MAIN), "what is ignored")
        # An invalid setting is reported at its place, and other diagnostics stay.
        editor.replace("gpulint.toml", "ignore", "ignroe")
        await editor.until(lambda: editor.shown("gpulint.toml"), "a mistake in the settings")
        assert editor.shown("gpulint.toml")[0].range.start.line == 2
        editor.replace("gpulint.toml", "ignroe", "ignore")
        await editor.until(lambda: not editor.shown("gpulint.toml") and editor.rules(MAIN), "the settings again")


async def test_two_folders_are_two_worlds(tmp_path):
    one, other = copied(tmp_path / "one"), copied(tmp_path / "other")
    (other / "gpulint.toml").write_text('ignore = ["on-demand-batch"]\n')
    async with editing(one, other) as editor:
        await editor.until(lambda: editor.rules(MAIN) and editor.rules(str(other / MAIN)), "both folders")
        assert "on-demand-batch" in editor.rules(MAIN) and "on-demand-batch" not in editor.rules(str(other / MAIN))
        # The amounts are those of each alone.
        assert {it.message for it in editor.shown(MAIN)} > {it.message for it in editor.shown(str(other / MAIN)) if it.code == "missing-auto-shutdown"}
        folder = types.WorkspaceFolder(uri=other.as_uri(), name="other")
        gone = types.WorkspaceFoldersChangeEvent(added=[], removed=[folder])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event=gone))
        await editor.until(lambda: not editor.shown(str(other / MAIN)), "the folder is closed")
        assert editor.rules(MAIN)
        back = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event=back))
        await editor.until(lambda: editor.shown(str(other / MAIN)), "the folder again")


async def test_a_folder_in_a_folder_is_told_once(workspace):
    async with editing(workspace, workspace / "terraform") as editor:
        editor.open(MAIN)
        await editor.current(MAIN)
        await editor.quiet()
        found = [it for it in editor.shown(MAIN) if it.code == "on-demand-batch"]
        assert len(found) == 1, found


async def test_a_part_of_a_repository_has_its_settings(workspace):
    (workspace / "gpulint.toml").write_text('profile = "all"\nignore = ["on-demand-batch"]\n')
    async with editing(workspace / "terraform") as editor:
        editor.open("main.tf")
        await editor.current("main.tf")
        assert editor.rules("main.tf") and "on-demand-batch" not in editor.rules("main.tf")


async def test_a_file_alone_has_its_prices(workspace):
    """Editors open files without a folder."""
    async with editing() as editor:
        editor.folders = [workspace]
        editor.open(MAIN)
        await editor.current(MAIN)
        assert "on-demand-batch" in editor.rules(MAIN)


NAMES = ["with space", "a+b", "a#b", "100%", "%23", "é𝛼", "a&b=c", "[x]", "~"]


@pytest.mark.parametrize("name", NAMES)
async def test_a_path_may_be_called_anything(tmp_path, name):
    here = copied(tmp_path / name)
    async with editing(here) as editor:
        editor.open(MAIN)
        await editor.current(MAIN)
        assert "on-demand-batch" in editor.rules(MAIN)
        # Which signs are escaped is for each to choose; the file is the same.
        assert {types_path(params.uri) for _, params in editor.published} >= {str(here / it) for it in (MAIN, JOB)}


async def test_an_editor_may_write_a_path_as_it_likes(tmp_path):
    """VS Code escapes more than Python does; answers have the name that the editor chose."""
    here = copied(tmp_path / "a+b é")
    async with editing(here) as editor:
        plain = pathlib.Path(editor.path(MAIN)).as_uri()
        escaped = plain.replace("+", "%2B").replace("main.tf", "m%61in.tf")
        assert escaped != plain
        text = pathlib.Path(editor.path(MAIN)).read_text()
        await editor.until(lambda: editor.published, "what was found before anything was opened")
        editor.open(escaped, text)
        await editor.until(lambda: any(params.uri == escaped and params.diagnostics for _, params in editor.published), "its own name")
        last = {params.uri: params.diagnostics for _, params in editor.published}
        under = [uri for uri, found in last.items() if found and types_path(uri) == editor.path(MAIN)]
        assert under == [escaped], "one file is told under two names"


async def test_a_link_to_a_folder_is_the_folder(tmp_path):
    here = copied(tmp_path / "real")
    link = tmp_path / "link"
    link.symlink_to(here)
    async with editing(link) as editor:
        editor.open(MAIN)
        await editor.current(MAIN)
        assert "on-demand-batch" in editor.rules(MAIN)
        assert all(params.uri.startswith(link.as_uri()) for _, params in editor.published), {it.uri for _, it in editor.published}
        editor.replace(MAIN, "node_count = 2", "node_count = 4")
        await editor.current(MAIN)
        assert any("21,45" in it.message for it in editor.shown(MAIN)), [it.message for it in editor.shown(MAIN)]


async def test_what_is_no_file_is_left_alone(workspace):
    async with editing(workspace) as editor:
        for uri in ["untitled:Untitled-1", "git:/a/main.tf?ref", "vscode-notebook-cell:/x#1"]:
            item = types.TextDocumentItem(uri=uri, language_id="terraform", version=1, text=NEW)
            editor.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        editor.open(MAIN)
        await editor.current(MAIN)
        assert not [it.uri for _, it in editor.published if not it.uri.startswith("file:")]


async def test_typing_fast_is_answered_by_the_last_letter(workspace):
    async with editing(workspace) as editor:
        editor.open(MAIN)
        await editor.current(MAIN)
        told = len(editor.published)
        uri = editor.uri(MAIN)
        for letter in range(200):
            at = editor.texts[uri].index("# Trains")
            editor.splice(MAIN, at, at, chr(97 + letter % 26))
            await asyncio.sleep(0.005)
        # What is typed before the comment is no Terraform any more, until it is.
        at = editor.texts[uri].index("# Trains")
        start = editor.texts[uri].rindex("\n", 0, at) + 1
        editor.splice(MAIN, start, at, "")
        await editor.current(MAIN)
        await editor.quiet()
        versions = [params.version for _, params in editor.published[told:] if params.uri == uri]
        assert versions == sorted(versions), versions
        assert versions[-1] == editor.versions[uri] == 202
        assert len(versions) < 202, f"{len(versions)} runs for 201 letters"
        assert "on-demand-batch" in editor.rules(MAIN)


async def test_opening_and_closing_leaves_nothing_behind(workspace):
    async with editing(workspace) as editor:
        sizes = []
        for count in range(100):
            editor.open(MAIN)
            editor.open(JOB, language="yaml")
            if count % 10 == 0:
                await editor.current(MAIN)
            editor.close(MAIN)
            editor.close(JOB)
            if count % 20 == 19:
                await editor.quiet(0.3)
                sizes.append(editor.resident_mib())
        assert sizes[-1] < sizes[0] + 8, sizes


WORDS = ["a2-highgpu-8g", "a2-highgpu-1g", "{", "}", '"', "\n", "count = 3\n", "é𝛼", "2", "spot = true\n", "# gpulint: ignore[on-demand-batch] -- x\n", "nvidia.com/gpu: 8", "  ", ""]


def shown(editor):
    """What an editor shows of each file, without the versions."""
    last = {params.uri: params.diagnostics for _, params in editor.published}
    return {uri: sorted((it.range.start.line, it.range.start.character, it.range.end.line, it.range.end.character, it.code or "", int(it.severity), it.message) for it in found) for uri, found in last.items() if found}


@pytest.mark.parametrize("seed", range(int(os.environ.get("GPULINT_EDITOR_SEEDS", "3"))))
async def test_random_edits_end_where_a_fresh_server_begins(workspace, tmp_path, seed):
    chosen = random.Random(seed)
    encoding = chosen.choice([UTF8, UTF16])
    async with editing(workspace, encodings=[encoding]) as editor:
        names = [MAIN, VARIABLES, JOB, "terraform/notebook/main.tf"]
        for name in names:
            editor.open(name)
        originals = dict(editor.texts)
        for _ in range(int(os.environ.get("GPULINT_EDITOR_EDITS", "60"))):
            name = chosen.choice(names)
            text = editor.texts[editor.uri(name)]
            start = chosen.randint(0, len(text))
            end = min(len(text), start + chosen.choice([0, 0, 1, 5, 40]))
            if chosen.random() < 0.15:
                editor.whole(name, originals[editor.uri(name)])
            else:
                editor.splice(name, start, end, chosen.choice(WORDS))
            if chosen.random() < 0.2:
                await asyncio.sleep(0.02)
        await editor.quiet(1.0)
        texts, seen = dict(editor.texts), shown(editor)
        hints = {name: [(it.position.line, it.position.character, str(it.label)) for it in await editor.hints(name)] for name in names}
    async with editing(workspace, encodings=[encoding]) as fresh:
        for name in names:
            fresh.open(name, texts[fresh.uri(name)])
        await fresh.quiet(1.0)
        assert shown(fresh) == seen
        for name in names:
            assert [(it.position.line, it.position.character, str(it.label)) for it in await fresh.hints(name)] == hints[name], name
    # And what the command line says, once it is saved.
    for uri, text in texts.items():
        pathlib.Path(fresh.path(uri.removeprefix(workspace.as_uri() + "/"))).write_bytes(text.encode())
    counted = {(it["path"], it["line"], it["rule"]) for it in check(workspace)["findings"] if not it["suppressed"] and not it["baseline"]}
    told = {(uri.removeprefix(workspace.as_uri() + "/"), it[0] + 1, it[4]) for uri, found in seen.items() for it in found}
    assert counted <= told, counted - told
