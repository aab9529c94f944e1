// H.264 in the byte stream format (ITU-T H.264 Annex B). Nothing here accesses the page.

const SPS = 7;
const PPS = 8;
const DELIMITER = 9;
// Profiles whose parameter sets tell the chroma format (section 7.3.2.1.1).
const WITH_CHROMA = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
// num_ref_frames_in_pic_order_cnt_cycle is no more than this (section 7.4.2.1.1).
const LONGEST_CYCLE = 255;

/** Returns the NAL units of an access unit, without their start codes. */
export function nalUnits(bytes) {
  const units = [];
  let begin = -1;
  const add = (end) => {
    // A unit never ends with a zero, so zeros belong to the next start code.
    while (end > begin && bytes[end - 1] === 0) end -= 1;
    if (begin >= 0 && end > begin) units.push(bytes.subarray(begin, end));
  };
  let at = 0;
  while (at + 2 < bytes.length) {
    if (bytes[at + 2] > 1) {
      at += 3;
    } else if (bytes[at + 2] === 1 && bytes[at] === 0 && bytes[at + 1] === 0) {
      add(at);
      begin = at + 3;
      at += 3;
    } else {
      at += 1;
    }
  }
  add(bytes.length);
  return units;
}

/** Sorts NAL units into sequence parameter sets, picture parameter sets, and those of the picture itself. */
export function sorted(units) {
  const sets = { sps: [], pps: [], picture: [] };
  for (const unit of units) {
    const type = unit[0] & 31;
    if (type === SPS) sets.sps.push(unit);
    else if (type === PPS) sets.pps.push(unit);
    else if (type !== DELIMITER) sets.picture.push(unit);
  }
  return sets;
}

/**
 * Reads a sequence parameter set (section 7.3.2.1.1): `codec` as in "avc1.42E01F" (RFC 6381), `width` and `height` in
 * pixels, `profile`, `chroma` (chroma_format_idc) and the bits of a sample beyond 8, `lumaDepth` and `chromaDepth`.
 * Returns null if it can't be one.
 */
export function readSPS(unit) {
  if (unit.length < 5) return null;
  const bits = new Bits(unit.subarray(4));
  const profile = unit[1];
  let [chroma, lumaDepth, chromaDepth] = [1, 0, 0];
  bits.golomb();
  if (WITH_CHROMA.has(profile)) {
    chroma = bits.golomb();
    if (chroma === 3) bits.read(1);
    lumaDepth = bits.golomb();
    chromaDepth = bits.golomb();
    bits.read(1);
    if (bits.read(1)) skipScaling(bits, chroma === 3 ? 12 : 8);
  }
  bits.golomb();
  skipOrder(bits);
  bits.golomb();
  bits.read(1);
  const columns = bits.golomb() + 1;
  const rows = bits.golomb() + 1;
  const fields = bits.read(1) ? 1 : 2;
  if (fields === 2) bits.read(1);
  bits.read(1);
  const crop = bits.read(1) ? [0, 0, 0, 0].map(() => bits.golomb()) : [0, 0, 0, 0];
  const unitX = chroma === 1 || chroma === 2 ? 2 : 1;
  const unitY = (chroma === 1 ? 2 : 1) * fields;
  const width = columns * 16 - (crop[0] + crop[1]) * unitX;
  const height = rows * 16 * fields - (crop[2] + crop[3]) * unitY;
  if (bits.isOver || chroma > 3 || !(width > 0 && width <= 16_384 && height > 0 && height <= 16_384)) return null;
  const digits = [...unit.subarray(1, 4)].map((byte) => byte.toString(16).padStart(2, "0"));
  const codec = `avc1.${digits.join("").toUpperCase()}`;
  return { codec, width, height, profile, chroma, lumaDepth, chromaDepth };
}

function skipScaling(bits, lists) {
  for (let list = 0; list < lists; list += 1) {
    if (!bits.read(1)) continue;
    let [last, next] = [8, 8];
    for (let index = 0; index < (list < 6 ? 16 : 64) && !bits.isOver; index += 1) {
      if (next !== 0) next = (last + bits.signed() + 256) % 256;
      if (next !== 0) last = next;
    }
  }
}

/** Skips the order in which pictures are shown. */
function skipOrder(bits) {
  const type = bits.golomb();
  if (type === 0) bits.golomb();
  if (type !== 1) return;
  bits.read(1);
  bits.golomb();
  bits.golomb();
  const count = Math.min(LONGEST_CYCLE, bits.golomb());
  for (let index = 0; index < count; index += 1) bits.golomb();
}

/** The bits of a parameter set, without the bytes that prevent the emulation of start codes. Past the end are zeros. */
class Bits {
  #bytes = [];
  #at = 0;

  constructor(bytes) {
    let zeros = 0;
    for (const byte of bytes) {
      if (zeros < 2 || byte !== 3) this.#bytes.push(byte);
      zeros = byte === 0 ? zeros + 1 : 0;
    }
  }

  /** Whether more has been read than there is. */
  get isOver() {
    return this.#at > this.#bytes.length * 8;
  }

  read(count) {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      const byte = this.#bytes[this.#at >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }

  /** An unsigned Exp-Golomb code (section 9.1). */
  golomb() {
    let zeros = 0;
    while (zeros < 32 && !this.isOver && this.read(1) === 0) zeros += 1;
    return 2 ** zeros - 1 + this.read(zeros);
  }

  signed() {
    const value = this.golomb();
    return value % 2 === 1 ? (value + 1) / 2 : -value / 2;
  }
}
