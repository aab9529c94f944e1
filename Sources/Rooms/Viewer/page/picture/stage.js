// The visible area: the picture, current or old, and the texts over it or in its place.

import { setText } from "../element.js";
import { words } from "../words/messages.js";

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

export class Stage {
  #stage = byId("stage");
  #video = byId("video");
  #held = byId("held");
  #notice = byId("notice");
  #slate = byId("slate");
  #card = byId("card");
  #hasPicture = false;
  #shown = null;
  /** The callback for the first picture. */
  #awaited = 0;
  /** The URL of the Media Source that is shown. */
  #address = null;

  /** Called when the button on the card is pressed. */
  onAction = () => {};
  /** Called when the first picture of the current stream is on the screen. */
  onFirstPicture = () => {};
  /** Called when the browser doesn't play without a click. */
  onPlayBlocked = () => {};

  constructor() {
    byId("card-action").addEventListener("click", () => this.onAction());
    // Browsers pause a video whose picture in picture is closed, or that is in the background.
    for (const type of ["pause", "leavepictureinpicture"]) this.#video.addEventListener(type, () => this.#goOn());
    document.addEventListener("visibilitychange", () => this.#goOn());
  }

  get video() {
    return this.#video;
  }

  get pictureSize() {
    return { width: this.#video.videoWidth, height: this.#video.videoHeight };
  }

  /** Whether there is a picture on the screen, current or old. */
  get hasPicture() {
    return this.#hasPicture;
  }

  /** Whether a card or a slate covers the middle. */
  get isCovered() {
    return !this.#card.hidden || !this.#slate.hidden;
  }

  /**
   * Plays `stream`, a MediaStream or a Media Source, instead of the previous one, whose last picture stays until the
   * first new one.
   */
  show(stream) {
    this.hold();
    const video = this.#video;
    this.#attach(stream);
    const first = () => {
      if (this.#shown === stream) this.onFirstPicture();
    };
    // One that waits for a stream without pictures, as of a host that is away, gives way to the next.
    if (video.requestVideoFrameCallback) {
      video.cancelVideoFrameCallback(this.#awaited);
      this.#awaited = video.requestVideoFrameCallback(first);
    } else {
      video.onloadeddata = first;
    }
    this.play();
  }

  play() {
    const wasMuted = this.#video.muted;
    this.#video.play()?.catch((problem) => {
      if (problem.name !== "NotAllowedError") return;
      if (wasMuted) return this.onPlayBlocked();
      // Pictures may be played without a click if their sound isn't.
      this.#video.muted = true;
      this.play();
    });
  }

  /** Plays on after a pause that the user can't have wanted: only in picture in picture there is a button for it. */
  #goOn() {
    const video = this.#video;
    if (document.hidden || document.pictureInPictureElement === video) return;
    if (this.#shown && video.paused && !video.ended) this.play();
  }

  /** Shows the pictures of the stream again, instead of the held one. */
  reveal() {
    this.#setPicture(true);
    this.#held.hidden = true;
  }

  /** Keeps the current picture on the screen, whatever happens to its stream, unless a slate covers it. */
  hold() {
    if (!this.#slate.hidden) this.#forget();
    const { videoWidth: width, videoHeight: height } = this.#video;
    if (!this.#hasPicture || !width || !this.#held.hidden) return;
    this.#held.width = width;
    this.#held.height = height;
    this.#held.getContext("2d").drawImage(this.#video, 0, 0);
    this.#held.hidden = false;
  }

  /** Removes the picture and its stream. */
  clear() {
    this.#forget();
    this.#held.width = this.#held.height = 0;
    if (document.pictureInPictureElement === this.#video) document.exitPictureInPicture().catch(() => {});
    this.#attach(null);
  }

  /** Shows a card in the middle, with a button if `action` isn't empty; null removes the card. */
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

  /** Shows a slate instead of the picture while the sharer has paused; null removes it. */
  slate(message) {
    this.#slate.hidden = message === null;
    this.#stage.toggleAttribute("data-paused", message !== null);
    if (message === null) return;
    // An old picture under the slate would become visible when the slate goes.
    if (!this.#held.hidden) this.#forget();
    this.#speak(`${message.title} ${message.detail}`);
    setText(byId("slate-title"), message.title);
    setText(byId("slate-detail"), message.detail);
  }

  /** Shows a line above the picture; "" removes it. */
  notice(text) {
    setText(this.#notice, text);
    if (text !== "" || !this.isCovered) this.#speak(text);
    this.#notice.hidden = text === "";
    this.#stage.toggleAttribute("data-stale", text !== "");
  }

  #attach(stream) {
    const video = this.#video;
    this.#shown = stream;
    if (this.#address) {
      URL.revokeObjectURL(this.#address);
      this.#address = null;
      video.removeAttribute("src");
    }
    const isStream = stream === null || stream instanceof MediaStream;
    video.srcObject = isStream ? stream : null;
    if (!isStream) video.src = this.#address = URL.createObjectURL(stream);
  }

  /** Until there is a picture, the video, which is black then, stays covered. */
  #setPicture(hasPicture) {
    this.#hasPicture = hasPicture;
    this.#stage.toggleAttribute("data-picture", hasPicture);
  }

  #forget() {
    this.#setPicture(false);
    this.#held.hidden = true;
  }

  /** Repeats the text for screen readers, without the seconds, which would be read out each time they change. */
  #speak(text) {
    setText(byId("spoken"), text.replace(/\d+ (s\b|秒)/g, words.aWhile));
  }
}
