// The reception of the shown track over the page's WebSocket, for networks where only HTTP gets through.
//
// The page loads this file and those it imports only if WebRTC finds no path. What the page has anyway is passed in.

import { DecoderPlayer, decoderSupport } from "./decoderplayer.js";
import { pathWords } from "./pathwords.js";
import { Confirmations, isNext, readPicture } from "./pictures.js";
import { SourcePlayer, sourceSupport } from "./sourceplayer.js";

// In milliseconds. A host that knows nothing of this doesn't answer.
const ANSWER_PATIENCE = 5000;
const PICTURE_PATIENCE = 10_000;
// Between two requests for a key picture.
const KEY_INTERVAL = 1000;
// More pictures than a still screen needs.
const MANY_PICTURES = 50;

/**
 * Receives a track. To the page it is what `Reception` is by WebRTC. It fails at most once and doesn't recover.
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
  /** In place of a `Peer`: no sound comes this way, and the pictures have no RTP timestamps. */
  peer = {
    synchronizationSources: [],
    playedTimestamp: undefined,
    playSound() {},
    soundFigures: async () => ({ level: 0, packets: 0 }),
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
  #note;
  #noSound;
  #isOver = false;

  /** `track` is null for the room's first track. `video` is the page's large one. */
  constructor(signalling, track, { video, language }, handlers) {
    this.#signalling = signalling;
    this.#track = track;
    this.#video = video;
    this.#handlers = handlers;
    this.#confirmations = new Confirmations((number) => signalling.send("__frames_seen", { number }));
    this.#note = document.createElement("span");
    this.#note.className = "sound-note";
    this.#note.setAttribute("role", "status");
    this.#noSound = pathWords[language].noSound;
    document.getElementById("figures").after(this.#note);
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
    this.#expect(ANSWER_PATIENCE, null);
    const decoder = await decoderSupport();
    const source = decoder ? null : sourceSupport();
    if (this.#isOver) return;
    if (!decoder && !source) return this.#fail(null);
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

  /** Asks for the pictures anew, from a key picture on. */
  renew() {
    this.#signalling.send("__frames", this.#track === null ? {} : { track: this.#track });
  }

  /** Handles the host's messages about this track. */
  heard(name) {
    if (name !== "_frames") return;
    // Its numbers count from 1.
    this.#last = 0;
    this.#needsKey = true;
    this.#confirmations.reset();
    if (this.isConnected) return;
    this.isConnected = true;
    clearTimeout(this.#timer);
    this.#handlers.onConnected();
  }

  /** Handles a binary message. */
  take(buffer) {
    const picture = this.isConnected && !this.#isOver ? readPicture(buffer) : null;
    if (!picture) return;
    picture.arrived = performance.now();
    this.packets += 1;
    this.#bytes += buffer.byteLength;
    if (!isNext(picture.number, this.#last)) this.#needsKey = true;
    this.#last = picture.number;
    if (picture.isKey || !this.#needsKey) this.#play(picture);
    if (this.#needsKey) this.#wish();
    this.#confirm();
  }

  /** Starts to wait for the first picture. A timeout counts only if `isDue()` then. */
  expectPicture(isDue) {
    if (!this.hasPicture) this.#expect(PICTURE_PATIENCE, "noPicture", isDue);
  }

  /** Records that the first picture is on the screen. */
  arrived() {
    clearTimeout(this.#timer);
  }

  /** Pictures can't be held back here, since no sound comes with them. */
  hold() {}

  /** Tells the viewer that there is sound, which doesn't come this way, or that there is none. */
  lackSound(isLacking) {
    const text = isLacking ? this.#noSound : "";
    if (this.#note.textContent !== text) this.#note.textContent = text;
  }

  /** Updates the counters, and detects a stuck decoder. Returns whether there are any counters yet. */
  async look() {
    if (!this.#player || this.#isOver) return false;
    const now = {
      time: performance.now(), framesDecoded: this.#player.decoded, packets: this.packets, lost: 0, bytes: this.#bytes,
      captured: this.#newest?.captured ?? null, roundTrip: null, soundLevel: 0, soundPackets: 0, soundLag: NaN,
    };
    this.counted = now;
    const last = this.#undecoded;
    // A hidden page may not play.
    if (!last || document.hidden || last.framesDecoded !== now.framesDecoded) this.#undecoded = now;
    else if (now.time - last.time > PICTURE_PATIENCE && now.packets - last.packets > MANY_PICTURES) {
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
    this.#note.remove();
    this.#player?.close();
    this.#signalling.send("__frames_stop", {});
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
      this.#video.requestVideoFrameCallback(look);
      const picture = this.#player?.isIn(this.#video) ? this.#player.presented(mediaTime) : null;
      if (!picture) return;
      const { captured, hasPointer, arrived } = picture;
      this.#handlers.onPresented({ captured, hasPointer, arrived, shown });
    };
    this.#video.requestVideoFrameCallback?.(look);
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
