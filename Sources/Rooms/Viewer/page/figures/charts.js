// The panel with small live charts of the measurements, and with the path to the host. While it is closed, its contents
// have no elements in the page.

import { element, onOtherOpened, opened, setText } from "../element.js";
import { DELAY_WINDOW } from "./measurements.js";
import { label, language, words } from "../words/messages.js";

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

export class Charts {
  #page;
  #panel = byId("charts");
  #list = null;

  /** Called when the charts are opened or closed. */
  onToggle = () => {};

  constructor(viewer, stage, measurements) {
    const tools = { element, label, setText };
    this.#page = { viewer, stage, measurements, words, language, delayWindow: DELAY_WINDOW, ...tools };
    byId("figures").addEventListener("click", () => this.toggle());
    byId("charts-close").addEventListener("click", () => this.close());
    onOtherOpened(this.#panel, () => this.close());
  }

  get isOpen() {
    return !this.#panel.hidden;
  }

  toggle() {
    if (!this.close()) this.#open();
  }

  /** Closes the charts. Returns false if they weren't open. */
  close() {
    if (!this.isOpen) return false;
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#panel.hidden = true;
    byId("charts-list").replaceChildren();
    this.#list = null;
    this.onToggle();
    if (hadFocus) byId("figures").focus();
    return true;
  }

  /** Draws new values. */
  update() {
    this.#list?.update();
  }

  async #open() {
    this.#panel.hidden = false;
    this.onToggle();
    opened(this.#panel);
    this.#panel.focus();
    // Loaded only now, so that the page itself stays small.
    const file = await import("./chartlist.js").catch(() => null);
    await file?.styled;
    if (file && this.isOpen) this.#list ??= new file.ChartList(this.#page, byId("charts-list"));
  }
}
