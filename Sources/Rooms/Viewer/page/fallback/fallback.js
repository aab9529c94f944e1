// What the page does while WebRTC finds no path: it receives the shown track over its WebSocket, and changes over as soon
// as there is a path after all.
//
// The page loads this file and those it imports only then. What the page has anyway is passed in.

import { FrameReception } from "./frames.js";

// In milliseconds: between two attempts to find a path, and how long one of them may take, from the host's answer.
const ATTEMPT_INTERVAL = 10_000;
const ATTEMPT_TIMEOUT = 3000;
// If the pictures end because their track was removed, the next message says so.
const TRACKS_TIMEOUT = 200;

/**
 * A reception over the WebSocket, and at most one over WebRTC beside it, the attempt.
 *
 * Handlers: those of `FrameReception`, but that onFailure(reason) has a message; and onPath(reception), with the
 * attempt: it goes on from here.
 */
export class Fallback extends FrameReception {
  #handlers;
  #attempt;
  #failure;
  #make;
  #attempted = performance.now();
  /** Whether the attempt was made while pictures came. The host may have ended them for it. */
  #isAnother = false;
  #timer = null;
  /** How many pictures had come when they were asked for again. */
  #before = null;
  #isOver = false;

  /**
   * `attempt` is a reception over WebRTC that goes on; null if it has failed, with the message `failure`. `make()`
   * makes another one; it is null if none can play.
   */
  constructor(signalling, track, { video, messages, attempt, failure, make }, handlers) {
    super(signalling, track, video, {
      ...handlers,
      onFailure: (key) => {
        if (key === null && this.#attempt && !this.hasPicture) this.#goOn();
        else if (key) handlers.onFailure(messages[key]());
        // What WebRTC lacks is no reason to give up if the browser can play what comes this way.
        else if (this.#failure?.isFinal && this.canPlay) handlers.onFailure(messages.noAnswer());
        else handlers.onFailure(this.#failure ?? messages.lostConnection());
      },
    });
    this.#handlers = handlers;
    this.#attempt = attempt;
    this.#failure = failure;
    this.#make = make;
  }

  /** Whether a path is being looked for. */
  get hasAttempt() {
    return this.#attempt !== null;
  }

  // A class with only one of the two accessors would hide the other one of the class above.
  get signalling() {
    return super.signalling;
  }

  set signalling(signalling) {
    super.signalling = signalling;
    if (this.#attempt) this.#attempt.signalling = signalling;
  }

  get isAnswered() {
    return super.isAnswered || this.#attempt?.isAnswered === true;
  }

  heard(name, data) {
    super.heard(name);
    this.#attempt?.heard(name, data);
    if (name !== "_answer" || !this.#isAnother) return;
    const attempt = this.#attempt;
    this.#expect(ATTEMPT_TIMEOUT, () => {
      if (attempt === this.#attempt && !attempt?.isConnected) this.#giveUp();
    });
  }

  /** Handles what the reception `attempt` tells. */
  attempted(attempt, name, value) {
    if (attempt !== this.#attempt) return;
    if (name === "connected" && !this.hasPicture) this.#goOn();
    // By the servers that the host has told of since.
    if (name === "otherWay") this.#try();
    if (name !== "failure") return;
    this.#failure = value;
    this.#giveUp();
  }

  /** Handles the end of the host's session. Returns false if the pictures end again before any has come. */
  sessionEnded() {
    if (this.#before === this.packets) return false;
    this.#before = this.packets;
    this.#expect(TRACKS_TIMEOUT, () => this.renew());
    return true;
  }

  /** Looks for a path again, as the network may be another one now. */
  tryAgain() {
    const now = performance.now();
    if (!this.#make || this.#attempt || !this.hasPicture || now - this.#attempted < ATTEMPT_INTERVAL) return;
    this.#attempted = now;
    this.#try();
  }

  /** Updates the counters, and changes over to WebRTC once that has a picture. */
  async look() {
    const attempt = this.#attempt;
    const hasLooked = (await attempt?.look()) === true;
    if (hasLooked && attempt === this.#attempt && attempt.isConnected && attempt.counted.framesDecoded > 0) {
      this.#goOn();
      return false;
    }
    return super.look();
  }

  close() {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    super.close();
    this.#attempt?.close();
    this.#attempt = null;
  }

  #try() {
    this.#isAnother = true;
    this.#attempt = this.#make();
    this.#attempt.open();
  }

  /** Ends the attempt. */
  #giveUp() {
    this.#attempt?.close();
    this.#attempt = null;
    if (this.#isAnother) this.renew();
  }

  #expect(time, action) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, time);
  }

  #goOn() {
    const attempt = this.#attempt;
    // It doesn't end with this.
    this.#attempt = null;
    this.close();
    this.#handlers.onPath(attempt);
  }
}
