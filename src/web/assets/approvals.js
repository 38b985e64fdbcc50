import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { actionButton, chip, facts, note } from "./parts.js";
import { formFields, questionFacts } from "./question.js";
import { changes, noteApproval, state } from "./store.js";
import { clockTime, counted, countHidden, jsonBlock, placeText, safe, safeText } from "./text.js";

const DONE = { approve: "approved", deny: "denied", cancel: "cancelled" };
/** Decided approvals that are still shown. */
const MAX_DECIDED = 30;

/**
 * The queue of calls that wait for a person. Cards keep their place and their element while they change, so that nothing moves under a
 * pointer and no half-typed reason is lost.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
export function showApprovals(root, signal) {
  const open = h("div", { class: "cards" });
  const decided = h("div", { class: "cards" });
  const empty = h("p", { class: "empty" }, "Nothing waits. A call that the policy wants a person for appears here at once.");
  const decidedTitle = h("h2", {}, "Decided");
  put(root, h("h1", {}, "Approvals"), empty, open, decidedTitle, decided);

  /** @type {Map<string, { card: HTMLElement, shown: string }>} */
  const cards = new Map();
  const atFirst = new Set(state.approvals.filter((row) => row.state !== "pending").map((row) => row.id));
  const draw = () => {
    for (const row of state.approvals) {
      const known = cards.get(row.id);
      // The first of two people to say yes changes what the second decides on.
      const shown = JSON.stringify([row.state, row.decided_by]);
      if (known?.shown === shown) continue;
      const card = approvalCard(row);
      if (known) known.card.replaceWith(card);
      else if (atFirst.has(row.id)) decided.prepend(card);
      else open.append(card);
      cards.set(row.id, { card, shown });
    }
    while (decided.children.length > MAX_DECIDED) decided.lastElementChild?.remove();
    empty.hidden = open.children.length > 0;
    decidedTitle.hidden = decided.children.length === 0;
  };
  const tick = setInterval(() => {
    for (const left of open.querySelectorAll("[data-expires]")) left.textContent = timeLeft(/** @type {HTMLElement} */ (left).dataset["expires"] ?? "");
  }, 1000);
  signal.addEventListener("abort", () => clearInterval(tick));
  changes.addEventListener("change", (event) => void (/** @type {CustomEvent} */ (event).detail === "approvals" && draw()), { signal });
  draw();
}

/** @param {any} row */
function approvalCard(row) {
  const hidden = countHidden(row.arguments);
  const pending = row.state === "pending";
  return h(
    "article",
    { class: `card approval ${pending ? "open" : "done"}`, "aria-label": `Approval of ${row.tool}` },
    h("header", { class: "card-head" }, h("h2", {}, safe(row.tool)), chip("risk", row.risk), pending ? null : chip("approval", row.state)),
    facts([
      ["Asked by", h("span", {}, safe(row.client), " in ", safe(row.session))],
      ["Because", safe(row.reason)],
      ...questionFacts(row.question),
      ["Rule", row.rule && h("span", {}, safe(row.rule.id), " ", h("code", {}, safe(placeText(row.rule))))],
      ["Since", clockTime(row.created_at)],
      [pending ? "Approved by" : "Decided by", row.decided_by.length > 0 && safe(row.decided_by.join(", "))],
      ["Expires", pending && h("span", { "data-expires": row.expires_at }, timeLeft(row.expires_at))],
    ]),
    hidden > 0 && h("p", { class: "warn" }, `${counted(hidden, "character")} in these arguments cannot be seen by themselves; below they stand marked.`),
    ...(row.question
      ? [h("details", {}, h("summary", {}, "The whole request"), jsonBlock(row.arguments))]
      : [h("h3", {}, "Arguments"), jsonBlock(row.arguments)]),
    ...(row.answer === null ? [] : [h("h3", {}, "Answer"), jsonBlock(row.answer)]),
    pending && decision(row),
  );
}

/** @param {any} row */
function decision(row) {
  const reason = h("input", { type: "text", maxlength: 2000, placeholder: "Reason (optional)", "aria-label": `Reason for ${row.tool}`, autocomplete: "off" });
  const fault = h("p", { class: "warn", role: "alert", hidden: true });
  // A second person confirms the answer that stands there, or denies it.
  const form = row.question?.mode === "form" && row.answer === null ? formFields(row.question.schema) : null;
  /** @param {"approve" | "deny" | "cancel"} word */
  const decide = (word) => async () => {
    fault.hidden = true;
    const said = reason.value.trim();
    try {
      noteApproval(
        await ask(`/api/approvals/${encodeURIComponent(row.id)}/${word}`, {
          ...(said === "" ? {} : { reason: said }),
          ...(form !== null && word === "approve" ? { answer: form.read() } : {}),
        }),
      );
    } catch (error) {
      // In the card, where it stays until it is mended and covers nothing.
      fault.hidden = false;
      fault.textContent = error instanceof Error ? safeText(error.message) : String(error);
      return;
    }
    note(`${row.tool}: ${DONE[word]}`, word === "approve" ? "good" : "plain");
    document.getElementById("content")?.focus();
  };
  const buttons = h(
    "div",
    { class: "decision" },
    reason,
    actionButton("Approve", decide("approve"), { class: "good", "aria-label": `Approve ${row.tool}` }),
    actionButton("Deny", decide("deny"), { class: "bad", "aria-label": `Deny ${row.tool}` }),
    row.question ? actionButton("Cancel", decide("cancel"), { "aria-label": `Cancel the question of ${row.tool}` }) : null,
  );
  const fields = form && form.fields.length > 0 ? h("div", { class: "question-form", role: "group", "aria-label": "Answer" }, form.fields) : null;
  return h("div", {}, fields, buttons, fault);
}

/** @param {string} iso */
function timeLeft(iso) {
  const seconds = Math.round((new Date(iso).getTime() - Date.now()) / 1000);
  if (Number.isNaN(seconds)) return "";
  if (seconds <= 0) return "now";
  return seconds < 90 ? `in ${seconds} s` : `in ${Math.round(seconds / 60)} min`;
}
