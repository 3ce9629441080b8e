"""Tests the start and the end of a server, and its reaction to invalid messages."""

import json
import subprocess
import time

import pytest

from editor import PROGRAM
from wire import Wire

MAIN = "terraform/main.tf"


def test_it_ends_as_it_is_told(workspace):
    with Wire(workspace) as wire:
        wire.begin(workspace)
        assert wire.ask("shutdown")["result"] is None
        wire.notify("exit")
        assert wire.code(1) == 0


def test_an_exit_without_a_word_before_is_an_error(workspace):
    with Wire(workspace) as wire:
        wire.begin(workspace)
        wire.notify("exit")
        assert wire.code(1) == 1


def test_it_ends_with_its_editor(workspace):
    with Wire(workspace) as wire:
        wire.begin(workspace)
        wire.process.stdin.close()
        began = time.monotonic()
        wire.code(5)
        assert time.monotonic() - began < 1
    with Wire(workspace) as wire:
        wire.process.stdin.close()
        wire.code(1)


def test_it_knows_the_order_of_things(workspace):
    with Wire(workspace) as wire:
        assert wire.ask("textDocument/hover", {})["error"]["code"] == -32002
        wire.begin(workspace)
        assert wire.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})["error"]
        assert wire.ask("shutdown")["result"] is None
        assert wire.ask("textDocument/hover", {})["error"]["code"] == -32600


def test_nonsense_is_answered_and_life_goes_on(workspace):
    position = {"textDocument": {"uri": (workspace / MAIN).as_uri()}, "position": {"line": 8, "character": 12}}
    with Wire(workspace) as wire:
        wire.begin(workspace)
        assert wire.ask("nobody/knows", {})["error"]["code"] == -32601
        assert wire.ask("textDocument/hover", {"position": "here"})["error"]["code"] == -32602
        assert wire.ask("textDocument/hover")["error"]["code"] == -32602
        wire.notify("nobody/knows", {"a": 1})
        wire.notify("$/nobody", None)
        wire.notify("textDocument/didChange", {"textDocument": {"uri": "file:///nobody.tf", "version": 3}, "contentChanges": [{"text": "x"}]})
        wire.notify("textDocument/didChange", {"textDocument": {"uri": (workspace / MAIN).as_uri(), "version": 9},
                    "contentChanges": [{"range": {"start": {"line": 9, "character": 0}, "end": {"line": 2, "character": 0}}, "text": "x"}]})
        wire.notify("textDocument/didOpen", {"textDocument": 5})
        wire.notify("textDocument/didClose", {"textDocument": {"uri": "file:///nobody.tf"}})
        wire.notify("textDocument/didSave", {"textDocument": {"uri": "nonsense"}})
        wire.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file:///%zz", "type": 1}, {"uri": "http://x/y.tf", "type": 2}]})
        wire.say(id=777, result=None)
        wire.say(id="a", error={"code": 1, "message": "no"})
        wire.notify("$/cancelRequest", {"id": 123456})
        document = {"uri": (workspace / MAIN).as_uri(), "languageId": "terraform", "version": 1, "text": (workspace / MAIN).read_text()}
        wire.notify("textDocument/didOpen", {"textDocument": document})
        answer = wire.ask("textDocument/hover", position)
        assert "10,726" in json.dumps(answer["result"]), answer
        wire.ask("shutdown")
        wire.notify("exit")
        assert wire.code(2) == 0


def test_a_request_that_is_cancelled_is_answered(workspace):
    position = {"textDocument": {"uri": (workspace / MAIN).as_uri()}, "position": {"line": 8, "character": 12}}
    with Wire(workspace) as wire:
        wire.begin(workspace)
        wire.say(id=900, method="textDocument/hover", params=position)
        wire.notify("$/cancelRequest", {"id": 900})
        answer = wire.answer(900)
        assert answer.get("error", {}).get("code") == -32800 or "result" in answer


@pytest.mark.parametrize("junk", [b"Content-Length: 5\r\n\r\n{nope", b"Content-Length: x\r\n\r\n", b"hello\r\n\r\n", b"Content-Length: 99999\r\n\r\n{"])
def test_what_is_no_message_ends_it_or_is_answered(workspace, junk):
    with Wire(workspace) as wire:
        wire.begin(workspace)
        wire.raw(junk)
        wire.process.stdin.close()
        wire.code(5)
        assert b"panicked" not in wire.process.stderr.read()


def test_nothing_but_messages_is_on_the_pipe(workspace):
    """A warning on the standard output would be read as a message."""
    (workspace / "gpulint.toml").write_text("nonsense = true\n")
    (workspace / "terraform/broken.tf").write_text('resource "x" {\n')
    with Wire(workspace) as wire:
        wire.begin(workspace)
        time.sleep(1)
        wire.ask("shutdown")
        wire.notify("exit")
        wire.code(2)
        left = []
        while (message := wire.came.get(timeout=5)) is not None:
            left.append(message)
        assert all(it["jsonrpc"] == "2.0" for it in left)


def test_a_person_who_starts_it_is_told(workspace):
    done = subprocess.run([PROGRAM, "server", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "editor" in done.stdout.lower(), done.stdout
