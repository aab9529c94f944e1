// What is seen: the picture, new or old, and what is said over it and in place of it.

import { setText } from "./element.js";
import { words } from "./messages.js";

const byId = (id) => document.getElementById(id);

export class Stage {
  #stage = byId("stage");
  #video = byId("video");
  #held = byId("held");
  #notice = byId("notice");
  #slate = byId("slate");
  #card = byId("card");
  #hasPicture = false;

  /** Called when the button on the card is pressed. */
  onAction = () => {};
  /** Called when a picture of the stream shown now is on the screen for the first time. */
  onFirstPicture = () => {};
  /** Called when the browser will not play without a click. */
  onPlayBlocked = () => {};

  constructor() {
    byId("card-action").addEventListener("click", () => this.onAction());
  }

  get pictureSize() {
    return { width: this.#video.videoWidth, height: this.#video.videoHeight };
  }

  /** Whether there is a picture on the screen, new or old. */
  get hasPicture() {
    return this.#hasPicture;
  }

  /** Whether something stands in the middle: a card, or a slate. */
  get isCovered() {
    return !this.#card.hidden || !this.#slate.hidden;
  }

  /** Plays `stream` in place of what was there; the last picture stays until the first new one. */
  show(stream) {
    this.hold();
    const video = this.#video;
    video.srcObject = stream;
    const first = () => {
      if (video.srcObject === stream) this.onFirstPicture();
    };
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(first);
    else video.addEventListener("loadeddata", first, { once: true });
    this.play();
  }

  play() {
    this.#video.play()?.catch((problem) => {
      if (problem.name === "NotAllowedError") this.onPlayBlocked();
    });
  }

  /** Shows the stream's own pictures again. */
  reveal() {
    this.#hasPicture = true;
    this.#held.hidden = true;
  }

  /** Keeps the picture that is on the screen now, whatever becomes of its stream; not one that a slate covers. */
  hold() {
    if (!this.#slate.hidden) this.#forget();
    const { videoWidth: width, videoHeight: height } = this.#video;
    if (!this.#hasPicture || !width || !this.#held.hidden) return;
    this.#held.width = width;
    this.#held.height = height;
    this.#held.getContext("2d").drawImage(this.#video, 0, 0);
    this.#held.hidden = false;
  }

  /** Takes the picture away, whatever becomes of the stream. */
  clear() {
    this.#forget();
    this.#held.width = this.#held.height = 0;
    if (document.pictureInPictureElement === this.#video) document.exitPictureInPicture().catch(() => {});
    this.#video.srcObject = null;
  }

  /** The card in the middle, with the words of a button where there is one; null takes it away. */
  card(message, action = "") {
    this.#card.hidden = message === null;
    if (message === null) return;
    this.#speak(`${message.title} ${message.detail}`);
    this.#card.dataset.tone = message.tone;
    setText(byId("card-title"), message.title);
    setText(byId("card-detail"), message.detail);
    byId("spinner").hidden = message.tone !== "wait";
    const button = byId("card-action");
    setText(button, action);
    button.className = message.tone === "end" ? "secondary" : "primary";
    button.hidden = action === "";
  }

  /** What stands in place of the picture while the sharer shows none; null takes it away. */
  slate(message) {
    this.#slate.hidden = message === null;
    this.#stage.toggleAttribute("data-paused", message !== null);
    if (message === null) return;
    // An old picture under it would come to light when the slate goes.
    if (!this.#held.hidden) this.#forget();
    this.#speak(`${message.title} ${message.detail}`);
    setText(byId("slate-title"), message.title);
    setText(byId("slate-detail"), message.detail);
  }

  /** The line above the picture; "" takes it away. */
  notice(text) {
    setText(this.#notice, text);
    if (text !== "" || !this.isCovered) this.#speak(text);
    this.#notice.hidden = text === "";
    this.#stage.toggleAttribute("data-stale", text !== "");
  }

  #forget() {
    this.#hasPicture = false;
    this.#held.hidden = true;
  }

  /** The same words for who listens: without the seconds, which would be read out each time. */
  #speak(text) {
    setText(byId("spoken"), text.replace(/\d+ (s\b|秒)/g, words.aWhile));
  }
}
