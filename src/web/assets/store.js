import { ApiError, ask, follow, token } from "./api.js";

/**
 * What the page knows of the host. Views read it and listen to `change`; only this module writes it.
 * @typedef {object} State
 * @property {"operator" | "caller" | null} role
 * @property {boolean} live whether the event stream is open
 * @property {any} status
 * @property {any[]} tools
 * @property {any} graph
 * @property {any[]} approvals oldest first; decided ones stay for as long as the page is open
 * @property {any[]} events newest first
 * @property {any} reload result of the last reload that the page saw
 */

/** @type {State} */
export const state = { role: null, live: false, status: null, tools: [], graph: null, approvals: [], events: [], reload: null };

const MAX_EVENTS = 400;
const MAX_APPROVALS = 400;
const STATUS_EVERY_MS = 4000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

/** Fires `change` with the name of the part that changed, and `pulse` with an envelope that just came. */
export const changes = new EventTarget();

/** @param {keyof State} part */
function changed(part) {
  changes.dispatchEvent(new CustomEvent("change", { detail: part }));
}

/** @type {AbortController | null} */
let session = null;

/** Looks up who the token belongs to and begins to follow the host. Throws an {@link ApiError} when the host does not let it in. */
export async function connect() {
  const me = await ask("/api/whoami");
  state.role = me.role;
  session = new AbortController();
  await refresh("status", "tools", ...(me.role === "operator" ? /** @type {const} */ (["graph", "approvals"]) : []));
  const { signal } = session;
  if (me.role === "operator") void followHost(signal);
  const timer = setInterval(() => {
    if (!document.hidden) void refresh("status", ...(me.role === "operator" ? [] : /** @type {const} */ (["tools"]))).catch(() => {});
  }, STATUS_EVERY_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** Forgets everything that a token gave. */
export function disconnect() {
  session?.abort();
  session = null;
  Object.assign(state, { role: null, live: false, status: null, tools: [], graph: null, approvals: [], events: [], reload: null });
}

const PATHS = { status: "/api/status", tools: "/api/catalog", graph: "/api/graph", approvals: "/api/approvals?all=true" };

/**
 * Fetches parts anew. Throws an {@link ApiError}.
 * @param {...keyof typeof PATHS} parts
 */
export async function refresh(...parts) {
  await Promise.all(
    parts.map(async (part) => {
      const value = await ask(PATHS[part]);
      if (token() === null && session === null) return;
      state[part] = part === "approvals" ? value.sort(byAge) : value;
      changed(part);
    }),
  );
}

/**
 * @param {{ created_at: string }} a
 * @param {{ created_at: string }} b
 */
function byAge(a, b) {
  return a.created_at < b.created_at ? -1 : 1;
}

/** @type {Set<keyof typeof PATHS>} */
const wanted = new Set();

/**
 * Fetches parts a moment later, once for many causes.
 * @param {...keyof typeof PATHS} parts
 */
function refreshSoon(...parts) {
  if (wanted.size === 0) {
    setTimeout(() => {
      const now = [...wanted];
      wanted.clear();
      if (session !== null) refresh(...now).catch(() => {});
    }, 250);
  }
  for (const part of parts) wanted.add(part);
}

/** @param {AbortSignal} signal */
async function followHost(signal) {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      await follow("/api/events?state=true", {
        signal,
        onOpen() {
          setLive(true);
          // What happened while nobody listened is in no stream.
          if (tries > 0) refreshSoon("status", "tools", "graph", "approvals");
          tries = 0;
        },
        onEvent: takeEvent,
      });
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        changes.dispatchEvent(new Event("refused"));
        return;
      }
    }
    if (signal.aborted) return;
    setLive(false);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]));
  }
}

/** @param {boolean} live */
function setLive(live) {
  if (state.live === live) return;
  state.live = live;
  changed("live");
}

/**
 * @param {string} event
 * @param {any} data
 */
function takeEvent(event, data) {
  if (event === "envelope") {
    state.events.unshift(data);
    state.events.length = Math.min(state.events.length, MAX_EVENTS);
    changed("events");
    changes.dispatchEvent(new CustomEvent("pulse", { detail: data }));
  } else if (event === "app") {
    const apps = state.status?.apps ?? [];
    const at = apps.findIndex((/** @type {any} */ app) => app.package === data.package);
    if (at >= 0) apps[at] = data;
    changed("status");
    refreshSoon("status");
  } else if (event === "catalog") {
    refreshSoon("status", "tools", "graph");
  } else if (event === "reload") {
    noteReload(data);
    refreshSoon("status", "tools", "graph");
  } else if (event === "approval") {
    noteApproval(data);
    refreshSoon("status");
  }
}

/**
 * Takes over the outcome of a reload.
 * @param {any} result
 */
export function noteReload(result) {
  state.reload = result;
  changed("reload");
}

/**
 * Takes over an approval as it is now; each keeps its place in the list.
 * @param {any} row
 */
export function noteApproval(row) {
  const at = state.approvals.findIndex((other) => other.id === row.id);
  if (at >= 0) state.approvals[at] = row;
  else state.approvals.push(row);
  const oldest = state.approvals.length > MAX_APPROVALS ? state.approvals.findIndex((other) => other.state !== "pending") : -1;
  if (oldest >= 0) state.approvals.splice(oldest, 1);
  changed("approvals");
}
