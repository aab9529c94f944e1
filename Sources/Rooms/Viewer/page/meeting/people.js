// The people who are watching: their number, those with a name, and our own name.

import { addToBar, cleanName, element, iconButton, onEscape, onOtherOpened, opened, relabel, setText } from "../element.js";
import { titleOf, words } from "./meetingwords.js";

const PEOPLE = "M9 11.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3 18.5c.4-3.2 2.8-5 6-5s5.6 1.8 6 5M15.5 5.4a3.2 3.2 0 0 1 0 5.9M17.5 14c2 .7 3.2 2.3 3.5 4.5";
const CLOSE = "m7 7 10 10M17 7 7 17";
const NAME_KEY = "screenrelay.name";
const MOST_LISTED = 50;

/** The panel of people, closed at first. Its button appears as soon as the host tells who is in the room. */
export class People {
  #viewer;
  #panel = document.getElementById("people");
  #title = element("h2", "", { id: "people-title", tabindex: "-1" });
  #list = element("ul", "people-list");
  #self = element("li");
  #selfName = element("span", "name");
  #rename = element("button", "link", { type: "button" });
  #form = element("form", "own-name");
  #screens = element("p", "screens");
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
    viewer.addEventListener("change", () => {
      if (!viewer.isOver) return;
      this.#button.hidden = true;
      this.#fold(true);
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

  /** A read-only view for tests and the console. */
  get facts() {
    return Object.freeze({ count: this.#number, names: Object.freeze(this.#named.map(({ name }) => name)) });
  }

  /** Opens or closes the panel. Returns false if the host hasn't told who is in the room. */
  toggle() {
    if (this.#button.hidden) return false;
    this.#open(this.#panel.hidden);
    return true;
  }

  /** The people who have a name, or are in the meeting without one. */
  get #named() {
    return this.#members
      .map((member) => ({ id: member?.socketId, name: cleanName(member?.name), isMeeting: member?.meeting === true }))
      .filter(({ name, isMeeting }) => name !== "" || isMeeting);
  }

  #build() {
    const close = iconButton(CLOSE, words.close, () => this.#open(false));
    const label = element("label", "", { for: "own-name" }, words.ownName);
    const save = element("button", "secondary", { type: "submit" }, words.keepName);
    this.#form.append(label, this.#input, save);
    this.#form.hidden = true;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#showForm(false);
      this.#take(this.#input.value);
    });
    this.#rename.addEventListener("click", () => this.#showForm(true));
    this.#self.append(this.#selfName, this.#rename, this.#form);
    this.#list.append(this.#self);
    this.#panel.setAttribute("aria-labelledby", "people-title");
    this.#panel.append(element("header", "", {}, this.#title, close), this.#list, this.#screens);
    this.#button = iconButton(PEOPLE, words.people, () => this.toggle());
    this.#button.append(this.#count);
    this.#button.id = "people-button";
    this.#button.hidden = true;
    this.#button.setAttribute("aria-controls", "people");
    this.#button.setAttribute("aria-expanded", "false");
    addToBar(this.#button);
    onEscape(this.#panel, () => this.#open(false));
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

  #showForm(isShown) {
    if (this.#form.hidden !== isShown) return;
    this.#form.hidden = !isShown;
    this.#rename.hidden = isShown;
    if (isShown) this.#input.focus();
    else this.#rename.focus();
  }

  #take(text) {
    const name = cleanName(text);
    this.#input.value = name;
    keep(name);
    if ((this.#viewer.introduction.name ?? "") === name) return;
    if (name) this.#viewer.introduction.name = name;
    else delete this.#viewer.introduction.name;
    // The name is sent on joining, so join again.
    if (this.#you !== null) this.#viewer.start();
  }

  #draw() {
    const known = this.#number !== null;
    setText(this.#title, known ? words.peopleCount(this.#number) : words.people);
    setText(this.#count, known ? String(this.#number) : "");
    relabel(this.#button, known ? words.peopleCount(this.#number) : words.people);
    const named = this.#named;
    const self = named.find(({ id }) => id === this.#you);
    setText(this.#selfName, self?.name ? words.youNamed(self.name) : words.you);
    this.#self.dataset.initial = initial(self?.name || words.you);
    setText(this.#rename, self?.name ? words.changeName : words.addName);
    const others = named.filter((member) => member !== self);
    const lines = others.map(({ id, name, isMeeting }) => line(name || words.guest(id), isMeeting ? words.inMeeting : ""));
    const unlisted = known ? Math.max(0, this.#number - 1 - others.length) : 0;
    if (unlisted > 0) lines.push(element("li", "others", { "data-initial": "+" }, words.unlisted(unlisted)));
    // Our own line stays in place, because the user may be typing in it.
    while (this.#list.lastChild !== this.#self) this.#list.lastChild.remove();
    this.#list.append(...lines);
    const screens = this.#viewer.tracks.all.map(titleOf);
    this.#screens.hidden = screens.length < 2;
    setText(this.#screens, words.screens(screens));
  }
}

/** Creates a line of the list: a name and an optional note. */
function line(name, note) {
  const made = element("li", "", { "data-initial": initial(name) }, element("span", "name", {}, name));
  if (note) made.append(element("span", "note", {}, note));
  return made;
}

const initial = (name) => [...name][0].toUpperCase();

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
    // The name then lasts only as long as the page is open.
  }
}
