import { h, put, s } from "./dom.js";
import { showNodePanel } from "./graph-panel.js";
import { layOut, SQUARE, SQUARE_STEP } from "./graph-layout.js";
import { redraw, reveal } from "./parts.js";
import { changes, state } from "./store.js";
import { counted, safeText } from "./text.js";

const PULSE_MS = 1400;
/** From here on lines lie so close that they are drawn fainter. */
const MANY_EDGES = 50;

/**
 * The picture: policies, apps with their tools, and signals, with live states. A chosen part opens its panel.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 * @param {string} selected key of a node, or empty
 */
export function showGraph(root, signal, selected) {
  const picture = h("div", { class: "picture" });
  const panel = h("section", { class: "detail", "aria-label": "Details" });
  put(
    root,
    h("h1", { class: "sr-only" }, "Graph"),
    summaryLine(),
    state.status.apps.length === 0
      ? h("p", { class: "empty" }, "No apps yet. Name one under apps in topology.yaml; it appears here when it is saved and reloaded.")
      : null,
    h("div", { class: selected === "" ? "graph" : "graph split" }, picture, selected === "" ? null : panel),
  );

  let width = 0;
  const draw = () => {
    if (width === 0) return;
    const { status, tools, graph } = state;
    const layout = layOut({ apps: status.apps, tools, graph, inbox: status.inbox }, width);
    redraw(picture, drawLayout(layout, selected));
    root.querySelector(".summary")?.replaceWith(summaryLine());
  };
  const observer = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry?.contentRect.width ?? 0);
    if (now === width) return;
    width = now;
    draw();
  });
  observer.observe(picture);
  signal.addEventListener("abort", () => observer.disconnect());
  let due = false;
  changes.addEventListener(
    "change",
    (event) => {
      if (due || !["status", "tools", "graph"].includes(/** @type {CustomEvent} */ (event).detail)) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        if (!signal.aborted) draw();
      });
    },
    { signal },
  );
  changes.addEventListener("pulse", (event) => pulse(picture, `app:${/** @type {CustomEvent} */ (event).detail.header.source.app}`), { signal });
  if (selected === "") return;
  showNodePanel(panel, selected, signal);
  reveal(panel);
}

function summaryLine() {
  const { status } = state;
  const ready = status.apps.filter((/** @type {any} */ app) => app.state === "ready").length;
  const { exposed, quarantined, denied } = status.tools;
  /** @type {[string, string][]} */
  const items = [
    [`${ready}/${status.apps.length}`, "apps ready"],
    [String(exposed), "tools offered"],
    [String(quarantined), "quarantined"],
    [String(denied), "denied"],
    [String(status.approvals.pending), "approvals wait"],
    [String(status.inbox.written), "events written"],
  ];
  return h(
    "p",
    { class: "summary" },
    items.flatMap(([count, word], i) => [i > 0 ? " " : null, h("span", { class: "figure" }, h("b", {}, count), ` ${word}`)]),
  );
}

/**
 * @param {import("./graph-layout.js").GraphLayout} layout
 * @param {string} selected
 */
function drawLayout(layout, selected) {
  const near = new Set([selected]);
  for (const { from, to } of layout.edges) if (from === selected || to === selected) near.add(from).add(to);
  const dims = selected !== "" && layout.nodes.some((node) => node.key === selected);
  return s(
    "svg",
    {
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      width: layout.width,
      height: layout.height,
      class: `${dims ? "dims" : ""}${layout.edges.length > MANY_EDGES ? " many" : ""}`,
      role: "group",
      "aria-label": "Policies, apps and signals",
    },
    layout.edges.map((edge) => {
      const lit = edge.from === selected || edge.to === selected;
      return s("path", { d: edge.path, class: `edge edge-${edge.tone}${lit ? " lit" : ""}`, "data-from": edge.from, "data-to": edge.to });
    }),
    layout.titles.map((title) => s("text", { x: title.x, y: title.y, class: "column-title" }, title.text)),
    layout.nodes.map((node) => drawNode(node, node.key === selected, near.has(node.key))),
  );
}

/**
 * @param {import("./graph-layout.js").GraphNode} node
 * @param {boolean} current
 * @param {boolean} near
 */
function drawNode(node, current, near) {
  const { title, subtitle, tone, label } = describe(node);
  const open = () => {
    location.hash = current ? "#graph" : `#graph/${encodeURIComponent(node.key)}`;
  };
  return s(
    "g",
    {
      class: `node ${node.kind} tone-${tone}${near ? " near" : ""}`,
      transform: `translate(${node.x} ${node.y})`,
      role: "button",
      tabindex: 0,
      "aria-label": label,
      "aria-pressed": String(current),
      "data-key": node.key,
      onclick: open,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        open();
      },
    },
    s("title", {}, label),
    s("rect", { width: node.width, height: node.height, rx: 10, class: "box" }),
    s("rect", { x: 0, y: 10, width: 3, height: node.height - 20, rx: 1.5, class: "bar" }),
    s("circle", { cx: 18, cy: 21, r: 4.5, class: "dot" }),
    s("text", { x: 30, y: 25.5, class: "node-title" }, fit(title, node.width - 40, TITLE_FONT)),
    s("text", { x: 14, y: 43, class: "node-subtitle" }, fit(subtitle, node.width - 24, SUBTITLE_FONT)),
    node.kind === "app" ? squares(node.data) : [],
    node.kind === "table" ? tableRow(node.data, node.width) : [],
  );
}

