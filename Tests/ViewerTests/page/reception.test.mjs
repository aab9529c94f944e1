// The reception of one track over WebRTC: how long the page waits for what.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { fakeConnections } from "./fakes/fakeconnection.mjs";
import { Reception } from "../../../Sources/Rooms/Viewer/page/picture/reception.js";

/** A reception that the host has answered, and the failures that it reports. */
async function answered(context, onConnected = () => {}) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const made = fakeConnections();
  const failures = [];
  const page = { browser: {}, link: {}, relays: { servers: [], all: [] } };
  const reception = new Reception({}, "desk", page, {
    onStream() {}, onConnected: () => onConnected(reception), onFailure: (reason) => failures.push(reason),
  });
  reception.open();
  reception.heard("_answer", { sdp: { type: "answer", sdp: "" } });
  const [connection] = made;
  return { connection, reception, failures };
}

test("a host that can't be reached is a failure after 15 s", async (context) => {
  const { failures } = await answered(context);
  context.mock.timers.tick(14_999);
  assert.equal(failures.length, 0);
  context.mock.timers.tick(1);
  assert.equal(failures.length, 1);
});

test("a connection without a picture is a failure after 10 s", async (context) => {
  const { connection, failures } = await answered(context, (reception) => reception.expectPicture(() => true));
  connection.connect();
  context.mock.timers.tick(10_000);
  assert.equal(failures.length, 1);
});

test("a picture that was decoded counts, though a hidden tab doesn't present it", async (context) => {
  const { connection, reception, failures } = await answered(
    context, (reception) => reception.expectPicture(() => true));
  connection.connect();
  connection.count(1, 3);
  assert.equal(await reception.look(), true);
  context.mock.timers.tick(60_000);
  assert.deepEqual([failures.length, reception.isOver], [0, false]);
});

test("pictures that can't be decoded are a failure after 10 s, but not those of the time in which the page slept", async (context) => {
  const { connection, reception, failures } = await answered(context);
  connection.connect();
  const look = (time, packets) => {
    connection.count(5, packets, time);
    return reception.look();
  };
  await look(0, 100);
  assert.ok(await look(30_000, 400), "what has arrived is still to be decoded");
  for (let time = 31_000; time <= 40_000; time += 1000) assert.ok(await look(time, 400 + time / 1000));
  assert.equal(await look(41_000, 900), false);
  assert.equal(failures.length, 1);
});
