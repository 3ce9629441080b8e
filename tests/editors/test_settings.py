"""Tests the settings in an editor."""

import asyncio
import os
import stat

import pytest
from lsprotocol import types

from editor import PROGRAM, editing

MAIN, JOB = "terraform/main.tf", "manifests/job.yaml"


async def opened(editor):
    editor.open(MAIN)
    await editor.current(MAIN)


async def lenses(editor):
    params = types.CodeLensParams(text_document=editor.identifier(MAIN))
    found = await editor.client.text_document_code_lens_async(params) or []
    return [it if it.command else await editor.client.code_lens_resolve_async(it) for it in found]


async def test_prices_can_be_lenses_or_nothing(workspace):
    async with editing(workspace, options={"prices": "off"}) as editor:
        await opened(editor)
        assert await editor.hints(MAIN) == []
        assert await editor.hover(MAIN, 8, 12) is not None, "who hides prices may still ask for one"
    async with editing(workspace, options={"prices": "lens"}) as editor:
        await opened(editor)
        assert editor.server.capabilities.code_lens_provider
        assert await editor.hints(MAIN) == []
        found = await lenses(editor)
        assert any("10,726" in it.command.title and it.range.start.line == 8 for it in found), found


async def test_without_hints_a_lens_takes_their_place(workspace):
    def no_hints(capabilities):
        capabilities.text_document.inlay_hint = None

    async with editing(workspace, like="visual-studio-code@v1.65.2", change=no_hints) as editor:
        await opened(editor)
        assert editor.capabilities.text_document.code_lens
        assert any("10,726" in it.command.title for it in await lenses(editor))


@pytest.mark.parametrize("level, most", [("error", 1), ("warning", 2), ("info", 3)])
async def test_a_level_hides_what_is_below(workspace, level, most):
    async with editing(workspace, options={"level": level}) as editor:
        editor.open(MAIN)
        assert await editor.labels(MAIN)
        await editor.quiet()
        shown = editor.shown(MAIN) + editor.shown(JOB)
        assert all(int(it.severity) <= most for it in shown), shown
        assert bool(shown) == (level != "error")


async def test_settings_may_change_while_a_server_runs(workspace):
    configuration = {"": {"gpulint": {"level": "info", "prices": "hints"}}}
    async with editing(workspace, like="neovim@v0.11.0", configuration=configuration) as editor:
        await opened(editor)
        await editor.until(lambda: "missing-budget" in editor.rules(MAIN), "notes")
        editor.client.set_configuration({"gpulint": {"level": "warning", "prices": "off"}})
        change = types.DidChangeConfigurationParams(settings={"gpulint": {"level": "warning", "prices": "off"}})
        editor.client.workspace_did_change_configuration(change)
        await editor.until(lambda: "missing-budget" not in editor.rules(MAIN), "no notes")
        for _ in range(100):
            if await editor.hints(MAIN) == []:
                break
            await asyncio.sleep(0.05)
        assert await editor.hints(MAIN) == []


async def test_an_editor_without_a_section_leaves_what_was_said(workspace):
    """Helix answers `null` for a section that its settings do not have."""
    async with editing(workspace, options={"level": "warning"}, configuration={"": {}}) as editor:
        await opened(editor)
        await editor.quiet()
        assert "missing-budget" not in editor.rules(MAIN)
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
        await editor.quiet()
        assert "missing-budget" not in editor.rules(MAIN)


@pytest.mark.parametrize("options", [{"prices": 7}, {"level": "loud"}, "all", [1], {"nobody": True}, {"config": "/nowhere/gpulint.toml"}])
async def test_settings_that_make_no_sense_are_told_and_harm_nothing(workspace, options):
    async with editing(workspace, options=options) as editor:
        editor.open(MAIN)
        if options == {"config": "/nowhere/gpulint.toml"}:
            await editor.until(lambda: any("/nowhere" in it.message for it in editor.client.messages), "which file is not there")
            return
        await editor.current(MAIN)
        said = [it.message for it in editor.client.messages + editor.client.log_messages]
        assert said or options == {"nobody": True}, "somebody who misspells a setting is told"
        assert "on-demand-batch" in editor.rules(MAIN)


async def test_another_file_may_hold_the_settings(workspace, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text('ignore = ["on-demand-batch"]\n')
    async with editing(workspace, options={"config": str(other)}) as editor:
        await opened(editor)
        assert editor.rules(MAIN) and "on-demand-batch" not in editor.rules(MAIN)
        # The list in the unused file selects nothing.
        assert "missing-budget" not in editor.rules(MAIN)


async def test_an_environment_is_chosen(workspace):
    (workspace / "terraform/env").mkdir()
    (workspace / "terraform/env/prod.tfvars").write_text('machine = "a2-highgpu-8g"\n')
    (workspace / "terraform/env/dev.tfvars").write_text('machine = "a2-highgpu-1g"\n')
    amounts = {}
    for environment in ("prod", "dev"):
        async with editing(workspace, options={"environment": f"terraform/env/{environment}.tfvars"}) as editor:
            await opened(editor)
            amounts[environment] = (await editor.labels(MAIN))[8]
    assert "42,9" in amounts["prod"] and "5,363" in amounts["dev"], amounts


async def test_no_program_of_a_folder_is_started(workspace, tmp_path):
    """Opening a folder does not permit running the programs that it names."""
    bin = tmp_path / "bin"
    bin.mkdir()
    ran = tmp_path / "ran"
    for name in ("helm", "kustomize", "kubectl", "terraform", "tofu", "git", "jsonnet", "sh", "bash"):
        program = bin / name
        program.write_text(f"#!/usr/bin/python3\nopen({str(ran)!r}, 'a').write({name!r} + '\\n')\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (workspace / "gpulint.toml").write_text("render = true\n")
    chart = workspace / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    (chart / "values.yaml").write_text("gpus: 2\n")
    (chart / "templates/job.yaml").write_text((workspace / JOB).read_text().replace("gpu: 2 }", "gpu: {{ .Values.gpus }} }"))
    (workspace / "kustomization.yaml").write_text("resources: [manifests/job.yaml]\n")
    path = f"{bin}{os.pathsep}{os.environ['PATH']}"
    async with editing(workspace, environment={"PATH": path}) as editor:
        editor.open("chart/values.yaml", language="yaml")
        editor.open(MAIN)
        await editor.current(MAIN)
        editor.replace("chart/values.yaml", "gpus: 2", "gpus: 4")
        await editor.quiet()
        assert "on-demand-batch" in editor.rules(MAIN)
    started = ran.read_text().split() if ran.exists() else []
    assert not set(started) - {"git"}, started
    assert os.access(PROGRAM, os.X_OK)
