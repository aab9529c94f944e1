// The button in the bar, and the panel with a button for each kind of share.

import { addToBar, element, iconButton, onEscape, onOtherOpened, opened, relabel, setText } from "../element.js";
import { TurnView } from "./turnview.js";
import { words } from "./presentwords.js";

const PRESENT = "M4.5 4.5h15A1.5 1.5 0 0 1 21 6v9a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 15V6a1.5 1.5 0 0 1 1.5-1.5zM8.5 20h7M12 13.5v-6M9.5 10 12 7.5l2.5 2.5";
const KINDS = ["screen", "camera"];
const MOTION_KEY = "screenrelay.motion";

/**
 * Handlers: onTurn(kind), onMotion() when `isMoving` has changed, onFold() when the panel has closed, and
 * onAct(action, id) as of `TurnView`.
 */
export class PresentView {
  #button;
  #panel;
  #turn;
  #count = element("span", "count", { "aria-hidden": "true" });
  #offer = element("div", "offer", {}, element("p", "", {}, words.offer));
  #turns = new Map();
  #notes = new Map();
  #onFold;
  /** Where the choice of devices has its panel. */
  place = element("div");
  #motion = element("input", "", { id: "present-motion", type: "checkbox", role: "switch" });

  constructor(handlers) {
    this.#onFold = handlers.onFold;
    this.#panel = element("section", "panel presenting", { id: "presenting", "aria-label": words.present, tabindex: "-1" },
      element("h2", "", {}, words.present));
    this.#turn = new TurnView(handlers.onAct);
    for (const kind of KINDS) {
      const turn = element("button", "secondary", { id: `present-${kind}`, type: "button" });
      turn.addEventListener("click", () => handlers.onTurn(kind));
      const note = element("p", "note", { role: "status" });
      this.#turns.set(kind, turn);
      this.#notes.set(kind, note);
      this.#offer.append(turn, note);
      if (kind === "screen") {
        const label = element("label", "", { for: "present-motion" }, words.motion);
        this.#offer.append(element("div", "motion", {}, this.#motion, label));
      }
    }
    this.#offer.append(this.place);
    this.#panel.append(this.#offer, ...this.#turn.parts);
    this.#motion.checked = recall();
    this.#motion.addEventListener("change", () => {
      keep(this.#motion.checked);
      handlers.onMotion();
    });
    this.#panel.hidden = true;
    document.getElementById("people").after(this.#panel, this.#turn.spoken);
    this.#button = iconButton(PRESENT, words.present, () => this.toggle());
    this.#button.id = "present";
    this.#button.append(this.#count);
    this.#button.setAttribute("aria-controls", "presenting");
    addToBar(this.#button);
    onEscape(this.#panel, () => this.toggle());
    onOtherOpened(this.#panel, () => this.#open(false));
    this.#open(false);
  }

  /** Whether the user's screen shows motion rather than text. */
  get isMoving() {
    return this.#motion.checked;
  }

  /** Sets whether the user may present or ask for that, or shares something and can stop it. */
  available(isAvailable) {
    if (this.#button.hidden === !isAvailable) return;
    this.#button.hidden = !isAvailable;
    if (!isAvailable) this.#open(false);
  }

  /**
   * `states`: by kind, "opening" (the browser asks the user), "choosing" (so does the panel in `place`), "connecting"
   * or "live"; `problems` and `lacks`: by kind, a key of `words.problems`; `turns`: a `Turns`;
   * `isOver`: whether only what is shared can be stopped.
   */
  draw(states, problems, lacks, turns, isOver) {
    for (const kind of KINDS) {
      const state = states[kind];
      const lack = lacks.get(kind);
      const turn = this.#turns.get(kind);
      turn.hidden = state === "choosing";
      // What has the focus is about to vanish.
      if (kind === "camera" && !state && this.place.contains(document.activeElement)) turn.focus();
      setText(turn, state ? words.stop[kind] : words.start[kind]);
      turn.disabled = !state && (isOver || Boolean(lack));
      turn.classList.toggle("on", Boolean(state));
      const text = state ? words.states[state] ?? "" : words.problems[problems.get(kind) ?? lack] ?? "";
      const note = this.#notes.get(kind);
      setText(note, text);
      note.hidden = text === "";
    }
    const isSharing = Object.values(states).some((state) => state !== "choosing");
    this.#button.toggleAttribute("data-on", isSharing);
    const losesFocus = !turns.mayPresent && this.#offer.contains(document.activeElement);
    this.#offer.hidden = !turns.mayPresent;
    this.#turn.draw(turns, isSharing);
    if (losesFocus) this.#turn.focus();
    setText(this.#count, turns.requests > 0 ? String(turns.requests) : "");
    const label = isSharing ? words.presenting : turns.mayPresent ? words.present : words.ask;
    relabel(this.#button, turns.requests > 0 ? `${label}: ${words.asking(turns.requests)}` : label);
  }

  /** Opens or closes the panel. */
  toggle() {
    if (this.#panel.hidden) return this.open();
    this.#open(false);
    this.#button.focus();
  }

  /** Opens the panel. */
  open() {
    this.#open(true);
    opened(this.#panel);
    const turn = this.#turns.get("screen");
    if (this.#offer.hidden) this.#turn.focus();
    else (turn.disabled ? this.#panel : turn).focus();
  }

  #open(isOpen) {
    this.#panel.hidden = !isOpen;
    this.#button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) this.#onFold();
  }
}

function recall() {
  try {
    return localStorage.getItem(MOTION_KEY) !== null;
  } catch {
    return false;
  }
}

function keep(isMoving) {
  try {
    if (isMoving) localStorage.setItem(MOTION_KEY, "1");
    else localStorage.removeItem(MOTION_KEY);
  } catch {
    // The switch then lasts only as long as the page is open.
  }
}
