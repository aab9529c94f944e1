// Fragmented MP4 with one track, of H.264 (ISO/IEC 14496-12 and -15) or of Opus ("Encapsulation of Opus in ISO Base
// Media File Format"), for Media Source. Nothing here accesses the page.

import { RATE } from "./opus.js";

/** The clock rate of the times and durations of pictures, in ticks per second. Those of sound are in samples. */
export const TIMESCALE = 90_000;

const TRACK = 1;
// Sample flags (ISO/IEC 14496-12 section 8.8.3.1): what the sample depends on, and whether it is no sync sample.
const KEY_FLAGS = 0x02000000;
const OTHER_FLAGS = 0x01010000;
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

const u8 = (...values) => Uint8Array.from(values);
const u16 = (...values) => join(values.map((value) => u8(value >> 8, value)));
const u32 = (...values) => join(values.map((value) => u8(value >>> 24, value >>> 16, value >>> 8, value)));
const u64 = (value) => u32(Math.floor(value / 2 ** 32), value % 2 ** 32);
/** @type {(value: string) => Uint8Array} */
const text = (value) => Uint8Array.from(value, (character) => character.charCodeAt(0));

/** Returns the byte arrays one after another. */
export function join(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function box(type, ...parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return join([u32(length), text(type), ...parts]);
}

const fullBox = (type, version, flags, ...parts) => box(type, u32(version * 0x1000000 + flags), ...parts);

/**
 * Returns the initialization segment of a stream with the parameter sets `sps` and `pps`, both lists, whose first SPS
 * is `facts`, as `readSPS` gives it.
 *
 * Neither the movie nor its fragments have a duration, so browsers take it for live: Chromium then shows each picture
 * as soon as it is decoded, and decodes it without waiting for others.
 */
export function initSegment(sps, pps, facts) {
  const { width, height } = facts;
  const entry = box("avc1",
    u32(0), u16(0, 1), new Uint8Array(16), u16(width, height), u32(0x480000, 0x480000, 0), u16(1), new Uint8Array(32),
    u16(24, 0xffff), configuration(sps, pps, facts));
  const header = fullBox("vmhd", 0, 1, u32(0, 0));
  return movie(entry, { header, handler: "vide", name: "video", timescale: TIMESCALE, volume: 0, width, height });
}

/** Returns the initialization segment of sound: Opus in mono and stereo, whose decoders give two channels. */
export function soundInitSegment() {
  const entry = box("Opus",
    u32(0), u16(0, 1), new Uint8Array(8), u16(2, 16, 0, 0), u32(RATE * 65_536),
    box("dOps", u8(0, 2), u16(0), u32(RATE), u16(0), u8(0)));
  const header = fullBox("smhd", 0, 0, u32(0));
  const facts = { handler: "soun", name: "sound", timescale: RATE, volume: 0x100, width: 0, height: 0 };
  return movie(entry, { header, ...facts });
}

function movie(entry, { header, handler, name, timescale, volume, width, height }) {
  const table = box("stbl",
    fullBox("stsd", 0, 0, u32(1), entry), fullBox("stts", 0, 0, u32(0)), fullBox("stsc", 0, 0, u32(0)),
    fullBox("stsz", 0, 0, u32(0, 0)), fullBox("stco", 0, 0, u32(0)));
  const information = box("minf",
    header, box("dinf", fullBox("dref", 0, 0, u32(1), fullBox("url ", 0, 1))), table);
  const media = box("mdia",
    fullBox("mdhd", 0, 0, u32(0, 0, timescale, 0), u16(0x55c4, 0)),
    fullBox("hdlr", 0, 0, u32(0), text(handler), u32(0, 0, 0), text(`${name}\0`)), information);
  const track = box("trak",
    fullBox("tkhd", 0, 3, u32(0, 0, TRACK, 0, 0, 0, 0), u16(0, 0, volume, 0),
      u32(...IDENTITY, width * 65_536, height * 65_536)),
    media);
  const all = box("moov",
    fullBox("mvhd", 0, 0, u32(0, 0, timescale, 0, 0x10000), u16(0x100, 0),
      u32(0, 0, ...IDENTITY, 0, 0, 0, 0, 0, 0, TRACK + 1)),
    track, box("mvex", fullBox("trex", 0, 0, u32(TRACK, 1, 0, 0, 0))));
  return join([box("ftyp", text("iso6"), u32(1), text("iso6avc1mp41")), all]);
}

/** AVCDecoderConfigurationRecord (ISO/IEC 14496-15 section 5.3.3.1), with lengths of four bytes. */
function configuration(sps, pps, { profile, chroma, lumaDepth, chromaDepth }) {
  const sets = (units) => join(units.flatMap((unit) => [u16(unit.length), unit]));
  const isHigh = [100, 110, 122, 144, 244].includes(profile);
  return box("avcC",
    u8(1), sps[0].subarray(1, 4), u8(0xff, 0xe0 | sps.length), sets(sps), u8(pps.length), sets(pps),
    isHigh ? u8(0xfc | chroma, 0xf8 | lumaDepth, 0xf8 | chromaDepth, 0) : u8());
}

/**
 * Returns a media segment with one picture, whose NAL units are `units`, without parameter sets. `time` and `duration`
 * are in ticks; `sequence` counts segments from 1.
 */
export function mediaSegment({ sequence, time, duration, units, isKey }) {
  const data = join(units.flatMap((unit) => [u32(unit.length), unit]));
  return segment(sequence, time, duration, data, isKey ? KEY_FLAGS : OTHER_FLAGS);
}

/** Returns a media segment with one packet of Opus, whose time and duration are in samples. */
export function soundSegment({ sequence, time, duration, packet }) {
  return segment(sequence, time, duration, packet, KEY_FLAGS);
}

function segment(sequence, time, duration, data, flags) {
  const fragment = (offset) => box("moof",
    fullBox("mfhd", 0, 0, u32(sequence)),
    box("traf",
      // Offsets count from the beginning of this box.
      fullBox("tfhd", 0, 0x20000, u32(TRACK)), fullBox("tfdt", 1, 0, u64(time)),
      fullBox("trun", 0, 0x701, u32(1, offset, duration, data.length, flags))));
  return join([fragment(fragment(0).length + 8), box("mdat", data)]);
}
