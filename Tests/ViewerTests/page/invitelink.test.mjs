// The invite link in the list of people.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/fakeelement.mjs";
import { InviteLink } from "../../../Sources/Rooms/Viewer/page/meeting/invitelink.js";
import { en as words } from "../../../Sources/Rooms/Viewer/page/meeting/invitewords.js";

globalThis.location = { origin: "http://192.168.1.7:8080", pathname: "/", search: "?lang=en", hash: "#screen,token" };
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });

/** The link's parts in a page that has joined the room as the host says, with `turn` before it was told. */
function joined(detail, isLoopback = false, turn = null) {
  location.hash = "#screen,token";
  const viewer = Object.assign(new EventTarget(), { link: { isLoopback } });
  const { root } = new InviteLink(viewer, turn);
  const [, link, copy, show, reach, note, code] = root.children;
  const tell = (told) => viewer.dispatchEvent(new CustomEvent("_peers", { detail: told }));
  tell(detail);
  return { link, copy, show, reach, note, code, tell };
}

/** Waits until `condition` holds. */
async function until(condition) {
  const deadline = performance.now() + 10_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, `not within 10 s: ${condition}`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
}

test("a link that lets others present, or works only on this machine, says so", () => {
  assert.equal(joined({}).reach.textContent, "");
  assert.equal(joined({ turn: "none" }).reach.textContent, "");
  // What a viewer may do during a visit isn't in its link.
  assert.equal(joined({ turn: "granted" }).reach.textContent, "");
  assert.equal(joined({ turn: "owner" }).reach.textContent, words.linkPresents);
  assert.equal(joined({ turn: "owner" }, true).reach.textContent, `${words.linkPresents} ${words.linkIsLocal}`);
  assert.equal(joined({}, true).reach.textContent, words.linkIsLocal);
  // The link's parts are loaded after the page has joined.
  assert.equal(joined({}, false, "owner").reach.textContent, words.linkPresents);
});

test("the presenters' link says so even if the turn was ended, and no other link does", () => {
  const { link, reach, tell } = joined({ turn: "owner" });
  assert.equal(link.value, "http://192.168.1.7:8080/#screen,token");
  tell({ turn: "none" });
  assert.equal(reach.textContent, words.linkPresents);
  location.hash = "#screen,other";
  tell({ turn: "none" });
  assert.equal(link.value, "http://192.168.1.7:8080/#screen,other");
  assert.equal(reach.textContent, "");
});

test("the link is copied, with or without a clipboard; if it can't be, it is selected for the user", async () => {
  const { link, copy, note } = joined({});
  const copied = [];
  const press = async () => {
    document.activeElement = null;
    note.textContent = "";
    copy.click();
    await until(() => note.textContent !== "");
  };
  navigator.clipboard = { writeText: async (text) => copied.push(text) };
  await press();
  assert.deepEqual(copied, ["http://192.168.1.7:8080/#screen,token"]);
  assert.deepEqual([note.textContent, document.activeElement], [words.linkCopied, copy]);

  navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
  await press();
  assert.deepEqual([note.textContent, document.activeElement], [words.copyByHand, link]);

  delete navigator.clipboard;
  for (const [isCopied, text, place] of [[true, words.linkCopied, copy], [false, words.copyByHand, link]]) {
    document.execCommand = (command) => command === "copy" && document.activeElement === link && isCopied;
    await press();
    assert.deepEqual([note.textContent, document.activeElement], [text, place]);
  }
});

test("the QR code is shown on request and is that of the current link; a note says if there is none", async () => {
  const { show, note, code, tell } = joined({});
  assert.equal(code.hidden, true);
  assert.equal(show.attributes.get("aria-expanded"), "false");
  show.click();
  assert.equal(show.attributes.get("aria-expanded"), "true");
  await until(() => code.children.length === 1);
  const [picture] = code.children;
  assert.equal(picture.attributes.get("role"), "img");
  assert.equal(picture.attributes.get("aria-label"), words.codeOfLink);
  const drawn = picture.children[0].attributes.get("d");

  location.hash = "#screen,other";
  tell({});
  assert.equal(code.hidden, true);
  show.click();
  await until(() => code.children[0] !== picture);
  assert.notEqual(code.children[0].children[0].attributes.get("d"), drawn);

  location.hash = `#${"a".repeat(700)}`;
  tell({});
  show.click();
  await until(() => note.textContent === words.noCode);
  assert.equal(code.children.length, 0);
});
