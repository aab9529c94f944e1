// The receiving end of the media: one recvonly video, and its sound if wanted, over one RTCPeerConnection.

import { loaded } from "../loaded.js";
import { withStereo } from "./stereo.js";

const DISCONNECTED_TIMEOUT = 5000;
const MOST_ERRORS = 16;

/**
 * One connection to the host. It doesn't recover from a failure: to get the picture again, create a new one.
 *
 * Handlers: onOffer(description), onCandidate(candidate), onStream(stream), onConnected(), onNoPath() if no path to the
 * host was ever found, onLost() if there was one, onUnusableAnswer(reason).
 */
export class Peer {
  #connection;
  #receiver;
  #soundReceiver;
  #stream;
  #offer;
  #handlers;
  #early = [];
  #disconnected = null;
  #closed = false;

  /** Whether a path to the host has been found. */
  wasConnected = false;
  /** The UDP port in the host's first candidate, for messages. */
  hostPort = null;
  /**
   * What there is to know about the paths: the errors of servers, the host's answer and when it came, the browser's last
   * statistics, and the servers that were asked.
   */
  traces = { errors: [], answer: "", answered: 0, report: null, servers: [] };

  /** `hasSound`: whether to receive the sound as well; `iceServers`: the STUN and TURN servers to find a path by. */
  constructor(handlers, hasSound, iceServers = []) {
    this.#handlers = handlers;
    const { connection, transceiver, sound, offer } = takeOffer(hasSound, iceServers);
    this.#connection = connection;
    this.#receiver = transceiver.receiver;
    this.#soundReceiver = sound?.receiver ?? null;
    this.#stream = new MediaStream([this.#receiver.track]);
    this.#offer = offer;
    this.#connection.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) this.#handlers.onCandidate(candidate);
    };
    const { traces } = this;
    traces.servers = this.#connection.getConfiguration().iceServers ?? [];
    this.#connection.onicecandidateerror = (event) => {
      if (traces.errors.length < MOST_ERRORS) traces.errors.push(event);
    };
    this.#connection.onconnectionstatechange = () => this.#changed();
    this.#connection.oniceconnectionstatechange = () => this.#changed();
  }

  /** Whether media can flow now. */
  get isConnected() {
    return this.#connection.connectionState === "connected";
  }

  get stream() {
    return this.#stream;
  }

  /** Passes the offer to `onOffer`, when it is made. */
  async open() {
    // Passed on before there is an answer: the first picture may arrive before an element that only starts to load then
    // is ready, and a still screen has no second picture.
    this.#handlers.onStream(this.#stream);
    try {
      // A shared screen is worked with, so pictures are shown as soon as they arrive.
      this.#receiver.jitterBufferTarget = 0;
    } catch {
      // The browser's own target then applies.
    }
    const offer = await this.#offer;
    if (this.#closed) return;
    // A browser that doesn't accept the change makes the sound mono, but shows the pictures.
    await this.#connection.setLocalDescription({ type: offer.type, sdp: withStereo(offer.sdp) })
      .catch(() => this.#connection.setLocalDescription(offer));
    if (!this.#closed) this.#handlers.onOffer(this.#connection.localDescription);
  }

  async accept(description) {
    Object.assign(this.traces, { answer: description.sdp ?? "", answered: performance.now() });
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

  /**
   * Adds the sound to the stream, or takes it out of it. An element that plays a stream with sound keeps the sound
   * system of this machine awake, even if nothing arrives.
   */
  playSound(isPlayed) {
    if (!this.#soundReceiver) return;
    const { track } = this.#soundReceiver;
    if (isPlayed) this.#stream.addTrack(track);
    else this.#stream.removeTrack(track);
  }

  /** Returns how loud the sound is played, from 0 to 1, and the number of its packets. */
  async soundFigures() {
    const entries = this.#closed || !this.#soundReceiver ? [] : [...(await this.#soundReceiver.getStats()).values()];
    const { audioLevel = 0, packetsReceived = 0 } = entries.find(({ type }) => type === "inbound-rtp") ?? {};
    return { level: audioLevel, packets: packetsReceived };
  }

  /** Returns the browser's counters for the incoming video and its sound; null before there are any. */
  async statistics() {
    if (this.#closed) return null;
    const report = this.traces.report = await this.#connection.getStats();
    let video = null;
    let sound = null;
    let roundTrip = null;
    for (const entry of report.values()) {
      if (entry.type === "inbound-rtp" && entry.kind === "video") video = entry;
      if (entry.type === "inbound-rtp" && entry.kind === "audio") sound = entry;
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
      /** How loud the sound is played, from 0 to 1. */
      soundLevel: sound?.audioLevel ?? 0,
      soundPackets: sound?.packetsReceived ?? 0,
      /**
       * How many milliseconds later than a picture the sound of the same moment is played; negative if it is played
       * earlier, NaN if the browser doesn't tell. The time stamps say when the host captured what is played now.
       */
      soundLag: video.estimatedPlayoutTimestamp - sound?.estimatedPlayoutTimestamp,
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
      this.#disconnected = setTimeout(() => this.#lost(), DISCONNECTED_TIMEOUT);
    } else if (!gone) {
      clearTimeout(this.#disconnected);
      this.#disconnected = null;
      if (connectionState === "connected" && !this.wasConnected) {
        this.wasConnected = true;
        this.#handlers.onConnected();
      }
    }
  }

  #lost() {
    if (this.#closed) return;
    if (this.wasConnected) this.#handlers.onLost();
    else this.#handlers.onNoPath();
  }
}

// The page has begun to make its first offer before its scripts were there (see index.html).
function takeOffer(hasSound, iceServers) {
  // That offer has sound, and knows of no servers.
  const early = hasSound && iceServers.length === 0 ? window.earlyOffer : null;
  if (early) window.earlyOffer = null;
  return early ?? window.offerToReceive(hasSound, iceServers);
}

/** Closes the offer that the page has begun to make, as nothing can play what it would bring. */
export function dropOffer() {
  window.earlyOffer?.connection.close();
  window.earlyOffer = null;
}
