// Plays pictures by WebCodecs, which browsers have in secure contexts.

import { nalUnits, readSPS, sorted } from "./annexb.js";

// More pictures than this in the decoder's queue mean that it doesn't keep up.
const LONGEST_QUEUE = 2;
// Up to this many pixels, software decodes in time, and its pictures aren't held back as those of some hardware are.
const SOFTWARE_PIXELS = 1920 * 1200;
// More pictures than are on their way between the decoder and the screen.
const MOST_TIMES = 64;

/** Returns whether this browser can play so, and may prefer software; null if it can't play. */
export const decoderSupport = async () => {
  if (typeof VideoDecoder !== "function" || !(hasGenerator() || HTMLCanvasElement.prototype.captureStream)) return null;
  const ask = async (hardwareAcceleration) => {
    const config = { codec: "avc1.42E01F", hardwareAcceleration, optimizeForLatency: true };
    const answer = await VideoDecoder.isConfigSupported(config).catch(() => null);
    return answer?.supported === true;
  };
  if (await ask("prefer-software")) return { hasSoftware: true };
  return (await ask("no-preference")) ? { hasSoftware: false } : null;
};

const hasGenerator = () => typeof MediaStreamTrackGenerator === "function";

/**
 * Decodes pictures and makes a stream of them.
 *
 * Handlers: onProgress() when the decoder has taken or made a picture; onBroken() when it needs a key picture.
 */
export class DecoderPlayer {
  /** The stream for the page's video. */
  stream;
  /** The number of pictures decoded. */
  decoded = 0;

  #handlers;
  #hasSoftware;
  #show;
  #decoder = null;
  #codec = "";
  #begin = null;
  #last = -1;
  /** The pictures that may not have been presented, by their time in microseconds. */
  #times = [];

  constructor({ hasSoftware }, handlers) {
    this.#hasSoftware = hasSoftware;
    this.#handlers = handlers;
    const { track, show } = hasGenerator() ? generated() : drawn();
    this.stream = new MediaStream([track]);
    this.#show = show;
  }

  /** Whether the video plays our stream. */
  isIn(video) {
    return video.srcObject === this.stream;
  }

  /** Whether more pictures wait to be decoded than is good. */
  get isBehind() {
    return (this.#decoder?.decodeQueueSize ?? 0) > LONGEST_QUEUE;
  }

  /** Decodes a picture. Returns false if it can't, and needs a key picture. */
  take({ unit, ...facts }) {
    if (facts.isKey && !this.#configure(unit)) return false;
    if (this.#decoder?.state !== "configured") return false;
    this.#begin ??= facts.captured;
    // A picture that is sent again has the same capture time.
    const timestamp = Math.max(this.#last + 1, Math.round((facts.captured - this.#begin) * 1000));
    this.#last = timestamp;
    this.#times.push({ timestamp, facts, isDecoded: false });
    if (this.#times.length > MOST_TIMES) this.#times.shift();
    try {
      const type = facts.isKey ? "key" : "delta";
      this.#decoder.decode(new EncodedVideoChunk({ type, timestamp, data: unit }));
    } catch {
      this.#drop();
      return false;
    }
    return true;
  }

  /** Returns what is known of the picture that is presented at `mediaTime` seconds; null if nothing. */
  presented(mediaTime) {
    // A canvas has times of its own. What has been drawn last is what is presented.
    const wanted = this.#times.findLast(({ timestamp }) => Math.abs(timestamp - mediaTime * 1e6) < 2);
    return (wanted ?? this.#times.findLast(({ isDecoded }) => isDecoded))?.facts ?? null;
  }

  close() {
    this.#drop();
    for (const track of this.stream.getTracks()) track.stop();
  }

  /** Prepares the decoder for the stream that begins with the key picture `unit`. Returns whether it can. */
  #configure(unit) {
    const { sps } = sorted(nalUnits(unit));
    const facts = sps.length > 0 ? readSPS(sps[0]) : null;
    if (!facts) return false;
    const isSmall = facts.width * facts.height <= SOFTWARE_PIXELS;
    const hardwareAcceleration = this.#hasSoftware && isSmall ? "prefer-software" : "no-preference";
    if (this.#decoder && this.#codec === facts.codec + hardwareAcceleration) return true;
    this.#drop();
    const decoder = new VideoDecoder({
      output: (frame) => (this.#decoder === decoder ? this.#made(frame) : frame.close()),
      error: () => {
        if (this.#decoder !== decoder) return;
        this.#decoder = null;
        this.#handlers.onBroken();
      },
    });
    decoder.ondequeue = () => this.#handlers.onProgress();
    try {
      decoder.configure({ codec: facts.codec, hardwareAcceleration, optimizeForLatency: true });
    } catch {
      return false;
    }
    this.#decoder = decoder;
    this.#codec = facts.codec + hardwareAcceleration;
    return true;
  }

  #made(frame) {
    this.decoded += 1;
    const made = this.#times.find(({ timestamp }) => timestamp === frame.timestamp);
    if (made) made.isDecoded = true;
    this.#show(frame);
    this.#handlers.onProgress();
  }

  #drop() {
    const decoder = this.#decoder;
    this.#decoder = null;
    if (decoder && decoder.state !== "closed") decoder.close();
  }
}

/** A track that takes the decoded pictures as they are. */
function generated() {
  const track = new MediaStreamTrackGenerator({ kind: "video" });
  const writer = track.writable.getWriter();
  return { track, show: (frame) => writer.write(frame).catch(() => frame.close()) };
}

/** A track of what is drawn on a canvas that isn't in the page: for the page's video that is a stream like any other. */
function drawn() {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { alpha: false });
  // If WebKitGTK has no OpenGL sink and must detect drawing itself, the video freezes after two pictures. Firefox can't
  // be told of pictures.
  const isTold = "CanvasCaptureMediaStreamTrack" in globalThis;
  const [track] = canvas.captureStream(isTold ? 0 : undefined).getVideoTracks();
  const show = (frame) => {
    const { displayWidth: width, displayHeight: height } = frame;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.drawImage(frame, 0, 0);
    if (isTold) track.requestFrame();
    frame.close();
  };
  return { track, show };
}
