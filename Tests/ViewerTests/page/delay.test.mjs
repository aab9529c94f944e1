// How the page measures delays, and what it makes of the counters.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { Delay } from "../../../Sources/Rooms/Viewer/page/figures/delay.js";
import { Measurements } from "../../../Sources/Rooms/Viewer/page/figures/measurements.js";
import { HostClock } from "../../../Sources/Rooms/Viewer/page/picture/clock.js";
import { Silence } from "../../../Sources/Rooms/Viewer/page/picture/silence.js";

test("the answer that was under way for the shortest time says how far the clocks are apart", () => {
  const clock = new HostClock();
  assert.equal(clock.offset, null);
  assert.equal(clock.error, null);
  // The host is 5000 ms ahead; the ways there and back take 30 and 10, then 2 and 2, then 1 and 90.
  clock.add({ asked: 0, received: 5030, sent: 5031, arrived: 41 });
  clock.add({ asked: 100, received: 5102, sent: 5103, arrived: 105 });
  clock.add({ asked: 200, received: 5201, sent: 5202, arrived: 292 });
  assert.equal(clock.offset, 5000);
  assert.equal(clock.error, 2);
});

test("answers that can't be are left out, and old ones are worth less", () => {
  const clock = new HostClock();
  clock.add({ asked: 0, received: NaN, sent: 1, arrived: 2 });
  clock.add({ asked: 0, received: 50, sent: 90, arrived: 10 });
  clock.add({ asked: 9, received: 50, sent: 51, arrived: 8 });
  assert.equal(clock.offset, null);
  clock.add({ asked: 0, received: 101, sent: 101, arrived: 2 });
  clock.add({ asked: 3_600_000, received: 3_600_207, sent: 3_600_207, arrived: 3_600_010 });
  assert.ok(Math.abs(clock.offset - 202) < 0.001);
});

test("a clock that stood still while its machine slept is right again with the next answer", () => {
  const clock = new HostClock();
  // The host is 5000 ms ahead, and then 65 s, though the next answers take longer.
  clock.add({ asked: 0, received: 5001, sent: 5001, arrived: 2 });
  clock.add({ asked: 5000, received: 70_040, sent: 70_040, arrived: 5080 });
  assert.deepEqual([clock.offset, clock.error], [65_000, 40]);
  // An answer that was under way for long says little, and is no such jump.
  clock.add({ asked: 10_000, received: 77_000, sent: 77_000, arrived: 12_001 });
  assert.equal(clock.offset, 65_000);
});

test("a picture's delay is from a change to the screen, whatever is expected; a keep-alive has none", () => {
  const viewer = new EventTarget();
  viewer.send = () => {};
  const video = { requestVideoFrameCallback(look) { this.look = look; }, cancelVideoFrameCallback() {} };
  const delay = new Delay(viewer, video);
  viewer.dispatchEvent(new CustomEvent("stream", { detail: {} }));
  const begin = performance.now();
  const show = (seconds, rtp, expected) => {
    const captureTime = begin + seconds * 1000;
    video.look(0, { captureTime, receiveTime: captureTime + 18, presentationTime: captureTime + 20,
      expectedDisplayTime: captureTime + expected, rtpTimestamp: rtp >>> 0 });
  };
  const taken = () => Math.round(delay.take());
  assert.equal(delay.take(), null);
  assert.ok(!delay.isKnown);
  // Chromium's expectation is ahead by the interval between pictures, or behind by it; the time stamp wraps.
  show(1, 2 ** 32 - 90_000, 1020);
  assert.equal(taken(), 30);
  assert.ok(delay.isKnown);
  const answer = (waited) => viewer.dispatchEvent(
    new CustomEvent("_clock", { detail: { t: 0, received: 0, sent: 0, waited } }));
  answer(2600);
  show(1.5, 2 ** 32 - 45_000, -480);
  assert.equal(Math.round(delay.state.browsers), 20);
  assert.equal(taken(), 33);
  answer();
  show(4, 2 ** 32 + 180_000, 2520);
  show(6.5, 2 ** 32 + 405_033, 2520);
  assert.equal(delay.take(), null);
  assert.ok(delay.isKnown);
  for (const late of [0, 180, 2]) {
    video.look(0, { captureTime: begin + 6000, presentationTime: begin + 6600 + late, rtpTimestamp: 414_000 });
  }
  assert.equal(taken(), 612);
});

