// The section of the charts' panel that says which path is in use.

import { readPaths } from "./paths.js";
import { pathWords } from "./pathwords.js";

/** The section, in `root`. */
export class PathList {
  root;

  #page;
  #words;
  #written = "";

  /** `page` as for `ChartList`. */
  constructor(page) {
    this.#page = page;
    this.#words = pathWords[page.language];
    this.root = page.element("div", "paths");
  }

  update() {
    const { viewer, element } = this.#page;
    const isByWebSocket = viewer.reception?.isByWebSocket === true;
    // Without H.264 no path has been looked for.
    const traces = viewer.browser.hasH264 ? viewer.peer?.traces : null;
    const { used, others } = readPaths(traces ?? null, isByWebSocket, performance.now());
    const [path, ...notes] = this.#lines(used, others);
    const text = [path, ...notes].join("\n");
    if (text === this.#written) return;
    this.#written = text;
    this.root.replaceChildren(
      element("p", "chart-size", {}, element("span", "", {}, this.#words.title), element("span", "", {}, path)),
      ...notes.map((note) => element("span", "chart-note", {}, note)));
  }

  /** The path in use, then a line for each thing to say of it. */
  #lines(used, others) {
    const words = this.#words;
    const lines = [used?.kind === "relay" ? words.relay(used.host, used.protocol) : words.used[used?.kind ?? "none"]];
    if (used?.local) lines.push(words.ends(this.#end(used.local), this.#end(used.remote)));
    for (const { kind, key, code, text } of others) {
      lines.push(words.other(words.kinds[kind], key === "error" ? words.error(code, text) : words.reasons[key]));
    }
    if (!this.#page.viewer.browser.hasH264) lines.push(words.noH264);
    return lines;
  }

  #end({ type, family }) {
    return [this.#words.types[type] ?? type, family].filter(Boolean).join(", ");
  }
}
