import { h } from "./dom.js";
import { safe } from "./text.js";

/**
 * What an app asks, for the list of facts of a card.
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
  ];
}

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
    read: () => Object.fromEntries(parts.flatMap((part) => (part.read() === undefined ? [] : [[part.name, part.read()]]))),
  };
}

/**
 * @param {string} name
 * @param {any} property
 * @param {boolean} required
 */
function field(name, property, required) {
  const label = [safe(property?.title ?? name), required ? " (needed)" : ""];
  const { type } = property ?? {};
  const choices = property?.enum ?? property?.oneOf?.map((/** @type {any} */ one) => one.const);
  if (type === "boolean") {
    const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
    box.checked = property.default === true;
    return { name, element: h("label", {}, box, ...label), read: () => box.checked };
  }
  if (Array.isArray(choices)) {
    const select = /** @type {HTMLSelectElement} */ (
      h("select", {}, h("option", { value: "" }, "–"), ...choices.map((one, i) => h("option", { value: String(i) }, safe(String(one)))))
    );
    return { name, element: h("label", {}, ...label, select), read: () => (select.value === "" ? undefined : choices[Number(select.value)]) };
  }
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "text", maxlength: 2000, autocomplete: "off" }));
  if (property?.default !== undefined) input.value = typeof property.default === "string" ? property.default : JSON.stringify(property.default);
  const read = () => {
    const text = input.value;
    if (text === "" && !required) return undefined;
    if (type === "string" || type === undefined) return text;
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  return { name, element: h("label", {}, ...label, input), read };
}
