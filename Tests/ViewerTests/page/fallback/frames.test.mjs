// How the page reads and confirms what comes over its WebSocket.

import assert from "node:assert/strict";
import test from "node:test";

import { nalUnits, readSPS, sorted } from "../../../../Sources/Rooms/Viewer/page/fallback/annexb.js";
import { Confirmations, isNext, readFrame } from "../../../../Sources/Rooms/Viewer/page/fallback/pictures.js";

test("a message with a picture or with sound is read; others are left out", () => {
  const bytes = [1, 3, 0, 0, 0, 0, 1, 2, 0, 6, 10, 24, 30, 139, 64, 1, 0, 0, 0, 1, 103];
  const read = (list) => readFrame(Uint8Array.from(list).buffer);
  const picture = read(bytes);
  const others = [[], bytes.slice(0, 16), [2, ...bytes.slice(1)]].every((list) => read(list) === null);
  const time = (0x00060a18 * 2 ** 32 + 0x1e8b4001) / 1000;
  const sound = read([1, 4, ...bytes.slice(2, 16), 252, 9]);
  assert.ok(others);
  assert.ok(sound.isSound);
  assert.ok(!sound.isKey);
  assert.equal(sound.captured, time);
  assert.equal([...sound.unit].join(), "252,9");
  assert.ok(!picture.isSound);
  assert.equal(picture.number, 258);
  assert.ok(picture.isKey);
  assert.ok(picture.hasPointer);
  assert.equal(picture.captured, time);
  assert.equal([...picture.unit].join(), "0,0,0,1,103");
  assert.ok(!read([1, 0, ...bytes.slice(2)]).isKey);
  assert.ok(isNext(1, 0));
  assert.ok(isNext(0, 2 ** 32 - 1));
  assert.ok(!isNext(3, 1));
});

test("pictures are confirmed at once, but not more often than every 20 ms, and the last one always is", () => {
  let time = 0;
  const [sent, waiting] = [[], []];
  const later = (action, delay) => waiting.push({ action, at: time + delay });
  const confirmations = new Confirmations((number) => sent.push(`${time}:${number}`), () => time, later);
  const pass = (until) => {
    for (const { action, at } of waiting.splice(0)) {
      if (at > until) waiting.push({ action, at });
      else { time = at; action(); }
    }
    time = until;
  };
  for (const [at, number] of [[0, 1], [5, 2], [10, 3], [25, 4], [60, 5], [61, 5]]) {
    pass(at);
    confirmations.confirm(number);
  }
  pass(100);
  confirmations.reset();
  confirmations.confirm(1);
  assert.equal(sent.join(), "0:1,20:3,40:4,60:5,100:1");
});

test("NAL units are found between start codes of both lengths, and a broken parameter set is none", () => {
  const units = nalUnits(Uint8Array.from([9, 0, 0, 0, 1, 103, 1, 0, 0, 1, 104, 2, 0, 0, 0, 0, 1, 101, 0, 0, 3, 1]));
  const { sps, pps, picture } = sorted(units);
  const found = [sps, pps, picture].map((list) => list.map((unit) => [...unit].join(".")).join()).join();
  const none = [[], [103], [103, 66, 0, 30], [103, 66, 0, 30, 255], [103, 66, 0, 30, 0, 0, 0, 0, 0, 0, 0, 0]]
    .every((list) => readSPS(Uint8Array.from(list)) === null);
  assert.equal(found, "103.1,104.2,101.0.0.3.1");
  assert.ok(none);
  assert.equal(nalUnits(new Uint8Array(3)).length, 0);
});
