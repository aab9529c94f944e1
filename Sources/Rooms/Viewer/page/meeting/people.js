// How many people are watching, and the button that opens the list of them.

import { addToBar, cleanName, element, iconButton, onEscape, onOtherOpened, opened, relabel, setText } from "../element.js";
import { words } from "./meetingwords.js";

const PEOPLE = "M9 11.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3 18.5c.4-3.2 2.8-5 6-5s5.6 1.8 6 5M15.5 5.4a3.2 3.2 0 0 1 0 5.9M17.5 14c2 .7 3.2 2.3 3.5 4.5";
const MOST_LISTED = 50;
/** The key under which the browser keeps our own name. */
export const NAME_KEY = "screenrelay.name";

/**
 * The panel of people, closed at first: its contents are loaded when it is first opened. Its button appears as soon as
 * the host tells who is in the room.
 */
export class People {
  #viewer;
  #root = document.getElementById("people");
  #panel = null;
  #button;
  #count = element("span", "count", { "aria-hidden": "true" });
  #members = [];
  #number = null;
  #you = null;
  #door = null;

  /** `decides`: whether an owner decides here who enters the room; in a frame, another page could take its clicks. */
  constructor(viewer, decides = true) {
    this.#viewer = viewer;
    const name = cleanName(recall());
    if (name) viewer.introduction.name = name;
    this.#button = iconButton(PEOPLE, words.people, () => this.toggle());
    this.#button.append(this.#count);
    this.#button.id = "people-button";
    this.#button.hidden = true;
    this.#button.setAttribute("aria-controls", "people");
    this.#button.setAttribute("aria-expanded", "false");
    addToBar(this.#button);
    onEscape(this.#root, () => this.#open(false));
    onOtherOpened(this.#root, () => this.#fold(true));
    viewer.addEventListener("joined", ({ detail }) => {
      this.#you = detail.you;
    });
    viewer.addEventListener("left", () => {
      this.#you = this.#number = this.#door = null;
      this.#members = [];
      this.#draw();
    });
    viewer.addEventListener("change", () => {
      if (!viewer.isOver) return;
      this.#button.hidden = true;
      this.#fold(true);
    });
    viewer.addEventListener("tracks", () => this.#draw());
    viewer.addEventListener("_peers", () => this.#heardOfDoor(null));
    viewer.addEventListener("_turn", ({ detail }) => {
      if (detail.turn !== "owner") this.#heardOfDoor(null);
    });
    if (decides) viewer.addEventListener("_door", ({ detail }) => this.#heardOfDoor(detail));
    viewer.addEventListener("nameless", () => this.#askName());
    viewer.addEventListener("_people", ({ detail }) => {
      if (!Number.isInteger(detail.count) || detail.count < 0) return;
      this.#number = detail.count;
      this.#members = Array.isArray(detail.members) ? detail.members.slice(0, MOST_LISTED) : [];
      this.#button.hidden = false;
      this.#draw();
    });
  }

  /** A read-only view for tests and the console. */
  get facts() {
    return Object.freeze({
      count: this.number, names: Object.freeze(this.named.map(({ name }) => name)),
      locked: this.#door?.isLocked ?? null,
      waiting: Object.freeze((this.#door?.waiting ?? []).map(({ name }) => name)),
    });
  }

  /** How many people are in the room; null if the host hasn't told. */
  get number() {
    return this.#number;
  }

  /** Our own id; null if the host hasn't let us in. */
  get you() {
    return this.#you;
  }

  /** The people who have a name, or are in the meeting without one. */
  get named() {
    return this.#members
      .map((member) => ({ id: member?.socketId, name: cleanName(member?.name), isMeeting: member?.meeting === true }))
      .filter(({ name, isMeeting }) => name !== "" || isMeeting);
  }

  /**
   * What the host tells an owner of the room's door: whether it `isLocked`, and who is `waiting` to be let in, each with
   * `id` and `name` (may be empty), or null in a room without that; null for others.
   */
  get door() {
    return this.#door;
  }

  /** Opens or closes the panel. Returns false if the host hasn't told who is in the room. */
  toggle() {
    if (this.#button.hidden) return false;
    this.#open(this.#root.hidden);
    return true;
  }

  async #open(isOpen) {
    this.#fold(!isOpen);
    if (!isOpen) return this.#button.focus();
    opened(this.#root);
    // Loaded only now, so that the page itself stays small.
    const file = await import("./peoplepanel.js").catch(() => null);
    if (!file) return this.#fold(true);
    this.#panel ??= new file.PeoplePanel(this.#root, this.#viewer, () => this.#open(false));
    this.#draw();
    if (!this.#root.hidden) this.#panel.focus();
  }

  async #askName() {
    await this.#open(true);
    if (!this.#root.hidden) this.#panel?.askName();
  }

  #fold(isFolded) {
    this.#root.hidden = isFolded;
    this.#button.setAttribute("aria-expanded", String(!isFolded));
  }

  #heardOfDoor(told) {
    const before = this.#door?.waiting?.length ?? 0;
    const members = Array.isArray(told?.members) ? told.members.slice(0, MOST_LISTED) : null;
    const waiting = members?.filter((member) => typeof member?.socketId === "string")
      .map(({ socketId, name }) => ({ id: socketId, name: cleanName(name) })) ?? null;
    this.#door = told && { isLocked: told.locked === true, waiting };
    if (waiting?.length > before) {
      setText(document.getElementById("spoken"), words.knocking(waiting.length));
      this.#viewer.tell("knock", {});
    }
    this.#draw();
  }

  #draw() {
    const waiting = this.#door?.waiting?.length ?? 0;
    const title = this.#number === null ? words.people : words.peopleCount(this.#number);
    setText(this.#count, String(this.#number ?? ""));
    relabel(this.#button, waiting > 0 ? `${title}: ${words.knocking(waiting)}` : title);
    this.#button.toggleAttribute("data-on", waiting > 0);
    this.#panel?.draw(this, title);
  }
}

function recall() {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}
