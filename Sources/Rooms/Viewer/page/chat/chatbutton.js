// The button of the chat, with the number of messages that the user hasn't seen.

import { addToBar, element, iconButton, onOtherOpened, opened, relabel, setText } from "../element.js";
import { words } from "../meeting/meetingwords.js";

const BUBBLE = "M4 5h16v11h-9l-4.5 3.5V16H4z";

/**
 * The panel of the chat, closed at first, and its button, which is there while the host allows the chat. What is in the
 * panel is loaded when it is first opened; until then, messages are only counted.
 */
export class ChatButton {
  #viewer;
  #root = document.getElementById("chat");
  #count = element("span", "count", { "aria-hidden": "true" });
  #button = iconButton(BUBBLE, words.chat, () => this.toggle());
  #panel = null;
  /** The numbers of the room's last message and of the last one that the user has seen, and how many the host keeps. */
  #last = 0;
  #seen = 0;
  #kept = 0;

  constructor(viewer) {
    this.#viewer = viewer;
    this.#button.append(this.#count);
    this.#button.id = "chat-button";
    this.#button.setAttribute("aria-controls", "chat");
    this.#told({});
    addToBar(this.#button);
    onOtherOpened(this.#root, () => this.#fold(true));
    viewer.addEventListener("_peers", ({ detail }) => this.#told(detail.chat ?? {}));
    viewer.addEventListener("_chat", ({ detail }) => this.#told(detail));
    viewer.addEventListener("change", () => viewer.isOver && this.#told({}));
  }

  /** Opens or closes the panel. Returns false while there is no chat. */
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
    const file = await import("./chat.js").catch(() => null);
    if (!file) return this.#fold(true);
    this.#panel ??= new file.Chat(this.#root, this.#viewer, () => this.#open(false));
    if (!this.#root.hidden) this.#panel.focus();
  }

  #fold(isFolded) {
    this.#root.hidden = isFolded;
    this.#button.setAttribute("aria-expanded", String(!isFolded));
    this.#draw();
  }

  /** Without `last`, the host doesn't allow the chat. */
  #told({ last = -1, kept = 0 }) {
    this.#button.hidden = last < 0;
    if (this.#button.hidden) return this.#fold(true);
    // With lower numbers, it is another host.
    if (this.#seen > last) this.#seen = 0;
    [this.#last, this.#kept] = [last, kept];
    this.#draw();
  }

  #draw() {
    if (!this.#root.hidden) this.#seen = this.#last;
    const unread = Math.min(this.#last - this.#seen, this.#kept);
    const text = unread > 0 ? `${words.chat}: ${words.unread(unread)}` : words.chat;
    if (unread > 0) setText(document.getElementById("spoken"), text);
    setText(this.#count, unread > 0 ? String(unread) : "");
    relabel(this.#button, text);
  }
}
