// The sound that comes over the page's WebSocket, beside the pictures: only while it is heard.

import { DecoderSound, soundDecoderSupport } from "./decodersound.js";
import { Confirmations } from "./pictures.js";
import { SourceSound, soundSourceSupport } from "./sourcesound.js";
import { Speaker } from "./speaker.js";

// Milliseconds between two confirmations of sound, at least.
const INTERVAL = 60;
// Milliseconds until a player that has broken is replaced, at least: what comes may break each.
const RENEWAL = 1000;

/** Follows the page's video: its sound is on while that isn't muted, and as loud. */
export class FrameSound {
  /** The number of packets that have come. */
  packets = 0;

  #video;
  #send;
  #confirmations;
  /** Makes what plays; null before it is known how, and if this browser can't. */
  #make = null;
  #speaker = null;
  #player = null;
  /** When the player was made. */
  #made = 0;
  #hasBegun = false;
  #isPlayed = false;
  #isOver = false;

  /** `send(eventName, data)` sends a message to the host. */
  constructor(video, send) {
    this.#video = video;
    this.#send = send;
    const confirm = (number) => send("__frames_heard", { number });
    this.#confirmations = new Confirmations(confirm, undefined, undefined, INTERVAL);
    video.addEventListener("volumechange", this.#follow);
  }

  /** Finds out how this browser can play sound. Returns false if it can't. */
  async open() {
    const hasDecoder = await soundDecoderSupport();
    const Source = hasDecoder ? null : soundSourceSupport();
    if (hasDecoder) this.#make = () => new DecoderSound(this.#speaker);
    else if (Source) this.#make = () => new SourceSound(Source, this.#speaker, this.#refuse);
    this.#follow();
    return this.#make !== null;
  }

  /** How loud it is, from 0 to 1. */
  get level() {
    return this.#speaker?.level ?? 0;
  }

  /** How many milliseconds later than its capture, by the host's clock, a sound is heard, by ours; NaN if unknown. */
  get delay() {
    return this.#player?.delay ?? NaN;
  }

  /** Whether there is sound to be played. */
  play(isPlayed) {
    this.#isPlayed = isPlayed;
    this.#follow();
  }

  /** The host has begun a stream, which has no sound until that is asked for. */
  begin() {
    this.#hasBegun = true;
    this.#confirmations.reset();
    if (this.#player) this.#ask(true);
  }

  /** Takes a packet. */
  take(packet) {
    this.packets += 1;
    this.#confirmations.confirm(packet.number);
    if (this.#player?.isBroken && performance.now() - this.#made > RENEWAL) {
      this.#player.close();
      this.#renew();
    }
    this.#player?.take(packet);
  }

  close() {
    this.#isOver = true;
    this.#video.removeEventListener("volumechange", this.#follow);
    this.#turnOff();
  }

  #follow = () => {
    if (this.#speaker) this.#speaker.volume = this.#video.volume;
    const isOn = this.#isPlayed && !this.#video.muted && this.#make !== null && !this.#isOver;
    if (isOn === (this.#player !== null)) return;
    if (isOn) {
      try {
        this.#speaker = new Speaker(this.#video.volume, this.#refuse);
      } catch {
        // As without a device. The page offers a button, as for a browser that wants a click first.
        this.#video.muted = true;
        return;
      }
      this.#renew();
    } else {
      this.#turnOff();
    }
    this.#ask(isOn);
  };

  #renew() {
    this.#player = this.#make();
    this.#made = performance.now();
  }

  #turnOff() {
    this.#player?.close();
    this.#speaker?.close();
    this.#player = this.#speaker = null;
  }

  #ask(on) {
    if (this.#hasBegun) this.#send("__frames_sound", { on });
  }

  /** The browser wants a click first, and the page then offers a button. */
  #refuse = () => {
    if (this.#player) this.#video.muted = true;
  };
}
