// The choice of devices. The page loads this file and its imports only when a user shares a camera, joins a meeting or
// chooses a speaker.

import { canChooseSpeaker, chooseSpeaker } from "./output.js";
import { Capture } from "./capture.js";
import { ChoiceView, DeviceList, withDefault } from "./choiceview.js";
import { LevelMeter } from "./levelmeter.js";
import { element, onEscape, onOtherOpened, opened } from "../element.js";
import { recallDevices } from "./chosen.js";
import { words } from "./choicewords.js";

/**
 * The devices of one share of a camera, or of our part in a meeting, and the panel in which the user chooses them
 * before and during it. Once the user has started, it is live.
 *
 * Handlers: onTrack(kind, track), returning a promise, when another track takes the place of a former one while it is
 * live; onEnded() when the camera is gone that a share can't do without; and, where the panel has an owner that shows
 * or hides it, onOpen(isOpen) when the user has opened or closed it while live, and onNote() when `note` may have
 * changed.
 */
export class DeviceChoice {
  #capture;
  #view;
  #meter;
  #onNote;
  #settle = (_stream) => {};
  #fail = (_problem) => {};
  #isOpen = true;
  #isLive = false;
  #isClosed = false;

  /**
   * `place`: the element to add the panel to; `camera`: {width, height, frameRate}, which is asked of the camera;
   * `id`: of the panel, because a page may have one for a share and one for a meeting; `wanted`: as for `Capture`, by
   * default what a share needs.
   */
  constructor(place, camera, handlers, { id = "choice", ...wanted } = {}) {
    addStyle();
    this.#onNote = handlers.onNote ?? (() => {});
    this.#capture = new Capture(camera, {
      onChange: () => this.#draw(),
      onTrack: async (kind, track) => {
        this.#draw();
        if (this.#isLive) await handlers.onTrack(kind, track);
        else if (!this.#capture.isReady && track === null) this.#lack();
      },
      onEnded: () => (this.#isLive ? handlers.onEnded() : this.#lack()),
    }, wanted);
    this.#view = new ChoiceView(place, id, {
      onStart: () => this.#start(),
      onCancel: () => this.#cancel(),
      onChoose: (kind, id) => this.#capture.choose(kind, id),
      onFlip: () => this.#capture.flip(),
      onSpeaker: (id) => {
        chooseSpeaker(id);
        this.#draw();
      },
      onOpen: (isOpen) => {
        this.#open(isOpen);
        handlers.onOpen?.(isOpen);
      },
    });
    this.#meter = new LevelMeter((level) => this.#view.level(level));
  }

  /**
   * Opens the devices and the panel. Returns the stream to share once the user starts, or null if the user cancels,
   * with all devices released. Throws what `getUserMedia` throws. The panel stays there until `close`.
   */
  async choose() {
    const choice = new Promise((resume, fail) => {
      [this.#settle, this.#fail] = [resume, fail];
    });
    this.#draw();
    this.#view.focus();
    // A user who cancels doesn't wait for the browser.
    await Promise.race([this.#capture.open(), choice]);
    if (!this.#isClosed && this.#view.hasFocus) this.#view.focus();
    return choice;
  }

  /** The open devices: {video, audio}, each a track or null. */
  get tracks() {
    return this.#capture.tracks;
  }

  /** What the user is to be told about the devices, or "". */
  get note() {
    return words.notes[this.#capture.note] ?? "";
  }

  /** Releases the device of this kind, or opens the chosen one. As `Capture.turn`. */
  turn(kind, isOn) {
    return this.#capture.turn(kind, isOn);
  }

  /** Opens the panel while it is live. */
  unfold() {
    this.#open(true);
  }

  /** Closes the panel, if it is live. */
  fold() {
    if (this.#isLive) this.#isOpen = false;
    this.#draw();
  }

  /** Releases the devices and removes the panel. */
  close() {
    this.#isClosed = true;
    this.#capture.close();
    this.#meter.watch(null);
    this.#view.remove();
    this.#settle(null);
  }

  /** The panel stays until it is closed, so that the focus can move on. */
  #cancel() {
    this.#capture.close();
    this.#meter.watch(null);
    this.#settle(null);
  }

  #start() {
    const { video, audio } = this.#capture.tracks;
    this.#isLive = true;
    this.#open(false);
    this.#settle(new MediaStream([video, audio].filter((track) => track !== null)));
  }

  /** Nothing is left with which to start. */
  #lack() {
    this.#fail(new DOMException("", "NotFoundError"));
  }

  #open(isOpen) {
    this.#isOpen = isOpen;
    this.#draw();
    this.#view.focus();
  }

  #draw() {
    if (this.#isClosed) return;
    const speaker = canChooseSpeaker() ? recallDevices().speaker ?? "" : null;
    this.#view.draw({ isOpen: this.#isOpen, isLive: this.#isLive, capture: this.#capture, speaker });
    this.#meter.watch(this.#isOpen ? this.#capture.tracks.audio : null);
    this.#onNote();
  }
}

/** The panel in which a viewer chooses the speaker. */
export class SpeakerChoice {
  #panel;
  /** What had the focus before. */
  #opener = null;
  #list = new DeviceList("speaker-choice", words.speaker, (id) => chooseSpeaker(id));

  constructor() {
    addStyle();
    const close = element("button", "secondary", { type: "button" }, words.close);
    close.addEventListener("click", () => this.#leave());
    this.#panel = element("section", "panel device-choice", { id: "speakers", "aria-label": words.speaker },
      this.#list.root, close);
    this.#panel.hidden = true;
    document.getElementById("people").after(this.#panel);
    onEscape(this.#panel, () => this.#leave());
    onOtherOpened(this.#panel, () => this.#close());
  }

  /** Opens the panel, or closes it. */
  async toggle() {
    if (!this.#panel.hidden) return this.#leave();
    this.#opener = document.activeElement;
    const all = await navigator.mediaDevices.enumerateDevices().catch(() => []);
    const speakers = all.filter(({ kind, deviceId }) => kind === "audiooutput" && deviceId);
    this.#list.draw(withDefault(speakers), recallDevices().speaker ?? "");
    this.#panel.hidden = false;
    opened(this.#panel);
    this.#list.focus();
  }

  /** The focus goes back to where it was. */
  #leave() {
    this.#close();
    this.#opener?.focus();
  }

  #close() {
    this.#panel.hidden = true;
  }
}

/** Adds the style of the panels, which the page itself doesn't have. */
function addStyle() {
  if (document.getElementById("choice-style")) return;
  document.head.append(element("link", "", { id: "choice-style", rel: "stylesheet", href: "style/choice.css" }));
}
