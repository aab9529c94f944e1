// Asks for a room's password, and keeps it while the tab is open.

import { element, setText } from "../element.js";
import { words } from "../meeting/meetingwords.js";

/** The form that replaces the card. */
export class Prompt {
  #viewer;
  #root = document.getElementById("prompt");
  #title = element("h2", "", { id: "prompt-title" }, words.passwordTitle);
  #input = element("input", "", {
    id: "password", name: "password", type: "password", autocomplete: "current-password", required: "",
    "aria-describedby": "prompt-problem",
  });
  #room;
  #problem = element("p", "problem", { id: "prompt-problem", role: "alert" });
  #hasAnswered = false;

  constructor(viewer) {
    this.#viewer = viewer;
    const label = element("label", "", { for: "password" }, words.password);
    const enter = element("button", "primary", { type: "submit" }, words.enter);
    // The name under which the browser's password manager stores the password.
    this.#room = element("input", "", { name: "room", autocomplete: "username", readonly: "" });
    this.#room.hidden = true;
    const form = element("form", "", {}, this.#room, label, this.#input, this.#problem, enter);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#answer();
    });
    this.#root.setAttribute("aria-labelledby", "prompt-title");
    this.#root.append(this.#title, form);
    viewer.addEventListener("change", () => this.#follow());
    viewer.addEventListener("joined", () => this.#enter());
    // Each room has its own password. This runs before the page joins the room of a new link.
    window.addEventListener("hashchange", () => this.#recall(), { capture: true });
    this.#recall();
  }

  #recall() {
    this.#hasAnswered = false;
    const password = read(keyOf(location));
    if (password === null) delete this.#viewer.introduction.password;
    else this.#viewer.introduction.password = password;
  }

  #answer() {
    if (this.#input.value === "") return;
    this.#hasAnswered = true;
    this.#viewer.introduction.password = this.#input.value;
    this.#viewer.start();
  }

  #enter() {
    const { password } = this.#viewer.introduction;
    if (password !== undefined) write(keyOf(location), password);
    this.#input.value = "";
    this.#hasAnswered = false;
  }

  #follow() {
    const isLocked = this.#viewer.phase === "locked";
    if (isLocked === !this.#root.hidden) return;
    this.#root.hidden = !isLocked;
    if (!isLocked) return;
    this.#room.value = this.#viewer.link.name;
    write(keyOf(location), null);
    delete this.#viewer.introduction.password;
    setText(this.#problem, this.#hasAnswered ? words.passwordWrong : "");
    this.#problem.hidden = !this.#hasAnswered;
    this.#input.toggleAttribute("aria-invalid", this.#hasAnswered);
    this.#input.focus();
    this.#input.select();
  }
}

/** The key under which a room's password is stored: the room's name, without the token. */
const keyOf = ({ hash }) => `screenrelay.password.${hash.replace(/^#/, "").split(",", 1)[0]}`;

function read(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // The password is then asked for again after a reload.
  }
}
