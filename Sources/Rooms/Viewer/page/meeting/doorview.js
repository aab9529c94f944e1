// The view of the room's door for an owner: who waits to be let in, and the lock.

import { element, relabel, setText } from "../element.js";
import { SteadyList } from "./steadylist.js";
import { words as roomWords } from "./meetingwords.js";
import { words } from "./peoplewords.js";

/** `onAct(action, id)`: the user has pressed a button; an action of `__door`, and its `socketId` if it has one. */
export class DoorView {
  root = element("section", "door", { "aria-label": words.door, tabindex: "-1" });
  #onAct;
  #isLocked = false;
  #waiting = new SteadyList(element("ul", "waiting", { "aria-label": words.waiting }));
  #all = element("button", "secondary", { id: "admit-all", type: "button" }, words.admitAll);
  #lock = element("button", "secondary", { id: "lock", type: "button" });
  #note = element("p", "note", { role: "status" }, "");

  constructor(onAct) {
    this.#onAct = onAct;
    this.#all.addEventListener("click", () => onAct("admit", "all"));
    this.#lock.addEventListener("click", () => onAct(this.#isLocked ? "unlock" : "lock"));
    this.root.append(this.#waiting.root, this.#all, this.#lock, this.#note);
    this.draw(null);
  }

  /** `door`: the state of the door, as of `People`; null for a page that isn't an owner's. */
  draw(door) {
    this.root.hidden = door === null;
    this.#isLocked = door?.isLocked ?? false;
    const waiting = door?.waiting ?? [];
    this.#waiting.draw(waiting, (client) => this.#line(client));
    this.#all.hidden = waiting.length < 2;
    setText(this.#lock, this.#isLocked ? words.unlock : words.lock);
    setText(this.#note, this.#isLocked ? words.locked : "");
  }

  #line({ id, name }) {
    const who = name || roomWords.guest(id);
    const line = element("li", "", {}, element("span", "name", {}, who));
    for (const action of ["admit", "refuse"]) {
      const button = element("button", "secondary", { type: "button", "data-action": action }, words.entry[action]);
      relabel(button, `${words.entry[action]}: ${who}`);
      button.addEventListener("click", () => this.#onAct(action, id));
      line.append(button);
    }
    return line;
  }
}
