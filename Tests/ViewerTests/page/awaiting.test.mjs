// What the page leaves behind while it waits, possibly for hours, for a host that is away.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "./fakes/fakeelement.mjs";
import { Delay } from "../../../Sources/Rooms/Viewer/page/figures/delay.js";
import { Pointer } from "../../../Sources/Rooms/Viewer/page/picture/pointer.js";
import { Stage } from "../../../Sources/Rooms/Viewer/page/picture/stage.js";

/** A video that is told which callbacks wait for its next picture. */
class FakeVideo extends FakeElement {
  waiting = new Map();
  #last = 0;

  requestVideoFrameCallback(look) {
    this.#last += 1;
    this.waiting.set(this.#last, look);
    return this.#last;
  }

  cancelVideoFrameCallback(handle) {
    this.waiting.delete(handle);
  }

  /** A picture is presented. */
  present() {
    const looks = [...this.waiting.values()];
    this.waiting.clear();
    for (const look of looks) look(0, { rtpTimestamp: 90 });
  }

  async play() {
    this.paused = false;
    this.plays += 1;
  }

  plays = 0;
  paused = true;

  /** The browser pauses it. */
  pause() {
    this.paused = true;
    this.dispatchEvent(new Event("pause"));
  }
}

/** The parts of a page that follow what `video` presents, and the first pictures of streams that the stage has told. */
function following(video) {
  globalThis.MediaStream = class {};
  Object.assign(document, { hidden: false, pictureInPictureElement: null });
  const heard = new EventTarget();
  document.addEventListener = heard.addEventListener.bind(heard);
  globalThis.ResizeObserver = class { observe() {} };
  globalThis.cancelAnimationFrame = () => {};
  const elements = new Map([["video", video]]);
  document.getElementById = (id) => elements.get(id) ?? elements.set(id, new FakeElement("div")).get(id);
  const layer = Object.assign(new FakeElement("div"), { querySelector: () => new FakeElement("canvas") });
  const viewer = new EventTarget();
  new Delay(viewer, video);
  const [stage, pointer] = [new Stage(), new Pointer(video, layer)];
  stage.onFirstPicture = () => firsts.push(video.srcObject);
  const firsts = [];
  const show = () => {
    const stream = new MediaStream();
    viewer.dispatchEvent(new CustomEvent("stream", { detail: stream }));
    pointer.watch(stream);
    stage.show(stream);
    return stream;
  };
  return { show, firsts, tell: (type) => heard.dispatchEvent(new Event(type)) };
}

test("streams without a picture leave nothing that waits for one, and the first picture of the last one is noticed", () => {
  const video = new FakeVideo("video");
  const { show, firsts } = following(video);
  for (let attempt = 0; attempt < 100; attempt += 1) show();
  assert.equal(video.waiting.size, 3);
  const stream = show();
  video.present();
  assert.deepEqual(firsts, [stream]);
  // Delays and the pointer are followed from picture to picture.
  assert.equal(video.waiting.size, 2);
  video.present();
  assert.deepEqual([video.waiting.size, firsts.length], [2, 1]);
  show();
  assert.equal(video.waiting.size, 3);
});

test("so it is in a browser that doesn't tell of each picture", () => {
  const video = new FakeElement("video");
  let listeners = 0;
  video.play = async () => {};
  video.addEventListener = () => (listeners += 1);
  const { show, firsts } = following(video);
  const before = listeners;
  for (let attempt = 0; attempt < 100; attempt += 1) show();
  assert.equal(listeners, before);
  video.onloadeddata();
  assert.equal(firsts.length, 1);
});

test("a video that the browser has paused plays on as soon as it is seen in the page", () => {
  const video = new FakeVideo("video");
  const { show, tell } = following(video);
  video.pause();
  assert.equal(video.plays, 0);
  show();
  assert.equal(video.plays, 1);
  // Somebody pauses it in picture in picture, and closes that.
  document.pictureInPictureElement = video;
  video.pause();
  assert.deepEqual([video.plays, video.paused], [1, true]);
  document.pictureInPictureElement = null;
  video.dispatchEvent(new Event("leavepictureinpicture"));
  assert.deepEqual([video.plays, video.paused], [2, false]);
  document.hidden = true;
  video.pause();
  assert.equal(video.plays, 2);
  document.hidden = false;
  tell("visibilitychange");
  assert.equal(video.plays, 3);
  tell("visibilitychange");
  assert.equal(video.plays, 3);
  // A stream that is over isn't played from its beginning.
  video.ended = true;
  video.pause();
  assert.equal(video.plays, 3);
});