/**
 * @param {import("./graph-layout.js").GraphNode} node
 * @returns {{ title: string, subtitle: string, tone: string, label: string }}
 */
function describe({ kind, data }) {
  switch (kind) {
    case "app": {
      const { app } = data;
      const parts = [
        app.state,
        app.pid === null ? app.transport : `pid ${app.pid}`,
        counted(app.tools, "tool"),
        app.calls > 0 ? `${app.calls} running` : null,
        app.restarts > 0 ? counted(app.restarts, "restart") : null,
      ];
      const subtitle = parts.filter(Boolean).join(" · ");
      return { title: safeText(app.package), subtitle, tone: app.state, label: safeText(`${app.package}: ${subtitle}${app.reason ? `, ${app.reason}` : ""}`) };
    }
    case "rule": {
      const does = [data.action, data.risk && `risk ${data.risk}`, data.rate, data.concurrent && `${data.concurrent} at once`].filter(Boolean).join(" · ");
      const count = data.apps.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.tools, 0);
      return {
        title: safeText(data.id),
        subtitle: `${does} · ${counted(count, "tool")}`,
        tone: data.action ?? "limit",
        label: safeText(`rule ${data.id}: ${does}, ${counted(count, "tool")}`),
      };
    }
    case "table":
      return {
        title: "risk table",
        subtitle: "where no rule decides",
        tone: "table",
        label: `risk table: ${Object.entries(data)
          .map(([risk, action]) => `${risk} ${action}`)
          .join(", ")}`,
      };
    case "signal": {
      const what = data.emits === null ? "dropped" : `→ ${data.emits}`;
      return {
        title: safeText(data.id),
        subtitle: safeText(what),
        tone: data.emits === null ? "drop" : "signal",
        label: safeText(`mapping ${data.id}: ${what}`),
      };
    }
    case "built-in":
      return { title: "built-in table", subtitle: `${data.length} mappings for the rest`, tone: "signal", label: `built-in table: ${data.length} mappings` };
    case "inbox": {
      const text = data.dir === null ? "off" : `${data.written} written · ${data.pending} pending`;
      return {
        title: "inbox",
        subtitle: data.degraded ?? text,
        tone: data.degraded ? "failed" : data.dir === null ? "stopped" : "ready",
        label: `inbox: ${data.degraded ?? text}`,
      };
    }
  }
}

/** @param {{ tools: any[], room: number, perRow: number }} data */
function squares({ tools, room, perRow }) {
  const order = ["critical", "high", "medium", "low"];
  const sorted = [...tools].sort((a, b) => order.indexOf(a.risk) - order.indexOf(b.risk));
  const shown = sorted.length > room ? sorted.slice(0, room - 3) : sorted;
  const place = (/** @type {number} */ i) => ({ x: 14 + (i % perRow) * SQUARE_STEP, y: 54 + Math.floor(i / perRow) * SQUARE_STEP });
  const marks = shown.map((tool, i) => {
    const { x, y } = place(i);
    return s(
      "rect",
      { x, y, width: SQUARE, height: SQUARE, rx: 2.5, class: `tool risk-${tool.risk} ${tool.state === "exposed" ? "" : "hollow"}` },
      s("title", {}, safeText(`${tool.tool}: ${tool.risk}, ${tool.action}, ${tool.state}`)),
    );
  });
  if (sorted.length > shown.length) {
    const { x, y } = place(shown.length);
    marks.push(s("text", { x, y: y + 9.5, class: "node-subtitle" }, `+${sorted.length - shown.length}`));
  }
  return marks;
}

/**
 * @param {Record<string, string>} table
 * @param {number} width
 */
function tableRow(table, width) {
  const step = (width - 24) / 4;
  return Object.entries(table).map(([risk, action], i) =>
    s(
      "g",
      { transform: `translate(${14 + i * step} 53)` },
      s("rect", { width: 8, height: 8, rx: 2, class: `tool risk-${risk}` }),
      s("text", { x: 12, y: 7.5, class: "node-tiny" }, action),
    ),
  );
}

/**
 * Lets the edges that leave a node light up for a moment.
 * @param {HTMLElement} picture
 * @param {string} key
 */
function pulse(picture, key) {
  for (const edge of picture.querySelectorAll(`[data-from="${CSS.escape(key)}"], [data-to="inbox"]`)) {
    edge.classList.remove("pulse");
    requestAnimationFrame(() => edge.classList.add("pulse"));
    setTimeout(() => edge.classList.remove("pulse"), PULSE_MS);
  }
}

const TITLE_FONT = "600 13px system-ui, sans-serif";
const SUBTITLE_FONT = "11.5px system-ui, sans-serif";
const pen = document.createElement("canvas").getContext("2d");

/**
 * Cuts a text to a width in pixels.
 * @param {string} text
 * @param {number} width
 * @param {string} font
 */
function fit(text, width, font) {
  if (!pen) return text;
  pen.font = font;
  if (pen.measureText(text).width <= width) return text;
  const chars = [...text];
  let [low, high] = [0, chars.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (pen.measureText(`${chars.slice(0, middle).join("")}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${chars.slice(0, low).join("")}…`;
}
