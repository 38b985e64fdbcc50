const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an HTML element. Children that are not nodes become text, never markup. Keys that begin with `on` are listeners; true and
 * false switch an attribute; null leaves it out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  return /** @type {HTMLElementTagNameMap[K]} */ (fill(document.createElement(tag), props, children));
}

/**
 * Makes an SVG element, as {@link h} does.
 * @param {string} tag
 * @param {Record<string, unknown>} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, props = {}, ...children) {
  return /** @type {SVGElement} */ (fill(document.createElementNS(SVG, tag), props, children));
}

/**
 * Replaces what an element holds.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function put(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/**
 * @param {HTMLElement | SVGElement} element
 * @param {Record<string, unknown>} props
 * @param {(Child | Child[])[]} children
 */
function fill(element, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children.flat().flatMap((child) => (child === null || child === undefined || child === false ? [] : [child instanceof Node ? child : String(child)]));
}
