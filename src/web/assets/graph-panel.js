import { ApiError, ask, follow } from "./api.js";
import { h, put } from "./dom.js";
import { actionButton, chip, facts, note, redraw } from "./parts.js";
import { changes, state } from "./store.js";
import { clockTime, counted, placeText, safe } from "./text.js";

const MAX_LINES = 500;

/**
 * What is known of one node of the picture, as it changes.
 * @param {HTMLElement} panel
 * @param {string} key
 * @param {AbortSignal} signal
 */
export function showNodePanel(panel, key, signal) {
  const close = h("a", { class: "back", href: "#graph", "data-key": "close" }, "Close");
  const [kind, name = ""] = split(key);
  const body = h("div", {});
  const logs = kind === "app" && state.role === "operator" ? logPart(name, signal) : null;
  put(panel, close, body, logs);
  const draw = () => redraw(body, content(kind, name));
  changes.addEventListener("change", (event) => void (["status", "tools", "graph"].includes(/** @type {CustomEvent} */ (event).detail) && draw()), { signal });
  draw();
}

/** @param {string} key */
function split(key) {
  const mark = key.indexOf(":");
  return mark < 0 ? [key] : [key.slice(0, mark), key.slice(mark + 1)];
}

/**
 * @param {string | undefined} kind
 * @param {string} name
 */
function content(kind, name) {
  const { status, graph } = state;
  if (kind === "app") {
    const app = status.apps.find((/** @type {any} */ one) => one.package === name);
    return app ? appPart(app) : gone();
  }
  if (kind === "rule") {
    const rule = graph?.rules.find((/** @type {any} */ one) => one.id === name);
    return rule ? rulePart(rule) : gone();
  }
  if (kind === "signal") {
    const signal = graph?.signals.find((/** @type {any} */ one) => one.id === name && one.file !== null);
    return signal ? h("div", {}, h("h2", {}, safe(signal.id)), signalFacts(signal)) : gone();
  }
  if (kind === "built-in") {
    const rules = graph?.signals.filter((/** @type {any} */ one) => one.file === null) ?? [];
    return h(
      "div",
      {},
      h("h2", {}, "Built-in table"),
      h("p", { class: "muted" }, "For signals that no mapping of yours takes."),
      rules.map((/** @type {any} */ rule) => h("div", {}, h("h3", {}, safe(rule.id)), signalFacts(rule))),
    );
  }
  if (kind === "table") {
    return h(
      "div",
      {},
      h("h2", {}, "Risk table"),
      h("p", { class: "muted" }, "What happens to a call that no rule decides."),
      facts(Object.entries(graph?.table ?? {}).map(([risk, action]) => [risk, chip("action", String(action))])),
    );
  }
  const { inbox } = status;
  return h(
    "div",
    {},
    h("h2", {}, "Inbox"),
    facts([
      ["Folder", h("code", {}, safe(inbox.dir ?? "off"))],
      ["Written", inbox.written],
      ["Pending", inbox.pending],
      ["Waiting in memory", inbox.queued],
      ["Dropped", inbox.dropped],
      ["Duplicates", inbox.duplicates],
      ["Trouble", inbox.degraded && safe(inbox.degraded)],
    ]),
  );
}

function gone() {
  return h("p", { class: "empty" }, "This is no longer part of the configuration.");
}

