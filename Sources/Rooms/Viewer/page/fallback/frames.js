// The reception of the shown track over the page's WebSocket, for networks where only HTTP gets through.
//
// The page loads this file and those it imports only if WebRTC finds no path. What the page has anyway is passed in.

import { DecoderPlayer, decoderSupport } from "./decoderplayer.js";
import { FrameSound } from "./framesound.js";
import { Confirmations, isNext, readFrame } from "./pictures.js";
import { SourcePlayer, sourceSupport } from "./sourceplayer.js";

// In milliseconds. A host that knows nothing of this doesn't answer.
const ANSWER_TIMEOUT = 5000;
const PICTURE_TIMEOUT = 10_000;
// Between two requests for a key picture.
const KEY_INTERVAL = 1000;
// More pictures than a still screen needs.
const MANY_PICTURES = 50;
// A page that hasn't looked for so long was asleep, and what has come since may still be to be decoded.
const LONGEST_PAUSE = 5000;

/**
 * Receives a track. To the page it is what `Reception` is over WebRTC. It fails at most once and doesn't recover.
 *
 * Handlers: onStream(stream), with a stream or a Media Source, when the first picture has come; onConnected();
 * onPresented({captured, hasPointer, arrived, shown}) for each picture on the screen, with when it was captured (in
 * milliseconds since 1970, by the host's clock), whether it contains the pointer, and when it arrived and was shown by
 * `performance.now()`; onFailure(key), with the key of a message, or null if nothing can come this way.
 */
