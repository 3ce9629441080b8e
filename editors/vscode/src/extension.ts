// Starts `gpulint server` and hands it to the editor. Everything that is said of a file is decided there.

import * as fs from "node:fs";
import * as path from "node:path";
import { commands, env, ExtensionContext, LogOutputChannel, Uri, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions } from "vscode-languageclient/node";

const SECTION = "gpulint";

// By name and not by language: languages have names only where an extension brings them, and a server goes by the path anyway.
const PATTERNS = [
  "**/*.{tf,tofu,tfvars,hcl}",
  "**/*.{yaml,yml,json,tpl,tmpl,gotmpl,j2,jinja,jinja2,template}",
  "**/*.{bicep,bicepparam}",
  "**/*.{sh,bash,sbatch,slurm}",
  "**/gpulint.toml",
  "**/*.md",
];

let client: LanguageClient | undefined;
// One start or stop at a time: settings may change while a server starts.
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
      // The server is told of all others while it runs.
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
    // The client has said why; it must not be stopped again.
    output.error(`${command} did not start: ${String(error)}`);
    client = undefined;
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

/** The program that the extension brings, unless the settings of this machine name another. Never what lies on the path: on Windows
 *  that begins with the directory in which somebody else's text lies. */
function program(context: ExtensionContext): string {
  const named = workspace.getConfiguration(SECTION).get<string>("path", "").trim();
  const brought = process.platform === "win32" ? "gpulint.exe" : "gpulint";
  return named === "" ? context.asAbsolutePath(path.join("bin", brought)) : named;
}

function trouble(command: string): string | undefined {
  if (!path.isAbsolute(command)) return `gpulint.path is ${command}: it has to be a full path`;
  try {
    fs.accessSync(command, fs.constants.X_OK);
  } catch {
    return `${command} cannot be run: the setting gpulint.path names another program`;
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

/** What belongs to a person. What belongs to a repository stands in its `gpulint.toml`. */
function personal(): Record<string, string | boolean> {
  const settings = workspace.getConfiguration(SECTION);
  const names = ["prices", "level", "config", "environment", "workspace", "render"];
  const said = names.map((name) => [name, settings.get<string | boolean>(name, "")]);
  return Object.fromEntries(said.filter(([, value]) => value !== ""));
}
