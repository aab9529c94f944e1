// SkyRTC's signalling over one WebSocket: {"eventName": …, "data": …} both ways.

// How the host closes when it ends (RFC 6455 section 7.4.1).
const GOING_AWAY = 1001;
// How the host closes where a password is wanted, or was wrong.
const PASSWORD_WANTED = 4401;
// How the host closes where room or token are wrong.
const WRONG_LINK = 4403;
// How the host closes where the sharer has sent this viewer away.
const SENT_AWAY = 4410;
// How the host closes where the link has expired.
const EXPIRED = 4411;
// How the host closes where it has no room now.
const ROOM_FULL = 4503;
// A refusal in words may be the first half of such a close.
const CLOSE_PATIENCE = 500;

/**
 * One stay in the room. It ends once, by one of the last handlers, and is not opened again: who wants back in makes a new one.
 *
 * Handlers: onMessage(eventName, data) for each message; concerns(data), whether what is said of a track is said of ours; then the
 * ends: onHostLeft(), onFull(reason), onWrongLink(), onPasswordWanted(), onSentAway(), onExpired(), onRefused(reason), onClosed().
 */
export class Signalling {
  #socket;
  #handlers;
  #host = null;
  #you = null;
  #ended = false;
  #refusal = null;
  // Offers to the host that it hasn't answered yet, by track.
  #unanswered = new Map();

  /** `introduction`: what `__join` says of us beside the room and our role. */
  constructor(address, room, introduction, handlers) {
    this.#handlers = handlers;
    this.#socket = new WebSocket(address);
    this.#socket.onopen = () => this.send("__join", { ...introduction, room, role: "viewer" });
    this.#socket.onmessage = (event) => this.#receive(event.data);
    this.#socket.onclose = (event) => this.#closed(event.code);
  }

  /** The host's id, as soon as it has let us in. */
  get host() {
    return this.#host;
  }

  /** Our own id. */
  get you() {
    return this.#you;
  }

  /** Sends our offer to the host, of the track `track` or of the first one. */
  offer(description, track = null) {
    const sdp = { type: description.type, sdp: description.sdp };
    this.send("__offer", { sdp, socketId: this.#host, ...(track === null ? {} : { track }) });
  }

  /** Sends a candidate of ours to the host. */
  candidate(candidate, track = null) {
    this.send("__ice_candidate", {
      label: candidate.sdpMLineIndex,
      id: candidate.sdpMid,
      candidate: candidate.candidate,
      socketId: this.#host,
      ...(track === null ? {} : { track }),
    });
  }

  /** Sends any message; nothing where the socket isn't open. */
  send(eventName, data) {
    if (eventName === "__offer" && data.socketId === this.#host) this.#count(data.track, 1);
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ eventName, data }));
  }

  /** Leaves the room without another word to the handlers. */
  close() {
    this.#ended = true;
    this.#socket.close();
  }

  #count(track, change) {
    const count = Math.max(0, (this.#unanswered.get(track) ?? 0) + change);
    this.#unanswered.set(track, count);
    return count;
  }

  #end(tell) {
    if (this.#ended) return;
    this.#ended = true;
    tell();
  }

  #closed(code) {
    if (code === GOING_AWAY) this.#end(() => this.#handlers.onHostLeft());
    else if (code === ROOM_FULL) this.#end(() => this.#handlers.onFull(this.#refusal ?? ""));
    else if (code === WRONG_LINK) this.#end(() => this.#handlers.onWrongLink());
    else if (code === PASSWORD_WANTED) this.#end(() => this.#handlers.onPasswordWanted());
    else if (code === SENT_AWAY) this.#end(() => this.#handlers.onSentAway());
    else if (code === EXPIRED) this.#end(() => this.#handlers.onExpired());
    else if (this.#refusal !== null) this.#end(() => this.#handlers.onRefused(this.#refusal));
    else this.#end(() => this.#handlers.onClosed());
  }

  #receive(text) {
    if (this.#ended) return;
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    const data = message?.data ?? {};
    if (typeof message?.eventName !== "string" || typeof data !== "object") return;
    const answers = message.eventName === "_answer" || message.eventName === "_refused";
    // What answers an offer that was followed by another of the same track is nobody's any more.
    if (answers && data.socketId === this.#host && this.#count(data.track, -1) > 0) return;
    switch (message.eventName) {
      case "_peers":
        this.#host = data.host ?? data.connections?.[0] ?? null;
        this.#you = data.you ?? null;
        if (this.#host === null) this.#end(() => this.#handlers.onHostLeft());
        break;
      case "_refused":
        if (!this.#handlers.concerns(data)) break;
        // One that asks for a password, or says nothing at all, is told by how the socket is closed.
        this.#refusal = String(data.reason ?? data.message ?? "");
        setTimeout(() => this.#end(() => this.#handlers.onRefused(this.#refusal)), CLOSE_PATIENCE);
        break;
      case "_remove_peer":
        if (data.socketId === this.#host) this.#end(() => this.#handlers.onHostLeft());
        break;
    }
    if (!this.#ended) this.#handlers.onMessage(message.eventName, data);
  }
}
