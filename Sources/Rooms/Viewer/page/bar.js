// The bar with the state and the controls. It hides while nothing moves.

import { element, setText } from "./element.js";
import { label, words } from "./messages.js";

const IDLE_AFTER = 3000;

const byId = (id) => document.getElementById(id);

export class Bar {
  #stage = byId("stage");
  #idle = null;

  /** Says whether the bar must stay, whatever happens. */
  mustStay = () => false;

  constructor() {
    for (const type of ["pointermove", "keydown", "focusin"]) {
      document.addEventListener(type, (event) => this.#moved(event), { passive: true });
    }
    // What lies above the bar keeps clear of it, on however many lines it is.
    const bar = byId("bar");
    new ResizeObserver(() => this.#stage.style.setProperty("--bar-height", `${bar.offsetHeight}px`)).observe(bar);
    this.wake();
  }

  get isIdle() {
    return this.#stage.classList.contains("idle");
  }

  /** The quiet words: the phase of the page, its name, and whether there is a picture to look at. */
  status(phase, text, hasPicture) {
    this.#stage.dataset.phase = phase;
    setText(byId("status"), text);
    byId("size").hidden = !hasPicture;
  }

  /** The figures in their parts, the least wanted last, and whether their charts are shown; none where there are none. */
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

  /** Hides it, if nothing keeps it. */
  sleep() {
    clearTimeout(this.#idle);
    if (this.mustStay()) this.#idle = setTimeout(() => this.sleep(), IDLE_AFTER);
    else this.#stage.classList.add("idle");
  }

  /** A finger on the picture is a tap, a pinch or a pan: the picture's own affair. */
  #moved(event) {
    const isFinger = event.pointerType === "touch" && byId("scroller").contains(event.target);
    if (!isFinger) this.wake();
  }
}
