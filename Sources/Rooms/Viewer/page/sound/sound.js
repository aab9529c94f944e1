// The sound of the shown track: whether it is heard, and how loud.
//
// The page loads this file and those it imports only if there is sound. What the page has anyway is passed in, so that
// it isn't loaded twice.

import { SoundView } from "./soundview.js";
import { soundWords } from "./soundwords.js";
import { Together } from "./together.js";
import { canChooseSpeaker, hasSpeakers, playOnChosen } from "../choice/output.js";

const MEMORY_KEY = "screenrelay.sound";
// The volume is a multiple of 1 / STEPS.
const STEPS = 20;
// In milliseconds: between two looks at the level of what is heard, and at whether anything arrives that isn't.
const METER_INTERVAL = 100;
const UNHEARD_INTERVAL = 1000;
// The browser measures only what it plays. For sound that arrives and isn't heard, the meter shows this level.
const UNHEARD_LEVEL = 0.01;

/**
 * Turns the sound on and off. It is off until the viewer turns it on; later visits begin as the last one was, if the
 * browser allows that.
 */
export class Sound {
  #viewer;
  #stage;
  #video;
  #view;
  /** Whether the viewer wants to hear it; null before a choice. */
  #isWanted;
  /** Never 0: at the lowest end the sound is turned off, and comes back as quiet as it last was. */
  #volume;
  /** Whether there is sound to be heard. */
  #isThere = false;
  /** Whether the browser has refused to play it without a click. */
  #isRefused = false;
  #isMetering = false;
  /** The reception whose pictures may be held back, and for how long. */
  #reception = null;
  #together = new Together();
  #loadChoice;
  #speakers = null;

  /** `choice()` returns a promise of choice.js. */
  constructor({ viewer, stage, video, keys, language, choice, ...tools }) {
    const words = soundWords[language];
    this.#viewer = viewer;
    this.#stage = stage;
    this.#video = video;
    this.#loadChoice = choice;
    ({ isWanted: this.#isWanted, volume: this.#volume } = recall());
    this.#view = new SoundView(tools, words, {
      onChoice: (isOn) => this.#choose(isOn),
      onVolume: (volume) => this.#turnTo(volume),
      onTurn: (steps) => this.turn(steps),
      onSight: () => this.#meter(),
      onSpeakers: () => this.#chooseSpeaker(),
    });
    keys.add("a", words.toggle, () => this.toggle());
    keys.add([".", ">"], words.louder, () => this.turn(1));
    keys.add([",", "<"], words.quieter, () => this.turn(-1));
    // The browser, too, may mute it.
    video.addEventListener("volumechange", () => {
      if (this.#isThere && this.#isWanted && video.muted) this.#isRefused = true;
      this.#draw();
    });
    viewer.addEventListener("change", () => this.#follow());
    viewer.addEventListener("looked", () => this.#keepTogether());
    this.#follow();
    this.#lookForSpeakers();
    navigator.mediaDevices?.addEventListener("devicechange", () => this.#lookForSpeakers());
  }

  get isListening() {
    return this.#isThere && !this.#video.muted;
  }

  /** Turns the sound on or off. Returns false if there is none. */
  toggle() {
    if (!this.#isThere) return false;
    this.#choose(!this.isListening);
    return true;
  }

  /** Makes the sound louder by `steps`, quieter if negative, or turns it on. Returns false if there is none. */
  turn(steps) {
    if (!this.#isThere) return false;
    if (this.isListening) this.#turnTo(this.#volume + steps / STEPS);
    else if (steps > 0) this.#choose(true);
    return true;
  }

  #turnTo(volume) {
    const rounded = limited(volume);
    if (rounded > 0) this.#volume = rounded;
    this.#choose(rounded > 0);
  }

  #choose(isOn) {
    this.#isWanted = isOn;
    this.#isRefused = false;
    keep(isOn, this.#volume);
    this.#play(isOn);
    this.#draw();
  }

  #play(isOn) {
    this.#video.volume = this.#volume;
    this.#video.muted = !isOn;
    // If the browser requires a click first, the stage mutes it again.
    if (isOn) this.#stage.play();
  }

  #follow() {
    const { sound, phase, reception } = this.#viewer;
    reception?.peer?.playSound(sound !== "none");
    const wasThere = this.#isThere;
    // Not before the first picture: a browser that refuses sound stops the element for a moment.
    this.#isThere = sound !== "none" && phase === "playing";
    if (!this.#isThere) this.#video.muted = true;
    else if (!wasThere && this.#isWanted && this.#mayPlay) this.#play(true);
    this.#draw();
    this.#meter();
  }

  #draw() {
    const { isListening } = this;
    this.#view.draw({
      state: this.#isThere ? this.#viewer.sound : "none",
      isListening,
      isOffered: this.#isLive && !isListening && this.#isWanted !== false,
      volume: isListening ? this.#volume : 0,
    });
  }

  /** Plays on the chosen speaker if it is there, and offers a choice if there is one. */
  async #lookForSpeakers() {
    playOnChosen(this.#video);
    this.#view.offerSpeakers(canChooseSpeaker() && (await hasSpeakers()));
  }

  async #chooseSpeaker() {
    const file = await this.#loadChoice().catch(() => null);
    if (!file) return;
    this.#speakers ??= new file.SpeakerChoice();
    this.#speakers.toggle();
  }

  #keepTogether() {
    const { reception } = this.#viewer;
    if (reception !== this.#reception) this.#together = new Together();
    this.#reception = reception;
    if (reception && this.#together.look(reception.counted, this.isListening)) reception.hold(this.#together.delay);
  }

  /** A browser that has refused would refuse again until there has been a click, and the picture would halt. */
  get #mayPlay() {
    return !this.#isRefused || navigator.userActivation?.hasBeenActive === true;
  }

  get #isLive() {
    return this.#isThere && this.#viewer.sound === "live";
  }

  /** Shows the level while there may be one and it can be seen. A hidden page gets no animation frames. */
  async #meter() {
    if (this.#isMetering) return;
    this.#isMetering = true;
    let packets = Infinity;
    while (this.#isLive && this.#view.isVisible) {
      const now = await this.#viewer.reception?.peer?.soundFigures().catch(() => null);
      const isArriving = now?.packets > packets;
      packets = now?.packets ?? Infinity;
      this.#view.level(this.isListening ? now?.level ?? 0 : isArriving ? UNHEARD_LEVEL : 0);
      const interval = this.isListening ? METER_INTERVAL : UNHEARD_INTERVAL;
      await new Promise((resume) => setTimeout(() => requestAnimationFrame(resume), interval));
    }
    this.#isMetering = false;
    this.#view.level(0);
  }
}

/** The nearest volume from 0 to 1 that is a whole number of steps. */
const limited = (volume) => Math.round(Math.max(0, Math.min(1, volume)) * STEPS) / STEPS;

function recall() {
  try {
    const { isWanted, volume } = JSON.parse(localStorage.getItem(MEMORY_KEY)) ?? {};
    return { isWanted: typeof isWanted === "boolean" ? isWanted : null, volume: limited(Number(volume)) || 1 };
  } catch {
    return { isWanted: null, volume: 1 };
  }
}

function keep(isWanted, volume) {
  try {
    localStorage.setItem(MEMORY_KEY, JSON.stringify({ isWanted, volume }));
  } catch {
    // It then lasts only as long as the page is open.
  }
}
