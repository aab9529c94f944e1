// The page's visit to the room: what it does while it waits.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { Viewer } from "../../../Sources/Rooms/Viewer/page/join/viewer.js";

/** A page that has asked to be let in, and the sockets that it has opened. */
function joining(context) {
  const sockets = [];
  class FakeSocket {
    readyState = 1;
    sent = [];
    isClosed = false;
    constructor() { sockets.push(this); }
    send(text) { this.sent.push(JSON.parse(text).eventName); }
    close() { this.isClosed = true; }
    tell(eventName, data = {}) { this.onmessage({ data: JSON.stringify({ eventName, data }) }); }
  }
  const [RealSocket, location] = [globalThis.WebSocket, globalThis.location];
  globalThis.WebSocket = Object.assign(FakeSocket, { OPEN: 1 });
  globalThis.location = { hash: "#desk", hostname: "desk.example", host: "desk.example", protocol: "https:" };
  context.after(() => Object.assign(globalThis, { WebSocket: RealSocket, location }));
  context.mock.timers.enable({ apis: ["setTimeout"] });
  context.mock.method(globalThis, "fetch", () => new Promise(() => {}));
  const stage = { hasPicture: false, pictureSize: { width: 0 }, hold() {}, clear() {} };
  const viewer = new Viewer(stage);
  viewer.start();
  return { viewer, sockets };
}

test("who waits to be let in asks again after a change of network, and otherwise has any time", (context) => {
  const { viewer, sockets } = joining(context);
  sockets[0].tell("_waiting");
  context.mock.timers.tick(3_600_000);
  viewer.hurry();
  assert.deepEqual([viewer.phase, sockets.length], ["waiting", 1]);
  viewer.hurry(true);
  assert.deepEqual([sockets[0].isClosed, sockets.length, sockets[1].sent[0]], [true, 2, "__join"]);
  sockets[1].tell("_waiting");
  assert.equal(viewer.phase, "waiting");
});
