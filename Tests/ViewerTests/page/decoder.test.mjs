// How the page plays by WebCodecs where a canvas makes the stream.

import assert from "node:assert/strict";
import test from "node:test";

import { DecoderPlayer } from "../../../Sources/Rooms/Viewer/page/fallback/decoderplayer.js";

// The parameter sets of a picture of 64x48, and the beginning of that.
const KEY = Uint8Array.from([
  0, 0, 0, 1, 103, 66, 192, 10, 217, 4, 123, 1, 16, 0, 0, 3, 0, 16, 0, 0, 3, 0, 32, 241, 34, 100, 128,
  0, 0, 0, 1, 104, 203, 131, 203, 32, 0, 0, 0, 1, 101, 136, 132,
]);

/** Plays two pictures. Returns what the browser was asked for: the rates of streams, and what was done with each picture. */
function play(context, browser) {
  const [rates, done] = [[], []];
  const canvas = {
    getContext: () => ({ drawImage: () => done.push("draw") }),
    captureStream: (rate) => {
      rates.push(rate);
      return { getVideoTracks: () => [browser.track(done)] };
    },
  };
  class FakeDecoder {
    state = "configured";
    constructor({ output }) { this.output = output; }
    configure() {}
    decode({ timestamp }) {
      this.output({ timestamp, displayWidth: 64, displayHeight: 48, close: () => done.push("close") });
    }
  }
  const globals = {
    document: { createElement: () => canvas },
    MediaStream: class {},
    VideoDecoder: FakeDecoder,
    EncodedVideoChunk: class { constructor(facts) { Object.assign(this, facts); } },
    ...browser.globals,
  };
  const before = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  context.after(() => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else delete globalThis[name];
    }
  });
  Object.assign(globalThis, globals);
  const player = new DecoderPlayer({ hasSoftware: true }, { onProgress() {}, onBroken() {} });
  for (const captured of [1000, 1100]) assert.ok(player.take({ unit: KEY, isKey: true, captured }));
  assert.equal(player.decoded, 2);
  return { rates, done };
}

test("a stream that can be told of pictures is told of each one that is drawn", (context) => {
  const { rates, done } = play(context, {
    globals: { CanvasCaptureMediaStreamTrack: class {} },
    track: (log) => ({ requestFrame: () => log.push("tell") }),
  });
  assert.deepEqual(rates, [0]);
  assert.equal(done.join(), "draw,tell,close,draw,tell,close");
});

test("a stream that can't be told of pictures detects them itself", (context) => {
  const { rates, done } = play(context, { globals: {}, track: () => ({}) });
  assert.deepEqual(rates, [undefined]);
  assert.equal(done.join(), "draw,close,draw,close");
});
