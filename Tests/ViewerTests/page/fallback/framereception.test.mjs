// The reception of a track over the WebSocket: how long the page waits for what.

import assert from "node:assert/strict";
import test from "node:test";

import "../fakes/browser.mjs";
import { message, withGlobals } from "../fakes/decoding.mjs";
import { FrameReception } from "../../../../Sources/Rooms/Viewer/page/fallback/frames.js";

/** A decoder that makes a picture of each that it is given, as long as `isStuck` is false. */
class FakeDecoder {
  static isStuck = false;
  state = "configured";
  static isConfigSupported = async () => ({ supported: true });
  constructor({ output }) { this.output = output; }
  configure() {}
  close() {}
  decode({ timestamp }) { if (!FakeDecoder.isStuck) this.output({ timestamp }); }
}

/** A reception to which the host has agreed, in a hidden page or in one that can be seen. */
async function agreed(context, isHidden) {
  let time = 0;
  context.mock.timers.enable({ apis: ["setTimeout"] });
  context.mock.method(performance, "now", () => time);
  FakeDecoder.isStuck = false;
  withGlobals(context, {
    document: { hidden: isHidden },
    MediaStream: class { getTracks() { return []; } },
    MediaStreamTrackGenerator: class { writable = { getWriter: () => ({ write: async () => {} }) }; },
    VideoDecoder: FakeDecoder,
    EncodedVideoChunk: class { constructor(facts) { Object.assign(this, facts); } },
  });
  const callbacks = new Set();
  const video = Object.assign(new EventTarget(), {
    muted: true, error: null, callbacks,
    requestVideoFrameCallback: (look) => callbacks.add(look),
    cancelVideoFrameCallback: () => callbacks.clear(),
  });
  const failures = [];
  const reception = new FrameReception({ send() {} }, null, video, {
    onStream() {}, onConnected: () => reception.expectPicture(() => true), onPresented() {},
    onFailure: (key) => failures.push(key),
  });
  await reception.open();
  reception.heard("_frames");
  const pass = (milliseconds) => {
    time += milliseconds;
    context.mock.timers.tick(milliseconds);
  };
  return { reception, failures, pass, video };
}

test("a picture that isn't on the screen after 10 s is a failure, but in a hidden page only if none has come", async (context) => {
  const cases = [[false, true], [true, false], [true, true]];
  const ends = [];
  for (const [isHidden, hasCome] of cases) {
    await context.test(`${isHidden} ${hasCome}`, async (one) => {
      const { reception, failures, pass } = await agreed(one, isHidden);
      if (hasCome) reception.take(message(1));
      pass(10_000);
      ends.push(failures.join());
    });
  }
  assert.deepEqual(ends, ["noPicture", "noPicture", ""]);
});

test("pictures that can't be decoded are a failure after 10 s, but not those of the time in which the page slept", async (context) => {
  const { reception, failures, pass } = await agreed(context, false);
  let number = 0;
  const look = (milliseconds, pictures) => {
    pass(milliseconds);
    for (let count = 0; count < pictures; count += 1) reception.take(message((number += 1)));
    return reception.look();
  };
  assert.ok(await look(0, 1));
  reception.arrived();
  FakeDecoder.isStuck = true;
  assert.ok(await look(30_000, 100), "what has come is still to be decoded");
  for (let second = 0; second < 10; second += 1) assert.ok(await look(1000, 10));
  assert.equal(await look(1000, 10), false);
  assert.deepEqual(failures, ["undecodable"]);
});

test("a reception that is over no longer waits for a picture on the screen", async (context) => {
  const { reception, video } = await agreed(context, true);
  assert.equal(video.callbacks.size, 1);
  reception.close();
  assert.equal(video.callbacks.size, 0);
});
