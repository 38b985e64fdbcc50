import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { chip, facts, reveal } from "./parts.js";
import { changes, state } from "./store.js";
import { counted, jsonBlock, placeText, safe } from "./text.js";

const PAGE = 200;
const RISKS = ["low", "medium", "high", "critical"];

/**
 * The catalogue: every tool with risk, decision, state and cost; an operator sees how each provider is shown it.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 * @param {string} selected full name of a tool, or empty
 */
export function showTools(root, signal, selected) {
  const search = h("input", { type: "search", placeholder: "Search tools", "aria-label": "Search tools", autocomplete: "off", spellcheck: "false" });
  const risk = choice("Risk", ["any risk", ...RISKS]);
  const where = choice("State", ["any state", "exposed", "quarantined", "denied", "unavailable"]);
  const sum = h("p", { class: "muted" });
  const list = h("ul", { class: "tool-list" });
  const more = h("button", { type: "button", class: "quiet" }, "Show more");
  const detail = h("section", { class: "detail", "aria-label": "Tool" });
  put(root, h("h1", {}, "Tools"), h("div", { class: "bar" }, search, risk, where), sum, h("div", { class: "split" }, h("div", {}, list, more), detail));

  let shown = PAGE;
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = state.tools.filter((tool) => {
      const text = `${tool.name} ${tool.short_name} ${tool.title ?? ""} ${tool.description ?? ""}`.toLowerCase();
      return (
        words.every((word) => text.includes(word)) &&
        (risk.selectedIndex === 0 || tool.risk === risk.value) &&
        (where.selectedIndex === 0 || tool.state === where.value)
      );
    });
    const cost = found.reduce((total, tool) => total + (tool.state === "exposed" ? tool.tokens : 0), 0);
    sum.textContent = `${found.length} of ${state.tools.length} tools; those exposed cost about ${cost} tokens in every request that offers them all`;
    put(
      list,
      found.slice(0, shown).map((tool) => toolRow(tool, tool.name === selected)),
    );
    more.hidden = found.length <= shown;
    root.classList.toggle("has-detail", selected !== "");
  };
  for (const input of [search, risk, where]) input.addEventListener("input", () => ((shown = PAGE), draw()));
  more.addEventListener("click", () => ((shown += PAGE), draw()));
  changes.addEventListener("change", (event) => void (/** @type {CustomEvent} */ (event).detail === "tools" && draw()), { signal });
  draw();
  const tool = state.tools.find((row) => row.name === selected);
  if (selected !== "") reveal(detail);
  if (tool) void showTool(detail, tool);
  else
    put(
      detail,
      h("p", { class: "empty" }, state.tools.length === 0 ? "No app shows a tool now." : selected === "" ? "Choose a tool." : "No app shows this tool now."),
    );
}

/**
 * @param {string} label
 * @param {string[]} values
 */
function choice(label, values) {
  return h(
    "select",
    { "aria-label": label },
    values.map((value) => h("option", { value }, value)),
  );
}

/**
 * @param {any} tool
 * @param {boolean} current
 */
function toolRow(tool, current) {
  return h(
    "li",
    {},
    h(
      "a",
      { href: `#tools/${encodeURIComponent(tool.name)}`, class: "tool-row", "data-key": tool.name, "aria-current": current ? "true" : null },
      h("span", { class: "tool-name" }, safe(tool.tool)),
      h("span", { class: "tool-app muted" }, safe(tool.app)),
      h("span", { class: "tool-chips" }, chip("risk", tool.risk), chip("action", tool.action), tool.state === "exposed" ? null : chip("tool", tool.state)),
      h("span", { class: "tool-tokens muted" }, `${tool.tokens} tok`),
    ),
  );
}

/**
 * @param {HTMLElement} detail
 * @param {any} tool
 */
async function showTool(detail, tool) {
  const body = h("div", {});
  put(
    detail,
    h("a", { class: "back", href: "#tools" }, "All tools"),
    h("h2", {}, safe(tool.title ?? tool.tool)),
    h("p", { class: "mono small" }, safe(tool.name)),
    h("p", {}, safe(tool.description ?? "no description", true)),
    facts([
      ["Short name", h("code", {}, safe(tool.short_name))],
      ["Risk", h("span", {}, chip("risk", tool.risk), " ", safe(tool.risk_source))],
      ["Action", chip("action", tool.action)],
      ["State", h("span", {}, chip("tool", tool.state), " ", safe(tool.reason))],
      ["Pin", tool.state === "quarantined" && state.role === "operator" ? h("a", { href: "#pins" }, "Look at it and accept it") : null],
      ["Cost", `about ${tool.tokens} tokens in MCP's own form`],
    ]),
    body,
  );
  if (state.role !== "operator") return;
  try {
    const [schemas, why] = await Promise.all([
      ask(`/api/schemas?tool=${encodeURIComponent(tool.name)}`),
      ask(`/api/explain?tool=${encodeURIComponent(tool.name)}`),
    ]);
    put(body, decisionPart(why), schemaPart(schemas));
  } catch (error) {
    put(body, h("p", { class: "warn" }, error instanceof Error ? error.message : String(error)));
  }
}

/** @param {any} why */
function decisionPart(why) {
  return h(
    "div",
    {},
    h("h3", {}, "Decision for a call"),
    facts([
      ["Decision", h("span", {}, chip("action", why.decision), " ", safe(why.reason))],
      ["Rule", why.rule && h("span", {}, safe(why.rule), " ", h("code", {}, safe(placeText(why))))],
      [
        "Limits",
        why.limits.map((/** @type {any} */ l) => `${l.rule}: ${[l.rate, l.concurrent && `${l.concurrent} at once`].filter(Boolean).join(", ")}`).join("; "),
      ],
      ["Pin", `${why.pin.state}`],
      ["Timeout", `${why.timeout_ms / 1000} s`],
    ]),
  );
}

/** @param {any} schemas */
function schemaPart(schemas) {
  const view = h("div", { "aria-live": "polite" });
  const own = { format: "server's own", schema: schemas.definition, tokens: null, changes: [], reason: null, strict: false };
  const targets = [own, ...schemas.targets];
  const buttons = targets.map((/** @type {any} */ target) =>
    h(
      "button",
      { type: "button", class: "target", "aria-pressed": "false" },
      target.format,
      target.tokens ? h("span", { class: "muted" }, ` ${target.tokens}`) : null,
    ),
  );
  /** @param {number} index */
  const show = (index) => {
    for (const [i, button] of buttons.entries()) button.setAttribute("aria-pressed", String(i === index));
    const target = targets[index];
    put(
      view,
      target.reason && h("p", { class: target.schema === null ? "warn" : "muted" }, safe(target.reason)),
      target.changes.length > 0 &&
        h(
          "details",
          {},
          h("summary", {}, `${counted(target.changes.length, "difference")} from the server's schema`),
          h(
            "ul",
            { class: "small" },
            target.changes.map((/** @type {any} */ c) => h("li", {}, h("code", {}, c.code), " ", safe(c.pointer), ` (${c.effect})`)),
          ),
        ),
      typeof target.schema === "string"
        ? h("pre", { class: "json", tabindex: 0 }, safe(target.schema, true))
        : target.schema !== null && jsonBlock(target.schema),
    );
  };
  for (const [i, button] of buttons.entries()) button.addEventListener("click", () => show(i));
  show(0);
  return h("div", {}, h("h3", {}, "Schema by target, with tokens"), h("div", { class: "targets" }, buttons), view);
}
