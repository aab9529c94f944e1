// QR codes (ISO/IEC 18004) of texts as bytes, with error correction M, which restores 15 %. They are made in the page,
// so that an invite link is sent nowhere.

// By version, from 1: the error correction bytes of each block, and the number of blocks.
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

const MASKS = [
  (x, y) => (x + y) % 2 === 0,
  (x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Returns the modules of the smallest code, row by row, true for dark; null if the text has more than 666 bytes. */
export function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = 1 + BLOCKS.findIndex((_, index) => bytes.length + (index < 9 ? 2 : 3) <= dataLength(index + 1));
  if (version === 0) return null;
  const codewords = corrected(padded(bytes, version), version);
  const codes = MASKS.map((_, mask) => drawn(codewords, version, mask));
  const penalties = codes.map(penalty);
  return codes[penalties.indexOf(Math.min(...penalties))];
}

// Codewords (sections 7.4 to 7.6)

/** The number of codewords of a version. */
function codeLength(version) {
  let modules = (16 * version + 128) * version + 64;
  if (version > 1) {
    const lines = Math.floor(version / 7) + 2;
    modules -= (25 * lines - 10) * lines - 55;
  }
  return Math.floor((version > 6 ? modules - 36 : modules) / 8);
}

const dataLength = (version) => codeLength(version) - CORRECTION[version - 1] * BLOCKS[version - 1];

/** The bytes between their mode and length and the end mark, filled up to the version's size. */
function padded(bytes, version) {
  // The mode and the end mark have four bits each.
  const halves = [4];
  for (let shift = version < 10 ? 4 : 12; shift >= 0; shift -= 4) halves.push((bytes.length >> shift) & 15);
  for (const byte of bytes) halves.push(byte >> 4, byte & 15);
  halves.push(0);
  const data = [];
  for (let index = 0; index < halves.length; index += 2) data.push((halves[index] << 4) | halves[index + 1]);
  for (let fill = 0xec; data.length < dataLength(version); fill ^= 0xfd) data.push(fill);
  return data;
}

/** The data in blocks with their error correction, interleaved. The last blocks may be one byte longer. */
function corrected(data, version) {
  const count = BLOCKS[version - 1];
  const least = Math.floor(data.length / count);
  const longer = data.length % count;
  const blocks = [];
  for (let index = 0, from = 0; index < count; index += 1) {
    const length = least + (index >= count - longer ? 1 : 0);
    blocks.push(data.slice(from, from + length));
    from += length;
  }
  const corrections = blocks.map((block) => remainder(block, CORRECTION[version - 1]));
  return [...across(blocks), ...across(corrections)];
}

/** The first byte of each block, then the second of each, and so on. */
function across(blocks) {
  const longest = Math.max(...blocks.map(({ length }) => length));
  const bytes = [];
  for (let index = 0; index < longest; index += 1) {
    for (const block of blocks) if (index < block.length) bytes.push(block[index]);
  }
  return bytes;
}

/** The product in GF(256) modulo x⁸ + x⁴ + x³ + x² + 1. */
function product(a, b) {
  let result = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    result = (result << 1) ^ (result >> 7 ? 0x11d : 0);
    if ((b >> bit) & 1) result ^= a;
  }
  return result;
}

/** The Reed-Solomon code of a block, `length` bytes. */
function remainder(block, length) {
  // (x - 2⁰)(x - 2¹) …, without its first coefficient, which is 1.
  let divisor = [];
  for (let step = 0, root = 1; step < length; step += 1, root = product(root, 2)) {
    const shifted = [...divisor, 0];
    divisor = shifted.map((value, index) => value ^ product(index === 0 ? 1 : divisor[index - 1], root));
  }
  let rest = Array.from({ length }, () => 0);
  for (const byte of block) {
    const factor = byte ^ rest[0];
    rest = [...rest.slice(1), 0].map((value, index) => value ^ product(divisor[index], factor));
  }
  return rest;
}

// Modules (sections 6.3 and 7.7 to 7.10)

