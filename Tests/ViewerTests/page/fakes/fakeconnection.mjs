// A connection of the browser, for what receives tracks. Imported before that.

globalThis.MediaStream ??= class {};

/** A connection that is told its state, and what has arrived over it. */
export class FakeConnection {
  connectionState = "new";
  iceConnectionState = "new";
  report = new Map();
  getConfiguration() { return {}; }
  async getStats() { return this.report; }
  async setRemoteDescription() {}
  close() {}

  connect() {
    this.connectionState = "connected";
    this.onconnectionstatechange();
  }

  /** What the browser has counted of the video, at `timestamp` in milliseconds. */
  count(framesDecoded, packetsReceived, timestamp = 0) {
    this.report.set("in", { type: "inbound-rtp", kind: "video", timestamp, framesDecoded, packetsReceived });
  }
}

/** Has the page make such connections, and returns the list of those that it has made. */
export function fakeConnections() {
  const made = [];
  window.offerToReceive = () => {
    made.push(new FakeConnection());
    return {
      connection: made.at(-1), transceiver: { receiver: { track: {} } }, sound: null, offer: new Promise(() => {}),
    };
  };
  return made;
}
