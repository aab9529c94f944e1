// How the page plays by Media Source, and keeps close to the newest picture.

import assert from "node:assert/strict";
import test from "node:test";

import "../fakes/browser.mjs";
import { KEY, withGlobals } from "../fakes/decoding.mjs";
import { SourcePlayer } from "../../../../Sources/Rooms/Viewer/page/fallback/sourceplayer.js";

/** A source that takes at once what it is given. */
class FakeSource extends EventTarget {
  readyState = "open";
  addSourceBuffer() {
    const buffer = Object.assign(new EventTarget(), { updating: false, appendBuffer() {}, remove() {} });
    this.buffer = buffer;
    return buffer;
  }
}

test("a picture that is late is caught up with, also in picture in picture of a hidden page", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const page = Object.assign(new EventTarget(), { hidden: false, pictureInPictureElement: null });
  withGlobals(context, { document: page });
  const video = { currentTime: 0, playbackRate: 1, srcObject: null, paused: false };
  let wishes = 0;
  const player = new SourcePlayer(FakeSource, video, { onProgress() {}, onBroken() {}, onWish: () => (wishes += 1) });
  assert.ok(player.take({ unit: KEY, isKey: true }));
  video.currentTime = 2;
  assert.ok(player.take({ unit: KEY, isKey: false }));
  const rate = (hidden, pictureInPictureElement, behind) => {
    Object.assign(video, { playbackRate: 1, currentTime: 2 - behind });
    Object.assign(page, { hidden, pictureInPictureElement });
    player.stream.buffer.dispatchEvent(new Event("updateend"));
    return video.playbackRate;
  };
  assert.deepEqual([rate(false, null, 0), rate(false, null, 0.2), rate(true, null, 0.2)], [1, 4, 1]);
  assert.equal(rate(true, video, 0.2), 4);
  assert.equal(wishes, 0);
  rate(true, video, 1);
  assert.equal(wishes, 1);
  player.close();
});
