// Visual Studio Code with the packed extension, in a browser: prices, findings, hover, a fix. Told by the environment:
//
//   CODE_SERVER  the program code-server, which is VS Code for browsers (npm, version 4.139.1 wants Node 24)
//   PLAYWRIGHT   the directory of playwright-core; CHROMIUM the browser
//   VSIX         what packaging/vscode.py packed
//   WORKSPACE    a copy of tests/editors/workspace
//   PICTURES     where pictures are written, and seen.json

import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

const { CODE_SERVER, PLAYWRIGHT, CHROMIUM, VSIX, WORKSPACE, PICTURES, PORT = "8392" } = process.env;
const { chromium } = await import(pathToFileURL(path.join(PLAYWRIGHT, "index.mjs")));
const home = fs.mkdtempSync(path.join(PICTURES, "home-"));
const places = ["--user-data-dir", path.join(home, "data"), "--extensions-dir", path.join(home, "extensions")];
const settings = {
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.colorTheme": "Default Light Modern",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "editor.minimap.enabled": false,
  "window.commandCenter": false,
};

const steps = {};
fs.mkdirSync(path.join(home, "data/User"), { recursive: true });
fs.writeFileSync(path.join(home, "data/User/settings.json"), JSON.stringify(settings));
execFileSync(CODE_SERVER, [...places, "--install-extension", VSIX], { stdio: "inherit" });
steps.installed = execFileSync(CODE_SERVER, [...places, "--list-extensions", "--show-versions"]).toString().trim();

const server = spawn(CODE_SERVER, [...places, "--auth", "none", "--bind-addr", `127.0.0.1:${PORT}`, "--disable-telemetry", "--disable-update-check"], {
  stdio: ["ignore", "pipe", "inherit"],
});
await new Promise((resolve) => server.stdout.on("data", (data) => String(data).includes("listening") && resolve()));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1180, height: 720 } });
page.setDefaultTimeout(30_000);

const said = (selector, text) =>
  page.waitForFunction(
    ([where, what]) => [...document.querySelectorAll(where)].some((it) => it.textContent.replaceAll("\u00a0", " ").includes(what)),
    [selector, text],
  );
const picture = (name) => page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
const command = async (name) => {
  await page.keyboard.press("F1");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(name);
  await page.waitForTimeout(600);
  await page.keyboard.press("Enter");
};
const open = async (name) => {
  await page.keyboard.press("Control+p");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(name);
  await said(".quick-input-list .monaco-list-row", path.basename(name));
  await page.waitForTimeout(1000);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: path.basename(name) }).first().click();
  await said(".tab.active", path.basename(name));
  await page.waitForTimeout(500);
};
const goTo = async (line) => {
  await page.keyboard.press("Control+g");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(`${line}`);
  await page.keyboard.press("Enter");
};

try {
  await page.goto(`http://127.0.0.1:${PORT}/?folder=${encodeURIComponent(WORKSPACE)}`, { waitUntil: "domcontentloaded" });
  await page.waitForSelector(".monaco-workbench");
  await said(".statusbar", "Restricted Mode");
  steps.restricted = true;
  await open("terraform/main.tf");
  await said(".view-lines", "10,726");
  steps.hints = await page.$$eval(".view-line", (lines) => lines.map((it) => it.textContent.replaceAll("\u00a0", " ")).filter((it) => it.includes("$")));
  steps.squiggles = await page.$$eval(".squiggly-warning, .squiggly-info", (found) => found.length);
  await command("Problems: Focus on Problems View");
  await said(".markers-panel, .markers-panel-container", "missing-auto-shutdown");
  await page.waitForTimeout(500);
  await picture("findings");
  await page.keyboard.press("Control+j");
  await page.locator(".view-line").first().click();

  const header = page.locator(".view-line", { hasText: "google_container_node_pool" }).first();
  const box = await header.boundingBox();
  await page.mouse.move(box.x + 120, box.y + box.height / 2);
  await said(".monaco-hover", "10,726");
  await page.waitForTimeout(300);
  await picture("hover");
  await page.mouse.move(5, 5);

  // What is typed counts before it is saved.
  await goTo("12:16");
  await page.keyboard.press("End");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("4");
  await said(".view-lines", "21,45");
  steps.typed = true;
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await said(".view-lines", "10,726");

  await open("manifests/job.yaml");
  await goTo("1:3");
  await page.waitForSelector(".squiggly-info, .squiggly-warning");
  await page.keyboard.press("Control+.");
  await page.waitForSelector(".action-widget");
  steps.actions = await page.$$eval(".action-widget .monaco-list-row", (rows) => rows.map((it) => it.textContent.trim()).filter(Boolean));
  await page.waitForTimeout(300);
  await picture("fixes");
  await page.locator(".action-widget .monaco-list-row", { hasText: /ttl/i }).first().click();
  await said(".view-lines", "ttlSecondsAfterFinished");
  await page.keyboard.press("Control+s");
  await page.waitForTimeout(800);
  steps.saved = fs.readFileSync(path.join(WORKSPACE, "manifests/job.yaml"), "utf8");
} catch (error) {
  steps.error = String(error);
  await picture("error");
} finally {
  await browser.close();
  server.kill();
  const logs = fs.readdirSync(path.join(home, "data"), { recursive: true }).filter((it) => it.endsWith("gpulint.log"));
  steps.log = logs.map((it) => fs.readFileSync(path.join(home, "data", it), "utf8")).join("");
  fs.writeFileSync(path.join(PICTURES, "seen.json"), JSON.stringify(steps, null, 1));
}
process.exit(steps.error ? 1 : 0);
