// A list whose lines stay in place while they stay the same.

/** Draws lines into `root`. They keep the focus and a press that has begun. */
export class SteadyList {
  root;
  #lines = new Map();

  constructor(root) {
    this.root = root;
  }

  /** Shows a line for each of `items`, which differ. `make(item)` makes one that isn't there yet. */
  draw(items, make) {
    const lines = new Map(items.map((item) => {
      const key = JSON.stringify(item);
      return [key, this.#lines.get(key) ?? make(item)];
    }));
    const hadFocus = this.root.contains(document.activeElement);
    for (const [key, line] of this.#lines) if (!lines.has(key)) line.remove();
    for (const [index, line] of [...lines.values()].entries()) {
      const there = this.root.children[index] ?? null;
      if (there !== line) this.root.insertBefore(line, there);
    }
    this.#lines = lines;
    this.root.hidden = lines.size === 0;
    if (hadFocus && !this.root.contains(document.activeElement)) this.root.parentElement.focus();
  }
}
