import { ApiError, ask } from "./api.js";
import { h, put } from "./dom.js";
import { actionButton, chip, facts, note } from "./parts.js";
import { changes } from "./store.js";
import { counted, safe, safeText } from "./text.js";

/** What things are called that an app has beside tools. */
const KINDS = new Map([
  ["tool", "tool"],
  ["prompt", "prompt"],
  ["resource_template", "resource template"],
  ["resources", "its resources"],
  ["instructions", "its instructions"],
]);

/**
 * What servers show that no person has accepted. A card shows one difference and accepts exactly that one: when the server shows something
 * else meanwhile, the card says so and waits to be looked at again. Cards keep their places, also done ones, so that nothing moves or
 * changes under a pointer.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
export function showPins(root, signal) {
  const waiting = h("div", { class: "cards" });
  const used = h("div", { class: "cards" });
  const usedTitle = h("summary", {});
  const usedPart = h("details", { hidden: true }, usedTitle, used);
  const empty = h("p", { class: "empty" }, "Nothing waits. What a server shows and nobody has accepted yet appears here.");
  const fault = h("p", { class: "warn", role: "alert", hidden: true });
  put(
    root,
    h("h1", {}, "Pins"),
    h("p", { class: "muted" }, "Accepting writes ", h("code", {}, "topology/tools.lock.json"), ", as ", h("code", {}, "aurora-mcp lock --accept"), " does."),
    fault,
    waiting,
    empty,
    usedPart,
  );

  /** @type {Map<string, { card: HTMLElement, shown: string }>} */
  const cards = new Map();
  /** Cards that a person wants to see as they are now. */
  const wanted = new Set();
  /** @param {any} entry */
  const place = (entry) => {
    const card = pinCard(entry, look);
    const known = cards.get(keyOf(entry));
    if (known) known.card.replaceWith(card);
    else (entry.quarantined ? waiting : used).append(card);
    cards.set(keyOf(entry), { card, shown: shownOf(entry) });
  };
  /** @param {any[]} entries */
  const draw = (entries) => {
    const now = new Map(entries.map((entry) => [keyOf(entry), entry]));
    for (const [key, { card, shown }] of cards) {
      const entry = now.get(key);
      if (entry === undefined || entry.state === "accepted") finish(card, entry === undefined ? "It is gone." : "Accepted.");
      else if (shownOf(entry) === shown && !card.classList.contains("done")) continue;
      else if (wanted.delete(key)) place(entry);
      else outdate(card, () => (wanted.add(key), void look()));
    }
    for (const [key, entry] of now) if (entry.state !== "accepted" && !cards.has(key)) place(entry);
    empty.hidden = waiting.querySelector(".pin:not(.done)") !== null;
    const left = used.querySelectorAll(".pin:not(.done)").length;
    usedPart.hidden = used.children.length === 0;
    usedTitle.textContent = `${counted(left, "difference")} in use, pinned at first sight or switched off, that nobody has accepted`;
  };
  const look = async () => {
    try {
      const entries = await ask("/api/lock");
      if (signal.aborted) return;
      fault.hidden = true;
      draw(entries);
    } catch (error) {
      fault.hidden = false;
      fault.textContent = error instanceof Error ? safeText(error.message) : String(error);
    }
  };
  const onChange = (/** @type {Event} */ event) => {
    // A change of what waits already is no change of the catalogue; the status is asked for every few seconds.
    if (["tools", "status"].includes(/** @type {CustomEvent} */ (event).detail)) void look();
  };
  changes.addEventListener("change", onChange, { signal });
  void look();
}

/** @param {any} entry */
function keyOf(entry) {
  return JSON.stringify([entry.app, entry.kind, entry.name]);
}

/**
 * What a click on the card of an entry would accept.
 * @param {any} entry
 */
function shownOf(entry) {
  return JSON.stringify([entry.pin, entry.accepted]);
}

/** @param {any} entry */
function nameOf(entry) {
  return entry.kind === "tool"
    ? `${entry.app}/${entry.name}`
    : `${entry.app}: ${KINDS.get(entry.kind) ?? entry.kind}${entry.name === "" ? "" : ` ${entry.name}`}`;
}

/**
 * @param {any} entry
 * @param {() => Promise<void>} look
 */
function pinCard(entry, look) {
  const { app, kind, name, pin, accepted } = entry;
  const accept = async () => {
    try {
      await ask("/api/lock/accept", { select: [{ app, kind, name, pin, accepted }] });
      note(`${nameOf(entry)}: accepted`, "good");
      document.getElementById("content")?.focus();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      note(error.message, "bad");
    }
    await look();
  };
  return h(
    "article",
    { class: "card pin", "aria-label": `Pin of ${safeText(nameOf(entry))}` },
    h("header", { class: "card-head" }, h("h2", {}, safe(nameOf(entry))), chip("pin", entry.state), entry.quarantined ? chip("tool", "quarantined") : null),
    facts([
      ["Shown now", pin && h("code", { class: "pin-hash" }, pin)],
      ["Accepted", accepted && h("code", { class: "pin-hash" }, accepted)],
    ]),
    entry.findings.length > 0 &&
      h(
        "ul",
        { class: "pin-findings" },
        entry.findings.map((/** @type {string} */ line) => h("li", { class: "warn" }, safe(line))),
      ),
    h(
      "ul",
      { class: "pin-diff", tabindex: 0, "aria-label": "Differences" },
      entry.diff.map((/** @type {string} */ line) => h("li", {}, safe(line))),
    ),
    h(
      "div",
      { class: "decision" },
      actionButton(entry.state === "removed" ? "Take out" : "Accept", accept, { class: "good", "aria-label": `Accept ${safeText(nameOf(entry))}` }),
    ),
  );
}

/**
 * A card whose difference is settled stays where it is, with nothing to press.
 * @param {HTMLElement} card
 * @param {string} word
 */
function finish(card, word) {
  if (card.classList.contains("done")) return;
  card.classList.remove("outdated");
  card.classList.add("done");
  put(footOf(card), h("p", { class: "muted", role: "status" }, word));
}

/**
 * Makes a card that is no longer true say so; it accepts nothing until a person asks to see what is there now.
 * @param {HTMLElement} card
 * @param {() => void} renew
 */
function outdate(card, renew) {
  if (card.classList.contains("outdated")) return;
  card.classList.remove("done");
  card.classList.add("outdated");
  put(
    footOf(card),
    h("p", { class: "warn", role: "status" }, "The server shows something else now; this is no longer it."),
    h("button", { type: "button", onclick: renew }, "Show what is there now"),
  );
}

/** @param {HTMLElement} card */
function footOf(card) {
  return /** @type {Element} */ (card.querySelector(".decision"));
}
