"""A test editor without a screen: pytest-lsp's client, which stores all messages with their time.

Everything that a server sends is held to the protocol's types by `lsprotocol`."""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

HERE = pathlib.Path(__file__).parent
PROGRAM = os.environ.get("GPULINT", str(HERE.parents[1] / "target/debug/gpulint"))
WORKSPACE = HERE / "workspace"
CLIENTS = ["neovim@v0.7.0", "neovim@v0.11.0", "emacs@v29.1", "visual-studio-code@v1.65.2"]
UTF8, UTF16, UTF32 = (types.PositionEncodingKind(it) for it in ("utf-8", "utf-16", "utf-32"))
# Timeouts for unoptimized builds on a busy machine.
PATIENCE_SECONDS = float(os.environ.get("GPULINT_PATIENCE", "30"))


def check(directory, *arguments):
    """Returns the output of the command line for the files on disk."""
    done = subprocess.run([PROGRAM, "check", "--format", "json", *arguments], cwd=directory, capture_output=True, text=True)
    # The exit code is also 2 if there is a report but no file could be read.
    assert done.returncode in (0, 1, 3) or done.stdout, done.stderr
    return json.loads(done.stdout)


def units(text, encoding):
    """The length of a text as positions count it."""
    return {UTF8: len(text.encode()), UTF16: len(text.encode("utf-16-le")) // 2, UTF32: len(text)}[encoding]


def lines_of(text):
    return re.split(r"\r\n|\n|\r", text)


class Editor:
    def __init__(self, client, folders, capabilities):
        self.client, self.folders, self.capabilities = client, folders, capabilities
        self.published, self.texts, self.versions = [], {}, {}
        self.refreshed, self.applied, self.watched = 0, [], []
        self.server = None

    @property
    def encoding(self):
        return self.server.capabilities.position_encoding or UTF16

    def path(self, name):
        return name if os.path.isabs(name) else str(self.folders[0] / name)

    def uri(self, name):
        return name if "://" in name else pathlib.Path(self.path(name)).as_uri()

    def open(self, name, text=None, language="terraform"):
        uri = self.uri(name)
        if text is None:
            text = pathlib.Path(self.path(name)).read_bytes().decode()
        self.texts[uri], self.versions[uri] = text, 1
        document = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))

    def close(self, name):
        uri = self.uri(name)
        del self.texts[uri]
        identifier = types.TextDocumentIdentifier(uri=uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(text_document=identifier))

    def save(self, name):
        uri = self.uri(name)
        pathlib.Path(self.path(name)).write_bytes(self.texts[uri].encode())
        identifier = types.TextDocumentIdentifier(uri=uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(text_document=identifier))

    def position(self, text, at):
        """Returns the server's position for a character index."""
        before = lines_of(text[:at])
        # There is no position between \r and \n, and no test uses one.
        return types.Position(line=len(before) - 1, character=units(before[-1], self.encoding))

    def offset(self, text, position):
        """The number of the character at a position; what is no position is a failure."""
        ends = [it.end() for it in re.finditer(r"\r\n|\n|\r", text)]
        start = [0, *ends][position.line]
        line = lines_of(text)[position.line]
        for at in range(len(line) + 1):
            if units(line[:at], self.encoding) == position.character:
                return start + at
        raise AssertionError(f"{position} is no place of {line!r} in {self.encoding}")

    def splice(self, name, start, end, new):
        """Returns an editor's change message for the text between two characters."""
        uri = self.uri(name)
        text = self.texts[uri]
        span = types.Range(start=self.position(text, start), end=self.position(text, end))
        self.texts[uri] = text[:start] + new + text[end:]
        self.tell(name, [types.TextDocumentContentChangePartial(range=span, text=new)])

    def replace(self, name, old, new):
        at = self.texts[self.uri(name)].index(old)
        self.splice(name, at, at + len(old), new)

    def whole(self, name, text):
        self.texts[self.uri(name)] = text
        self.tell(name, [types.TextDocumentContentChangeWholeDocument(text=text)])

    def tell(self, name, changes):
        uri = self.uri(name)
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(text_document=identifier, content_changes=changes))

    def watch(self, name, kind):
        event = types.FileEvent(uri=self.uri(name), type=kind)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[event]))

    def last(self, name):
        """Returns the present diagnostics of an editor, with their version."""
        for _, params in reversed(self.published):
            if params.uri == self.uri(name):
                return params
        return None

    def shown(self, name):
        last = self.last(name)
        return list(last.diagnostics) if last else []

    def rules(self, name):
        return sorted({it.code for it in self.shown(name)})

    async def until(self, holds, what):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            assert self.client.error is None, self.client.error
            if (value := holds()):
                return value
            await asyncio.sleep(0.01)
        told = [(params.uri, params.version, [it.code for it in params.diagnostics]) for _, params in self.published[-6:]]
        raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}; last was told {told}")

    async def current(self, name):
        """Waits until the diagnostics of a file are for its present text."""
        version = self.versions[self.uri(name)]
        await self.until(lambda: (it := self.last(name)) and it.version == version, f"{name} in version {version}")

    async def quiet(self, seconds=0.6):
        """Waits until no more messages arrive."""
        count = -1
        while count != len(self.published):
            count = len(self.published)
            await asyncio.sleep(seconds)

    def span(self, name):
        last = len(lines_of(self.texts[self.uri(name)]))
        return types.Range(start=types.Position(line=0, character=0), end=types.Position(line=last, character=0))

    def identifier(self, name):
        return types.TextDocumentIdentifier(uri=self.uri(name))

    async def hints(self, name):
        params = types.InlayHintParams(text_document=self.identifier(name), range=self.span(name))
        return await self.client.text_document_inlay_hint_async(params) or []

    async def labels(self, name):
        """Returns the inlay hints, by line number."""
        return {it.position.line: label(it) for it in await self.hints(name)}

    async def hover(self, name, line, character=0):
        position = types.Position(line=line, character=character)
        return await self.client.text_document_hover_async(types.HoverParams(text_document=self.identifier(name), position=position))

    async def actions(self, name, span, diagnostics=(), only=None):
        context = types.CodeActionContext(diagnostics=list(diagnostics), only=only)
        params = types.CodeActionParams(text_document=self.identifier(name), range=span, context=context)
        return await self.client.text_document_code_action_async(params) or []

    async def resolved(self, action):
        return action if action.edit else await self.client.code_action_resolve_async(action)

    def apply(self, edit, disk=None):
        """The texts after an edit of the workspace, by URI; versions have to be those of open texts."""
        texts = {}
        changes = [(it.text_document.uri, it.text_document.version, it.edits) for it in edit.document_changes or []]
        changes += [(uri, None, edits) for uri, edits in (edit.changes or {}).items()]
        for uri, version, edits in changes:
            if uri in self.texts:
                assert version in (None, self.versions[uri]), f"{uri}: {version} is not {self.versions[uri]}"
            text = self.texts.get(uri)
            if text is None:
                text = pathlib.Path(types_path(uri)).read_bytes().decode()
            spans = sorted(((self.offset(text, it.range.start), self.offset(text, it.range.end), it.new_text) for it in edits), reverse=True)
            for start, end, new in spans:
                text = text[:start] + new + text[end:]
            texts[uri] = text
        return texts

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.client._server.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def label(hint):
    return hint.label if isinstance(hint.label, str) else "".join(part.value for part in hint.label)


