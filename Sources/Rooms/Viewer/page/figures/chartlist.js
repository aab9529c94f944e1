// The contents of the charts' panel: the charts of the last minute, and the paths to the host.
//
// The page loads this file and those it imports when the panel is opened. What the page has anyway is passed in.

import { bitRateText, delayText, frameRateText, lagText, lossText, sizeText } from "./figures.js";
import { PathList } from "./pathlist.js";
import { median, roundTop } from "./series.js";

const WIDTH = 300;
const HEIGHT = 44;
const SVG = "http://www.w3.org/2000/svg";

/** Ends when the style of the charts has come, or can't be had. */
export const styled = new Promise((resume) => {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = "style/chartlist.css";
  link.onload = link.onerror = resume;
  document.head.append(link);
});

/** The charts, the resolution and the paths, as elements in `root`. */
export class ChartList {
  #page;
  #root;
  #charts = [];
  #size = null;
  #paths;
  /** `#kinds` when the charts were made. */
  #madeKinds = null;

  /** `page`: the page's `viewer`, `stage` and `measurements`, its `words` and `language`, and tools for elements. */
  constructor(page, root) {
    this.#page = page;
    this.#root = root;
    this.#paths = new PathList(page);
    this.update();
  }

  /** Draws new values. */
  update() {
    const { words, stage, setText } = this.#page;
    if (this.#madeKinds !== this.#kinds) this.#make();
    for (const chart of this.#charts) chart.update();
    const size = stage.pictureSize;
    setText(this.#size, size.width > 0 ? sizeText(size) : words.notMeasured);
    this.#paths.update();
  }

  /** The words for a second without a delay; null if no delay can be measured. */
  get #noDelay() {
    const { words, measurements } = this.#page;
    if (measurements.knowsDelay) return words.nothingMoves;
    return measurements.awaitsDelay ? words.measuring : null;
  }

  /** What decides which charts there are. */
  get #kinds() {
    return `${this.#noDelay} ${this.#page.measurements.hasSound}`;
  }

  #make() {
    const { words, measurements, element, delayWindow: window } = this.#page;
    const { delay, roundTrip, frameRate, bitRate, loss, soundLag } = measurements;
    const none = this.#noDelay;
    const chart = (...values) => new Chart(this.#page, ...values);
    this.#charts = [
      none
        ? chart(words.delay, words.delayNote, delay, delayText, 50, { none, window })
        : chart(words.roundTrip, words.roundTripNote, roundTrip, delayText, 50),
      chart(words.frameRate, "", frameRate, frameRateText, 10, { isStill: () => measurements.isStill }),
      chart(words.bitRate, "", bitRate, bitRateText, 100_000),
      chart(words.loss, "", loss, lossText, 1),
    ];
    if (measurements.hasSound) {
      this.#charts.push(chart(words.sound, words.soundNote, soundLag, lagText, 50, { window }));
    }
    this.#size = element("span");
    const size = element("p", "chart-size", {}, element("span", "", {}, words.resolution), this.#size);
    this.#root.replaceChildren(...this.#charts.map(({ root }) => root), size, this.#paths.root);
    this.#madeKinds = this.#kinds;
  }
}

/** One chart. For the keyboard and for screen readers, it is a slider along the last minute. */
class Chart {
  root;

  #page;
  #series;
  #text;
  #least;
  #window;
  #isStill;
  #value;
  #range;
  #line = document.createElementNS(SVG, "path");
  #mark = document.createElementNS(SVG, "line");
  #field = document.createElementNS(SVG, "svg");
  /** The number of seconds ago whose value is read; null if the current value is shown. */
  #reading = null;

  /**
   * `text` formats a value. `least` is the smallest range that the chart shows from bottom to top. `none` is the text
   * for a second without a value. The current value is the median of the last `window` seconds; if `isStill()`, the
   * text is that nothing moves.
   */
  constructor(page, title, note, series, text, least, { none = null, window = 1, isStill = () => false } = {}) {
    const { element, label, words } = page;
    this.#page = page;
    this.root = element("div", "chart");
    this.#value = element("span", "chart-value");
    this.#range = element("span", "chart-range");
    this.#series = series;
    this.#text = (value) => text(value) || (none ?? words.notMeasured);
    this.#least = least;
    this.#window = window;
    this.#isStill = isStill;
    // Leaves a margin, so that a line along an edge isn't cut off.
    this.#field.setAttribute("viewBox", `0 -2 ${WIDTH} ${HEIGHT + 4}`);
    this.#field.setAttribute("preserveAspectRatio", "none");
    this.#field.setAttribute("aria-hidden", "true");
    this.#mark.setAttribute("y2", String(HEIGHT));
    this.#field.append(this.#line, this.#mark);
    const head = element("p", "", {}, element("span", "", {}, title), this.#value);
    this.root.append(head, this.#field, this.#range);
    if (note) this.root.append(element("span", "chart-note", {}, note));
    this.root.tabIndex = 0;
    for (const [name, value] of [["role", "slider"], ["aria-valuemin", 1 - series.capacity], ["aria-valuemax", 0]]) {
      this.root.setAttribute(name, value);
    }
    label(this.root, note ? `${title}, ${note}. ${words.chartHint}` : `${title}. ${words.chartHint}`);
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.root.addEventListener("blur", () => this.#read(null));
    this.#field.addEventListener("pointermove", (event) => this.#point(event));
    this.#field.addEventListener("pointerleave", () => this.#read(null));
  }

  update() {
    const { setText, words } = this.#page;
    const range = this.#series.range;
    const top = roundTop(Math.max(...(range ?? [0]).map(Math.abs)), this.#least);
    // If there are negative values, 0 is in the middle.
    this.#line.setAttribute("d", this.#series.path(WIDTH, HEIGHT, top, range?.[0] < 0 ? -top : 0));
    const [least, most] = (range ?? [null, null]).map(this.#text);
    setText(this.#range, least === most ? "" : words.range(least, most));
    this.#read(this.#reading);
  }

  #read(seconds) {
    const { setText, words } = this.#page;
    this.#reading = seconds;
    const value = this.#valueText(seconds);
    const said = words.secondsAgo(seconds ?? 0, value);
    setText(this.#value, seconds ? said : value);
    this.root.setAttribute("aria-valuenow", String(-(seconds ?? 0)));
    this.root.setAttribute("aria-valuetext", said);
    const x = WIDTH - ((seconds ?? 0) * WIDTH) / (this.#series.capacity - 1);
    for (const end of ["x1", "x2"]) this.#mark.setAttribute(end, x.toFixed(1));
    this.#mark.toggleAttribute("hidden", seconds === null);
  }

  #valueText(seconds) {
    const { words } = this.#page;
    if (!seconds) return this.#isStill() ? words.nothingMoves : this.#text(median(this.#series.last(this.#window)));
    // The chart begins a minute ago, even if the page was opened later.
    return seconds < this.#series.length ? this.#text(this.#series.ago(seconds)) : words.notMeasured;
  }

  #key(event) {
    const last = this.#series.capacity - 1;
    const now = this.#reading ?? 0;
    const next = { ArrowLeft: now + 1, ArrowRight: now - 1, PageUp: now - 10, PageDown: now + 10, Home: last, End: 0 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#read(Math.max(0, Math.min(last, next)));
  }

  #point(event) {
    const { left, width } = this.#field.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - left) / width));
    this.#read(Math.round((1 - part) * (this.#series.capacity - 1)));
  }
}
