// How the page plays by WebCodecs where a canvas makes the stream.

import assert from "node:assert/strict";
import test from "node:test";

import { KEY, withGlobals } from "../fakes/decoding.mjs";
import { DecoderPlayer } from "../../../../Sources/Rooms/Viewer/page/fallback/decoderplayer.js";

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
  withGlobals(context, {
    document: { createElement: () => canvas },
    MediaStream: class {},
    VideoDecoder: FakeDecoder,
    EncodedVideoChunk: class { constructor(facts) { Object.assign(this, facts); } },
    ...browser.globals,
  });
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