test("the delay of a page that has just been opened is awaited, for a while", () => {
  const viewer = Object.assign(new EventTarget(), { phase: "playing", source: { state: "live" }, silence: null });
  const meter = { isKnown: false, take: () => null };
  const measured = new Measurements(viewer, { pictureSize: { width: 0, height: 0 } }, meter);
  assert.ok(measured.awaitsDelay);
  assert.ok(!measured.knowsDelay);
  for (let time = 0; time < 20_000; time += 1000) {
    viewer.reception = { counted: { time, packets: time, lost: 0, framesDecoded: time, bytes: time, roundTrip: 1 } };
    measured.sample();
  }
  const last = measured.awaitsDelay;
  meter.isKnown = true;
  assert.ok(!last);
  assert.ok(!measured.awaitsDelay);
  assert.ok(measured.knowsDelay);
});

test("pictures that are sent again, because none has come for a while, are no rate", () => {
  const viewer = Object.assign(new EventTarget(), { phase: "playing", source: { state: "live" }, silence: null });
  const meter = { isKnown: true, take: () => null };
  const measured = new Measurements(viewer, { pictureSize: { width: 0, height: 0 } }, meter);
  for (let time = 0; time < 8000; time += 1000) {
    const captured = Math.min(time, 5000);
    const counted = { time, packets: time, lost: 0, framesDecoded: time / 100, bytes: time, roundTrip: 1, captured };
    viewer.reception = { counted };
    measured.sample();
  }
  assert.equal(measured.frameRate.last().join(), "10,10,10,0,0");
});

test("the silence of a source that was steady is told after six seconds in which the page was awake", () => {
  const silence = new Silence();
  const look = (framesDecoded, seconds, captured = null, isDue = true) => {
    silence.look({ framesDecoded, captured, time: seconds * 1000 }, isDue);
    return silence.seconds;
  };
  // One picture, and then none: an application that shows a slide.
  for (let time = 0; time < 20; time += 0.5) assert.equal(look(1, time), null);
  // A capture with a keep-alive each 2.5 s, then nothing; 20 s of sleep are no more than one second.
  for (let time = 20; time <= 28; time += 0.5) assert.equal(look(Math.floor(time / 2.5), time), null);
  let told = null;
  for (let time = 28.5; time < 33; time += 0.5) told ??= look(11, time);
  assert.equal(told, null);
  assert.equal(look(11, 53), 6);
  assert.equal(look(12, 54.5), null);
  // Not while none is due; and what is sent once more is no new picture.
  for (let time = 55; time < 70; time += 0.5) assert.equal(look(12, time, null, false), null);
  for (let time = 70; time < 80; time += 1) assert.equal(look(time, time, time), null);
  for (let time = 80; time < 86; time += 0.5) told = look(time * 10, time, 79);
  assert.equal(told, 6);
});

test("the silence of a source that the host calls steady is told after six seconds, however new the page is", () => {
  const silence = new Silence();
  let told = null;
  for (let time = 0; told === null && time < 20; time += 0.5) {
    silence.look({ framesDecoded: 1, captured: null, time: time * 1000 }, true, true);
    if (silence.seconds !== null) told = time;
  }
  silence.look({ framesDecoded: 2, captured: null, time: 20_000 }, true, true);
  assert.equal(told, 6);
  assert.equal(silence.seconds, null);
});

test("the lag of the sound is measured while sound arrives", () => {
  const viewer = Object.assign(new EventTarget(),
    { phase: "playing", source: { state: "live" }, silence: null, sound: "live" });
  const meter = { isKnown: true, take: () => null };
  const measured = new Measurements(viewer, { pictureSize: { width: 0, height: 0 } }, meter);
  for (let time = 0; time < 8000; time += 1000) {
    const counted = { time, packets: time, lost: 0, framesDecoded: time, bytes: time, roundTrip: 1,
      soundPackets: Math.min(time, 5000), soundLag: -7 };
    viewer.reception = { counted };
    measured.sample();
  }
  assert.ok(measured.hasSound);
  viewer.sound = "none";
  assert.ok(!measured.hasSound);
  assert.equal(measured.soundLag.length, 5);
  assert.equal(measured.soundLag.last().join(), "-7,-7,-7");
});
