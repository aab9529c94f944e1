// The receiving end of the media: one recvonly video over one RTCPeerConnection.

const CAPTURE_TIME = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time";
const DISCONNECTED_PATIENCE = 5000;

/**
 * One connection to the host. It never comes back from a failure: who wants the picture again makes a new one.
 *
 * Handlers: onOffer(description), onCandidate(candidate), onStream(stream), onConnected(), onNoPath() where no path to the host
 * was ever found, onLost() where there was one, onUnusableAnswer(reason).
 */
export class Peer {
  #connection;
  #handlers;
  #early = [];
  #wasConnected = false;
  #disconnected = null;
  #closed = false;

  /** The UDP port that the host's first candidate names, for messages. */
  hostPort = null;

  constructor(handlers) {
    this.#handlers = handlers;
    this.#connection = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
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

  /** Makes the offer, which goes to `onOffer`. */
  async open() {
    const transceiver = this.#connection.addTransceiver("video", { direction: "recvonly" });
    // Handed on before there is an answer: the first picture may come sooner than an element that begins to load then is ready,
    // and a still screen has no second one.
    this.#handlers.onStream(new MediaStream([transceiver.receiver.track]));
    askForCaptureTime(transceiver);
    try {
      // A shared screen is for working with: what has arrived is shown.
      transceiver.receiver.jitterBufferTarget = 0;
    } catch {
      // Then the browser's own target holds.
    }
    const offer = await this.#connection.createOffer();
    if (this.#closed) return;
    await this.#connection.setLocalDescription(offer);
    if (!this.#closed) this.#handlers.onOffer(this.#connection.localDescription);
  }

  async accept(description) {
    const port = /^a=candidate:\S+ \d+ udp \d+ \S+ (\d+)/im.exec(description.sdp ?? "");
    this.hostPort = port ? Number(port[1]) : null;
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
      // One that can't be read is one less to try.
    }
  }

  /** What the browser counts of the incoming video; null before there is any. */
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
      /** When the picture that was played last was captured, in milliseconds of the host's clock since 1900; null where unknown. */
      captured: this.synchronizationSources[0]?.captureTimestamp ?? null,
      /** Milliseconds, of the network alone. */
      roundTrip,
    };
  }

  /** What the browser tells of the picture that was played last (WebRTC section 5.3, WebRTC Extensions). */
  get synchronizationSources() {
    return this.#connection.getReceivers()[0]?.getSynchronizationSources?.() ?? [];
  }

  /** The RTP time stamp of that picture, for browsers that don't tell it with the picture; may be undefined. */
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

// Browsers that know abs-capture-time leave it out of an offer until they are asked.
function askForCaptureTime(transceiver) {
  try {
    const extensions = transceiver.getHeaderExtensionsToNegotiate();
    for (const extension of extensions) {
      if (extension.uri === CAPTURE_TIME) extension.direction = "sendrecv";
    }
    transceiver.setHeaderExtensionsToNegotiate(extensions);
  } catch {
    // Then pictures come without it.
  }
}
