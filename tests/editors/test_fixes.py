"""Checks that a fix, all safe fixes and a suppression write the same as the command line."""

import pathlib
import re
import shutil
import subprocess

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from editor import PROGRAM, check, editing, types_path

MAIN, JOB = "terraform/main.tf", "manifests/job.yaml"
TEXTS = [MAIN, JOB, "terraform/variables.tf", "terraform/notebook/main.tf"]


def fixed(workspace, to, *arguments):
    """The texts that the command line writes, by name."""
    shutil.copytree(workspace, to)
    subprocess.run([PROGRAM, "check", "--fix", *arguments], cwd=to, capture_output=True)
    return {name: (to / name).read_bytes().decode() for name in TEXTS}


def after(editor, edit):
    texts = {name: (editor.texts.get(editor.uri(name)) or pathlib.Path(editor.path(name)).read_bytes().decode()) for name in TEXTS}
    for uri, text in editor.apply(edit).items():
        name = types_path(uri).removeprefix(str(editor.folders[0]) + "/")
        assert name in texts, uri
        texts[name] = text
    return texts


async def opened(editor):
    for name in (MAIN, JOB):
        editor.open(name)
    await editor.current(MAIN)
    await editor.current(JOB)


def of(actions, kind):
    return [it for it in actions if isinstance(it, types.CodeAction) and str(getattr(it.kind, "value", it.kind)).startswith(kind)]


@pytest.mark.parametrize("like", ["neovim@v0.11.0", "visual-studio-code@v1.65.2"])
async def test_each_fix_writes_what_check_writes(workspace, tmp_path, like):
    report = check(workspace)
    fixable = [it for it in report["findings"] if it["edits"]]
    assert {it["rule"] for it in fixable} == {"missing-ttl", "missing-shm", "missing-auto-shutdown"}
    async with editing(workspace, like=like) as editor:
        await opened(editor)
        for finding in fixable:
            rule, name = finding["rule"], finding["path"]
            diagnostic = next(it for it in editor.shown(name) if it.code == rule)
            actions = await editor.actions(name, diagnostic.range, [diagnostic])
            fixes = [it for it in of(actions, "quickfix") if it.diagnostics and it.diagnostics[0].code == rule and not it.title.startswith("Suppress ")]
            assert len(fixes) == 1, [it.title for it in actions]
            fix = fixes[0]
            assert bool(fix.is_preferred) == (finding["fix_safety"] == "safe"), fix.title
            # Nobody changes how something runs without having read that it does.
            assert fix.title.startswith("Fix: " if finding["fix_safety"] == "safe" else "Change how the workload runs: "), fix.title
            if editor.capabilities.text_document.code_action.resolve_support:
                assert fix.edit is None, "an edit is worked out when somebody asks for it"
            edit = (await editor.resolved(fix)).edit
            wanted = fixed(workspace, tmp_path / f"{like}-{rule}", "--unsafe-fixes", "--select", rule)
            assert after(editor, edit) == wanted, rule


async def test_fix_all_writes_what_is_safe_and_nothing_else(workspace, tmp_path):
    async with editing(workspace) as editor:
        await opened(editor)
        wanted = fixed(workspace, tmp_path / "safe")
        assert wanted[JOB] != editor.texts[editor.uri(JOB)] and wanted[MAIN] == editor.texts[editor.uri(MAIN)]
        for kind in ("source.fixAll", "source.fixAll.gpulint"):
            actions = await editor.actions(JOB, editor.span(JOB), only=[kind])
            assert [it.kind for it in actions] == ["source.fixAll.gpulint"], actions
            edit = (await editor.resolved(actions[0])).edit
            assert after(editor, edit) == wanted
        # A file without a safe fix has no such action.
        assert not await editor.actions(MAIN, editor.span(MAIN), only=["source.fixAll"])
        # If the editor requests one kind of action, no other kinds are returned.
        assert not await editor.actions(JOB, editor.span(JOB), only=["refactor"])
        assert not of(await editor.actions(JOB, editor.span(JOB), only=["quickfix"]), "source")


async def test_a_file_that_is_not_open_can_be_fixed(workspace, tmp_path):
    async with editing(workspace) as editor:
        await editor.until(lambda: editor.shown(JOB), "the findings of a closed file")
        diagnostic = next(it for it in editor.shown(JOB) if it.code == "missing-ttl")
        actions = of(await editor.actions(JOB, diagnostic.range, [diagnostic]), "quickfix")
        fix = next(it for it in actions if it.is_preferred)
        assert after(editor, (await editor.resolved(fix)).edit) == fixed(workspace, tmp_path / "closed")


async def test_a_fix_is_of_the_text_as_it_is_now(workspace):
    async with editing(workspace) as editor:
        await opened(editor)
        editor.replace(JOB, "  backoffLimit: 2\n", "  backoffLimit: 2\n  # é𝛼\n\n\n")
        await editor.current(JOB)
        diagnostic = next(it for it in editor.shown(JOB) if it.code == "missing-ttl")
        fix = next(it for it in of(await editor.actions(JOB, diagnostic.range, [diagnostic]), "quickfix") if it.is_preferred)
        text = after(editor, (await editor.resolved(fix)).edit)[JOB]
        assert text.count("ttlSecondsAfterFinished: 86400") == 1 and "# é𝛼\n\n\n" in text
        # An action for an older text must not edit a newer one.
        editor.replace(JOB, "# é𝛼\n\n\n", "")
        try:
            stale = await editor.resolved(fix)
        except JsonRpcException as refused:
            assert refused.code == -32803, refused
        else:
            if stale.edit:
                assert after(editor, stale.edit)[JOB].count("ttlSecondsAfterFinished: 86400") == 1


async def test_an_acceptance_is_a_comment_that_works(workspace):
    async with editing(workspace) as editor:
        await opened(editor)
        for name, rule in ((MAIN, "on-demand-batch"), (JOB, "missing-shm")):
            diagnostic = next(it for it in editor.shown(name) if it.code == rule)
            actions = of(await editor.actions(name, diagnostic.range, [diagnostic]), "quickfix")
            accept = [it for it in actions if "suppress" in it.title.lower() and rule in it.title]
            assert len(accept) == 1, [it.title for it in actions]
            assert not accept[0].is_preferred
            text = after(editor, (await editor.resolved(accept[0])).edit)[name]
            assert re.search(rf"gpulint.*ignore.*{rule}", text), text
            editor.whole(name, text)
            await editor.current(name)
            await editor.until(lambda: rule not in editor.rules(name), f"{rule} is accepted")
            assert "broken-suppression" not in editor.rules(name)


async def test_fixes_keep_line_ends_and_marks(workspace):
    job = workspace / JOB
    for text in (job.read_bytes().replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + job.read_bytes()):
        job.write_bytes(text)
        async with editing(workspace) as editor:
            editor.open(JOB, text.decode())
            await editor.current(JOB)
            diagnostic = next(it for it in editor.shown(JOB) if it.code == "missing-ttl")
            fix = next(it for it in of(await editor.actions(JOB, diagnostic.range, [diagnostic]), "quickfix") if it.is_preferred)
            new = after(editor, (await editor.resolved(fix)).edit)[JOB]
            assert new.startswith("\ufeff") == text.startswith(b"\xef\xbb\xbf")
            assert ("\r\n" in new) == (b"\r\n" in text) and new.replace("\r\n", "").count("\r") == 0
            assert new.count("\n") == new.count("\r\n") or "\r\n" not in new
