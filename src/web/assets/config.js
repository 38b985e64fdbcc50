import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { actionButton, chip, facts, findingList, note, redraw } from "./parts.js";
import { changes, noteReload, state } from "./store.js";
import { counted, safe } from "./text.js";

/** What became of a reload, in words. */
const RESULTS = {
  applied: "Applied.",
  unchanged: "Nothing changed.",
  rejected: "Rejected: the configuration before it stays active.",
  partial: "Applied in part: what is wrong is left as it was.",
  pending: "Read, and waits: apply it here or with aurora-mcp apply.",
};

/**
 * Reads the files again and says what became of it.
 * @param {"reload" | "apply"} [how]
 */
export async function reloadNow(how = "reload") {
  const result = await ask(`/api/${how}`, {});
  noteReload(result);
  const bad = result.errors.length;
  note(bad > 0 ? `Reload: ${counted(bad, "error")}` : `Reload: ${result.result}`, bad > 0 ? "bad" : "good");
  if (bad > 0) location.hash = "#config";
}

/**
 * The configuration: what is active, what is wrong and where, what a reload would change.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
export function showConfig(root, signal) {
  const operator = state.role === "operator";
  const now = h("section", {});
  const preview = h("section", { "aria-live": "polite" });
  const buttons = h(
    "div",
    { class: "bar" },
    actionButton("Reload now", () => reloadNow(), { "data-key": "reload" }),
    actionButton("Apply", () => reloadNow("apply"), { "data-key": "apply", class: "quiet" }),
    actionButton("What would change?", async () => showPlan(preview, await ask("/api/plan")), { class: "quiet" }),
  );
  put(root, h("h1", {}, "Configuration"), operator ? buttons : null, now, preview);
  const draw = () => {
    const { status, reload } = state;
    const { errors, warnings, state: word, host_changes: hostChanges } = status.config;
    const told = unique([...warnings, ...status.policy.warnings]);
    redraw(
      now,
      facts([
        ["State", h("span", {}, chip("config", word), " ", `revision ${status.revision}`)],
        ["File", h("code", {}, safe(status.topology))],
        ["Last reload", reload && RESULTS[/** @type {keyof typeof RESULTS} */ (reload.result)]],
        ["Policy", status.policy.loaded ? counted(status.policy.rules, "rule") : "not loaded: nothing can be called"],
        ["Inbox", h("span", {}, h("code", {}, safe(status.inbox.dir ?? "off")), ` ${status.inbox.written} written, ${status.inbox.pending} pending`)],
        ["Gateway", status.gateway.url && h("code", {}, safe(status.gateway.url))],
        [
          "Exports",
          status.exports.length > 0
            ? h(
                "ul",
                { class: "plain" },
                status.exports.map((/** @type {any} */ e) =>
                  h(
                    "li",
                    {},
                    e.error === null ? `${e.format}: ${counted(e.tools, "tool")} ` : `${e.format}: not written: ${safe(e.error)} `,
                    h("code", {}, safe(e.file)),
                  ),
                ),
              )
            : null,
        ],
      ]),
      hostChanges.length > 0 ? h("p", { class: "warn" }, "These settings change only when the host is started anew: ", safe(hostChanges.join(", "))) : null,
      h("h2", {}, errors.length === 0 ? "No errors" : counted(errors.length, "error")),
      findingList(errors),
      told.length > 0 ? h("h2", {}, counted(told.length, "warning")) : null,
      findingList(told),
    );
  };
  changes.addEventListener("change", (event) => void (["status", "reload"].includes(/** @type {CustomEvent} */ (event).detail) && draw()), { signal });
  draw();
}

/** @param {any[]} findings */
function unique(findings) {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}

/**
 * @param {HTMLElement} preview
 * @param {any} plan
 */
function showPlan(preview, plan) {
  const { apps, tools } = plan.report;
  /** @param {string[]} names */
  const list = (names) => (names.length === 0 ? null : safe(names.join(", ")));
  put(
    preview,
    h("h2", {}, "A reload now would"),
    plan.errors.length > 0 ? h("p", { class: "warn" }, "be rejected, or applied in part, because of:") : null,
    findingList(plan.errors),
    plan.changes.empty && plan.errors.length === 0 ? h("p", {}, "change nothing.") : null,
    facts([
      ...Object.entries(apps ?? {}).map(([word, names]) => /** @type {[string, any]} */ ([`${word} apps`, word === "unchanged" ? null : list(names)])),
      ...Object.entries(tools ?? {}).map(
        ([word, names]) =>
          /** @type {[string, any]} */ ([
            `tools ${word}`,
            list(names.map((/** @type {any} */ t) => (typeof t === "string" ? t : (t.name ?? JSON.stringify(t))))),
          ]),
      ),
      ["policy", plan.changes.policy ? "changes" : null],
      ["signals", plan.changes.signals ? "change" : null],
      ["after a restart", list(plan.changes.host)],
    ]),
  );
}
