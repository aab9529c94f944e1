// Who is here: how many, who shares, who has a name, and our own name.

import { cleanName, element, iconButton, onOtherOpened, opened, relabel, setText } from "./element.js";
import { words } from "./meetingwords.js";

const PEOPLE = "M9 11.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3 18.5c.4-3.2 2.8-5 6-5s5.6 1.8 6 5M15.5 5.4a3.2 3.2 0 0 1 0 5.9M17.5 14c2 .7 3.2 2.3 3.5 4.5";
const CLOSE = "m7 7 10 10M17 7 7 17";
const NAME_KEY = "screenrelay.name";
const MOST_LISTED = 50;

/** The panel of people, closed until it is wanted; its button is there as soon as the host says who is here. */
export class People {
  #viewer;
  #panel = document.getElementById("people");
  #title = element("h2", "", { id: "people-title", tabindex: "-1" });
  #list = element("ul", "people-list");
  #button;
  #count = element("span", "count", { "aria-hidden": "true" });
  #input;
  #members = [];
  #number = null;
  #you = null;

  constructor(viewer) {
    this.#viewer = viewer;
    this.#input = element("input", "", { id: "own-name", name: "name", maxlength: "64", autocomplete: "nickname" });
    this.#input.value = cleanName(recall());
    if (this.#input.value) viewer.introduction.name = this.#input.value;
    this.#build();
    viewer.addEventListener("joined", ({ detail }) => {
      this.#you = detail.you;
    });
    viewer.addEventListener("left", () => {
      this.#you = this.#number = null;
      this.#members = [];
      this.#draw();
    });
    viewer.addEventListener("tracks", () => this.#draw());
    viewer.addEventListener("_people", ({ detail }) => {
      if (!Number.isInteger(detail.count) || detail.count < 0) return;
      this.#number = detail.count;
      this.#members = Array.isArray(detail.members) ? detail.members.slice(0, MOST_LISTED) : [];
      this.#button.hidden = false;
      this.#draw();
    });
  }

  /** What tests and curious people may read. */
  get facts() {
    return Object.freeze({ count: this.#number, names: Object.freeze(this.#named.map(({ name }) => name)) });
  }

  /** Opens the panel, or closes it; false where nobody has said who is here. */
  toggle() {
    if (this.#button.hidden) return false;
    this.#open(this.#panel.hidden);
    return true;
  }

  /** Those who have a name, or are in the meeting without one. */
  get #named() {
    return this.#members
      .map((member) => ({ id: member?.socketId, name: cleanName(member?.name), isMeeting: member?.meeting === true }))
      .filter(({ name, isMeeting }) => name !== "" || isMeeting);
  }

  #build() {
    const close = iconButton(CLOSE, words.close, () => this.#open(false));
    const label = element("label", "", { for: "own-name" }, words.ownName);
    const save = element("button", "secondary", { type: "submit" }, words.keepName);
    const form = element("form", "own-name", {}, label, this.#input, save);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#rename(this.#input.value);
    });
    this.#panel.setAttribute("aria-labelledby", "people-title");
    this.#panel.append(element("header", "", {}, this.#title, close), this.#list, form);
    this.#button = iconButton(PEOPLE, words.people, () => this.toggle());
    this.#button.append(this.#count);
    this.#button.id = "people-button";
    this.#button.hidden = true;
    this.#button.setAttribute("aria-controls", "people");
    this.#button.setAttribute("aria-expanded", "false");
    const controls = document.getElementById("meeting-controls");
    controls.append(this.#button);
    controls.hidden = false;
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.#open(false);
    });
    onOtherOpened(this.#panel, () => this.#fold(true));
  }

  #open(isOpen) {
    this.#fold(!isOpen);
    if (!isOpen) return this.#button.focus();
    opened(this.#panel);
    this.#title.focus();
  }

  #fold(isFolded) {
    this.#panel.hidden = isFolded;
    this.#button.setAttribute("aria-expanded", String(!isFolded));
  }

  #rename(text) {
    const name = cleanName(text);
    this.#input.value = name;
    keep(name);
    if ((this.#viewer.introduction.name ?? "") === name) return;
    if (name) this.#viewer.introduction.name = name;
    else delete this.#viewer.introduction.name;
    // A name is said on coming in.
    if (this.#you !== null) this.#viewer.start();
  }

  #draw() {
    const known = this.#number !== null;
    setText(this.#title, known ? words.peopleCount(this.#number) : words.people);
    setText(this.#count, known ? String(this.#number) : "");
    relabel(this.#button, known ? words.peopleCount(this.#number) : words.people);
    const presenters = this.#viewer.tracks.all.map(({ name }) => line("presenter", words.presenting(name)));
    const named = this.#named;
    const members = named.map(({ id, name, isMeeting }) =>
      line("", name || words.guest, [id === this.#you ? words.you : "", isMeeting ? words.meeting : ""]));
    const others = known ? Math.max(0, this.#number - named.length) : 0;
    if (others > 0) members.push(line("others", named.length > 0 ? words.unlisted(others) : words.watching(others)));
    this.#list.replaceChildren(...presenters, ...members);
  }
}

/** A line of the list: a name, and what there is to say of it. */
function line(classes, name, notes = []) {
  const made = element("li", classes, {}, element("span", "name", {}, name));
  for (const note of notes.filter(Boolean)) made.append(element("span", "note", {}, note));
  return made;
}

function recall() {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}

function keep(name) {
  try {
    if (name) localStorage.setItem(NAME_KEY, name);
    else localStorage.removeItem(NAME_KEY);
  } catch {
    // Then it holds as long as the page is open.
  }
}
