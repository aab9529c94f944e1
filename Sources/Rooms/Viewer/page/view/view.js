// How the picture is placed in the window: fitted, filling it, at actual size, or zoomed by hand.

import { centred, centreOf, fillScale, fitScale, limitScale, panned, sourceSize, zoomedAt } from "./zoom.js";

const MIDDLE = Object.freeze({ x: 0.5, y: 0.5 });
// The zoom factor of one key press or one notch of the wheel.
const STEP = 1.25;

/** Places the picture; `mode` is "fit", "fill", "actual" or "zoom". */
export class View {
  #stage = document.getElementById("stage");
  #scroller = document.getElementById("scroller");
  #picture = document.getElementById("picture");
  #video = document.getElementById("video");
  #mode = "fit";
  #placement = null;
  /** @type {{ x: number, y: number }} */
  #centre = MIDDLE;
  /** The source's size as the host tells it with the pointer; null if it doesn't. */
  #told = null;

  /** Called when the mode or the zoom has changed. */
  onChange = () => {};

  constructor() {
    this.#video.addEventListener("resize", () => this.#layOut());
    new ResizeObserver(() => this.#layOut()).observe(this.#scroller);
  }

  /** Notes what `_pointer` says of the size of the source's pictures, of which a slow path gets half at times. */
  tell({ width, height }) {
    if (this.#told?.width === width && this.#told?.height === height) return;
    this.#told = width > 0 && height > 0 ? { width, height } : null;
    this.#layOut();
  }

  get mode() {
    return this.#mode;
  }

  /** The number of screen pixels for one pixel of the picture, in each direction; null without a picture. */
  get scale() {
    if (!this.#isPossible) return null;
    return (this.#placement?.scale ?? fitScale(this.#size, this.#source)) * pixelRatio();
  }

  /** Whether part of the picture is outside the window. */
  get isPannable() {
    if (!this.#placement) return false;
    const { scale } = this.#placement;
    const { width, height } = this.#size;
    return this.#source.width * scale > width + 0.5 || this.#source.height * scale > height + 0.5;
  }

  /** Sets the mode to "fit", "fill" or "actual", and ends zooming by hand. */
  setMode(mode) {
    this.#mode = mode;
    this.#centre = MIDDLE;
    this.#layOut();
    this.onChange();
  }

  /** Zooms in by `steps` (out if negative) at `point`, in client coordinates, or at the middle of the window. */
  zoom(steps, point = null) {
    this.zoomBy(STEP ** steps, point);
  }

  /** Scales the picture by `times`, and keeps what is at `point` (in client coordinates) in place. */
  zoomBy(times, point = null) {
    if (!this.#isPossible) return;
    const present = this.#placement ?? centred(fitScale(this.#size, this.#source), MIDDLE, this.#size, this.#source);
    const scale = limitScale(present.scale * times, this.#size, this.#source, pixelRatio());
    const fit = fitScale(this.#size, this.#source);
    // Back at the fitted size, the picture is fitted again and follows the window's size.
    if (times < 1 && Math.abs(scale / fit - 1) < 0.01) return this.setMode("fit");
    this.#mode = "zoom";
    const { left, top } = this.#scroller.getBoundingClientRect();
    const at = point ? { x: point.x - left, y: point.y - top } : { x: this.#size.width / 2, y: this.#size.height / 2 };
    this.#place(zoomedAt(present, scale, at, this.#size, this.#source));
    this.onChange();
  }

  /** Moves the picture by CSS pixels. Returns whether there was anything to move. */
  pan(right, down) {
    if (!this.isPannable) return false;
    this.#place(panned(this.#placement, right, down, this.#size, this.#source));
    return true;
  }

  get #size() {
    return { width: this.#scroller.clientWidth, height: this.#scroller.clientHeight };
  }

  get #source() {
    return sourceSize({ width: this.#video.videoWidth, height: this.#video.videoHeight }, this.#told);
  }

  get #isPossible() {
    return this.#source.width > 0 && this.#size.width > 0 && this.#size.height > 0;
  }

  /** Adjusts to a new size of the window or picture: what was in the middle stays there. */
  #layOut() {
    if (this.#mode === "fit" || !this.#isPossible) return this.#place(null);
    const view = this.#size;
    const source = this.#source;
    // At actual size, one pixel of the picture is one of the screen, regardless of the browser's zoom.
    const scale = {
      fill: () => fillScale(view, source),
      actual: () => 1 / pixelRatio(),
      zoom: () => limitScale(this.#placement?.scale ?? fitScale(view, source), view, source, pixelRatio()),
    }[this.#mode]();
    this.#place(centred(scale, this.#centre, view, source), false);
  }

  #place(placement, isMoved = true) {
    this.#placement = placement;
    if (placement && isMoved) this.#centre = centreOf(placement, this.#size, this.#source);
    const style = this.#picture.style;
    // Aligns to screen pixels, because a picture between two of them would be blurred.
    const whole = (value) => `${Math.round(value * pixelRatio()) / pixelRatio()}px`;
    style.left = placement ? whole(placement.x) : "";
    style.top = placement ? whole(placement.y) : "";
    style.width = placement ? `${this.#source.width * placement.scale}px` : "";
    style.height = placement ? `${this.#source.height * placement.scale}px` : "";
    this.#stage.dataset.mode = this.#mode;
    this.#stage.toggleAttribute("data-pannable", this.isPannable);
    const pixels = this.scale ?? 0;
    this.#stage.toggleAttribute("data-pixels", pixels > 1 && Math.abs(pixels - Math.round(pixels)) < 0.001);
  }
}

const pixelRatio = () => window.devicePixelRatio || 1;
