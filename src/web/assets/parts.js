import { h, put } from "./dom.js";
import { placeText, safe, safeText } from "./text.js";

/**
 * A coloured word: a state, a risk, an action.
 * @param {string} kind class of the colours: state, risk, action
 * @param {string} word
 */
export function chip(kind, word) {
  return h("span", { class: `chip ${kind}-${word}` }, word);
}

/**
 * Rows of name and value; rows without a value are left out.
 * @param {[string, Node | string | number | null | undefined | false][]} rows
 */
export function facts(rows) {
  return h(
    "dl",
    { class: "facts" },
    rows.flatMap(([name, value]) => (value === null || value === undefined || value === false || value === "" ? [] : [h("dt", {}, name), h("dd", {}, value)])),
  );
}

/**
 * Findings of the configuration, each with its place.
 * @param {any[]} findings
 */
export function findingList(findings) {
  return h(
    "ul",
    { class: "findings" },
    findings.map((finding) =>
      h(
        "li",
        { class: `finding ${finding.severity}` },
        h("div", {}, chip("severity", finding.severity), " ", h("code", {}, safe(placeText(finding)))),
        h("div", { class: "finding-text" }, safe(finding.message)),
        finding.help.map((/** @type {string} */ line) => h("div", { class: "muted" }, safe(line))),
        finding.related.map((/** @type {any} */ other) => h("div", { class: "muted" }, safe(other.message), ": ", h("code", {}, safe(placeText(other))))),
        h("div", { class: "muted small" }, `${finding.code}${finding.path ? " · " : ""}`, safe(finding.path)),
      ),
    ),
  );
}

/**
 * A button that cannot be pressed again while its work runs; a fault becomes a note.
 * @param {string} label
 * @param {() => Promise<void>} work
 * @param {Record<string, unknown>} [props]
 */
export function actionButton(label, work, props = {}) {
  const button = h("button", { type: "button", ...props }, label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      note(error instanceof Error ? error.message : String(error), "bad");
    } finally {
      button.disabled = false;
    }
  });
  return button;
}

/**
 * Says something for a few seconds; screen readers read it out.
 * @param {string} text
 * @param {"good" | "bad" | "plain"} [kind]
 */
export function note(text, kind = "plain") {
  const box = h("div", { class: `note ${kind}` }, safeText(text));
  document.getElementById("notes")?.append(box);
  setTimeout(() => box.remove(), kind === "bad" ? 9000 : 4500);
}

/**
 * Fills an element anew and keeps the focus on the part with the same `data-key`.
 * @param {Element} element
 * @param {...(Node | string | null)} children
 */
export function redraw(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
  put(element, ...children);
  if (key) /** @type {HTMLElement | null} */ (element.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus({ preventScroll: true });
}

/**
 * Brings a panel into sight where it does not stay beside what it belongs to: on a narrow screen it is above, and whoever chose something
 * further down would not see it.
 * @param {HTMLElement} panel
 */
export function reveal(panel) {
  if (getComputedStyle(panel).position === "static") panel.scrollIntoView();
}
