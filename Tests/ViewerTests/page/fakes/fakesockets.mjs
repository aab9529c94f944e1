// The WebSockets that the page opens.

/** Returns the list of the sockets that the page opens during a test. A test opens them, and tells what has arrived. */
export function fakeSockets(context) {
  const sockets = [];
  class Fake {
    readyState = 0;
    sent = [];
    isClosed = false;
    constructor() { sockets.push(this); }
    send(text) { this.sent.push(text); }
    close() { this.isClosed = true; }
    open() { this.readyState = 1; this.onopen(); }
    tell(eventName, data = {}) { this.onmessage({ data: JSON.stringify({ eventName, data }) }); }
  }
  const Real = globalThis.WebSocket;
  globalThis.WebSocket = Object.assign(Fake, { OPEN: 1 });
  context.after(() => { globalThis.WebSocket = Real; });
  return sockets;
}
