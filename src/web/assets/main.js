import { ApiError, setToken, token } from "./api.js";
import { showApprovals } from "./approvals.js";
import { reloadNow, showConfig } from "./config.js";
import { h, put } from "./dom.js";
import { showEvents } from "./events.js";
import { showGraph } from "./graph.js";
import { note } from "./parts.js";
import { showPins } from "./pins.js";
import { changes, connect, disconnect, state } from "./store.js";
import { safeText } from "./text.js";
import { showTools } from "./tools.js";

/** @typedef {(root: HTMLElement, signal: AbortSignal, selected: string) => void} View */

/** @type {{ name: string, title: string, show: View, operator: boolean }[]} */
const VIEWS = [
  { name: "graph", title: "Graph", show: showGraph, operator: false },
  { name: "approvals", title: "Approvals", show: showApprovals, operator: true },
  { name: "events", title: "Events", show: showEvents, operator: true },
  { name: "tools", title: "Tools", show: showTools, operator: false },
  { name: "pins", title: "Pins", show: showPins, operator: true },
  { name: "config", title: "Config", show: showConfig, operator: false },
];

const content = byId("content");
const tabs = byId("tabs");
const reload = /** @type {HTMLButtonElement} */ (byId("reload"));
const leave = byId("leave");

/** @type {AbortController | null} */
let shown = null;
/** The view and the part in it that are shown. */
let at = ["", ""];

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** The view and the part in it that the address names. */
function place() {
  const [name = "", part = ""] = location.hash.slice(1).split("/", 2);
  try {
    return [name, decodeURIComponent(part)];
  } catch {
    return [name, ""];
  }
}

/** Shows the view that the address names. */
function showView() {
  if (state.role === null) return;
  shown?.abort();
  shown = new AbortController();
  const [name, selected] = place();
  const open = VIEWS.filter((view) => !view.operator || state.role === "operator");
  const view = open.find((one) => one.name === name) ?? /** @type {(typeof VIEWS)[number]} */ (open[0]);
  content.className = `view-${view.name}`;
  const root = h("div", {});
  const focused = content.contains(document.activeElement);
  const [before, partBefore = ""] = at;
  at = [view.name, selected ?? ""];
  put(content, root);
  for (const old of document.querySelectorAll(".note.plain")) old.remove();
  view.show(root, shown.signal, selected ?? "");
  if (before !== view.name) scrollTo(0, 0);
  else if (focused) keepFocus(selected ?? "", partBefore, shown.signal);
  put(
    tabs,
    open.map((one) =>
      h(
        "a",
        { href: `#${one.name}`, "aria-current": one === view ? "page" : null, "data-tab": one.name },
        one.title,
        h("span", { class: "count", "aria-hidden": "true" }),
      ),
    ),
  );
  showCounts();
}

/**
 * A view that was put together anew keeps the focus: on the part that was chosen, or on the one that was left.
 * @param {string} chosen
 * @param {string} left
 * @param {AbortSignal} signal
 */
function keepFocus(chosen, left, signal) {
  // The picture is drawn when its width is known, after the next layout.
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (signal.aborted || document.activeElement !== document.body) return;
      for (const key of [chosen, left]) {
        const part = /** @type {HTMLElement | null} */ (key === "" ? null : content.querySelector(`[data-key="${CSS.escape(key)}"]`));
        part?.focus({ preventScroll: key === chosen });
        if (document.activeElement === part) return;
      }
      content.focus({ preventScroll: true });
    }),
  );
}

/** The figures beside the tabs, the head line and the title. */
function showCounts() {
  const { status, approvals, live, role } = state;
  if (status === null) return;
  const waiting = role === "operator" ? approvals.filter((row) => row.state === "pending").length : 0;
  const errors = status.config.errors.length;
  const counts = { approvals: waiting, pins: status.tools.quarantined, config: errors };
  for (const [name, count] of Object.entries(counts)) {
    const tab = tabs.querySelector(`[data-tab="${name}"]`);
    if (!tab) continue;
    put(/** @type {Element} */ (tab.querySelector(".count")), count > 0 ? String(count) : "");
    tab.setAttribute("aria-label", `${VIEWS.find((view) => view.name === name)?.title}${count > 0 ? `, ${count}` : ""}`);
  }
  byId("host-name").textContent = safeText(status.name);
  byId("host-state").textContent = `${status.state} · revision ${status.revision}`;
  const link = byId("link-state");
  const words = role === "operator" ? (live ? "live" : "reconnecting …") : "caller: read only";
  if (link.textContent !== words) link.textContent = words;
  link.dataset["live"] = String(live || role === "caller");
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${safeText(status.name)} · Aurora MCP Kit`;
}

/** @param {string} [why] */
function showLogin(why) {
  shown?.abort();
  disconnect();
  tabs.hidden = reload.hidden = leave.hidden = true;
  byId("link-state").textContent = byId("host-state").textContent = "";
  const field = h("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-help" });
  const go = h("button", { type: "submit", class: "good" }, "Open");
  const form = h(
    "form",
    { class: "card login" },
    h("h1", {}, "Aurora MCP Kit"),
    h("label", { for: "token" }, "Operator token"),
    h("div", { class: "decision" }, field, go),
    why ? h("p", { class: "warn", role: "alert" }, why) : null,
    h(
      "p",
      { id: "token-help", class: "muted" },
      "It stands in ",
      h("code", {}, "data/run/operator.token"),
      " of the workspace. This tab keeps it until it is closed; no cookie is set. With a caller token the page shows states and tools only.",
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(field.value.trim());
    void enter();
  });
  content.className = "view-login";
  put(content, form);
  field.focus();
}

/** Comes in with the token of this tab, or without one where callers need none. */
async function enter() {
  try {
    await connect();
    tabs.hidden = leave.hidden = false;
    reload.hidden = state.role !== "operator";
    // Where callers need no token, the way out is the way to the operator's.
    leave.textContent = token() === null ? "Enter token" : "Sign out";
    showView();
  } catch (error) {
    const refused = error instanceof ApiError && error.status === 401;
    const first = token() === null;
    if (refused) setToken(null);
    showLogin(refused ? (first ? undefined : "Nobody has this token.") : error instanceof Error ? error.message : String(error));
  }
}

/** @type {Map<string, string>} */
const told = new Map();

/** Says aloud what a person should not miss. */
function announce() {
  for (const row of state.approvals) {
    if (row.state === "pending" && !told.has(row.id) && location.hash !== "#approvals") note(`${row.tool} waits for approval`);
    told.set(row.id, row.state);
  }
}

window.addEventListener("hashchange", showView);
changes.addEventListener("change", (event) => {
  showCounts();
  if (/** @type {CustomEvent} */ (event).detail === "approvals") announce();
});
changes.addEventListener("refused", () => {
  setToken(null);
  showLogin("The host no longer takes this token.");
});
leave.addEventListener("click", () => {
  setToken(null);
  showLogin();
});
reload.addEventListener("click", async () => {
  reload.disabled = true;
  await reloadNow().catch((error) => note(error instanceof Error ? error.message : String(error), "bad"));
  reload.disabled = false;
});
void enter();
