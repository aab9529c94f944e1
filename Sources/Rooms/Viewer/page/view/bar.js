// The bar with the state and the controls. It hides when there is no activity.

import { element, setText } from "../element.js";
import { label, words } from "../words/messages.js";

const IDLE_AFTER = 3000;

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

export class Bar {
  #stage = byId("stage");
  #idle = null;

  /** Returns whether the bar must stay visible. */
  mustStay = () => false;

  constructor() {
    for (const type of ["pointermove", "keydown", "focusin"]) {
      document.addEventListener(type, (event) => this.#moved(event), { passive: true });
    }
    // Publishes the bar's height, which depends on its number of lines, so that what is above the bar doesn't overlap
    // it.
    const bar = byId("bar");
    new ResizeObserver(() => this.#stage.style.setProperty("--bar-height", `${bar.offsetHeight}px`)).observe(bar);
    this.wake();
  }

  get isIdle() {
    return this.#stage.classList.contains("idle");
  }

  /** Updates the status: the phase of the page, its text, and whether there is a picture. */
  status(phase, text, hasPicture) {
    this.#stage.dataset.phase = phase;
    setText(byId("status"), text);
    byId("size").hidden = !hasPicture;
  }

  /**
   * Updates the figures, the least important last, and whether their charts are open. Without figures the button is
   * hidden.
   */
  figures(parts, isOpen) {
    const button = byId("figures");
    button.hidden = parts.length === 0 && !isOpen;
    const text = parts.join(" · ");
    if (button.dataset.text !== text) {
      button.dataset.text = text;
      button.replaceChildren(...parts.map((part) => element("span", "", {}, part)));
      label(button, words.showCharts(text));
    }
    button.setAttribute("aria-expanded", String(isOpen));
  }

  /** Shows the bar for a while. */
  wake() {
    this.#stage.classList.remove("idle");
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.sleep(), IDLE_AFTER);
  }

  /** Hides the bar, unless it must stay. */
  sleep() {
    clearTimeout(this.#idle);
    if (this.mustStay()) this.#idle = setTimeout(() => this.sleep(), IDLE_AFTER);
    else this.#stage.classList.add("idle");
  }

  /** Ignores a finger on the picture: taps, pinches and pans are handled as gestures. */
  #moved(event) {
    const isFinger = event.pointerType === "touch" && byId("scroller").contains(event.target);
    if (!isFinger) this.wake();
  }
}
