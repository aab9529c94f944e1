// Makes an MP4 of the access units of an H.264 stream, each in a segment of its own: node mux.mjs STREAM MP4

import { readFileSync, writeFileSync } from "node:fs";

import { nalUnits, readSPS, sorted } from "../../../Sources/Rooms/Viewer/page/fallback/annexb.js";
import { initSegment, join, mediaSegment, TIMESCALE } from "../../../Sources/Rooms/Viewer/page/fallback/mp4.js";

const [stream, made] = process.argv.slice(2);
const isPicture = (unit) => [1, 5].includes(unit[0] & 31);
const units = [];
for (const unit of nalUnits(new Uint8Array(readFileSync(stream)))) {
  // A picture begins with its first macroblock, or with what stands in front of that.
  const hasPicture = units.at(-1)?.some(isPicture) ?? true;
  if (hasPicture && !(isPicture(unit) && (unit[1] & 128) === 0)) units.push([]);
  units.at(-1).push(unit);
}
const parts = [];
units.map(sorted).forEach(({ sps, pps, picture }, index) => {
  if (index === 0) parts.push(initSegment(sps, pps, readSPS(sps[0])));
  const isKey = picture.some((unit) => (unit[0] & 31) === 5);
  const [sequence, time] = [index + 1, (index * TIMESCALE) / 25];
  parts.push(mediaSegment({ sequence, time, duration: 3 * TIMESCALE, units: picture, isKey }));
});
writeFileSync(made, join(parts));
