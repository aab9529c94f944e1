// The panel in which the user chooses camera, microphone and speaker, with a picture of what would be shared.

import { element, setText } from "../element.js";
import { words } from "./choicewords.js";

/** Creates a list of devices with its label. `onChoice(id)`: the user has chosen one. */
export class DeviceList {
  #name;
  #select;
  #listed = "";
  root;

  constructor(id, name, onChoice) {
    this.#name = name;
    this.#select = element("select", "", { id });
    this.#select.addEventListener("change", () => onChoice(this.#select.value));
    this.root = element("div", "device", {}, element("label", "", { for: id }, name), this.#select);
  }

  /** `selected` is the id of the device that is used. */
  draw(devices, selected) {
    const named = devices.map(({ deviceId, label }, index) => [
      deviceId, label || words.numbered(this.#name, index + 1),
    ]);
    // An open list closes when it is written, even if nothing in it has changed.
    const listed = JSON.stringify(named);
    if (listed !== this.#listed) {
      this.#select.replaceChildren(...named.map(([value, label]) => element("option", "", { value }, label)));
    }
    this.#listed = listed;
    this.#select.value = selected;
    this.#select.disabled = named.length === 0;
  }

  focus() {
    this.#select.focus();
  }
}

/**
 * Handlers: onStart(), onCancel(), onChoose(kind, id), onFlip(), onSpeaker(id), and onOpen(isOpen) while it is live.
 */
export class ChoiceView {
  #root;
  #panel;
  #video;
  #intro = element("p", "note", {}, words.unseen);
  #note;
  #lists;
  #flip;
  #side;
  #meter;
  #start;
  #cancel;
  #change;
  #isLive = false;

  /** `place`: the element to add it to; `id`: of its panel, with which the ids of its parts begin. */
  constructor(place, id, handlers) {
    this.#lists = {
      video: new DeviceList(`${id}-camera`, words.camera, (device) => handlers.onChoose("video", device)),
      audio: new DeviceList(`${id}-microphone`, words.microphone, (device) => handlers.onChoose("audio", device)),
      output: new DeviceList(`${id}-speaker`, words.speaker, handlers.onSpeaker),
    };
    this.#video = element("video", "", { id: `${id}-video`, playsinline: "", "aria-label": words.own });
    this.#note = element("p", "note", { id: `${id}-note`, role: "status" });
    this.#flip = element("input", "", { id: `${id}-flip`, type: "checkbox", role: "switch" });
    this.#meter = element("meter", "", { id: `${id}-level`, min: "0", max: "1", "aria-label": words.level });
    this.#start = element("button", "primary", { id: `${id}-start`, type: "button" }, words.start);
    this.#cancel = element("button", "secondary", { id: `${id}-cancel`, type: "button" });
    this.#change = element("button", "secondary", { id: `${id}-change`, type: "button" }, words.change);
    this.#side = element("div", "motion", {}, this.#flip, element("label", "", { for: `${id}-flip` }, words.back));
    this.#video.muted = true;
    this.#flip.addEventListener("change", handlers.onFlip);
    this.#start.addEventListener("click", handlers.onStart);
    this.#cancel.addEventListener("click", () => (this.#isLive ? handlers.onOpen(false) : handlers.onCancel()));
    this.#change.addEventListener("click", () => handlers.onOpen(true));
    // Not a landmark: it stands in one.
    this.#panel = element("div", "", { id, role: "group", "aria-label": words.title, tabindex: "-1" },
      this.#intro, this.#video, this.#note, this.#lists.video.root, this.#side, this.#lists.audio.root, this.#meter,
      this.#lists.output.root, element("div", "choices", {}, this.#start, this.#cancel));
    this.#root = element("div", "device-choice", {}, this.#panel, this.#change);
    place.append(this.#root);
  }

  /**
   * `isOpen`: whether the panel is open; `isLive`: whether the user has started; `capture`: a `Capture`; `speaker`: the
   * id of the speaker that is used, or null if it can't be chosen.
   */
  draw({ isOpen, isLive, capture, speaker }) {
    const { tracks, lists, note, isReady, off } = capture;
    this.#isLive = isLive;
    this.#panel.hidden = !isOpen;
    this.#change.hidden = isOpen || !isLive;
    this.#intro.hidden = isLive;
    this.#show(isOpen ? tracks.video : null);
    this.#video.hidden = off.has("video");
    this.#video.className = capture.facing === "environment" ? "" : "mirrored";
    const text = note ? words.notes[note] : isReady || isLive ? "" : words.opening;
    setText(this.#note, text);
    this.#note.hidden = text === "";
    for (const kind of ["video", "audio"]) {
      this.#lists[kind].root.hidden = off.has(kind);
      this.#lists[kind].draw(lists[kind], capture.selected(kind));
    }
    this.#side.hidden = off.has("video") || !capture.canFlip;
    this.#flip.checked = capture.facing === "environment";
    this.#meter.hidden = tracks.audio === null;
    this.#lists.output.root.hidden = speaker === null || lists.output.length === 0;
    this.#lists.output.draw(withDefault(lists.output), speaker ?? "");
    this.#start.hidden = isLive;
    this.#start.disabled = !isReady;
    setText(this.#cancel, isLive ? words.close : words.cancel);
  }

  /** Shows how loud the microphone is, from 0 to 1. */
  level(level) {
    this.#meter.value = level;
  }

  /** Moves the focus to what comes next: into the panel, or to the button that opens it. */
  focus() {
    if (this.#panel.hidden) this.#change.focus();
    else (this.#isLive ? this.#cancel : this.#start.disabled ? this.#panel : this.#start).focus();
  }

  /** Whether the focus is here. */
  get hasFocus() {
    return this.#root.contains(document.activeElement);
  }

  remove() {
    this.#show(null);
    this.#root.remove();
  }

  #show(track) {
    const shown = this.#video.srcObject?.getTracks()[0] ?? null;
    if (shown === track) return;
    this.#video.srcObject = track && new MediaStream([track]);
    if (track) this.#video.play()?.catch(() => {});
  }
}

/** Adds the default speaker, unless the browser lists it. */
export function withDefault(speakers) {
  const others = speakers.filter(({ deviceId }) => deviceId !== "default");
  return [{ deviceId: "", label: words.usual }, ...others];
}
