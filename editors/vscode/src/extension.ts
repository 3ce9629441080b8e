// Starts `gpulint server` and connects it to the editor. The server computes all prices and findings.

import * as fs from "node:fs";
import * as path from "node:path";
import { commands, env, ExtensionContext, LogOutputChannel, Uri, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions } from "vscode-languageclient/node";

const SECTION = "gpulint";

// Patterns instead of languages: a language has a name only if an extension defines it, and the server uses the path anyway.
const PATTERNS = [
  "**/*.{tf,tofu,tfvars,hcl}",
  "**/*.{yaml,yml,json,tpl,tmpl,gotmpl,j2,jinja,jinja2,template}",
  "**/*.{bicep,bicepparam}",
  "**/*.{sh,bash,sbatch,slurm}",
  "**/gpulint.toml",
  "**/*.md",
];

let client: LanguageClient | undefined;
// The chain allows one start or stop at a time, because settings can change while a server starts.
let last: Promise<void> = Promise.resolve();

export function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel("gpulint", { log: true });
  const again = () => inTurn(async () => {
    await stop();
    await start(context, output);
  });
  context.subscriptions.push(
    output,
    commands.registerCommand("gpulint.restart", again),
    commands.registerCommand("gpulint.showOutput", () => output.show()),
    workspace.onDidChangeConfiguration((change) => {
      // The running server receives all other changes.
      if (change.affectsConfiguration(`${SECTION}.path`)) void again();
    }),
    workspace.onDidGrantWorkspaceTrust(again),
  );
  return again();
}

export function deactivate(): Promise<void> {
  return inTurn(stop);
}

function inTurn(step: () => Promise<void>): Promise<void> {
  last = last.then(step, step);
  return last;
}

async function start(context: ExtensionContext, output: LogOutputChannel): Promise<void> {
  const command = program(context);
  const wrong = trouble(command);
  if (wrong) {
    output.error(wrong);
    void complain(wrong);
    return;
  }
  const options: LanguageClientOptions = {
    documentSelector: PATTERNS.map((pattern) => ({ scheme: "file", pattern })),
    initializationOptions: personal(),
    synchronize: { configurationSection: SECTION },
    outputChannel: output,
    diagnosticCollectionName: SECTION,
  };
  client = new LanguageClient(SECTION, "gpulint", { command, args: ["server"], options: { cwd: path.dirname(command) } }, options);
  output.info(`starting ${command}`);
  try {
    await client.start();
  } catch (error) {
    // The client has already reported the reason, and a second stop would fail.
    output.error(`${command} did not start: ${String(error)}`);
    client = undefined;
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

/** Returns the extension's own program, unless the settings of this machine name another. It never uses the search path, because on
 *  Windows the path begins with the current directory, which can be an untrusted folder. */
function program(context: ExtensionContext): string {
  const named = workspace.getConfiguration(SECTION).get<string>("path", "").trim();
  const brought = process.platform === "win32" ? "gpulint.exe" : "gpulint";
  return named === "" ? context.asAbsolutePath(path.join("bin", brought)) : named;
}

function trouble(command: string): string | undefined {
  if (!path.isAbsolute(command)) return `gpulint.path is ${command}: set a full path`;
  try {
    fs.accessSync(command, fs.constants.X_OK);
  } catch {
    return `cannot run ${command}: set gpulint.path to another program`;
  }
  return undefined;
}

async function complain(wrong: string): Promise<void> {
  const settings = "Open settings";
  const install = "How to install";
  const answer = await window.showErrorMessage(wrong, settings, install);
  if (answer === settings) await commands.executeCommand("workbench.action.openSettings", `${SECTION}.path`);
  if (answer === install) await env.openExternal(Uri.parse("https://gpulint.github.io/gpulint/install.html"));
}

/** Returns the user's settings. The settings of a repository are in its `gpulint.toml`. */
function personal(): Record<string, string | boolean> {
  const settings = workspace.getConfiguration(SECTION);
  const names = ["prices", "level", "config", "environment", "workspace", "render"];
  const said = names.map((name) => [name, settings.get<string | boolean>(name, "")]);
  return Object.fromEntries(said.filter(([, value]) => value !== ""));
}
