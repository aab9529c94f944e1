// Plays sound by WebCodecs and Web Audio, in secure contexts.

import { JitterBuffer, stretched } from "./jitter.js";
import { RATE } from "./opus.js";

// A packet in mono is decoded to two equal channels.
const CONFIG = { codec: "opus", sampleRate: RATE, numberOfChannels: 2 };
// More packets than this in the decoder's queue mean that it doesn't keep up.
const LONGEST_QUEUE = 25;

/** Returns whether this browser can play so. */
export const soundDecoderSupport = async () => {
  if (typeof AudioDecoder !== "function" || typeof AudioContext !== "function") return false;
  return (await AudioDecoder.isConfigSupported(CONFIG).catch(() => null))?.supported === true;
};

/** Decodes packets, and plays the pieces of sound one after the other. */
export class DecoderSound {
  /** Whether another player is needed. It never is, as this one makes another decoder by itself. */
  isBroken = false;
  /** How many milliseconds later than its capture, by the host's clock, a sound is heard, by ours; NaN if unknown. */
  delay = NaN;

  #speaker;
  #decoder = null;
  #jitter = new JitterBuffer();
  #begin = null;
  /** When the packets in the decoder were captured. It makes one piece of each. */
  #captured = [];

  constructor(speaker) {
    this.#speaker = speaker;
  }

  /** Plays the packet `unit`. */
  take({ unit, captured }) {
    // Until time passes, there is none to place it at.
    if (!this.#speaker.isRunning) return;
    this.#decoder ??= this.#make();
    if (this.#decoder.state !== "configured" || this.#decoder.decodeQueueSize > LONGEST_QUEUE) return;
    this.#begin ??= captured;
    const timestamp = Math.round((captured - this.#begin) * 1000);
    this.#captured.push(captured);
    this.#decoder.decode(new EncodedAudioChunk({ type: "key", timestamp, data: unit }));
  }

  close() {
    const decoder = this.#decoder;
    this.#decoder = null;
    if (decoder && decoder.state !== "closed") decoder.close();
  }

  #make() {
    const decoder = new AudioDecoder({
      output: (data) => {
        if (this.#decoder === decoder) this.#play(data);
        data.close();
      },
      error: () => {
        if (this.#decoder === decoder) this.#decoder = null;
      },
    });
    decoder.configure(CONFIG);
    this.#captured = [];
    return decoder;
  }

  #play(data) {
    const { context, input } = this.#speaker;
    const captured = this.#captured.shift();
    const place = this.#jitter.place(captured, data.numberOfFrames, context.currentTime * RATE);
    if (!place) return;
    const buffer = context.createBuffer(data.numberOfChannels, place.count, RATE);
    for (let planeIndex = 0; planeIndex < data.numberOfChannels; planeIndex += 1) {
      const channel = new Float32Array(data.numberOfFrames);
      data.copyTo(channel, { planeIndex, format: "f32-planar" });
      buffer.copyToChannel(stretched(channel, place.count), planeIndex);
    }
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(input);
    source.start(place.at / RATE);
    this.delay = this.#speaker.heardAt(place.at / RATE) - captured;
  }
}
