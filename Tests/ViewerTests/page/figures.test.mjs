// What is reckoned for the picture's place, the charts and the list of paths.

import assert from "node:assert/strict";
import test from "node:test";

import {
  bitRateText, delayText, frameRateText, lagText, lossText,
} from "../../../Sources/Rooms/Viewer/page/figures/figures.js";
import { readPaths } from "../../../Sources/Rooms/Viewer/page/figures/paths.js";
import { median, roundTop, Series } from "../../../Sources/Rooms/Viewer/page/figures/series.js";
import {
  centred, centreOf, fillScale, fitScale, limitScale, panned, settle, sourceSize, zoomedAt,
} from "../../../Sources/Rooms/Viewer/page/view/zoom.js";

test("a picture is fitted, and fills, by its nearer and farther sides", () => {
  const [view, picture] = [{ width: 1000, height: 500 }, { width: 400, height: 400 }];
  assert.equal(fitScale(view, picture), 1.25);
  assert.equal(fillScale(view, picture), 2.5);
});

test("what lies under the pointer stays there through a zoom", () => {
  const [view, picture] = [{ width: 1000, height: 500 }, { width: 2000, height: 1000 }];
  const from = settle({ scale: 0.5, x: 0, y: 0 }, view, picture);
  const to = zoomedAt(from, 1, { x: 250, y: 400 }, view, picture);
  const under = ({ scale, x, y }) => [(250 - x) / scale, (400 - y) / scale].join();
  assert.equal(under(from), "500,800");
  assert.equal(under(to), "500,800");
});

test("there is no empty space at a side while the picture goes on at the other", () => {
  const [view, picture] = [{ width: 100, height: 100 }, { width: 200, height: 50 }];
  const far = panned({ scale: 1, x: 0, y: 0 }, -1000, 1000, view, picture);
  const near = panned(far, 5000, 0, view, picture);
  assert.equal(far.x, -100);
  assert.equal(far.y, 25);
  assert.equal(near.x, 0);
});

test("the middle stays the middle when the window changes", () => {
  const picture = { width: 1000, height: 1000 };
  const from = { scale: 2, x: -900, y: -700 };
  const centre = centreOf(from, { width: 400, height: 400 }, picture);
  const to = centred(2, centre, { width: 800, height: 200 }, picture);
  const now = centreOf(to, { width: 800, height: 200 }, picture);
  assert.ok(Math.abs(centre.x - now.x) < 1e-9);
  assert.ok(Math.abs(centre.y - now.y) < 1e-9);
});

test("a scale is neither smaller than the window's nor so large that nothing is to be seen", () => {
  const [view, picture] = [{ width: 500, height: 500 }, { width: 1000, height: 1000 }];
  assert.equal(limitScale(0.01, view, picture, 1), 0.5);
  assert.equal(limitScale(99, view, picture, 1), 8);
  assert.equal(limitScale(99, view, picture, 2), 4);
  assert.equal(limitScale(0.01, { width: 2000, height: 2000 }, picture, 1), 1);
});

test("a video of half the sides has its source's size, and any other its own", () => {
  const size = (video, told) => {
    const source = told && { width: told[0], height: told[1] };
    const { width, height } = sourceSize({ width: video[0], height: video[1] }, source);
    return `${width}x${height}`;
  };
  assert.equal(size([640, 360], [1280, 720]), "1280x720");
  assert.equal(size([684, 384], [1366, 767]), "1366x767");
  assert.equal(size([1280, 720], [1280, 720]), "1280x720");
  assert.equal(size([640, 480], [1280, 720]), "640x480");
  assert.equal(size([640, 360], null), "640x360");
});

test("the last minute is kept, gaps and all", () => {
  const series = new Series(3);
  assert.equal(series.length, 0);
  assert.equal(series.range, null);
  assert.equal(series.ago(0), null);
  assert.equal(series.path(100, 10, 10), "");
  for (const value of [9, 1, null, 5]) series.push(value);
  assert.equal(series.length, 3);
  assert.equal(series.range.join(), "1,5");
  assert.equal(series.ago(0), 5);
  assert.equal(series.ago(1), null);
  assert.equal(series.ago(2), 1);
  assert.equal(series.ago(3), null);
  assert.equal(series.last(2).join(), "5");
});

