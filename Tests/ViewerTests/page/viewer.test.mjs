// The page's visit to the room: what it does while it waits.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { fakeSockets } from "./fakes/fakesockets.mjs";
import { withGlobals } from "./fakes/decoding.mjs";
import { Viewer } from "../../../Sources/Rooms/Viewer/page/join/viewer.js";

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
