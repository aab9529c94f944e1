// The view of turns to present: our own, and those that we decide about.

import { element, relabel, setText } from "../element.js";
import { actionsOn } from "./turns.js";
import { words as meetingWords } from "../meeting/meetingwords.js";
import { words } from "./presentwords.js";

/** `onAct(action, id)`: the user has pressed the button for an action of `__turn`; `id` is missing for our own turn. */
export class TurnView {
  #onAct;
  #state = element("p", "turn", { role: "status" });
  #own = element("button", "secondary", { id: "turn", type: "button" });
  #list = element("ul", "turns", { "aria-label": words.turns });
  #action = "ask";
  #drawn = "";

  constructor(onAct) {
    this.#onAct = onAct;
    this.#own.addEventListener("click", () => onAct(this.#action));
  }

  /** The elements, in order. */
  get parts() {
    return [this.#state, this.#own, this.#list];
  }

  /** `isSharing`: whether this page shares something. */
  draw({ own, members }, isSharing) {
    this.#action = own === "none" ? "ask" : "leave";
    setText(this.#state, words.turn[own] ?? "");
    this.#state.hidden = !words.turn[own];
    setText(this.#own, words.ownTurn[own] ?? "");
    this.#own.hidden = !words.ownTurn[own];
    // Lines that stay as they are keep the focus.
    const drawn = JSON.stringify([own, members, isSharing]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#list.hidden = members.length === 0;
    this.#list.replaceChildren(...members.map((member) => this.#line(member, own, isSharing)));
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
