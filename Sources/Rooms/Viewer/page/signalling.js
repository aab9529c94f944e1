// SkyRTC's signalling over one WebSocket: {"eventName": …, "data": …} both ways.

// How the host closes when it ends (RFC 6455 section 7.4.1).
const GOING_AWAY = 1001;
// How the host closes where room or token are wrong.
const WRONG_LINK = 4403;
// How the host closes where it has no room now.
const ROOM_FULL = 4503;
// A refusal in words may be the first half of such a close.
const CLOSE_PATIENCE = 500;

/**
 * One stay in the room. It ends once, by one of the last handlers, and is not opened again: who wants back in makes a new one.
 *
 * Handlers: onJoined({host}), onAnswer(description), onCandidate(candidate), onState(data), onPointerShape(data), onPointer(data),
 * onPointerMode(data), onSessionEnded(), onHostLeft(), onFull(reason), onWrongLink(), onRefused(reason), onClosed().
 */
export class Signalling {
  #socket;
  #handlers;
  #host = null;
  #ended = false;
  #refusal = null;

  constructor(address, room, handlers) {
    this.#handlers = handlers;
    this.#socket = new WebSocket(address);
    this.#socket.onopen = () => this.#send("__join", { room, role: "viewer" });
    this.#socket.onmessage = (event) => this.#receive(event.data);
    this.#socket.onclose = (event) => {
      if (event.code === GOING_AWAY) this.#end(() => this.#handlers.onHostLeft());
      else if (event.code === ROOM_FULL) this.#end(() => this.#handlers.onFull(this.#refusal ?? ""));
      else if (event.code === WRONG_LINK) this.#end(() => this.#handlers.onWrongLink());
      else if (this.#refusal !== null) this.#end(() => this.#handlers.onRefused(this.#refusal));
      else this.#end(() => this.#handlers.onClosed());
    };
  }

  /** Sends our offer to the host. */
  offer(description) {
    this.#send("__offer", { sdp: { type: description.type, sdp: description.sdp }, socketId: this.#host });
  }

  /** Sends a candidate of ours to the host. */
  candidate(candidate) {
    this.#send("__ice_candidate", {
      label: candidate.sdpMLineIndex,
      id: candidate.sdpMid,
      candidate: candidate.candidate,
      socketId: this.#host,
    });
  }

  /** Leaves the room without another word to the handlers. */
  close() {
    this.#ended = true;
    this.#socket.close();
  }

  #send(eventName, data) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ eventName, data }));
  }

  #end(tell) {
    if (this.#ended) return;
    this.#ended = true;
    tell();
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
    switch (message?.eventName) {
      case "_peers":
        this.#host = data.host ?? data.connections?.[0] ?? null;
        if (this.#host === null) this.#handlers.onHostLeft();
        else this.#handlers.onJoined({ host: this.#host });
        break;
      case "_answer":
        if (data.sdp) this.#handlers.onAnswer(data.sdp);
        break;
      case "_ice_candidate":
        if (data.candidate) {
          this.#handlers.onCandidate({
            candidate: data.candidate,
            sdpMLineIndex: data.label ?? 0,
            sdpMid: data.id ?? null,
          });
        }
        break;
      case "_state":
        this.#handlers.onState(data);
        break;
      case "_pointer_shape":
        this.#handlers.onPointerShape(data);
        break;
      case "_pointer":
        this.#handlers.onPointer(data);
        break;
      case "_pointer_mode":
        this.#handlers.onPointerMode(data);
        break;
      case "_refused":
        this.#refusal = String(data.reason ?? data.message ?? "");
        setTimeout(() => this.#end(() => this.#handlers.onRefused(this.#refusal)), CLOSE_PATIENCE);
        break;
      case "_session_ended":
        this.#handlers.onSessionEnded();
        break;
      case "_remove_peer":
        if (data.socketId === this.#host) this.#handlers.onHostLeft();
        break;
    }
  }
}
