// How the page places sound that comes over its WebSocket, and what it does with sound by WebRTC.

import assert from "node:assert/strict";
import test from "node:test";

import { JitterBuffer, stretched } from "../../../Sources/Rooms/Viewer/page/fallback/jitter.js";
import { sampleCount } from "../../../Sources/Rooms/Viewer/page/fallback/opus.js";
import { withStereo } from "../../../Sources/Rooms/Viewer/page/picture/stereo.js";
import { Together } from "../../../Sources/Rooms/Viewer/page/sound/together.js";

const end = ({ at, count }) => at + count;

/**
 * Places pieces of 20 ms as they come; `arrive` says when, in milliseconds, `drift` how much too fast this device's clock
 * is, in millionths, and `step` how far apart their captures are, in milliseconds.
 */
function play(number, arrive, drift = 0, step = 20) {
  const buffer = new JitterBuffer();
  const [placed, waits] = [[], []];
  for (let index = 0; index < number; index += 1) {
    const now = arrive(index * step) * 48 * (1 + drift / 1e6);
    const place = buffer.place(1.7e12 + index * step, 960, now);
    if (!place) continue;
    placed.push(place);
    waits.push((place.at - now) / 48);
  }
  return { placed, waits };
}

test("an offer asks for stereo where it has Opus, and once", () => {
  const opus = "m=audio 9 UDP/TLS/RTP/SAVPF 111 63\r\na=rtpmap:111 opus/48000/2\r\n"
    + "a=fmtp:111 minptime=10;useinbandfec=1\r\na=fmtp:63 111/111\r\n";
  const stereo = opus.replace("useinbandfec=1", "useinbandfec=1;stereo=1");
  const other = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=rtpmap:0 PCMU/8000\r\n";
  assert.equal(withStereo(opus), stereo);
  assert.equal(withStereo(stereo), stereo);
  assert.equal(withStereo(other), other);
});

test("pictures are held back by what sound is late, while it flows and is heard", () => {
  const together = new Together();
  let soundPackets = 0;
  let framesDecoded = 0;
  const said = [];
  const look = (times, soundLag, isHeard, isFlowing = true, isMoving = true) => {
    for (let count = 0; count < times; count++) {
      if (isFlowing) soundPackets += 25;
      if (isMoving) framesDecoded += 1;
      if (together.look({ soundPackets, framesDecoded, soundLag }, isHeard)) said.push(together.delay);
    }
  };
  look(20, 56, false);
  look(4, 56, true);
  look(20, 56, true, true, false);
  look(1, 900, true);
  look(8, -14, true);
  look(4, -24, true);
  look(5, 0, true, false);
  look(2, 0, true);
  look(10, 0, true, false);
  look(8, 1000, true);
  look(1, 0, false);
  assert.equal(said.join(), "70,60,0,200,0");
});

test("a packet's first bytes say how long it lasts", () => {
  const packets = [[0xfc], [0xe0], [0x08, 1], [0x1b, 2], [0x79], [0xff, 6], [0x1b, 3], [0xff, 7], [], [0xff]];
  const lengths = packets.map((packet) => sampleCount(Uint8Array.from(packet)));
  assert.equal(lengths.join(), "960,120,960,5760,1920,5760,0,0,0,0");
});

test("pieces follow each other without a gap, 60 ms after they came, whatever the two clocks say", () => {
  const { placed, waits } = play(500, (time) => time + 30 + (time / 20 % 3) * 5);
  assert.ok(placed.every(({ at }, index) => index === 0 || at === end(placed[index - 1])));
  assert.equal(placed.length, 500);
  assert.equal(Math.round(waits[0]), 60);
  assert.ok(placed.every(({ count }) => count === 960));
});

test("clocks that drift apart shorten or lengthen pieces a little, without a gap", () => {
  for (const drift of [200, -200]) {
    const { placed, waits } = play(30_000, (time) => time + 30, drift);
    const joints = placed.every((one, index) => index === 0 || one.at === end(placed[index - 1]));
    const lengths = [...new Set(placed.map(({ count }) => count))].sort().join();
    assert.equal(placed.length, 30_000);
    assert.ok(joints);
    assert.ok(Math.min(...waits) > 19 && Math.max(...waits) < 82);
    assert.equal(lengths, drift > 0 ? "960,965" : "955,960");
  }
});

test("after a stall the newest is played, and the sound doesn't fall behind; a longer path is waited for", () => {
  const stall = play(1000, (time) => (time > 5000 && time < 5200 ? 5230 : time + 30));
  const longer = play(1000, (time) => time + (time < 5000 ? 30 : 180));
  assert.ok([stall, longer].every(({ placed }) => placed.length >= 990 && placed.length < 1000));
  assert.ok(Math.max(...stall.waits) < 90);
  assert.ok(Math.max(...longer.waits) < 90);
  assert.ok(longer.waits.at(-1) > 19);
  assert.ok(stall.waits.at(-1) > 19);
});

test("when a longer path is as short again, the wait is so too within seconds, without a gap", () => {
  const isLonger = (time) => time >= 5000 && time < 25_000;
  const arrive = (time) => (isLonger(time) ? time + 400 : Math.max(time > 5000 ? 25_380 : 0, time + 30));
  const { placed, waits } = play(2000, arrive);
  const last = placed.slice(-1500);
  assert.ok(last.every((one, index) => index === 0 || one.at === end(last[index - 1])));
  assert.ok(Math.max(...waits) > 400);
  assert.ok(Math.max(...waits.slice(-50)) < 90);
  assert.ok(waits.at(-1) > 19);
});

test("where captures are closer to each other than pieces are long, a piece is left out at times, and no gap", () => {
  const { placed, waits } = play(5000, (time) => time + 30, 0, 19.95);
  assert.ok(placed.every((one, index) => index === 0 || one.at === end(placed[index - 1])));
  assert.ok(placed.length > 4980);
  assert.ok(placed.length < 4995);
  assert.ok(Math.min(...waits) > 40);
  assert.ok(Math.max(...waits) < 90);
});

test("a longer or shorter piece has the same wave", () => {
  const wave = (length, period) => Float32Array.from({ length }, (_, index) => Math.sin(index / period));
  const made = stretched(wave(960, 17), 965);
  const wanted = wave(965, 17 * 965 / 960);
  assert.ok(made.every((sample, index) => Math.abs(sample - wanted[index]) < 0.001));
  assert.equal(made.length, 965);
  assert.equal(stretched(wanted, 965), wanted);
});
