// A connection to another member of the meeting, with sound and pictures in both directions.

const ANSWER_TIMEOUT = 10_000;
const DISCONNECTED_TIMEOUT = 3_000;
const RETRY_EVERY = 6_000;
const OTHERS_TIMEOUT = 15_000;
// A small picture needs no more, and each of the other members is sent one: its shorter side in pixels, and bits.
const MOST_PIXELS = 360;
const MOST_BITS = 600_000;
const MOST_EARLY = 64;
const KINDS = ["audio", "video"];

/**
 * The link to one other member, over as many connections as needed.
 *
 * The member that joined the meeting later offers, and tries again when the connection fails. The other tries only if
 * that doesn't help. Either may offer when a device is turned on or off. If two offers cross, the later member's offer
 * wins, and the other rolls its own back.
 *
 * Handlers: send(eventName, data), and onChanged() when `state` or the other's sound or pictures have changed.
 */
export class MeshPeer {
  /** "connecting", "connected" or "lost". */
  state = "connecting";
  /** What the other member sends. */
  stream = new MediaStream();

  #handlers;
  #isLater;
  #iceServers;
  #own;
  #connection = null;
  #session = null;
  #early = [];
  #isOffering = false;
  #wasConnected = false;
  #hasRestarted = false;
  #hasWaited = false;
  #timer = null;
  #closed = false;

  /**
   * `own`: {audio, video}, each a track or null; `isLater`: whether we joined after the other member; `iceServers`: the
   * STUN and TURN servers to find a path by.
   */
  constructor({ own, isLater, iceServers }, handlers) {
    this.#own = { ...own };
    this.#iceServers = iceServers;
    this.#isLater = isLater;
    this.#handlers = handlers;
    if (isLater) this.#begin();
  }

  /** Whether sound ("audio") or pictures ("video") arrive from the other member now. */
  gives(kind) {
    return this.stream.getTracks().some((track) => track.kind === kind && track.readyState === "live" && !track.muted);
  }

