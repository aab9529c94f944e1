// The actions of the bar's buttons: size, picture in picture, full screen.

import { label, words } from "../words/messages.js";

/** @type {(id: string) => any} */
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

  /** Switches from fitted to filling, to actual size, and back to fitted. */
  nextMode() {
    this.#view.setMode(MODES[(MODES.indexOf(this.#view.mode) + 1) % MODES.length]);
  }

  /** Switches to "fit", "fill" or "actual". If that is already the mode, switches back to fitted. */
  toggleMode(mode) {
    this.#view.setMode(this.#view.mode === mode ? "fit" : mode);
  }

  toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    else if (this.#stage.requestFullscreen) this.#stage.requestFullscreen().catch(() => {});
    // On an iPhone only the video itself can be full screen.
    else this.#video.webkitEnterFullscreen?.();
  }

  /** Toggles picture in picture. The shared screen's pointer isn't visible there while this page draws it. */
  toggleInset() {
    if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
    else this.#video.requestPictureInPicture?.().catch(() => {});
  }

  /** Updates the buttons' labels. */
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
