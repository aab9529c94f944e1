// What is seen: the picture, how it is fitted, the card in the middle, the notice above, the bar that hides.

const IDLE_AFTER = 3000;

const byId = (id) => document.getElementById(id);

export class Stage {
  #stage = byId("stage");
  #scroller = byId("scroller");
  #picture = byId("picture");
  #video = byId("video");
  #held = byId("held");
  #notice = byId("notice");
  #slate = byId("slate");
  #card = byId("card");
  #idle = null;
  #hasPicture = false;

  /** Called when the button on the card is pressed. */
  onAction = () => {};
  /** Called when a picture of the stream shown now is on the screen for the first time. */
  onFirstPicture = () => {};
  /** Called when the browser will not play without a click. */
  onPlayBlocked = () => {};

  constructor() {
    byId("card-action").addEventListener("click", () => this.onAction());
    byId("size").addEventListener("click", () => this.toggleActualSize());
    byId("fullscreen").addEventListener("click", () => this.toggleFullScreen());
    this.#scroller.addEventListener("dblclick", () => this.toggleFullScreen());
    document.addEventListener("fullscreenchange", () => this.#showFullScreen());
    document.addEventListener("keydown", (event) => this.#key(event));
    for (const type of ["pointermove", "pointerdown", "keydown", "focusin"]) {
      document.addEventListener(type, () => this.#wake(), { passive: true });
    }
    this.#video.addEventListener("resize", () => this.#layOut());
    window.addEventListener("resize", () => this.#layOut());
    byId("fullscreen").hidden = !this.#canFullScreen;
    this.#wake();
  }

  get pictureSize() {
    return { width: this.#video.videoWidth, height: this.#video.videoHeight };
  }

  /** Whether there is a picture on the screen, new or old. */
  get hasPicture() {
    return this.#hasPicture;
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
    this.#layOut();
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

  /** The card in the middle; null takes it away. */
  card(message, action = "") {
    if (this.#card.hidden !== (message === null)) {
      this.#card.hidden = message === null;
      this.#wake();
    }
    if (message === null) return;
    this.#speak(`${message.title} ${message.detail}`);
    this.#card.dataset.tone = message.tone;
    setText(byId("card-title"), message.title);
    setText(byId("card-detail"), message.detail);
    byId("spinner").hidden = message.tone !== "wait";
    const button = byId("card-action");
    setText(button, action);
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
    if (text !== "" || (this.#card.hidden && this.#slate.hidden)) this.#speak(text);
    this.#notice.hidden = text === "";
    this.#stage.toggleAttribute("data-stale", text !== "");
  }

  /** The quiet words in the bar. */
  status(phase, text, figures) {
    this.#stage.dataset.phase = phase;
    byId("size").hidden = !this.hasPicture;
    setText(byId("status"), text);
    setText(byId("figures"), figures);
  }

  toggleActualSize() {
    const actual = this.#stage.dataset.fit !== "actual";
    this.#stage.dataset.fit = actual ? "actual" : "contain";
    const button = byId("size");
    button.setAttribute("aria-pressed", String(actual));
    const text = actual ? "Fit to the window" : "Show at actual size";
    button.setAttribute("aria-label", text);
    button.title = actual ? "Fit (1)" : "Actual size (1)";
    this.#layOut();
  }

  toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    else if (this.#stage.requestFullscreen) this.#stage.requestFullscreen().catch(() => {});
    // Only the picture itself can be full on an iPhone.
    else this.#video.webkitEnterFullscreen?.();
  }

  #forget() {
    this.#hasPicture = false;
    this.#held.hidden = true;
  }

  #speak(text) {
    setText(byId("spoken"), text.replace(/\d+ s\b/g, "a while"));
  }

  get #canFullScreen() {
    return Boolean(document.fullscreenEnabled || this.#video.webkitEnterFullscreen);
  }

  #showFullScreen() {
    const full = document.fullscreenElement !== null;
    const button = byId("fullscreen");
    button.setAttribute("aria-pressed", String(full));
    button.setAttribute("aria-label", full ? "Leave full screen" : "Full screen");
    button.title = full ? "Leave full screen (F)" : "Full screen (F)";
  }

  /** At actual size one pixel of the picture is one of the screen, whatever the browser's zoom. */
  #layOut() {
    const actual = this.#stage.dataset.fit === "actual" && this.#video.videoWidth > 0;
    const scale = window.devicePixelRatio || 1;
    this.#picture.style.width = actual ? `${this.#video.videoWidth / scale}px` : "";
    this.#picture.style.height = actual ? `${this.#video.videoHeight / scale}px` : "";
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "f" || event.key === "F") this.toggleFullScreen();
    else if (event.key === "1") this.toggleActualSize();
  }

  #wake() {
    this.#stage.classList.remove("idle");
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#card.hidden) this.#stage.classList.add("idle");
    }, IDLE_AFTER);
  }
}

// A text that is written again is read out again.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