test("a line ends at the right edge, and is broken where nothing was measured", () => {
  const series = new Series(5);
  for (const value of [0, 10, NaN, 20]) series.push(value);
  assert.equal(series.path(100, 10, 10), "M25.0 10.0h0L50.0 0.0M100.0 0.0h0");
});

test("tops are round, and the middle is the middle", () => {
  assert.equal([0, 3, 11, 47, 51, 100].map((value) => roundTop(value, 5)).join(), "5,5,20,50,100,100");
  assert.equal(median([]), null);
  assert.equal(median([5, 100, 1]), 5);
});

test("figures are as coarse as they are sure", () => {
  assert.equal(delayText(41.6), "42 ms");
  assert.equal(delayText(1234), "1230 ms");
  assert.equal(delayText(null), "");
  assert.equal(bitRateText(999_400), "999 kbit/s");
  assert.equal(bitRateText(1_250_000), "1.3 Mbit/s");
  assert.equal(frameRateText(29.6), "30 fps");
  assert.equal(lossText(0.52), "0.5 %");
});

test("a line through negative values has zero in its middle", () => {
  const series = new Series(3);
  for (const value of [-10, 0, 10]) series.push(value);
  assert.equal(series.path(100, 10, 10, -10), "M0.0 10.0h0L50.0 5.0L100.0 0.0");
});

test("a lag has its sign", () => {
  assert.equal([12.4, -12.4, 0.2, -0.2, null].map(lagText).join(), "+12 ms,−12 ms,0 ms,0 ms,");
});

test("the path is that of the selected pair, and each better one has its reason", () => {
  const report = new Map([
    { id: "a", type: "local-candidate", candidateType: "host", protocol: "udp", address: "192.168.1.2" },
    { id: "b", type: "local-candidate", candidateType: "host", protocol: "tcp", address: "192.168.1.2" },
    { id: "c", type: "local-candidate", candidateType: "relay", protocol: "udp", relayProtocol: "tls",
      url: "turns:relay.example:443", address: "2001:db8::1" },
    { id: "r", type: "remote-candidate", candidateType: "host", protocol: "udp", address: "10.0.0.1" },
    { id: "1", type: "candidate-pair", localCandidateId: "a", remoteCandidateId: "r", state: "in-progress" },
    { id: "2", type: "candidate-pair", localCandidateId: "b", remoteCandidateId: "r", state: "failed" },
    { id: "3", type: "candidate-pair", localCandidateId: "c", remoteCandidateId: "r", state: "succeeded" },
    { id: "t", type: "transport", selectedCandidatePairId: "3" },
  ].map((one) => [one.id, one]));
  const answer = "a=candidate:1 1 udp 9 10.0.0.1 5 typ host\r\na=candidate:2 1 tcp 8 10.0.0.1 5 typ host\r\n";
  const traces = { errors: [], answer, answered: 1000, report, servers: [{ urls: "turns:relay.example:443" }] };
  const text = ({ used, others }) => [used?.kind, used?.host, used?.protocol, used?.local?.family,
    ...others.map(({ kind, key, code }) => [kind, key, code].filter(Boolean).join(":"))].join();
  const errors = [{ url: "turns:relay.example:443", errorCode: 701, errorText: "no route" }];
  const lost = { ...traces, errors, report: null, answer: "" };
  assert.equal(text(readPaths(traces, false, 9000)), "relay,relay.example,tls,IPv6,udp:noAnswer,tcp:refused");
  assert.equal(text(readPaths(lost, true, 9000)), "webSocket,,,,udp:notOffered,tcp:notOffered,relay:error:701");
  const unanswered = { ...lost, answered: 0, servers: [] };
  assert.equal(text(readPaths(unanswered, false, 0)), ",,,,udp:trying,tcp:trying,relay:notConfigured");
  assert.equal(text(readPaths(null, true, 0)), "webSocket,,,");
});
