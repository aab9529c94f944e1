// The chat: its messages, and the form for another one. The page loads this file, and those it imports, when the user
// opens the chat.

import { cleanName, element, iconButton, onEscape, setText } from "../element.js";
import { language, words as pageWords } from "../words/messages.js";
import { words as roomWords } from "../meeting/meetingwords.js";
import { words } from "./chatwords.js";

const CLOSE = "m7 7 10 10M17 7 7 17";
/** How many messages the host keeps. */
const MOST_MESSAGES = 200;
/** How many of our own messages may be refused and shown again. */
const MOST_SENT = 5;

// The style is set here, because this part of the page is loaded later.
const PANEL = { display: "flex", flexDirection: "column", gap: "8px" };
const LOG = { flex: "0 1 auto", minHeight: "48px", overflowY: "auto", overscrollBehavior: "contain" };
const WHO = { margin: "6px 0 0", color: "var(--quiet)", fontSize: "13px", overflowWrap: "anywhere" };
const NAME = { marginInlineEnd: "8px", fontWeight: "600", unicodeBidi: "isolate" };
const TEXT = { margin: "0", whiteSpace: "pre-wrap", overflowWrap: "anywhere" };
const FORM = { display: "flex", flexWrap: "wrap", alignItems: "end", gap: "6px 8px" };
const LABEL = { flex: "1 0 100%", color: "var(--quiet)", fontSize: "13px" };
const INPUT = {
  flex: "1", minWidth: "0", padding: "7px 12px", border: "1px solid var(--quiet)", borderRadius: "8px", resize: "none",
  background: "transparent", color: "inherit", font: "inherit",
};
const NOTE = { margin: "0", color: "var(--quiet)", fontSize: "13px" };

/** Gives an element these properties of the style, and returns it. */
function styled(target, style) {
  Object.assign(target.style, style);
  return target;
}

/** The contents of the panel of the chat. */
export class Chat {
  #viewer;
  #title = element("h2", "", { id: "chat-title", tabindex: "-1" }, roomWords.chat);
  #log = styled(
    element("div", "", { role: "log", "aria-live": "polite", "aria-label": words.messages, tabindex: "0" }), LOG);
  #empty = styled(element("p", "", {}, words.empty), NOTE);
  #form = styled(element("form"), FORM);
  #input = styled(element("textarea", "", { id: "chat-text", rows: "2", maxlength: "500", autocomplete: "off" }), INPUT);
  #addName = element("button", "secondary", { type: "button" }, words.addName);
  #note = styled(element("p", "", { role: "status" }), NOTE);
  /** The messages that are shown, in the order of their numbers: each with its `number` and its element. */
  #messages = [];
  /** Our own last messages, by the numbers that we gave them. */
  #sent = new Map();
  #lastSent = 0;

  /** Fills `root`, the panel; `onClose()` is called when the user closes it. */
  constructor(root, viewer, onClose) {
    this.#viewer = viewer;
    const label = styled(element("label", "", { for: "chat-text" }, words.write), LABEL);
    const send = element("button", "secondary", { type: "submit" }, words.send);
    this.#form.append(label, this.#input, send);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#write();
    });
    this.#input.addEventListener("keydown", (event) => {
      // Shift makes a new line, and while a character is composed, the key belongs to that.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#write();
    });
    this.#addName.addEventListener("click", () => viewer.tell("nameless", {}));
    root.setAttribute("aria-labelledby", "chat-title");
    const close = iconButton(CLOSE, pageWords.close, onClose);
    styled(root, PANEL).append(
      element("header", "", {}, this.#title, close), this.#empty, this.#log, this.#note, this.#form, this.#addName);
    onEscape(root, onClose);
    viewer.addEventListener("_peers", ({ detail }) => {
      // Unless our visit goes on, it may be another host.
      if (!Array.isArray(detail.watching)) this.#clear();
      if (detail.chat) this.#ask();
      this.#drawForm();
    });
    viewer.addEventListener("_chat", ({ detail }) => {
      if (!(detail.last >= 0)) this.#clear();
      else if (Array.isArray(detail.messages)) this.#take(detail.messages);
    });
    viewer.addEventListener("_chat_refused", ({ detail }) => this.#refused(detail));
    this.#drawForm();
    this.#ask();
  }

  focus() {
    this.#log.scrollTop = this.#log.scrollHeight;
    (this.#hasName ? this.#input : this.#title).focus();
  }

  get #hasName() {
    return Boolean(this.#viewer.introduction.name);
  }

  /** Asks the host for the messages after the last one that is here. */
  #ask() {
    this.#viewer.send("__chat", { after: this.#messages.at(-1)?.number ?? 0 });
  }

  #write() {
    const text = this.#input.value.trim();
    if (text === "") return;
    this.#lastSent += 1;
    this.#sent.set(this.#lastSent, text);
    this.#sent.delete(this.#lastSent - MOST_SENT);
    this.#viewer.send("__chat", { text, number: this.#lastSent });
    this.#input.value = "";
    setText(this.#note, "");
  }

  #refused({ reason, number }) {
    setText(this.#note, words.refused[reason] ?? "");
    const text = this.#sent.get(number);
    this.#sent.delete(number);
    if (text !== undefined && this.#input.value === "") this.#input.value = text;
  }

  #take(messages) {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 40;
    for (const message of messages) this.#add(message);
    this.#empty.hidden = this.#messages.length > 0;
    if (isAtEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Earlier messages, which we have asked for, may come after a new one. */
  #add({ number, name, text, time }) {
    if (!Number.isSafeInteger(number) || typeof text !== "string") return;
    let index = this.#messages.length;
    while (index > 0 && this.#messages[index - 1].number > number) index -= 1;
    if (index > 0 && this.#messages[index - 1].number === number) return;
    const line = lineOf(cleanName(name), text, time);
    this.#log.insertBefore(line, this.#messages[index]?.line ?? null);
    this.#messages.splice(index, 0, { number, line });
    if (this.#messages.length > MOST_MESSAGES) this.#messages.shift().line.remove();
  }

  #clear() {
    for (const { line } of this.#messages.splice(0)) line.remove();
    this.#empty.hidden = false;
  }

  #drawForm() {
    this.#form.hidden = !this.#hasName;
    this.#addName.hidden = this.#hasName;
  }
}

/** Creates the lines of a message. */
function lineOf(name, text, time) {
  const who = element("p", "", {}, styled(element("span", "", {}, name), NAME));
  const date = new Date(time);
  if (!Number.isNaN(date.getTime())) {
    const shown = date.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
    who.append(element("time", "", { datetime: date.toISOString() }, shown));
  }
  return element("div", "", {}, styled(who, WHO), styled(element("p", "", { dir: "auto" }, text), TEXT));
}
