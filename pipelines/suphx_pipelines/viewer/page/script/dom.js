// Elements from plain values. Text is only ever set as text: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

// Return an element; children are elements, texts, or lists of them; null ones are skipped.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

function svgElement(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value);
  }
}

// A word that explains itself when it is touched: its meaning is the word key_means.
function term(key) {
  const button = el("button", { type: "button", class: "term", title: word(`${key}_means`) }, word(key));
  button.addEventListener("click", () => showMeaning(word(key), word(`${key}_means`)));
  return button;
}

function showMeaning(name, meaning) {
  const box = byId("meaning") ?? document.body.appendChild(el("div", { id: "meaning", popover: "auto", role: "status" }));
  fill(box, el("b", {}, name), el("p", {}, meaning));
  box.showPopover?.();
}

// Replace what is in an element. If the keyboard's focus was in it, what takes that place gets it.
function fill(element, ...children) {
  const wanted = focusIn(element);
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  if (wanted !== null) restoreFocus(element, wanted);
}

const FOCUS_KEYS = ["id", "data-action", "data-place", "data-seat"];
const awaitedFocus = new Map(); // element -> the place in it of a focus that nothing could take yet

// Somebody has gone elsewhere, or uses a mouse.
document.addEventListener("focusin", (event) => { if (!event.target.closest("[data-focus-next]")) awaitedFocus.clear(); });
document.addEventListener("pointerdown", () => awaitedFocus.clear(), true);

// Give an element's first button the focus as soon as it has one that can take it.
function awaitFocus(element) {
  if (!awaitedFocus.has(element)) awaitedFocus.set(element, { key: null, same: -1, index: 0 });
}

function focusKey(element) {
  const name = FOCUS_KEYS.find((each) => element.hasAttribute(each));
  return name ? `${name}=${element.getAttribute(name)}` : null;
}

// Return where in an element the keyboard's focus is, or was before a redraw took it away; null if it is elsewhere.
function focusIn(element) {
  const focused = document.activeElement;
  if (focused !== element && element.contains(focused)) {
    if (!focused.matches(":focus-visible")) return null;
    const all = [...element.querySelectorAll("button, a")], key = focusKey(focused);
    return { key, same: all.filter((each) => focusKey(each) === key).indexOf(focused), index: all.indexOf(focused) };
  }
  return focused === document.body ? awaitedFocus.get(element) ?? null : null;
}

// Focus the button with the same key, or else the one at the same place. Instead of the latter, data-focus-next names an
// element whose next button gets the focus.
function restoreFocus(element, wanted) {
  const free = [...element.querySelectorAll("button:enabled, a")], same = free.filter((each) => focusKey(each) === wanted.key);
  const next = byId(element.dataset.focusNext), near = next ? undefined : free[Math.min(wanted.index, free.length - 1)];
  const found = (wanted.key === null ? undefined : same[Math.min(wanted.same, same.length - 1)]) ?? near;
  found?.focus({ preventScroll: true });
  if (found && document.activeElement === found) return;
  if (next === null) awaitedFocus.set(element, wanted);
  else awaitFocus(next);
}

// Icons as paths in a square of 24.
const ICONS = {
  first: "M6 5v14M19 5l-9 7 9 7z", before: "M16 5l-9 7 9 7z", after: "M8 5l9 7-9 7z", last: "M18 5v14M5 5l9 7-9 7z",
  play: "M7 4l13 8-13 8z", pause: "M8 5v14M16 5v14", up: "M15 5l-7 7 7 7", down: "M9 5l7 7-7 7",
  light: "M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3L19 19M5 19l1.7-1.7M17.3 6.7L19 5",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
};
const HOLLOW = new Set(["up", "down", "light", "pause"]);

function icon(...names) {
  const paths = names.map((name, place) => svgElement("path", {
    d: ICONS[name], fill: HOLLOW.has(name) ? "none" : "currentColor", stroke: "currentColor", "stroke-width": 2,
    "stroke-linecap": "round", "stroke-linejoin": "round", transform: place ? "translate(6 0)" : null,
  }));
  return svgElement("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "glyph" }, ...paths);
}
