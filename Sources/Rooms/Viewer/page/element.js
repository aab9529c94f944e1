// Elements made by name: text from others becomes text, never markup.

import { label } from "./messages.js";

/** An element of `tag` with these classes and attributes, and what is in it: elements, or text. */
export function element(tag, classes = "", attributes = {}, ...content) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** A button with a drawing in it (a path in 24 by 24) and words for who can't see that. */
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

/** Names `target` where it hasn't that name yet. */
export function relabel(target, text) {
  if (target.getAttribute("aria-label") !== text) label(target, text);
}

/** Writes `text` where it isn't there yet: a text that is written again is read out again. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** A name that somebody gave, as short as a name is and without what would hide or turn other text. */
export function cleanName(name) {
  if (typeof name !== "string") return "";
  return [...name.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").trim()].slice(0, 64).join("");
}

/** Says that `panel` has been opened: panels lie in the same corner. */
export function opened(panel) {
  document.dispatchEvent(new CustomEvent("panelopened", { detail: panel }));
}

/** Has `close` called when another panel than `panel` has been opened. */
export function onOtherOpened(panel, close) {
  document.addEventListener("panelopened", ({ detail }) => {
    if (detail !== panel && !panel.hidden) close();
  });
}
