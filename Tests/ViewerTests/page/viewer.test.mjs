// The page's visit to the room: what it does while it waits.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { fakeSockets } from "./fakes/fakesockets.mjs";
import { withGlobals } from "./fakes/decoding.mjs";
import { Viewer } from "../../../Sources/Rooms/Viewer/page/join/viewer.js";
import { words } from "../../../Sources/Rooms/Viewer/page/words/messages.js";

/** A page that has asked to be let in, and the sockets that it has opened. */
function joining(context) {
  const sockets = fakeSockets(context);
  withGlobals(context, {
    location: { hash: "#desk", hostname: "desk.example", host: "desk.example", protocol: "https:" },
  });
  context.mock.timers.enable({ apis: ["setTimeout"] });
  context.mock.method(globalThis, "fetch", () => new Promise(() => {}));
  const stage = { hasPicture: false, pictureSize: { width: 0 }, hold() {}, clear() {} };
  const viewer = new Viewer(stage);
  viewer.start();
  return { viewer, sockets };
}

test("who waits to be let in asks again after a change of network, and otherwise has any time", (context) => {
  const { viewer, sockets } = joining(context);
  sockets[0].open();
  sockets[0].tell("_waiting");
  context.mock.timers.tick(3_600_000);
  viewer.hurry();
  assert.deepEqual([viewer.phase, sockets.length], ["waiting", 1]);
  viewer.hurry(true);
  assert.deepEqual([sockets[0].isClosed, sockets.length], [true, 2]);
  sockets[1].open();
  assert.equal(JSON.parse(sockets[1].sent[0]).eventName, "__join");
  sockets[1].tell("_waiting");
  assert.equal(viewer.phase, "waiting");
});

test("a host that is full has the page say so, and ask again after short waits, until it gets through", (context) => {
  const { viewer, sockets } = joining(context);
  const refuse = (socket, reason) => {
    socket.open();
    socket.tell("_refused", { reason });
    socket.onclose({ code: 4503 });
  };
  refuse(sockets[0], "the limit of 50 viewers is reached");
  assert.deepEqual([viewer.phase, viewer.reconnects, sockets.length], ["reconnecting", 1, 1]);
  assert.equal(viewer.reason.title, words.full);
  assert.equal(viewer.reason.detail, "The limit of 50 viewers is reached.");
  assert.equal(viewer.reason.tone, "wait");
  assert.notEqual(viewer.retryIn, null);
  context.mock.timers.tick(100);
  assert.equal(sockets.length, 2);
  refuse(sockets[1], "the limit of 50 viewers is reached");
  // The second wait is about half a second long.
  context.mock.timers.tick(400);
  assert.equal(sockets.length, 2);
  context.mock.timers.tick(200);
  assert.deepEqual([viewer.phase, viewer.reconnects, sockets.length], ["reconnecting", 2, 3]);
  sockets[2].open();
  assert.equal(JSON.parse(sockets[2].sent[0]).eventName, "__join");
  sockets[2].tell("_waiting");
  context.mock.timers.tick(3_600_000);
  assert.deepEqual([viewer.phase, sockets.length], ["waiting", 3]);
});

test("a full host's refusal with the code is enough, and so is the close without a reason", (context) => {
  const { viewer, sockets } = joining(context);
  sockets[0].open();
  sockets[0].tell("_refused", { reason: "the room is full", code: 4503 });
  assert.equal(viewer.reason.detail, "The room is full.");
  // The close comes late, and is that of a connection that the page has given up.
  sockets[0].onclose({ code: 4503 });
  assert.deepEqual([viewer.phase, viewer.reconnects, sockets[0].isClosed], ["reconnecting", 1, true]);
  context.mock.timers.tick(100);
  sockets[1].open();
  sockets[1].onclose({ code: 4503 });
  assert.deepEqual([viewer.phase, viewer.reconnects, viewer.reason.title], ["reconnecting", 2, words.full]);
  assert.equal(viewer.reason.detail, "");
});
