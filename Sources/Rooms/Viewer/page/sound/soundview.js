// The controls of the sound: a button over the picture, and a speaker with a level and a slider in the bar.

const SPEAKER = "M11.5 5.5 7.5 9H4v6h3.5l4 3.5z";
const ON = `${SPEAKER}M15 9.2a4 4 0 0 1 0 5.6M17.6 6.6a7.6 7.6 0 0 1 0 10.8`;
const OFF = `${SPEAKER}m15.5 9.5 5 5m0-5-5 5`;
const DEVICE = "M8 3.5h8v17H8zM12 7.5v.1M12 16.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z";
const CLOSE = "m7 7 10 10M17 7 7 17";
// Wheel pixels for one step of the volume.
const WHEEL_STEP = 50;
// The level at which the meter shows nothing, in decibels below the loudest.
const RANGE = 60;

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

/**
 * Handlers: onChoice(isOn), onVolume(volume), onTurn(steps), onSight() if the level may have become visible, and
 * onSpeakers(): the user wants to choose the speaker.
 */
export class SoundView {
  #tools;
  #words;
  #offer;
  #controls;
  #speaker;
  #level;
  #slider;
  #device;
  #note;
  #isListening = false;
  #turned = 0;

  /** `tools` are functions of `element.js`. */
  constructor(tools, words, handlers) {
    const { element, iconButton } = tools;
    this.#tools = tools;
    this.#words = words;
    const accept = iconButton(OFF, "", () => handlers.onChoice(true));
    accept.id = "listen";
    accept.append(words.offer);
    const decline = iconButton(CLOSE, words.decline, () => handlers.onChoice(false));
    this.#offer = element("div", "sound-offer", {}, accept, decline);
    this.#speaker = iconButton(OFF, words.turnOn, () => handlers.onChoice(!this.#isListening));
    this.#speaker.id = "speaker";
    this.#level = element("span", "level", { "aria-hidden": "true" });
    this.#speaker.append(this.#level);
    this.#slider = element("input", "volume",
      { id: "volume", type: "range", min: "0", max: "1", step: "0.05", "aria-label": words.volume });
    this.#slider.addEventListener("input", () => handlers.onVolume(Number(this.#slider.value)));
    // The keys of the page, such as the arrows, then mean what they mean elsewhere.
    this.#slider.addEventListener("pointerup", () => this.#slider.blur());
    this.#device = iconButton(DEVICE, words.device, handlers.onSpeakers);
    this.#device.id = "speaker-device";
    this.#device.hidden = true;
    this.#controls = element("span", "controls sound", {}, this.#speaker, this.#slider, this.#device);
    this.#controls.addEventListener("wheel", (event) => this.#wheel(event, handlers.onTurn), { passive: false });
    this.#note = element("span", "sound-note", { role: "status" });
    this.#offer.hidden = this.#controls.hidden = true;
    byId("notice").after(this.#offer);
    byId("figures").after(this.#note);
    byId("meeting-controls").before(this.#controls);
    new MutationObserver(handlers.onSight).observe(byId("stage"), { attributeFilter: ["class"] });
  }

  /** Whether the level can be seen: the bar hides while nothing moves, unless the mouse or the focus is in it. */
  get isVisible() {
    // A bar that begins to fade in is still transparent.
    const isShown = !byId("stage").classList.contains("idle") || getComputedStyle(byId("bar")).opacity !== "0";
    return isShown && !this.#controls.hidden;
  }

  /**
   * `state` is "live", "muted" or "none"; `isOffered`: whether there is a button over the picture; `volume` is what is
   * heard, from 0 to 1.
   */
  draw({ state, isListening, isOffered, volume }) {
    const { relabel, setText } = this.#tools;
    this.#isListening = isListening;
    this.#controls.hidden = state === "none";
    // What has the focus mustn't vanish.
    const hadFocus = !isOffered && this.#offer.contains(document.activeElement);
    this.#offer.hidden = !isOffered;
    if (hadFocus) this.#speaker.focus();
    this.#speaker.querySelector("path").setAttribute("d", isListening ? ON : OFF);
    this.#speaker.setAttribute("aria-pressed", String(isListening));
    relabel(this.#speaker, isListening ? this.#words.turnOff : this.#words.turnOn);
    this.#slider.value = String(volume);
    this.#slider.setAttribute("aria-valuetext", `${Math.round(volume * 100)} %`);
    setText(this.#note, state === "muted" ? this.#words.muted : "");
  }

  /** Sets whether there is a button for the choice of the speaker. */
  offerSpeakers(isOffered) {
    this.#device.hidden = !isOffered;
  }

  /** Shows how loud it is, from 0 to 1. */
  level(level) {
    const part = level > 0 ? Math.max(0, 1 + (20 * Math.log10(level)) / RANGE) : 0;
    this.#level.style.setProperty("--level", part.toFixed(2));
  }

  #wheel(event, onTurn) {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 40 : 1;
    this.#turned -= (event.deltaY * unit) / WHEEL_STEP;
    const steps = Math.trunc(this.#turned);
    this.#turned -= steps;
    if (steps !== 0) onTurn(steps);
  }
}
