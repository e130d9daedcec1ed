// Commands, marks, hovers and code actions of the editor. Everything from the server is shown as plain text.

const vscode = require("vscode");
const { afterEdit, findingsOf, isMarked } = require("./findings");
const { proseOf } = require("./prose");
const { Failure, addressOf, check } = require("./server");

/**
 * @typedef {import("./findings").Finding} Finding
 * @typedef {import("./findings").Source} Source
 * @typedef {{ answer: string, findings: Finding[] }} Checked `answer` is its id on the server
 * @typedef {vscode.TextDocumentContentChangeEvent} Edit
 * @typedef {{ controller: AbortController, edits: Edit[] }} Run `edits` came since it began
 */

const LANGUAGES = ["markdown", "plaintext"];
const SEVERITIES = {
  contradicted: vscode.DiagnosticSeverity.Error,
  unsupported: vscode.DiagnosticSeverity.Warning,
  disputed: vscode.DiagnosticSeverity.Warning,
  unsure: vscode.DiagnosticSeverity.Information,
  likely: vscode.DiagnosticSeverity.Information,
};
/** @type {Record<string, string>} */
const VERDICTS = {
  contradicted: "The sources contradict this",
  unsupported: "The sources do not support this",
  disputed: "A source supports this, and another one contradicts it",
  unsure: "The judge is unsure whether the sources support this",
  likely: "The sources probably support this",
  supported: "The sources support this",
};

const settings = () => vscode.workspace.getConfiguration("toulmin");
const server = () => ({ address: settings().get("address", "").trim(), token: settings().get("token", "").trim() });

class Checker {
  marks = vscode.languages.createDiagnosticCollection("toulmin");
  log = vscode.window.createOutputChannel("Toulmin");
  /** @type {Map<string, Checked>} */
  checked = new Map();
  /** @type {Map<string, Run>} */
  running = new Map();

  /**
   * Checks a document and shows its findings; a check of it that still runs is cancelled.
   * @param {vscode.TextDocument} document
   * @param {vscode.ProgressLocation} location
   */
  async check(document, location) {
    const key = document.uri.toString();
    this.stop(key);
    const run = { controller: new AbortController(), edits: [] };
    this.running.set(key, run);
    const title = `Toulmin: checking ${name(document)} …`;
    try {
      await vscode.window.withProgress({ location, title, cancellable: true }, (_, cancel) => {
        cancel.onCancellationRequested(() => run.controller.abort());
        return this.read(document, run);
      });
    } catch (error) {
      if (!run.controller.signal.aborted) this.report(error);
    } finally {
      if (this.running.get(key) === run) this.running.delete(key);
    }
  }

  /**
   * @param {vscode.TextDocument} document
   * @param {Run} run
   */
  async read(document, { controller: { signal }, edits }) {
    const text = document.getText();
    const prose = proseOf(text, document.languageId);
    const answer = prose.trim() ? await check(server(), prose, signal) : { claims: [], passages: [] };
    if (signal.aborted) return;
    const findings = edits.reduce(afterEdit, findingsOf(answer, text, document.uri.fsPath));
    this.show(document, { answer: answer.id, findings });
    const counts = Object.keys(VERDICTS).map(
      (label) => `${findings.filter((one) => one.label === label).length} ${label}`,
    );
    this.log.appendLine([`${name(document)}: ${counts.join(", ")}`, ...(answer.notes ?? [])].join("\n  "));
    vscode.window.setStatusBarMessage(`Toulmin: ${counts.join(", ")}`, 10_000);
  }

  /**
   * @param {vscode.TextDocument} document
   * @param {Checked} checked
   */
  show(document, checked) {
    this.checked.set(document.uri.toString(), checked);
    const mildest = settings().get("mildest", "unsure");
    const marked = checked.findings.filter((finding) => isMarked(finding, mildest));
    this.marks.set(
      document.uri,
      marked.map((finding) => diagnosticOf(document, finding)),
    );
  }

  /** @param {vscode.TextDocumentChangeEvent} event */
  edit({ document, contentChanges }) {
    const key = document.uri.toString();
    const changes = [...contentChanges].sort((a, b) => b.rangeOffset - a.rangeOffset); // offsets are those before all
    this.running.get(key)?.edits.push(...changes);
    const checked = this.checked.get(key);
    if (!checked || !changes.length) return;
    this.show(document, { ...checked, findings: changes.reduce(afterEdit, checked.findings) });
  }

  /** @param {string} key */
  stop(key) {
    this.running.get(key)?.controller.abort();
  }

  /** @param {vscode.TextDocument} document */
  clear({ uri }) {
    this.stop(uri.toString());
    this.checked.delete(uri.toString());
    this.marks.delete(uri);
  }

  /** @param {unknown} error */
  report(error) {
    if (!(error instanceof Failure)) this.log.appendLine(error instanceof Error ? String(error.stack) : String(error));
    const message =
      error instanceof Failure ? error.message : "The reply could not be read; the output “Toulmin” shows why.";
    void vscode.window.showErrorMessage(`Toulmin: ${message}`);
  }

