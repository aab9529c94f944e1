// The view of turns to present: our own, and those that we decide about.

import { element, relabel, setText } from "../element.js";
import { actionsOn } from "./turns.js";
import { SteadyList } from "../meeting/steadylist.js";
import { words as meetingWords } from "../meeting/meetingwords.js";
import { words } from "./presentwords.js";

/** `onAct(action, id)`: the user has pressed the button for an action of `__turn`; `id` is missing for our own turn. */
export class TurnView {
  #onAct;
  #state = element("p", "turn");
  #own = element("button", "secondary", { id: "turn", type: "button" });
  #list = new SteadyList(element("ul", "turns", { "aria-label": words.turns }));
  #action = "ask";
  /** Our last turn other than "none". */
  #former = null;
  /** What the state says besides the time, and our turn with its end, whose news it is. */
  #text = "";
  #news = "";
  #told = "";
  #timer = null;
  /** What screen readers say. It isn't in the panel, because they say nothing of what is hidden. */
  spoken = element("p", "spoken", { role: "status" });

  constructor(onAct) {
    this.#onAct = onAct;
    this.#own.addEventListener("click", () => onAct(this.#action));
  }

  /** The elements, in order. */
  get parts() {
    return [this.#state, this.#own, this.#list.root];
  }

  /** `isSharing`: whether this page shares something. */
  draw({ own, end, members, requests }, isSharing) {
    this.#action = own === "none" ? "ask" : "leave";
    if (own !== "none") this.#former = own;
    const news = own === "none" ? words.ended[this.#former] ?? "" : words.turn[own] ?? "";
    this.#text = news || (words.turn[own] ?? "");
    this.#drawState(own, end);
    // The time is spoken once, when the host tells it.
    const told = `${own} ${end}`;
    if (told !== this.#told) this.#news = Number.isNaN(end) ? news : this.#state.textContent;
    this.#told = told;
    setText(this.#own, words.ownTurn[own] ?? "");
    this.#own.hidden = !words.ownTurn[own];
    setText(this.spoken, requests > 0 ? words.asking(requests) : this.#news);
    this.#list.draw(members.map((member) => [member, own, isSharing]), (item) => this.#line(...item));
  }

  /** Draws our turn with the minutes that are left of it, or the seconds until we may ask again, until these change. */
  #drawState(own, end) {
    clearTimeout(this.#timer);
    const unit = own === "none" ? 1000 : 60_000;
    const left = end - performance.now();
    const units = Math.ceil(left / unit);
    const time = units > 0 ? (own === "none" ? words.again : words.left)(units) : "";
    setText(this.#state, `${this.#text} ${time}`.trim());
    this.#state.hidden = this.#state.textContent === "";
    if (time) this.#timer = setTimeout(() => this.#drawState(own, end), left - (units - 1) * unit);
  }

  focus() {
    this.#own.focus();
  }

  #line({ id, name, turn }, own, isSharing) {
    const who = name || meetingWords.guest(id);
    const text = turn === "asked" ? words.asks(who) : words.presents(who);
    const line = element("li", "", {}, element("span", "name", {}, text));
    for (const action of actionsOn(turn, own, isSharing)) {
      const button = element("button", "secondary", { type: "button", "data-action": action }, words.acts[action]);
      relabel(button, `${words.acts[action]}: ${who}`);
      button.addEventListener("click", () => this.#onAct(action, id));
      line.append(button);
    }
    return line;
  }
}
