// The invite link's QR code.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { qrCode } from "../../../Sources/Rooms/Viewer/page/meeting/qrcode.js";

const INVITE = "http://192.168.1.7:8080/#screen,abcdefghijklmnopqrstuv";

test("a QR code is the same as from another program", () => {
  const rows = qrCode(INVITE);
  const bits = rows.flat().map(Number).join("");
  assert.equal(rows.length, 33);
  // By the package qrcode of PyPI: version 4, error correction M, mask 2.
  assert.equal(createHash("sha256").update(bits).digest("hex"),
    "b101146006bec55e1a9c27da9f22bdbe29e1e2e2fe6c02123d398635e67d20a2");
  assert.equal(qrCode("b".repeat(666)).length, 97);
  assert.equal(qrCode("b".repeat(667)), null);
});

test("another program reads the text in QR codes of all sizes", { skip: !existsSync("/usr/bin/zbarimg") }, () => {
  const folder = mkdtempSync(join(tmpdir(), "screenrelay-code-"));
  const file = join(folder, "code.pgm");
  for (const length of [1, 14, 15, 84, 122, 180, 181, 213, 287, 412, 560, 666]) {
    const text = INVITE.repeat(20).slice(0, length);
    const rows = qrCode(text);
    const size = (rows.length + 8) * 4;
    const pixels = Buffer.alloc(size * size, 255);
    for (let y = 0; y < size; y += 1) {
      for (let x = 0; x < size; x += 1) if (rows[(y >> 2) - 4]?.[(x >> 2) - 4]) pixels[y * size + x] = 0;
    }
    writeFileSync(file, Buffer.concat([Buffer.from(`P5 ${size} ${size} 255\n`), pixels]));
    const { stdout } = spawnSync("/usr/bin/zbarimg", ["-q", "--raw", file], { encoding: "utf8" });
    assert.equal(stdout, `${text}\n`);
  }
  rmSync(folder, { recursive: true });
});
