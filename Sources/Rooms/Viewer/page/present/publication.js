// Publishes one video track, with its audio if there is any, to the host over WHIP (RFC 9725).

// In milliseconds: until the host's answer and a path are there. A request on a dead network takes minutes to fail.
const CONNECTION_TIMEOUT = 30_000;
const DISCONNECTED_TIMEOUT = 5000;
const END_TIMEOUT = 1000;

/** Returns the headers of a WHIP request of this page (`Protocol/http.md`). */
export function credentials({ link, introduction, visit }) {
  const token = link.room.slice(link.name.length + 1).split(",", 1)[0];
  const headers = { "X-Visit": visit };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (introduction.password !== undefined) headers["X-Room-Password"] = encodeURIComponent(introduction.password);
  return headers;
}

/**
 * One WHIP session. It ends once, and doesn't recover from a failure: to send again, create a new one.
 *
 * Handlers: onConnected(), onLost(status), with the host's status if it has refused the offer, else 0.
 */
export class Publication {
  #connection;
  #address;
  #headers;
  #handlers;
  #senders = new Map();
  #session = null;
  #timer = null;
  #isOver = false;
  /** Why it is over, as for `end`. */
  #ending = null;

  /**
   * `address`: where to send the offer; `headers`: the member's credentials; `bits`: the maximum bit rate of the video;
   * `iceServers`: STUN and TURN servers.
   */
  constructor(stream, { address, headers, bits, iceServers }, handlers) {
    this.#address = address;
    this.#headers = headers;
    this.#handlers = handlers;
    this.#connection = new RTCPeerConnection({ bundlePolicy: "max-bundle", iceServers });
    for (const track of stream.getTracks()) {
      const isVideo = track.kind === "video";
      const transceiver = this.#connection.addTransceiver(track, {
        direction: "sendonly", streams: [stream], sendEncodings: [isVideo ? { maxBitrate: bits } : {}],
      });
      this.#senders.set(track.kind, transceiver.sender);
      if (isVideo) preferH264(transceiver);
    }
    this.#connection.onconnectionstatechange = () => this.#changed();
  }

  /** Whether media can flow now. */
  get isConnected() {
    return this.#connection.connectionState === "connected";
  }

  /**
   * Sends `track`, or nothing if it is null, instead of the track of the same kind. Returns false if only another
   * session can send it.
   */
  async replace(kind, track) {
    const sender = this.#senders.get(kind);
    if (!sender) return track === null;
    // What is over sends nothing, and the next session begins with the new track.
    return await sender.replaceTrack(track).then(() => true, () => this.#isOver);
  }

  /** Sends the offer and applies the host's answer. */
  async open() {
    this.#expect(CONNECTION_TIMEOUT);
    try {
      await this.#connection.setLocalDescription();
      const answer = await fetch(this.#address, {
        method: "POST", headers: { ...this.#headers, "Content-Type": "application/sdp" },
        body: this.#connection.localDescription.sdp,
      });
      if (!answer.ok) return this.#lose(answer.status);
      this.#session = new URL(answer.headers.get("Location"), location.href).href;
      // It was ended while the host answered.
      if (this.#isOver) return this.#leave(this.#ending);
      await this.#connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    } catch {
      this.#lose(0);
    }
  }

  /**
   * Ends the session without calling a handler. `ending` tells the viewers why: "stopped" (by the user here), "ended" (by
   * the browser), "closed" (with the page) or "lost" (with the connection); null if the host has ended it.
   */
  async end(ending) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ending = ending;
    clearTimeout(this.#timer);
    // The host receives the reason before the connection closes, because DTLS's close_notify has none.
    await Promise.race([this.#leave(ending), new Promise((resume) => setTimeout(resume, END_TIMEOUT))]);
    this.#connection.close();
  }

  async #leave(ending) {
    if (!this.#session || ending === null) return;
    // It is sent even if the page is closed meanwhile.
    const request = { method: "DELETE", headers: { ...this.#headers, "X-Ending": ending }, keepalive: true };
    await fetch(this.#session, request).catch(() => {});
  }

  #changed() {
    if (this.#isOver) return;
    const { connectionState } = this.#connection;
    if (connectionState === "connected") {
      clearTimeout(this.#timer);
      this.#handlers.onConnected();
    } else if (connectionState === "failed") {
      this.#lose(0);
    } else if (connectionState === "disconnected") {
      this.#expect(DISCONNECTED_TIMEOUT);
    }
  }

  /** Loses the session after `delay` milliseconds, unless it is connected by then. */
  #expect(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lose(0), delay);
  }

  #lose(status) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ending = "lost";
    clearTimeout(this.#timer);
    this.#leave("lost");
    this.#connection.close();
    this.#handlers.onLost(status);
  }
}

/** Offers H.264 first, Constrained Baseline before other profiles, because every viewer decodes that. */
function preferH264(transceiver) {
  const codecs = globalThis.RTCRtpSender?.getCapabilities?.("video")?.codecs;
  if (!codecs || !transceiver.setCodecPreferences) return;
  try {
    transceiver.setCodecPreferences(byPreference(codecs));
  } catch {
    // The browser's own order then applies, and the host chooses H.264 from it.
  }
}

/** Sorts a browser's codecs. */
export function byPreference(codecs) {
  const rank = ({ mimeType, sdpFmtpLine = "" }) => {
    if (mimeType.toLowerCase() !== "video/h264") return 3;
    if (!/packetization-mode=1/.test(sdpFmtpLine)) return 2;
    return /profile-level-id=42e0/i.test(sdpFmtpLine) ? 0 : 1;
  };
  return [...codecs].sort((one, other) => rank(one) - rank(other));
}
