// The receiving end of the media: one recvonly video over one RTCPeerConnection.

import { loaded } from "./loaded.js";

const DISCONNECTED_PATIENCE = 5000;

/**
 * One connection to the host. It doesn't recover from a failure: to get the picture again, create a new one.
 *
 * Handlers: onOffer(description), onCandidate(candidate), onStream(stream), onConnected(), onNoPath() if no path to the
 * host was ever found, onLost() if there was one, onUnusableAnswer(reason).
 */
export class Peer {
  #connection;
  #receiver;
  #offer;
  #handlers;
  #early = [];
  #wasConnected = false;
  #disconnected = null;
  #closed = false;

  /** The UDP port in the host's first candidate, for messages. */
  hostPort = null;

  constructor(handlers) {
    this.#handlers = handlers;
    const { connection, transceiver, offer } = takeOffer();
    this.#connection = connection;
    this.#receiver = transceiver.receiver;
    this.#offer = offer;
    this.#connection.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) this.#handlers.onCandidate(candidate);
    };
    this.#connection.onconnectionstatechange = () => this.#changed();
    this.#connection.oniceconnectionstatechange = () => this.#changed();
  }

  /** Whether media can flow now. */
  get isConnected() {
    return this.#connection.connectionState === "connected";
  }

  /** Passes the offer to `onOffer`, when it is made. */
  async open() {
    // Passed on before there is an answer: the first picture may arrive before an element that only starts to load then
    // is ready, and a still screen has no second picture.
    this.#handlers.onStream(new MediaStream([this.#receiver.track]));
    try {
      // A shared screen is worked with, so pictures are shown as soon as they arrive.
      this.#receiver.jitterBufferTarget = 0;
    } catch {
      // The browser's own target then applies.
    }
    const offer = await this.#offer;
    if (this.#closed) return;
    await this.#connection.setLocalDescription(offer);
    if (!this.#closed) this.#handlers.onOffer(this.#connection.localDescription);
  }

  async accept(description) {
    const port = /^a=candidate:\S+ \d+ udp \d+ \S+ (\d+)/im.exec(description.sdp ?? "");
    this.hostPort = port ? Number(port[1]) : null;
    // The element for the pictures must be ready for the first one.
    await loaded;
    if (this.#closed) return;
    try {
      await this.#connection.setRemoteDescription(description);
    } catch (problem) {
      if (!this.#closed) this.#handlers.onUnusableAnswer(problem.message);
      return;
    }
    for (const candidate of this.#early.splice(0)) await this.addCandidate(candidate);
  }

  async addCandidate(candidate) {
    if (this.#closed) return;
    if (!this.#connection.remoteDescription) {
      if (this.#early.length < 64) this.#early.push(candidate);
      return;
    }
    try {
      await this.#connection.addIceCandidate(candidate);
    } catch {
      // A candidate that can't be parsed is simply not tried.
    }
  }

  /** Returns the browser's counters for the incoming video; null before there are any. */
  async statistics() {
    if (this.#closed) return null;
    const report = await this.#connection.getStats();
    let video = null;
    let roundTrip = null;
    for (const entry of report.values()) {
      if (entry.type === "inbound-rtp" && entry.kind === "video") video = entry;
      if (entry.type === "candidate-pair" && entry.nominated) roundTrip = entry.currentRoundTripTime * 1000;
    }
    return video && {
      time: video.timestamp,
      framesDecoded: video.framesDecoded ?? 0,
      packets: video.packetsReceived ?? 0,
      lost: video.packetsLost ?? 0,
      bytes: video.bytesReceived ?? 0,
      /** When the last picture shown was captured, in milliseconds of the host's clock since 1900; null if unknown. */
      captured: this.synchronizationSources[0]?.captureTimestamp ?? null,
      /** In milliseconds, of the network alone. */
      roundTrip,
    };
  }

  /** The browser's information about the last picture shown (WebRTC section 5.3, WebRTC Extensions). */
  get synchronizationSources() {
    return this.#receiver.getSynchronizationSources?.() ?? [];
  }

  /** The RTP timestamp of that picture, for browsers that don't report it with each picture; may be undefined. */
  get playedTimestamp() {
    return this.synchronizationSources[0]?.rtpTimestamp;
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#disconnected);
    this.#connection.close();
  }

  #changed() {
    if (this.#closed) return;
    const { connectionState, iceConnectionState } = this.#connection;
    const gone = iceConnectionState === "disconnected" || connectionState === "disconnected";
    if (connectionState === "failed" || iceConnectionState === "failed") {
      this.#lost();
    } else if (gone && this.#disconnected === null) {
      this.#disconnected = setTimeout(() => this.#lost(), DISCONNECTED_PATIENCE);
    } else if (!gone) {
      clearTimeout(this.#disconnected);
      this.#disconnected = null;
      if (connectionState === "connected" && !this.#wasConnected) {
        this.#wasConnected = true;
        this.#handlers.onConnected();
      }
    }
  }

  #lost() {
    if (this.#closed) return;
    if (this.#wasConnected) this.#handlers.onLost();
    else this.#handlers.onNoPath();
  }
}

// The page has begun to make its first offer before its scripts were there (see index.html).
function takeOffer() {
  const early = window.earlyOffer;
  window.earlyOffer = null;
  return early ?? window.offerToReceive();
}
