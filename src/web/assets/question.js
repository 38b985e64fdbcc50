import { h } from "./dom.js";
import { safe } from "./text.js";

/**
 * What an app asks, for the list of facts of a card. An address is opened by the person alone, and after its site was read.
 * @param {any} question
 * @returns {[string, any][]}
 */
export function questionFacts(question) {
  if (question === null || question === undefined) return [];
  if (question.mode === "form") return [["Asks", safe(question.message)]];
  const reads = question.reads_as === null ? null : h("span", { class: "warn" }, " an international name that reads ", safe(question.reads_as));
  return [
    ["Asks", safe(question.message)],
    ["At the site", h("strong", {}, safe(question.host), reads)],
    ["Whole address", h("code", {}, safe(question.url))],
    [
      "Open it",
      h(
        "span",
        {},
        h("a", { href: question.url, target: "_blank", rel: "noopener noreferrer" }, "Open ", safe(question.host), " in a new tab"),
        " – only if you know that site. Approve when you have.",
      ),
    ],
  ];
}

/** @typedef {{ name: string, element: HTMLElement, read: () => unknown }} Field what is read is undefined where nothing was filled in */

/**
 * The fields of a form that an app asks to be filled in, and what was filled in.
 * @param {any} schema
 * @returns {{ fields: HTMLElement[], read: () => Record<string, unknown> }}
 */
export function formFields(schema) {
  const required = new Set(schema?.required ?? []);
  const parts = Object.entries(schema?.properties ?? {}).map(([name, property]) => field(name, /** @type {any} */ (property), required.has(name)));
  return {
    fields: parts.map((part) => part.element),
    read: () =>
      Object.fromEntries(
        parts.flatMap((part) => {
          const value = part.read();
          return value === undefined ? [] : [[part.name, value]];
        }),
      ),
  };
}

/**
 * @param {string} name
 * @param {any} property
 * @param {boolean} required
 * @returns {Field}
 */
function field(name, property, required) {
  const label = h("span", {}, safe(property?.title ?? name), required ? " (needed)" : "");
  const hint = property?.description ? h("span", { class: "muted small" }, safe(property.description)) : null;
  if (property?.type === "boolean") return tick(name, property, label, hint);
  if (property?.type === "array" && choicesOf(property.items)) return ticks(name, property, required, label, hint);
  if (choicesOf(property)) return pick(name, property, label, hint);
  return line(name, property, label, hint);
}

/**
 * What may be chosen, each with the words that stand for it; null where anything may be given.
 * @param {any} schema
 * @returns {{ value: unknown, words: string }[] | null}
 */
function choicesOf(schema) {
  const named = schema?.oneOf ?? schema?.anyOf;
  if (Array.isArray(named)) return named.map((one) => ({ value: one?.const, words: String(one?.title ?? one?.const) }));
  if (!Array.isArray(schema?.enum)) return null;
  return schema.enum.map((/** @type {unknown} */ value, /** @type {number} */ i) => ({ value, words: String(schema.enumNames?.[i] ?? value) }));
}

/**
 * @param {boolean} checked
 * @returns {HTMLInputElement}
 */
function checkbox(checked) {
  const box = h("input", { type: "checkbox" });
  box.checked = checked;
  return box;
}

/**
 * @param {string} name
 * @param {any} property
 * @param {HTMLElement} label
 * @param {HTMLElement | null} hint
 * @returns {Field}
 */
function tick(name, property, label, hint) {
  const box = checkbox(property.default === true);
  return { name, element: h("label", { class: "tick" }, box, label, hint), read: () => box.checked };
}

/**
 * @param {string} name
 * @param {any} property
 * @param {boolean} required
 * @param {HTMLElement} label
 * @param {HTMLElement | null} hint
 * @returns {Field}
 */
function ticks(name, property, required, label, hint) {
  const preset = Array.isArray(property.default) ? property.default : [];
  const options = (choicesOf(property.items) ?? []).map(({ value, words }) => ({ value, words, box: checkbox(preset.includes(value)) }));
  const boxes = options.map(({ words, box }) => h("label", { class: "tick" }, box, safe(words)));
  const read = () => {
    const chosen = options.filter(({ box }) => box.checked).map(({ value }) => value);
    return chosen.length === 0 && !required ? undefined : chosen;
  };
  return { name, element: h("fieldset", {}, h("legend", {}, label), hint, boxes), read };
}

/**
 * @param {string} name
 * @param {any} property
 * @param {HTMLElement} label
 * @param {HTMLElement | null} hint
 * @returns {Field}
 */
function pick(name, property, label, hint) {
  const choices = choicesOf(property) ?? [];
  const select = h("select", {}, h("option", { value: "" }, "–"), ...choices.map(({ words }, i) => h("option", { value: String(i) }, safe(words))));
  const preset = choices.findIndex(({ value }) => value === property.default);
  if (preset >= 0) select.value = String(preset);
  return { name, element: h("label", {}, label, hint, select), read: () => (select.value === "" ? undefined : choices[Number(select.value)]?.value) };
}

/**
 * @param {string} name
 * @param {any} property
 * @param {HTMLElement} label
 * @param {HTMLElement | null} hint
 * @returns {Field}
 */
function line(name, property, label, hint) {
  const { type, format } = property ?? {};
  const text = type === "string" || type === undefined;
  const input = h("input", {
    type: format === "date" ? "date" : "text",
    inputmode: type === "integer" ? "numeric" : type === "number" ? "decimal" : null,
    placeholder: format === "date-time" ? "2026-01-31T09:00:00Z" : null,
    maxlength: property?.maxLength ?? 20_000,
    autocomplete: "off",
  });
  if (property?.default !== undefined) input.value = text ? String(property.default) : JSON.stringify(property.default);
  // Whether it fits is for the host to say; what is no JSON goes there as it is.
  return {
    name,
    element: h("label", {}, label, hint, input),
    read: () => (input.value === "" ? undefined : text ? input.value : jsonOrText(name, input.value)),
  };
}

/**
 * @param {string} name
 * @param {string} text
 * @returns {unknown}
 */
function jsonOrText(name, text) {
  /** @type {unknown} */
  let value = text;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new Error(`${name}: a browser cannot keep this many digits; answer with aurora-mcp approvals approve --answer`);
  return value;
}
