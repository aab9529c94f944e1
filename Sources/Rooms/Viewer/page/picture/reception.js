// The reception of one track from the host.

import { messages } from "../words/messages.js";
import { dropOffer, Peer } from "./peer.js";
import { Timeout } from "../join/retry.js";

const ANSWER_TIMEOUT = 10_000;
const PATH_TIMEOUT = 15_000;
// From the host's answer until the STUN and TURN servers are asked as well: a direct connection is there after few
// round trips, or not at all.
const RELAY_DELAY = 3_000;
const PICTURE_TIMEOUT = 10_000;
// More packets than a still screen needs.
const PACKETS_OF_PICTURES = 50;
// A page that hasn't looked for so long was asleep, and what has arrived since may still be to be decoded.
const LONGEST_PAUSE = 5000;

/**
 * Offers to receive a track, and follows the connection. It fails at most once and doesn't recover.
 *
 * Handlers: onStream(stream), before anything has arrived; onConnected(); onFailure(reason), with a message;
 * onOtherWay(), instead of a failure, if the host wasn't reached and another reception of the track, by the servers of
 * `relays`, may reach it.
 */
export class Reception {
  /** The browser's last counters; null before there are any. */
  counted = null;

  #signalling;
  #track;
  #handlers;
  #peer;
  #timeout = new Timeout();
  #hasOtherWay;
  #noPath;
  #undecoded = null;
  #isAnswered = false;
  #hasArrived = false;
  #isOver = false;

  /**
   * `track` is null for the room's first track. `browser`, `link` and `relays` are those of this page. `hasSound`:
   * whether to receive the track's sound as well.
   */
  constructor(signalling, track, { browser, link, relays }, handlers, hasSound = false) {
    this.#signalling = signalling;
    this.#track = track;
    this.#handlers = handlers;
    const { servers } = relays;
    // The host tells of the servers before it answers.
    this.#hasOtherWay = () => servers.length === 0 && relays.all.length > 0;
    this.#noPath = () => {
      if (this.#isOver) return;
      if (this.#hasOtherWay()) {
        relays.need();
        this.close();
        handlers.onOtherWay();
        return;
      }
      this.#fail(messages.noPath({
        isFirefox: browser.isFirefox,
        isLoopback: link.isLoopback,
        port: this.#peer.hostPort,
      }));
    };
    this.#peer = new Peer({
      onOffer: (description) => {
        this.#signalling.offer(description, track);
        // Nothing is heard yet.
        if (hasSound) this.hold(0);
      },
      onCandidate: (candidate) => this.#signalling.candidate(candidate, track),
      onStream: (stream) => handlers.onStream(stream),
      onConnected: () => handlers.onConnected(),
      onNoPath: this.#noPath,
      onLost: () => this.#fail(messages.lostConnection()),
      onUnusableAnswer: (reason) => this.#fail(messages.unusableAnswer(reason)),
    }, hasSound, servers);
  }

  /** Whether the host has answered. Anything it sent earlier belongs to a previous reception of the same track. */
  get isAnswered() {
    return this.#isAnswered;
  }

  /** Whether it has failed or has been closed. */
  get isOver() {
    return this.#isOver;
  }

  /** Whether the host has answered, but no path to it was found. */
  get hasNoPath() {
    return this.#isAnswered && !this.#peer.wasConnected;
  }

  /** Starts the reception. */
  open() {
    this.#timeout.expect(ANSWER_TIMEOUT, () => this.#fail(messages.noAnswer()));
    this.#peer.open().catch((problem) => this.#fail(messages.unusableAnswer(problem.message)));
  }

  /** The connection that carries messages; another one may take its place. */
  get signalling() {
    return this.#signalling;
  }

  set signalling(signalling) {
    this.#signalling = signalling;
  }

  /** Whether media can flow now. */
  get isConnected() {
    return this.#peer.isConnected;
  }

  get track() {
    return this.#track;
  }

  /** Has the pictures held back for `delay` milliseconds. */
  hold(delay) {
    this.#signalling.hold(delay, this.#track);
  }

  /** The connection itself. */
  get peer() {
    return this.#peer;
  }

  /** Handles the host's messages about this track: `_answer` and `_ice_candidate`. */
  heard(name, data) {
    if (name === "_answer" && data.sdp) {
      this.#isAnswered = true;
      this.#timeout.expect(this.#hasOtherWay() ? RELAY_DELAY : PATH_TIMEOUT, this.#noPath);
      this.#peer.accept(data.sdp);
    } else if (name === "_ice_candidate" && data.candidate) {
      this.#peer.addCandidate({
        candidate: data.candidate,
        sdpMLineIndex: data.label ?? 0,
        sdpMid: data.id ?? null,
      });
    }
  }

  /** Starts to wait for the first picture. A timeout counts only if `isDue()` then. */
  expectPicture(isDue) {
    if (this.#hasArrived) return;
    this.#timeout.expect(PICTURE_TIMEOUT, () => {
      if (isDue()) this.#fail(messages.noPicture());
    });
  }

  /** Records that the first picture has arrived, or that nobody waits for it. */
  arrived() {
    this.#hasArrived = true;
    this.#timeout.stop();
  }

  /** Reads the browser's counters, and detects a stuck decoder. Returns whether there are any counters yet. */
  async look() {
    const now = await this.#peer.statistics();
    if (!now || this.#isOver) return false;
    const wasAsleep = now.time - this.counted?.time > LONGEST_PAUSE;
    this.counted = now;
    // In a hidden tab, that is all there is to see of it.
    if (now.framesDecoded > 0) this.arrived();
    const last = this.#undecoded;
    if (!last || wasAsleep || last.framesDecoded !== now.framesDecoded) this.#undecoded = now;
    else if (now.time - last.time > PICTURE_TIMEOUT && now.packets - last.packets > PACKETS_OF_PICTURES) {
      this.#fail(messages.undecodable());
      return false;
    }
    return true;
  }

  /** Ends without calling any handler. */
  close() {
    this.#isOver = true;
    this.#timeout.stop();
    this.#peer.close();
  }

  #fail(reason) {
    if (this.#isOver) return;
    this.close();
    this.#handlers.onFailure(reason);
  }
}

/** Instead of a `Reception` where the browser plays nothing over WebRTC: it is over before it begins. */
export class NoReception {
  isOver = true;
  isAnswered = false;
  isConnected = false;
  counted = null;
  peer = null;

  constructor(signalling, track) {
    this.signalling = signalling;
    this.track = track;
    dropOffer();
  }

  heard() {}

  hold() {}

  close() {}

  async look() {
    return false;
  }
}