export class FrameReception {
  isByWebSocket = true;
  /** The counters, as those of a `Peer`; null before there are any. */
  counted = null;
  /** Whether the host has agreed. */
  isConnected = false;
  /** Whether a picture has come. */
  hasPicture = false;
  /** The number of pictures that have come. */
  packets = 0;
  /** Whether this browser can play the pictures that come this way, as far as that is known. */
  canPlay = true;
  /** Whether this browser can't play the sound that comes this way. */
  isMute = false;
  /** Instead of a `Peer`: the pictures have no RTP timestamps. */
  peer = {
    synchronizationSources: [],
    playedTimestamp: undefined,
    playSound: (isPlayed) => this.#sound.play(isPlayed),
    soundFigures: async () => ({ level: this.#sound.level, packets: this.#sound.packets }),
  };

  #signalling;
  #track;
  #video;
  #handlers;
  #makePlayer = null;
  #player = null;
  #confirmations;
  #last = 0;
  #needsKey = true;
  #asked = -Infinity;
  #newest = null;
  #bytes = 0;
  #undecoded = null;
  #timer = null;
  #awaited = 0;
  #sound;
  /** How long pictures are held back, those that are, and how much later than its capture the last one was shown. */
  #hold = 0;
  #held = [];
  #release = null;
  #delay = NaN;
  #isOver = false;

  /** `track` is null for the room's first track. `video` is the page's large one. */
  constructor(signalling, track, video, handlers) {
    this.#signalling = signalling;
    this.#track = track;
    this.#video = video;
    this.#handlers = handlers;
    this.#confirmations = new Confirmations((number) => this.#signalling.send("__frames_seen", { number }));
    this.#sound = new FrameSound(video, (name, data) => this.#signalling.send(name, data));
  }

  /** The connection that carries everything; another one may take its place. */
  get signalling() {
    return this.#signalling;
  }

  set signalling(signalling) {
    this.#signalling = signalling;
  }

  get track() {
    return this.#track;
  }

  /** Whether messages about the track are about us, and not about an earlier reception. */
  get isAnswered() {
    return this.isConnected;
  }

  /** Asks for the pictures. */
  async open() {
    this.#expect(ANSWER_TIMEOUT, null);
    const [decoder, hasSound] = await Promise.all([decoderSupport(), this.#sound.open()]);
    const source = decoder ? null : sourceSupport();
    this.isMute = !hasSound;
    if (this.#isOver) return;
    this.canPlay = decoder !== null || source !== null;
    if (!this.canPlay) return this.#fail(null);
    const handlers = {
      onProgress: () => this.#confirm(),
      onBroken: () => this.#lose(),
      onWish: () => this.#wish(),
    };
    this.#makePlayer = () =>
      decoder ? new DecoderPlayer(decoder, handlers) : new SourcePlayer(source, this.#video, handlers);
    this.renew();
    this.#watch();
  }

  /** Asks for the pictures again, from a key picture on. */
  renew() {
    this.#signalling.send("__frames", this.#track === null ? {} : { track: this.#track });
  }

  /** Handles the host's messages about this track. */
  heard(name) {
    if (name !== "_frames") return;
    // Its numbers count from 1.
    this.#last = 0;
    this.#needsKey = true;
    this.#held = [];
    this.#confirmations.reset();
    this.#sound.begin();
    if (this.isConnected) return;
    this.isConnected = true;
    clearTimeout(this.#timer);
    this.#handlers.onConnected();
  }

  /** Handles a binary message. */
  take(buffer) {
    const frame = this.isConnected && !this.#isOver ? readFrame(buffer) : null;
    if (!frame) return;
    this.#bytes += buffer.byteLength;
    if (frame.isSound) return this.#sound.take(frame);
    frame.arrived = performance.now();
    this.packets += 1;
    frame.hasGap = !isNext(frame.number, this.#last);
    this.#last = frame.number;
    this.#held.push({ frame, due: frame.arrived + this.#hold });
    this.#playHeld();
    this.#confirm();
  }

  /** Starts to wait for the first picture. A timeout counts only if `isDue()` then. */
  expectPicture(isDue) {
    if (this.hasPicture) return;
    // A hidden page may not play what comes.
    this.#expect(PICTURE_TIMEOUT, "noPicture", () => isDue() && !(this.hasPicture && document.hidden));
  }

  /** Records that the first picture is on the screen. */
  arrived() {
    clearTimeout(this.#timer);
  }

  /** Holds the pictures back for `delay` milliseconds, so that they come with their sound. */
  hold(delay) {
    this.#hold = delay;
    this.#playHeld();
  }

  /** Updates the counters, and detects a stuck decoder. Returns whether there are any counters yet. */
  async look() {
    if (!this.#player || this.#isOver) return false;
    // A Media Source that the browser has given up.
    if (this.#video.error && !this.#video.srcObject) {
      this.#fail("undecodable");
      return false;
    }
    const now = {
      time: performance.now(), framesDecoded: this.#player.decoded, packets: this.packets, lost: 0, bytes: this.#bytes,
      captured: this.#newest?.captured ?? null, roundTrip: null, soundLevel: this.#sound.level,
      soundPackets: this.#sound.packets, soundLag: this.#sound.delay - this.#delay,
    };
    const wasAsleep = now.time - this.counted?.time > LONGEST_PAUSE;
    this.counted = now;
    const last = this.#undecoded;
    // A hidden page may not play.
    if (!last || wasAsleep || document.hidden || last.framesDecoded !== now.framesDecoded) this.#undecoded = now;
    else if (now.time - last.time > PICTURE_TIMEOUT && now.packets - last.packets > MANY_PICTURES) {
      this.#fail("undecodable");
      return false;
    }
    // A browser that doesn't tell of each picture.
    if (!this.#video.requestVideoFrameCallback && this.#newest) {
      this.#handlers.onPresented({ ...this.#newest, shown: NaN });
    }
    return true;
  }

  /** Ends without calling any handler. */
  close() {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#release);
    this.#video.cancelVideoFrameCallback?.(this.#awaited);
    this.#sound.close();
    this.#player?.close();
    this.#signalling.send("__frames_stop", {});
  }

  /** Plays the pictures that are due. */
  #playHeld() {
    clearTimeout(this.#release);
    if (this.#isOver) return;
    // A hidden page's timers are late.
    const now = this.#hold === 0 || document.hidden ? Infinity : performance.now();
    while (this.#held[0]?.due <= now) {
      const { frame } = this.#held.shift();
      if (frame.hasGap) this.#needsKey = true;
      if (frame.isKey || !this.#needsKey) this.#play(frame);
      if (this.#needsKey) this.#wish();
    }
    if (this.#held.length > 0) this.#release = setTimeout(() => this.#playHeld(), this.#held[0].due - now);
  }

  #play(picture) {
    this.#player ??= this.#makePlayer();
    this.#needsKey = !this.#player.take(picture);
    if (this.#needsKey) return;
    const { captured, hasPointer, arrived } = picture;
    this.#newest = { captured, hasPointer, arrived };
    if (this.hasPicture) return;
    this.hasPicture = true;
    this.#handlers.onStream(this.#player.stream);
  }

  /** Follows what the video presents. */
  #watch() {
    const look = (_, { mediaTime, presentationTime: shown }) => {
      if (this.#isOver) return;
      this.#awaited = this.#video.requestVideoFrameCallback(look);
      const picture = this.#player?.isIn(this.#video) ? this.#player.presented(mediaTime) : null;
      if (!picture) return;
      const { captured, hasPointer, arrived } = picture;
      this.#delay = shown - captured;
      this.#handlers.onPresented({ captured, hasPointer, arrived, shown });
    };
    this.#awaited = this.#video.requestVideoFrameCallback?.(look);
  }

  /** Confirms what has been decoded or will be soon: that makes the host wait for a decoder that doesn't keep up. */
  #confirm() {
    if (!this.#isOver && this.#last > 0 && !this.#player?.isBehind) this.#confirmations.confirm(this.#last);
  }

  #lose() {
    this.#needsKey = true;
    this.#wish();
    this.#confirm();
  }

  /** Asks for a key picture, unless one has been asked for just now. */
  #wish() {
    const now = performance.now();
    if (this.#isOver || now - this.#asked < KEY_INTERVAL) return;
    this.#asked = now;
    this.#signalling.send("__frames_key", {});
  }

  #expect(time, key, isDue = () => true) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (isDue()) this.#fail(key);
    }, time);
  }

  #fail(key) {
    if (this.#isOver) return;
    this.#handlers.onFailure(key);
    this.close();
  }
}