def text_of(hover):
    contents = hover.contents
    return contents.value if hasattr(contents, "value") else str(contents)


def types_path(uri):
    from urllib.parse import unquote, urlsplit
    return unquote(urlsplit(uri).path)


def features(editor):
    told = dict(DEFAULT_CLIENT_FEATURES)

    def published(ls, params):
        editor.published.append((time.monotonic(), params))

    def refreshed(ls, params=None):
        editor.refreshed += 1

    def registered(ls, params):
        editor.watched += params.registrations

    def applied(ls, params):
        editor.applied.append(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    told[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = published
    told[types.WORKSPACE_INLAY_HINT_REFRESH] = refreshed
    told[types.WORKSPACE_CODE_LENS_REFRESH] = refreshed
    told[types.CLIENT_REGISTER_CAPABILITY] = registered
    told[types.WORKSPACE_APPLY_EDIT] = applied
    told[types.WINDOW_SHOW_MESSAGE_REQUEST] = lambda ls, params: None
    return told


@contextlib.asynccontextmanager
async def editing(*folders, like="neovim@v0.11.0", encodings=None, options=None, configuration=None, environment=None, change=None):
    """Starts an editor of one kind with some folders."""
    capabilities = client_capabilities(like)
    if encodings is not None:
        capabilities.general = capabilities.general or types.GeneralClientCapabilities()
        capabilities.general.position_encodings = list(encodings)
    if change:
        change(capabilities)
    editor = Editor(None, [pathlib.Path(it) for it in folders], capabilities)

    def factory():
        client = LanguageClient(converter_factory=default_converter, configuration=configuration)
        register_lsp_features(client, features(editor))
        return client

    config = ClientServerConfig(
        server_command=[PROGRAM, "server"], client_factory=factory, server_env={**os.environ, **(environment or {})}
    )
    editor.client = await config.start()
    workspace = [types.WorkspaceFolder(uri=it.as_uri(), name=it.name) for it in editor.folders]
    root = workspace[0].uri if workspace else None
    params = types.InitializeParams(
        capabilities=capabilities, root_uri=root, workspace_folders=workspace or None, initialization_options=options
    )
    try:
        editor.server = await asyncio.wait_for(editor.client.initialize_session(params), PATIENCE_SECONDS)
        yield editor
        await asyncio.wait_for(editor.client.shutdown_session(), PATIENCE_SECONDS)
        assert editor.client._server.returncode == 0, editor.client._server.returncode
    finally:
        # A failed test has not shut the server down, so the server is killed.
        if editor.client._server.returncode is None:
            editor.client._server.kill()
        await editor.client.stop()


def copied(to):
    """The workspace of these tests, as a repository of its own."""
    shutil.copytree(WORKSPACE, to)
    subprocess.run(["git", "init", "--quiet", str(to)], check=True)
    return to
