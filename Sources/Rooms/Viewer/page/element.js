// Creates elements. Text from others is inserted as text, never as markup.

import { label } from "./words/messages.js";

/** Creates an element of `tag` with these classes, attributes and content: elements or text. */
export function element(tag, classes = "", attributes = {}, ...content) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** Creates a button with an icon (a path in a 24 by 24 box) and a label for screen readers. */
export function iconButton(path, text, onPress) {
  const button = element("button", "", { type: "button" });
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  drawing.append(line);
  button.append(drawing);
  if (text) relabel(button, text);
  button.addEventListener("click", onPress);
  return button;
}

/** Labels `target`, unless it already has that label. */
export function relabel(target, text) {
  if (target.getAttribute("aria-label") !== text) label(target, text);
}

/** Sets the text, unless it is already there: screen readers read text again whenever it is written. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Returns a name from somebody else, limited in length and without characters that could hide or reverse other text.
 */
export function cleanName(name) {
  if (typeof name !== "string") return "";
  return [...name.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").trim()].slice(0, 64).join("");
}

/** Announces that `panel` has been opened, so that other panels in the same corner close. */
export function opened(panel) {
  document.dispatchEvent(new CustomEvent("panelopened", { detail: panel }));
}

/** Calls `close` when a panel other than `panel` has been opened. */
export function onOtherOpened(panel, close) {
  document.addEventListener("panelopened", ({ detail }) => {
    if (detail !== panel && !panel.hidden) close();
  });
}

/** Calls `close` when Escape is pressed in `panel`; the page around it does not get the key. */
export function onEscape(panel, close) {
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
}

/** Adds a button to the bar. */
export function addToBar(button) {
  const controls = document.getElementById("meeting-controls");
  controls.append(button);
  controls.hidden = false;
}
