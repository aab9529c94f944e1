// The page in a frame of another page (`--embed-in`), and its messages to that page.

/** Whether the page is in a frame. It only shows the screen then, and offers neither to present nor to invite. */
export const isFramed = window.parent !== window;

/** Reports the state to the page around the frame (`Protocol/http.md`, "Embedding"). */
export class FrameNews {
  #parent;
  #last = "";

  constructor(parent) {
    this.#parent = parent;
  }

  /** Sends the state of the page and the size of its picture, unless that is what was sent last. */
  tell({ phase, source }, { width, height }) {
    const state = phase === "negotiating" ? "connecting" : phase;
    const screenRelay = { state, source: source.state, width, height };
    const text = JSON.stringify(screenRelay);
    if (text === this.#last) return;
    this.#last = text;
    // Browsers load this page only in frames of origins that the host allows, so any parent may know.
    this.#parent.postMessage({ screenRelay }, "*");
  }
}
