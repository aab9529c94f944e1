// Keyboard shortcuts: every function of the page has a key, and "?" lists them all. A phone's list is of gestures.

import { words } from "../words/messages.js";

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);
const hasOnlyTouch = matchMedia("(hover: none) and (pointer: coarse)");

/** Functions by their keys. To add one: `keys.add("m", words.keys.meeting, () => meeting.toggle())`. */
export class Keys {
  #actions = new Map();
  #rows = [];
  #dialog = byId("keys");

  constructor() {
    document.addEventListener("keydown", (event) => this.#pressed(event));
    byId("help").addEventListener("click", () => this.toggleList());
    byId("keys-close").addEventListener("click", () => this.#dialog.close());
    // A click outside the list closes it.
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
  }

  /**
   * Calls `action` for a key (`event.key`, letters in lower case), or for each of several. `action` may return false if
   * it had nothing to do. `text` describes it; `shown` is the key's name in the list.
   */
  add(keys, text, action, shown = null) {
    const list = [keys].flat();
    for (const key of list) this.#actions.set(key, action);
    this.#row(shown ?? list[0].toUpperCase(), text);
  }

  /** Adds a line to the list for something that isn't a key. */
  note(name, text) {
    this.#row(name, text);
  }

  toggleList() {
    if (this.#dialog.open) return this.#dialog.close();
    const list = byId("keys-list");
    byId("keys-title").textContent = hasOnlyTouch.matches ? words.gesturesTitle : words.keysTitle;
    list.replaceChildren(...(hasOnlyTouch.matches ? words.gestures : this.#rows).flatMap(({ name, text }) => {
      const term = document.createElement("dt");
      for (const part of name.split("  ")) {
        const key = document.createElement("kbd");
        key.textContent = part;
        term.append(key);
      }
      const detail = document.createElement("dd");
      detail.textContent = text;
      return [term, detail];
    }));
    this.#dialog.showModal();
  }

  #row(name, text) {
    if (text && !this.#rows.some((row) => row.text === text)) this.#rows.push({ name, text });
  }

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    // A dialog has its own keys: Escape closes it, and so does the key that opened it.
    if (this.#dialog.open && event.key !== "?") return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = this.#actions.get(key);
    if (action && action(event) !== false) event.preventDefault();
  }
}

/** How far an arrow key moves the picture, in CSS pixels. */
const STEP = 60;

/** The keys of the page itself. */
export function addViewKeys(keys, { view, controls, charts, bar }) {
  const text = words.keys;
  keys.add("w", text.fit, () => view.setMode("fit"));
  keys.add("c", text.fill, () => controls.toggleMode("fill"));
  keys.add("1", text.actual, () => controls.toggleMode("actual"));
  keys.add(["+", "="], text.zoomIn, () => view.zoom(1));
  keys.add(["-", "_"], text.zoomOut, () => view.zoom(-1), "−");
  keys.add("0", text.zoomReset, () => view.setMode("fit"));
  for (const [key, right, down] of [
    ["ArrowLeft", STEP, 0], ["ArrowRight", -STEP, 0], ["ArrowUp", 0, STEP], ["ArrowDown", 0, -STEP],
  ]) {
    keys.add(key, text.pan, () => view.pan(right, down), words.keyNames.arrows);
  }
  keys.note(words.wheel, words.pointerUse);
  keys.add("f", text.fullScreen, () => controls.toggleFullScreen());
  keys.add("p", text.inset, () => controls.toggleInset());
  keys.add("s", text.charts, () => charts.toggle());
  keys.add("?", text.help, () => keys.toggleList());
  keys.add("Escape", text.close, () => charts.close() || bar.sleep(), words.keyNames.escape);
}
