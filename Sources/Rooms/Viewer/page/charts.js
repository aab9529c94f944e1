// Small live charts of the measurements. While they are closed, they have no elements in the page.

import { element, onOtherOpened, opened, setText } from "./element.js";
import { bitRateText, delayText, frameRateText, lagText, lossText, sizeText } from "./figures.js";
import { DELAY_WINDOW } from "./measurements.js";
import { label, words } from "./messages.js";
import { median, roundTop } from "./series.js";

const WIDTH = 300;
const HEIGHT = 44;
const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

export class Charts {
  #measurements;
  #stage;
  #panel = byId("charts");
  #charts = [];
  #size = null;
  /** `#kinds` when the charts were made. */
  #madeKinds = "";

  /** Called when the charts are opened or closed. */
  onToggle = () => {};

  constructor(measurements, stage) {
    this.#measurements = measurements;
    this.#stage = stage;
    byId("figures").addEventListener("click", () => this.toggle());
    byId("charts-close").addEventListener("click", () => this.close());
    onOtherOpened(this.#panel, () => this.close());
  }

  get isOpen() {
    return !this.#panel.hidden;
  }

  toggle() {
    if (!this.close()) this.#open();
  }

  /** Closes the charts. Returns false if they weren't open. */
  close() {
    if (!this.isOpen) return false;
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#panel.hidden = true;
    byId("charts-list").replaceChildren();
    this.#charts = [];
    this.onToggle();
    if (hadFocus) byId("figures").focus();
    return true;
  }

  /** Draws new values. */
  update() {
    if (!this.isOpen) return;
    if (this.#madeKinds !== this.#kinds) this.#make();
    for (const chart of this.#charts) chart.update();
    const size = this.#stage.pictureSize;
    setText(this.#size, size.width > 0 ? sizeText(size) : words.notMeasured);
  }

  #open() {
    this.#make();
    this.#panel.hidden = false;
    this.update();
    this.onToggle();
    opened(this.#panel);
    this.#panel.focus();
  }

  /** The words for a second without a delay; null if no delay can be measured. */
  get #noDelay() {
    if (this.#measurements.knowsDelay) return words.nothingMoves;
    return this.#measurements.awaitsDelay ? words.measuring : null;
  }

  /** What decides which charts there are. */
  get #kinds() {
    return `${this.#noDelay} ${this.#measurements.hasSound}`;
  }

  #make() {
    const { delay, roundTrip, frameRate, bitRate, loss, soundLag } = this.#measurements;
    const none = this.#noDelay;
    this.#charts = [
      none
        ? new Chart(words.delay, words.delayNote, delay, delayText, 50, { none, window: DELAY_WINDOW })
        : new Chart(words.roundTrip, words.roundTripNote, roundTrip, delayText, 50),
      new Chart(words.frameRate, "", frameRate, frameRateText, 10, { isStill: () => this.#measurements.isStill }),
      new Chart(words.bitRate, "", bitRate, bitRateText, 100_000),
      new Chart(words.loss, "", loss, lossText, 1),
    ];
    if (this.#measurements.hasSound) {
      this.#charts.push(new Chart(words.sound, words.soundNote, soundLag, lagText, 50, { window: DELAY_WINDOW }));
    }
    const size = element("p", "chart-size");
    this.#size = element("span");
    size.append(element("span", "", {}, words.resolution), this.#size);
    byId("charts-list").replaceChildren(...this.#charts.map(({ root }) => root), size);
    this.#madeKinds = this.#kinds;
  }
}

/** One chart. For the keyboard and for screen readers, it is a slider along the last minute. */
class Chart {
  root = element("div", "chart");

  #title;
  #series;
  #text;
  #least;
  #window;
  #isStill;
  #value = element("span", "chart-value");
  #range = element("span", "chart-range");
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
  constructor(title, note, series, text, least, { none = words.notMeasured, window = 1, isStill = () => false } = {}) {
    this.#title = title;
    this.#series = series;
    this.#text = (value) => text(value) || none;
    this.#least = least;
    this.#window = window;
    this.#isStill = isStill;
    // Leaves a margin, so that a line along an edge isn't cut off.
    this.#field.setAttribute("viewBox", `0 -2 ${WIDTH} ${HEIGHT + 4}`);
    this.#field.setAttribute("preserveAspectRatio", "none");
    this.#field.setAttribute("aria-hidden", "true");
    this.#mark.setAttribute("y2", String(HEIGHT));
    this.#field.append(this.#line, this.#mark);
    const head = element("p");
    head.append(element("span", "", {}, title), this.#value);
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
    const range = this.#series.range;
    const top = roundTop(Math.max(...(range ?? [0]).map(Math.abs)), this.#least);
    // If there are negative values, 0 is in the middle.
    this.#line.setAttribute("d", this.#series.path(WIDTH, HEIGHT, top, range?.[0] < 0 ? -top : 0));
    const [least, most] = (range ?? [null, null]).map(this.#text);
    setText(this.#range, least === most ? "" : words.range(least, most));
    this.#read(this.#reading);
  }

  #read(seconds) {
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