  /**
   * The finding at a place, with the id of its check.
   * @param {vscode.TextDocument} document
   * @param {vscode.Position} position
   */
  at(document, position) {
    const checked = this.checked.get(document.uri.toString());
    const offset = document.offsetAt(position);
    const finding = checked?.findings.find(({ start, end }) => start <= offset && offset <= end);
    return checked && finding ? { answer: checked.answer, finding } : null;
  }

  /**
   * @param {vscode.TextDocument} document
   * @param {vscode.Position} position
   */
  provideHover(document, position) {
    const found = this.at(document, position);
    return (
      found &&
      new vscode.Hover(hoverOf(found.finding, settings().get("mildest", "unsure")), rangeOf(document, found.finding))
    );
  }

  /**
   * @param {vscode.TextDocument} document
   * @param {vscode.Range} range
   */
  provideCodeActions(document, range) {
    const found = this.at(document, range.start);
    return (found?.finding.sources ?? []).map((source) => {
      const title = `Show the source: ${source.title || source.place}`;
      const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      action.command = { title, command: "toulmin.showSource", arguments: [found?.answer, source] };
      return action;
    });
  }

  /**
   * @param {string} answer
   * @param {Source} source
   */
  async showSource(answer, source) {
    try {
      await vscode.env.openExternal(vscode.Uri.parse(String(await addressOf(server(), answer, source)), true));
    } catch (error) {
      this.report(error);
    }
  }
}

/** @param {vscode.TextDocument} document */
function name(document) {
  return document.uri.path.split("/").pop() ?? "";
}

/**
 * @param {vscode.TextDocument} document
 * @param {Finding} finding
 */
function rangeOf(document, { start, end }) {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}

/**
 * @param {vscode.TextDocument} document
 * @param {Finding} finding
 */
function diagnosticOf(document, finding) {
  const message = `${VERDICTS[finding.label]}${finding.reason && `: ${finding.reason}`}`;
  const severity = SEVERITIES[/** @type {keyof typeof SEVERITIES} */ (finding.label)];
  const diagnostic = new vscode.Diagnostic(rangeOf(document, finding), message, severity);
  diagnostic.source = "Toulmin";
  diagnostic.code = finding.label;
  return diagnostic;
}

/**
 * The editor shows verdict and reason of what is marked above this.
 * @param {Finding} finding
 * @param {string} mildest
 */
function hoverOf(finding, mildest) {
  const { label, reason, judge, score, sources } = finding;
  const verdict = isMarked(finding, mildest) ? [] : [`**${VERDICTS[label]}**`, escape(reason)];
  const shown = sources.flatMap(({ title, place, quote }) => [
    quote ? `> “${escape(quote.text)}”` : "",
    escape([title, place].filter(Boolean).join(" · ")),
  ]);
  const lines = [...verdict, ...shown, escape(`${label} ${score.toFixed(2)}, judge ${judge}`)];
  const text = new vscode.MarkdownString(lines.filter(Boolean).join("\n\n"), false);
  text.isTrusted = false;
  text.supportHtml = false;
  return text;
}

/**
 * A backslash before each sign leaves no link, image, tag or bare address to the Markdown of the editor.
 * @param {string} text
 */
function escape(text) {
  return text.replace(/\s+/g, " ").replace(/[!-/:-@[-`{-~]/g, "\\$&");
}

/** @param {vscode.ExtensionContext} context */
function activate({ subscriptions }) {
  const checker = new Checker();
  const { commands, languages, window, workspace, ProgressLocation } = vscode;
  const withDocument = (/** @type {(document: vscode.TextDocument) => unknown} */ use) => () => {
    const document = window.activeTextEditor?.document;
    if (document && LANGUAGES.includes(document.languageId)) return use(document);
    return window.showErrorMessage("Toulmin: open a Markdown or plain text document first.");
  };
  subscriptions.push(
    checker.marks,
    checker.log,
    commands.registerCommand(
      "toulmin.check",
      withDocument((document) => checker.check(document, ProgressLocation.Notification)),
    ),
    commands.registerCommand(
      "toulmin.clear",
      withDocument((document) => checker.clear(document)),
    ),
    commands.registerCommand("toulmin.showSource", (answer, source) => checker.showSource(answer, source)),
    languages.registerHoverProvider(LANGUAGES, checker),
    languages.registerCodeActionsProvider(LANGUAGES, checker, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    workspace.onDidChangeTextDocument((event) => checker.edit(event)),
    workspace.onDidCloseTextDocument((document) => checker.clear(document)),
    workspace.onDidSaveTextDocument((document) => {
      if (!LANGUAGES.includes(document.languageId) || !settings().get("checkOnSave", false)) return;
      void checker.check(document, ProgressLocation.Window);
    }),
  );
}

module.exports = { activate };
