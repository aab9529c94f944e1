// What the buttons of the bar do: size, picture in picture, full screen.

import { label, words } from "./messages.js";

const byId = (id) => document.getElementById(id);
const MODES = ["fit", "fill", "actual"];

export class Controls {
  #stage = byId("stage");
  #video = byId("video");
  #view;

  constructor(view) {
    this.#view = view;
    byId("size").addEventListener("click", () => this.nextMode());
    byId("inset").addEventListener("click", () => this.toggleInset());
    byId("fullscreen").addEventListener("click", () => this.toggleFullScreen());
    document.addEventListener("fullscreenchange", () => this.#draw());
    for (const type of ["enterpictureinpicture", "leavepictureinpicture", "loadedmetadata", "emptied"]) {
      this.#video.addEventListener(type, () => this.#draw());
    }
    this.#draw();
  }

  /** Fitted, filling, actual size, and fitted again. */
  nextMode() {
    this.#view.setMode(MODES[(MODES.indexOf(this.#view.mode) + 1) % MODES.length]);
  }

  /** "fit", "fill" or "actual"; once more, and it's fitted again. */
  toggleMode(mode) {
    this.#view.setMode(this.#view.mode === mode ? "fit" : mode);
  }

  toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    else if (this.#stage.requestFullscreen) this.#stage.requestFullscreen().catch(() => {});
    // Only the picture itself can be full on an iPhone.
    else this.#video.webkitEnterFullscreen?.();
  }

  /** A small window that stays above all others; the other's pointer isn't in it where it is drawn by this page. */
  toggleInset() {
    if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
    else this.#video.requestPictureInPicture?.().catch(() => {});
  }

  /** Has buttons say what they do now. */
  modeChanged() {
    this.#draw();
  }

  #draw() {
    const next = MODES[(MODES.indexOf(this.#view.mode) + 1) % MODES.length];
    byId("size").dataset.next = next;
    label(byId("size"), { fit: words.showFit, fill: words.showFill, actual: words.showActual }[next]);
    const isInset = document.pictureInPictureElement !== null && document.pictureInPictureElement !== undefined;
    byId("inset").hidden = !document.pictureInPictureEnabled || this.#video.videoWidth === 0;
    byId("inset").setAttribute("aria-pressed", String(isInset));
    label(byId("inset"), isInset ? words.leaveInset : words.inset);
    const isFull = document.fullscreenElement !== null && document.fullscreenElement !== undefined;
    byId("fullscreen").hidden = !(document.fullscreenEnabled || this.#video.webkitEnterFullscreen);
    byId("fullscreen").setAttribute("aria-pressed", String(isFull));
    label(byId("fullscreen"), isFull ? words.leaveFullScreen : words.fullScreen);
  }
}