  /**
   * Sends `track` as our sound or pictures from now on; null sends none. Another track of a kind that is sent already
   * needs no negotiation. Returns once the former one isn't sent any more.
   */
  async give(kind, track) {
    this.#own[kind] = track;
    const connection = this.#connection;
    if (!connection) return;
    const transceiver = this.#transceiver(kind);
    if (transceiver) await this.#attach(transceiver, kind);
    else if (track && connection.remoteDescription) connection.addTransceiver(track, { direction: "sendrecv" });
    // The other camera may have another size.
    if (kind === "video" && connection === this.#connection && this.#wasConnected) this.#limit();
  }

  /** Handles an offer from the other member. */
  async offered(description) {
    if (this.#closed) return;
    const session = sessionOf(description);
    // Another session id means another connection: the other side has dropped the previous one.
    if (this.#session !== null && this.#session !== session) this.#drop();
    const crosses = this.#isOffering || this.#connection?.signalingState === "have-local-offer";
    if (crosses && this.#isLater) return;
    // Drop a connection of ours that has only been offered so far.
    if (crosses && this.#session === null) this.#drop();
    const connection = this.#connection ?? this.#make();
    this.#session = session;
    try {
      await connection.setRemoteDescription(description);
      for (const kind of KINDS) {
        const transceiver = this.#transceiver(kind);
        if (transceiver) this.#attach(transceiver, kind);
      }
      await connection.setLocalDescription();
    } catch {
      if (connection === this.#connection) this.#fail();
      return;
    }
    if (connection !== this.#connection) return;
    this.#handlers.send("__answer", { sdp: connection.localDescription });
    this.#addEarly();
  }

  /** Handles the other member's answer to our offer. */
  async answered(description) {
    const connection = this.#connection;
    if (connection?.signalingState !== "have-local-offer") return;
    try {
      await connection.setRemoteDescription(description);
    } catch {
      if (connection === this.#connection) this.#fail();
      return;
    }
    if (connection !== this.#connection) return;
    this.#session = sessionOf(description);
    this.#addEarly();
  }

  /** Adds a candidate of the other member. It may arrive before the description that it belongs to. */
  candidate(candidate) {
    if (this.#closed) return;
    if (this.#connection?.remoteDescription) {
      // A candidate that is unusable, or belongs to an ignored offer, is simply not tried.
      this.#connection.addIceCandidate(candidate).catch(() => {});
    } else if (this.#early.length < MOST_EARLY) {
      this.#early.push(candidate);
    }
  }

  close() {
    this.#closed = true;
    this.#drop();
  }

  /** Makes a connection and offers it. */
  #begin() {
    this.#drop();
    const connection = this.#make();
    for (const kind of KINDS) {
      const track = this.#own[kind];
      connection.addTransceiver(track ?? kind, { direction: track ? "sendrecv" : "recvonly" });
    }
    this.#watch(ANSWER_TIMEOUT);
  }

  #make() {
    const connection = new RTCPeerConnection({ bundlePolicy: "max-bundle", iceServers: this.#iceServers });
    const only = (action) => (event) => {
      if (connection === this.#connection) action(event);
    };
    connection.onnegotiationneeded = only(() => this.#offer(connection));
    connection.onconnectionstatechange = only(() => this.#connectionChanged(connection.connectionState));
    connection.onicecandidate = only(({ candidate }) => {
      if (!candidate?.candidate) return;
      const { sdpMLineIndex, sdpMid } = candidate;
      this.#handlers.send("__ice_candidate", { candidate: candidate.candidate, label: sdpMLineIndex, id: sdpMid });
    });
    connection.ontrack = only(({ track }) => {
      if (this.stream.getTracks().includes(track)) return;
      this.stream.addTrack(track);
      track.onmute = track.onunmute = track.onended = () => this.#changed();
      this.#changed();
    });
    this.#connection = connection;
    return connection;
  }

  #drop() {
    clearTimeout(this.#timer);
    this.#connection?.close();
    this.#connection = this.#session = null;
    this.#isOffering = this.#wasConnected = this.#hasRestarted = false;
    this.#early = [];
    for (const track of this.stream.getTracks()) this.stream.removeTrack(track);
  }

  async #offer(connection) {
    this.#isOffering = true;
    try {
      await connection.setLocalDescription();
      if (connection === this.#connection && connection.signalingState === "have-local-offer") {
        this.#handlers.send("__offer", { sdp: connection.localDescription });
      }
    } catch {
      // An offer from the other member came in between. Answering it negotiates our changes too.
    } finally {
      if (connection === this.#connection) this.#isOffering = false;
    }
  }

  #transceiver(kind) {
    return this.#connection.getTransceivers().find(
      ({ receiver, currentDirection }) => receiver.track.kind === kind && currentDirection !== "stopped");
  }

  async #attach(transceiver, kind) {
    const track = this.#own[kind];
    // The direction tells the other member that there is nothing to see or hear.
    const direction = track ? "sendrecv" : "recvonly";
    if (transceiver.direction !== direction) transceiver.direction = direction;
    if (transceiver.sender.track !== track) await transceiver.sender.replaceTrack(track).catch(() => {});
  }

  #addEarly() {
    for (const candidate of this.#early.splice(0)) this.candidate(candidate);
  }

  #connectionChanged(state) {
    if (state === "connected") {
      clearTimeout(this.#timer);
      this.#wasConnected = true;
      this.#hasRestarted = this.#hasWaited = false;
      this.#limit();
      this.#enter("connected");
    } else if (state === "failed") {
      this.#fail();
    } else if (state === "disconnected") {
      this.#watch(DISCONNECTED_TIMEOUT);
    }
  }

  /** Tries again: first a new path for the same connection (ICE restart), then a new connection. */
  #fail() {
    if (this.#closed) return;
    this.#enter("lost");
    if (!this.#isLater && !this.#hasWaited) {
      this.#hasWaited = true;
      this.#watch(OTHERS_TIMEOUT);
    } else if (this.#isLater && this.#wasConnected && !this.#hasRestarted) {
      this.#hasRestarted = true;
      this.#connection.restartIce();
      this.#watch(RETRY_EVERY);
    } else {
      this.#begin();
    }
  }

  #limit() {
    const sender = this.#transceiver("video")?.sender;
    const parameters = sender?.getParameters();
    if (!parameters?.encodings?.length) return;
    const [encoding] = parameters.encodings;
    const { width = 0, height = 0 } = sender.track?.getSettings() ?? {};
    const scale = Math.max(1, Math.min(width, height) / MOST_PIXELS);
    if (encoding.maxBitrate === MOST_BITS && encoding.scaleResolutionDownBy === scale) return;
    encoding.maxBitrate = MOST_BITS;
    encoding.scaleResolutionDownBy = scale;
    sender.setParameters(parameters).catch(() => {});
  }

  #watch(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(), delay);
  }

  #enter(state) {
    this.state = state;
    this.#changed();
  }

  #changed() {
    if (!this.#closed) this.#handlers.onChanged();
  }
}

/** Returns what distinguishes the descriptions of different connections: the session id (RFC 8866 section 5.2). */
const sessionOf = ({ sdp }) => /^o=\S+ (\S+)/m.exec(sdp ?? "")?.[1] ?? "";