/** @param {any} app */
function appPart(app) {
  const rules = (state.graph?.rules ?? []).filter((/** @type {any} */ rule) => rule.apps.some((/** @type {any} */ one) => one.app === app.package));
  const tools = state.tools.filter((tool) => tool.app === app.package);
  const restart = actionButton(
    "Restart",
    async () => {
      const now = await ask(`/api/apps/${encodeURIComponent(app.package)}/restart`, null);
      note(`${now.package}: ${now.state}`, now.state === "ready" ? "good" : "bad");
    },
    { "data-key": "restart", "aria-label": `Restart ${app.package}` },
  );
  return h(
    "div",
    {},
    h("h2", {}, safe(app.name)),
    app.name === app.package ? null : h("p", { class: "mono small" }, safe(app.package)),
    facts([
      ["State", h("span", {}, chip("state", app.state), " ", safe(app.reason))],
      ["Process", app.pid],
      ["Transport", [app.transport, app.protocol && `MCP ${app.protocol}`].filter(Boolean).join(", ")],
      ["Version", app.version && safe(app.version)],
      ["Declared in", h("code", {}, safe(app.source))],
      ["Restarts", app.restarts],
      ["Next attempt", app.next_attempt && clockTime(app.next_attempt)],
      ["Calls running", app.calls],
      [
        "Rules",
        rules.length > 0
          ? h(
              "ul",
              { class: "plain" },
              rules.map((/** @type {any} */ rule) => h("li", {}, h("a", { href: `#graph/${encodeURIComponent(`rule:${rule.id}`)}` }, safe(rule.id)))),
            )
          : null,
      ],
    ]),
    state.role === "operator" ? restart : null,
    [
      ...app.dropped.map((/** @type {any} */ d) => `${d.kind} ${d.name} was left out: ${d.reason}`),
      ...app.warnings,
      ...(app.findings ?? []).map((/** @type {any} */ f) => `${f.item}: ${f.finding}`),
    ].map((text) => h("p", { class: "warn" }, safe(text))),
    h("h3", {}, counted(tools.length, "tool")),
    h(
      "ul",
      { class: "plain" },
      tools.map((tool) =>
        h(
          "li",
          {},
          chip("risk", tool.risk),
          " ",
          h("a", { href: `#tools/${encodeURIComponent(tool.name)}` }, safe(tool.tool)),
          tool.state === "exposed" ? null : [" ", chip("tool", tool.state)],
        ),
      ),
    ),
  );
}

/** @param {any} rule */
function rulePart(rule) {
  return h(
    "div",
    {},
    h("h2", {}, safe(rule.id)),
    facts([
      ["Written in", h("code", {}, safe(placeText(rule)))],
      ["Action", rule.action && chip("action", rule.action)],
      ["Risk", rule.risk && chip("risk", rule.risk)],
      ["Limits", [rule.rate, rule.concurrent && `${rule.concurrent} at once`].filter(Boolean).join(", ")],
      ["Only for", rule.clients && safe(rule.clients.join(", "))],
      ["Looks at", rule.conditions.length > 0 ? safe(rule.conditions.join(", ")) : null],
      ["Reason", rule.reason && safe(rule.reason)],
      [
        "Reaches",
        h(
          "ul",
          { class: "plain" },
          rule.apps.map((/** @type {any} */ one) =>
            h("li", {}, h("a", { href: `#graph/${encodeURIComponent(`app:${one.app}`)}` }, safe(one.app)), ` ${counted(one.tools, "tool")}`),
          ),
        ),
      ],
    ]),
  );
}

/** @param {any} rule */
function signalFacts(rule) {
  return facts([
    ["Written in", rule.file && h("code", {}, safe(placeText(rule)))],
    ["Takes", safe([rule.kind, rule.method].filter(Boolean).join(", ") || "every signal")],
    ["Of", rule.apps === null ? "all apps" : safe(rule.apps.join(", ") || "no app that is here")],
    ["Becomes", rule.emits === null ? "nothing: dropped" : h("code", {}, safe(rule.emits))],
  ]);
}

/**
 * The last lines that an app wrote, going on with new ones while it is open.
 * @param {string} app
 * @param {AbortSignal} signal
 */
function logPart(app, signal) {
  const lines = h("pre", { class: "log", role: "log", "aria-label": `Log of ${app}`, tabindex: 0 });
  const details = h("details", { class: "logs" }, h("summary", {}, "Log"), lines);
  /** @type {AbortController | null} */
  let running = null;
  const stop = () => running?.abort();
  signal.addEventListener("abort", stop);
  details.addEventListener("toggle", () => {
    stop();
    if (!details.open) return;
    running = new AbortController();
    put(lines);
    follow(`/api/apps/${encodeURIComponent(app)}/logs?follow=true&tail=200`, {
      signal: running.signal,
      onEvent(_event, { line }) {
        const atEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 30;
        lines.append(h("div", {}, safe(line)));
        while (lines.children.length > MAX_LINES) lines.firstElementChild?.remove();
        if (atEnd) lines.scrollTop = lines.scrollHeight;
      },
    }).catch((error) => {
      if (error instanceof ApiError) note(error.message, "bad");
    });
  });
  return details;
}
