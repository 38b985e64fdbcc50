import { h, put } from "./dom.js";
import { changes, state } from "./store.js";
import { clockTime, jsonBlock, safe } from "./text.js";

const MAX_ROWS = 200;

/**
 * The stream of envelopes as they go to the inbox, newest first.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
export function showEvents(root, signal) {
  const filter = h("input", {
    type: "search",
    placeholder: "Filter by type, app, session or summary",
    "aria-label": "Filter events",
    autocomplete: "off",
    spellcheck: "false",
  });
  const pause = h("button", { type: "button", "aria-pressed": "false" }, "Pause");
  const list = h("ol", { class: "events", reversed: true });
  const empty = h("p", { class: "empty" }, "No event since this page was opened. What came before is in the inbox folder.");
  put(root, h("h1", {}, "Events"), h("div", { class: "bar" }, filter, pause), empty, list);

  let paused = false;
  /** @type {Map<string, HTMLElement>} */
  let rows = new Map();
  const draw = () => {
    if (paused) return;
    const words = filter.value.toLowerCase().trim();
    const shown = state.events.filter((event) => words === "" || haystack(event).includes(words)).slice(0, MAX_ROWS);
    const next = new Map(shown.map((event) => [event.header.message_id, rows.get(event.header.message_id) ?? eventRow(event)]));
    rows = next;
    // Rows stay the same elements, so an open one stays open; the list is only put together anew.
    for (const old of [...list.children]) if (![...next.values()].includes(/** @type {HTMLElement} */ (old))) old.remove();
    /** @type {Element | null} */
    let before = list.firstElementChild;
    for (const row of next.values()) {
      if (row === before) before = before.nextElementSibling;
      else list.insertBefore(row, before);
    }
    empty.hidden = state.events.length > 0;
  };
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Go on" : "Pause";
    draw();
  });
  filter.addEventListener("input", draw);
  let due = false;
  const drawSoon = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      if (!signal.aborted) draw();
    });
  };
  changes.addEventListener("change", (event) => void (/** @type {CustomEvent} */ (event).detail === "events" && drawSoon()), { signal });
  draw();
}

/** @param {any} event */
function haystack({ header, payload }) {
  return `${payload.type} ${header.source.app} ${payload.session_id ?? ""} ${payload.summary ?? ""}`.toLowerCase();
}

/** @param {any} event */
function eventRow(event) {
  const { header, payload } = event;
  const details = h(
    "details",
    {},
    h(
      "summary",
      {},
      h("time", { datetime: header.timestamp }, clockTime(header.timestamp)),
      h("span", { class: "event-type" }, safe(payload.type)),
      h("span", { class: "event-app" }, safe(header.source.app)),
      h("span", { class: "event-summary" }, safe(payload.summary)),
    ),
  );
  details.addEventListener("toggle", () => void (details.open && details.children.length === 1 && details.append(jsonBlock(event))));
  return h("li", {}, details);
}
