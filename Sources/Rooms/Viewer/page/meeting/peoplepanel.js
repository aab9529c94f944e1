// The list of the people who are watching: those with a name, and our own name.

import { cleanName, element, iconButton, setText } from "../element.js";
import { DoorView } from "./doorview.js";
import { NAME_KEY } from "./people.js";
import { titleOf, words as roomWords } from "./meetingwords.js";
import { words } from "./peoplewords.js";

const CLOSE = "m7 7 10 10M17 7 7 17";

/** The contents of the panel of people. */
export class PeoplePanel {
  #viewer;
  #title = element("h2", "", { id: "people-title", tabindex: "-1" });
  #list = element("ul", "people-list");
  #self = element("li");
  #selfName = element("span", "name");
  #rename = element("button", "link", { type: "button" });
  #form = element("form", "own-name");
  #input = element("input", "", { id: "own-name", name: "name", maxlength: "64", autocomplete: "nickname" });
  #screens = element("p", "screens");
  #door;

  /** Fills `root`, the panel, above what it has; `onClose()` is called when the user closes it. */
  constructor(root, viewer, onClose) {
    this.#viewer = viewer;
    this.#input.value = viewer.introduction.name ?? "";
    const close = iconButton(CLOSE, words.close, onClose);
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
    root.setAttribute("aria-labelledby", "people-title");
    this.#door = new DoorView((action, id) => viewer.send("__door", { action, socketId: id }));
    root.prepend(element("header", "", {}, this.#title, close), this.#door.root, this.#list, this.#screens);
  }

  focus() {
    this.#title.focus();
  }

  /** Lets the user type a name. */
  askName() {
    this.#showForm(true);
    this.#input.focus();
  }

  /** Lists `people`, a `People`, under the title `title`. */
  draw({ named, number, you, door }, title) {
    setText(this.#title, title);
    this.#door.draw(door);
    const self = named.find(({ id }) => id === you);
    setText(this.#selfName, self?.name ? words.youNamed(self.name) : words.you);
    this.#self.dataset.initial = initial(self?.name || words.you);
    setText(this.#rename, self?.name ? words.changeName : words.addName);
    const others = named.filter((member) => member !== self);
    const lines = others.map(({ id, name, isMeeting }) =>
      line(name || roomWords.guest(id), isMeeting ? words.inMeeting : ""));
    const unlisted = number === null ? 0 : Math.max(0, number - 1 - others.length);
    if (unlisted > 0) lines.push(element("li", "others", { "data-initial": "+" }, words.unlisted(unlisted)));
    // Our own line stays in place, because the user may be typing in it.
    while (this.#list.lastChild !== this.#self) this.#list.lastChild.remove();
    this.#list.append(...lines);
    const screens = this.#viewer.tracks.all.map(titleOf);
    this.#screens.hidden = screens.length < 2;
    setText(this.#screens, words.screens(screens));
  }

  #showForm(isShown) {
    if (this.#form.hidden !== isShown) return;
    this.#form.hidden = !isShown;
    this.#rename.hidden = isShown;
    if (isShown) this.#input.focus();
    else this.#rename.focus();
  }

  #take(text) {
    const { introduction, visit } = this.#viewer;
    const name = cleanName(text);
    this.#input.value = name;
    keep(name);
    if ((introduction.name ?? "") === name) return;
    if (name) introduction.name = name;
    else delete introduction.name;
    // The name is sent on joining, so join again.
    if (visit !== null) this.#viewer.start();
  }
}

/** Creates a line of the list: a name and an optional note. */
function line(name, note) {
  const made = element("li", "", { "data-initial": initial(name) }, element("span", "name", {}, name));
  if (note) made.append(element("span", "note", {}, note));
  return made;
}

const initial = (name) => [...name][0].toUpperCase();

function keep(name) {
  try {
    if (name) localStorage.setItem(NAME_KEY, name);
    else localStorage.removeItem(NAME_KEY);
  } catch {
    // The name then lasts only as long as the page is open.
  }
}
