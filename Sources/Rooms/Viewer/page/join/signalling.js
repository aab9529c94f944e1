// SkyRTC's signalling over one WebSocket: {"eventName": …, "data": …} in both directions.

// The close code when the host ends (RFC 6455 section 7.4.1).
const GOING_AWAY = 1001;
// The close code if a password is needed or was wrong.
const PASSWORD_WANTED = 4401;
// The close code if the room or token is wrong.
const WRONG_LINK = 4403;
// The close code if the sharer has removed this viewer.
const REMOVED = 4410;
// The close code if the link has expired.
const EXPIRED = 4411;
// The close code while the room is locked.
const LOCKED = 4423;
// The close code if nobody has let us in.
const TURNED_AWAY = 4424;
// The close code if the host is full at present.
const ROOM_FULL = 4503;
// A refusal message may be followed by one of these close codes, so wait for that.
const CLOSE_TIMEOUT = 500;

/**
 * One connection to the room, which a visit (`Visit`) may outlive. It ends once, by one of the end handlers, and can't
 * be reopened: to join again, create a new one.
 *
 * Handlers: onMessage(eventName, data) for each message; onBinary(buffer) for each binary one; concerns(data), which
 * returns whether a message about a track is about the shown one; and the end handlers: onHostLeft(), onFull(reason),
 * onWrongLink(), onPasswordWanted(), onRemoved(), onExpired(), onLocked(), onTurnedAway(), onRefused(reason), onClosed().
 */
export class Signalling {
  #socket;
  #handlers;
  #host = null;
  #you = null;
  #ended = false;
  #refusal = null;
  #resumption = null;
  // When the first ping was sent that nothing has come after, by `performance.now()`; null if there is none.
  #pingedAt = null;
  // By track: the number of offers that the host hasn't answered yet.
  #pendingOffers = new Map();
  // The messages to send once the socket is open; null when it is.
  #waiting;

  /** `introduction`: the contents of `__join` besides the room and our role; `resume` in it goes on with a visit. */
  constructor(address, room, introduction, handlers) {
    this.#handlers = handlers;
    this.#socket = socketTo(address);
    this.#waiting = [["__join", { ...introduction, room, role: "viewer" }]];
    this.#socket.onopen = () => this.#opened();
    if (this.#socket.readyState === WebSocket.OPEN) this.#opened();
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }) => {
      this.#pingedAt = null;
      if (typeof data === "string") this.#receive(data);
      else this.#handlers.onBinary(data);
    };
    this.#socket.onclose = (event) => this.#closed(event.code);
  }

  /** The host's id, once it has let us in. */
  get host() {
    return this.#host;
  }

  /** Our own id. */
  get you() {
    return this.#you;
  }

  /** The secret with which another connection goes on with this visit; null if the host gives none. */
  get resumption() {
    return this.#resumption;
  }

  /** Whether the socket is, or was, open. */
  get wasOpen() {
    return this.#waiting === null;
  }

  /** For how many milliseconds the host, which has let us in, has left a ping (`__clock`) unanswered; 0 if none. */
  get pingAge() {
    return this.#pingedAt === null || this.#host === null || this.#ended ? 0 : performance.now() - this.#pingedAt;
  }

  // A message without a receiver is for the host, whose id isn't known before it has let us in.

  /** Sends our offer for the track `track`, or for the first one, to the host. */
  offer(description, track = null) {
    const sdp = { type: description.type, sdp: description.sdp };
    this.send("__offer", { sdp, socketId: this.#host ?? undefined, ...(track === null ? {} : { track }) });
  }

  /** Sends one of our candidates to the host. */
  candidate(candidate, track = null) {
    this.send("__ice_candidate", {
      label: candidate.sdpMLineIndex,
      id: candidate.sdpMid,
      candidate: candidate.candidate,
      socketId: this.#host ?? undefined,
      ...(track === null ? {} : { track }),
    });
  }

  /** Has the pictures of a track held back for `delay` milliseconds, so that they come with their sound. */
  hold(delay, track = null) {
    this.send("__hold", { delay, ...(track === null ? {} : { track }) });
  }

  /** Sends a message, once the socket is open, and unless it is closed. */
  send(eventName, data) {
    if (this.#waiting) {
      this.#waiting.push([eventName, data]);
      return;
    }
    if (eventName === "__clock") this.#pingedAt ??= performance.now();
    if (eventName === "__offer" && (data.socketId ?? this.#host) === this.#host) this.#countOffers(data.track, 1);
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ eventName, data }));
  }

  /** Calls no handler any more, but stays open. */
  setAside() {
    this.#ended = true;
  }

  /** Leaves the room without calling any handler. */
  close() {
    this.#ended = true;
    this.#socket.close();
  }

  #opened() {
    const waiting = this.#waiting;
    this.#waiting = null;
    for (const [eventName, data] of waiting) this.send(eventName, data);
  }

  /** Changes the number of a track's pending offers by `change`, and returns it. */
  #countOffers(track, change) {
    const count = Math.max(0, (this.#pendingOffers.get(track) ?? 0) + change);
    this.#pendingOffers.set(track, count);
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
    else if (code === REMOVED) this.#end(() => this.#handlers.onRemoved());
    else if (code === EXPIRED) this.#end(() => this.#handlers.onExpired());
    else if (code === LOCKED) this.#end(() => this.#handlers.onLocked());
    else if (code === TURNED_AWAY) this.#end(() => this.#handlers.onTurnedAway());
    else if (this.#refusal) this.#end(() => this.#handlers.onRefused(this.#refusal));
    // A refusal without a reason whose code got lost: the next attempt tells.
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
    // If an offer was followed by another for the same track, the answer to the earlier one is ignored.
    if (answers && data.socketId === this.#host && this.#countOffers(data.track, -1) > 0) return;
    switch (message.eventName) {
      case "_peers":
        this.#host = data.host ?? data.connections?.[0] ?? null;
        this.#you = data.you ?? null;
        this.#resumption = data.resume ?? null;
        if (this.#host === null) this.#end(() => this.#handlers.onHostLeft());
        // An early offer may name no track. In a room with several, the answer to it names the first.
        if (data.tracks?.length > 1) {
          this.#countOffers(data.tracks[0].name, this.#countOffers(undefined, 0));
          this.#pendingOffers.delete(undefined);
        }
        break;
      case "_waiting":
        // An early offer isn't answered.
        this.#pendingOffers.clear();
        break;
      case "_refused":
        if (!this.#handlers.concerns(data)) break;
        if (data.password === true) {
          this.#end(() => this.#handlers.onPasswordWanted());
          break;
        }
        // The close has the same code, but may come late or get lost.
        if (Number.isInteger(data.code)) {
          this.#refusal = String(data.reason ?? "");
          this.#closed(data.code);
          break;
        }
        // Without a reason the close code tells it; otherwise it may tell more.
        this.#refusal = String(data.reason ?? data.message ?? "");
        if (this.#refusal === "") break;
        setTimeout(() => this.#end(() => this.#handlers.onRefused(this.#refusal)), CLOSE_TIMEOUT);
        break;
      case "_remove_peer":
        if (data.socketId === this.#host) this.#end(() => this.#handlers.onHostLeft());
        break;
    }
    if (!this.#ended) this.#handlers.onMessage(message.eventName, data);
  }
}

// The page begins to open a socket before its script has come.
function socketTo(address) {
  const early = window.earlySocket;
  window.earlySocket = null;
  // A socket's address is normalized: a ' is %27 there.
  const isSame = early?.url === new URL(address).href;
  return isSame && early.readyState <= WebSocket.OPEN ? early : new WebSocket(address);
}
