// The texts in both languages.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import * as chatWords from "../../../Sources/Rooms/Viewer/page/chat/chatwords.js";
import { pathWords } from "../../../Sources/Rooms/Viewer/page/figures/pathwords.js";
import * as inviteWords from "../../../Sources/Rooms/Viewer/page/meeting/invitewords.js";
import { en, zh } from "../../../Sources/Rooms/Viewer/page/meeting/meetingwords.js";
import * as meetWords from "../../../Sources/Rooms/Viewer/page/meeting/meetwords.js";
import * as peopleWords from "../../../Sources/Rooms/Viewer/page/meeting/peoplewords.js";
import { pointWords } from "../../../Sources/Rooms/Viewer/page/point/pointwords.js";
import { soundWords } from "../../../Sources/Rooms/Viewer/page/sound/soundwords.js";
import { chinese } from "../../../Sources/Rooms/Viewer/page/words/chinese.js";
import { english } from "../../../Sources/Rooms/Viewer/page/words/english.js";
import { messages } from "../../../Sources/Rooms/Viewer/page/words/messages.js";
import { chooseLanguage } from "../../../Sources/Rooms/Viewer/page/words/language.js";

test("the address chooses the language, then the reader's list does", () => {
  assert.equal(chooseLanguage("?lang=zh", ["en"]), "zh");
  assert.equal(chooseLanguage("", ["zh-TW"]), "zh");
  assert.equal(chooseLanguage("?lang=xx", ["de", "zh_CN", "en"]), "zh");
  assert.equal(chooseLanguage("", []), "en");
  assert.equal(chooseLanguage("", [undefined, "ZH-Hans"]), "zh");
});

test("both languages have the same words", () => {
  const kinds = (table) => JSON.stringify(Object.keys(table).sort().map((key) => {
    const value = table[key];
    const inside = typeof value === "object" && !Array.isArray(value) ? Object.keys(value).sort() : [];
    return [key, typeof value, value.length && typeof value === "function" ? value.length : 0, inside];
  }));
  assert.equal(kinds(english), kinds(chinese));
  for (const tables of [{ en, zh }, chatWords, inviteWords, meetWords, peopleWords, pointWords, soundWords, pathWords]) {
    assert.equal(kinds(tables.en), kinds(tables.zh));
  }
});

test("a host's reason that stands alone is a sentence", () => {
  assert.equal(messages.sourceGone("the browser of Ann has ended", null).title, "The browser of Ann has ended.");
  assert.equal(messages.sourceGone("", null).title, english.sourceAbsent);
  assert.equal(messages.sourceGone("Ann has left", 5).title, english.sourceGone(5, "Ann has left"));
});

test("no text in Chinese is left in English", () => {
  const names = new RegExp(
    "ScreenRelay|WebRTC|Firefox|Chromium|Chrome|Edge|Safari|OpenH264|FFmpeg|libavcodec|H\\.264|UDP|TCP|STUN|WebSocket"
      + "|Ctrl|Esc|https|--lan|--allow-origin|\\([A-Z?1]\\)", "g");
  const texts = (value) => typeof value === "function" ? texts(value([3], "二")).concat(texts(value([3], "")))
    : typeof value === "object" ? Object.values(value).flatMap(texts) : [String(value)];
  assert.equal(chinese.hostSays("a reason that nobody has translated"), "");
  assert.notEqual(chinese.hostSays("The screen is locked."), "");
  for (const lack of ["has too little memory", "is too busy"]) {
    assert.notEqual(chinese.hostSays(`the host ${lack} for another viewer`), "");
  }
  const tables = [
    chinese, zh, chatWords.zh, inviteWords.zh, meetWords.zh, peopleWords.zh, pointWords.zh, soundWords.zh, pathWords.zh,
  ];
  for (const text of tables.flatMap(texts)) {
    assert.doesNotMatch(text.replace(names, ""), /[a-z]/i);
  }
});

test("one is counted as one", () => {
  assert.equal(en.peopleCount(1), "1 person is watching");
  assert.equal(en.peopleCount(2), "2 people are watching");
  assert.equal(peopleWords.en.unlisted(1), "1 more person");
  assert.equal(zh.peopleCount(1), "1 人在观看");
});