/** The code with this mask. */
function drawn(codewords, version, mask) {
  const side = 4 * version + 17;
  const rows = Array.from({ length: side }, () => Array.from({ length: side }, () => null));
  const set = (x, y, isDark) => {
    if (x >= 0 && y >= 0 && x < side && y < side) rows[y][x] = Boolean(isDark);
  };
  drawPatterns(set, rows, version);
  drawFormat(set, side, mask);
  if (version > 6) drawVersion(set, side, version);
  let bit = 0;
  // Column 6 has the timing pattern, and no data.
  for (let right = side - 1, isUpward = true; right > 0; right -= right === 8 ? 3 : 2, isUpward = !isUpward) {
    for (let step = 0; step < side; step += 1) {
      const y = isUpward ? side - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (rows[y][x] !== null) continue;
        // Bits beyond the last codeword are 0.
        const isSet = ((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
        rows[y][x] = Boolean(isSet) !== MASKS[mask](x, y);
        bit += 1;
      }
    }
  }
  return rows;
}

/** Draws the patterns that each code of a version has. */
function drawPatterns(set, rows, version) {
  const side = rows.length;
  for (let index = 0; index < side; index += 1) {
    set(6, index, index % 2 === 0);
    set(index, 6, index % 2 === 0);
  }
  const square = (left, top, reach, isDark) => {
    for (let y = -reach; y <= reach; y += 1) {
      for (let x = -reach; x <= reach; x += 1) set(left + x, top + y, isDark(Math.max(Math.abs(x), Math.abs(y))));
    }
  };
  for (const [x, y] of [[3, 3], [side - 4, 3], [3, side - 4]]) {
    square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  }
  const places = alignment(version);
  for (const x of places) {
    for (const y of places) {
      // The finder patterns are in the other corners.
      const isCorner = Math.min(x, y) === 6 && [6, side - 7].includes(Math.max(x, y));
      if (!isCorner) square(x, y, 2, (distance) => distance !== 1);
    }
  }
}

/** The rows, and columns, of the alignment patterns' centres. */
function alignment(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = 4 * version + 10;
  const step = 2 * Math.ceil((4 * version + 4) / (2 * count - 2));
  return [6, ...Array.from({ length: count - 1 }, (_, index) => last - step * (count - 2 - index))];
}

/** Draws error correction M (00) and the mask, with their BCH code, twice, and the module that is always dark. */
function drawFormat(set, side, mask) {
  let rest = mask;
  for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ (rest >> 9 ? 0x537 : 0);
  const bits = ((mask << 10) | rest) ^ 0x5412;
  for (let index = 0; index < 15; index += 1) {
    const isSet = (bits >> index) & 1;
    // Around the finder pattern, where the timing patterns interrupt the line.
    if (index < 8) set(8, index < 6 ? index : index + 1, isSet);
    else set(index === 8 ? 7 : 14 - index, 8, isSet);
    if (index < 8) set(side - 1 - index, 8, isSet);
    else set(8, side - 15 + index, isSet);
  }
  set(8, side - 8, true);
}

/** Draws the version with its BCH code, twice. */
function drawVersion(set, side, version) {
  let rest = version;
  for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ (rest >> 11 ? 0x1f25 : 0);
  const bits = (version << 12) | rest;
  for (let index = 0; index < 18; index += 1) {
    const [near, far] = [Math.floor(index / 3), side - 11 + (index % 3)];
    set(near, far, (bits >> index) & 1);
    set(far, near, (bits >> index) & 1);
  }
}

/** How badly scanners would read a code: the mask with the least is used (section 7.8.3). */
function penalty(rows) {
  const side = rows.length;
  const columns = rows.map((_, x) => rows.map((row) => row[x]));
  let sum = 0;
  for (const line of [...rows, ...columns]) {
    const text = line.map((isDark) => (isDark ? "1" : "0")).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
    sum += 40 * (text.match(/(?=10111010000|00001011101)/g) ?? []).length;
  }
  let dark = 0;
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const isDark = rows[y][x];
      dark += isDark ? 1 : 0;
      const isBlock = y > 0 && x > 0 && isDark === rows[y - 1][x] && isDark === rows[y][x - 1]
        && isDark === rows[y - 1][x - 1];
      sum += isBlock ? 3 : 0;
    }
  }
  return sum + 10 * Math.floor(Math.abs((20 * dark) / side ** 2 - 10));
}
