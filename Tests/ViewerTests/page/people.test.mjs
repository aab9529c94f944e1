// The people in the room: their number, and the list of them.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "./fakes/fakeelement.mjs";
import { en as roomWords } from "../../../Sources/Rooms/Viewer/page/meeting/meetingwords.js";
import { People } from "../../../Sources/Rooms/Viewer/page/meeting/people.js";
import { en as words } from "../../../Sources/Rooms/Viewer/page/meeting/peoplewords.js";

/** A page whose viewer has joined the room as "me", with `members` in it. */
function joined(...members) {
  const places = new Map(["people", "meeting-controls", "spoken"].map((id) => [id, new FakeElement("section")]));
  const news = new EventTarget();
  Object.assign(document, {
    getElementById: (id) => places.get(id),
    addEventListener: news.addEventListener.bind(news),
    dispatchEvent: news.dispatchEvent.bind(news),
  });
  const panel = places.get("people");
  panel.hidden = true;
  const visits = [];
  const sent = [];
  const viewer = Object.assign(new EventTarget(), {
    introduction: {}, tracks: { all: [] }, visit: "secret", start: () => visits.push(viewer.introduction.name),
    send: (name, data) => sent.push([name, data.action, data.socketId]),
    tell: (type, detail) => viewer.dispatchEvent(new CustomEvent(type, { detail })),
  });
  const { tell } = viewer;
  const people = new People(viewer);
  const [button] = places.get("meeting-controls").children;
  tell("joined", { you: "me" });
  tell("_people", { count: members.length, members });
  return { panel, people, button, tell, viewer, visits, sent, spoken: places.get("spoken") };
}

/** Waits until `condition` holds. */
async function until(condition) {
  const deadline = performance.now() + 10_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, `not within 10 s: ${condition}`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
}

/** Opens the panel, and returns its parts. */
async function opened({ panel, button }) {
  button.click();
  await until(() => panel.children.length > 0);
  const [header, door, list, screens] = panel.children;
  return { title: header.children[0], door, list, screens };
}

const texts = ({ children }) => children.map(({ textContent }) => textContent);
const ann = { socketId: "a", name: "Ann" };
const me = { socketId: "me" };

test("the button counts the people, and the list is made when it is opened", async () => {
  const page = joined(ann, me);
  assert.equal(page.button.getAttribute("aria-label"), roomWords.peopleCount(2));
  assert.ok(!page.button.hidden && page.panel.hidden && page.panel.children.length === 0);
  const { title, list } = await opened(page);
  assert.equal(title.textContent, roomWords.peopleCount(2));
  assert.equal(document.activeElement, title);
  assert.ok(list.children[0].textContent.includes(words.you));
  assert.deepEqual(texts(list).slice(1), ["Ann"]);
  page.tell("_people", { count: 4, members: [ann, { socketId: "b", meeting: true }] });
  assert.deepEqual(texts(list).slice(1), ["Ann", `${roomWords.guest("b")}${words.inMeeting}`, words.unlisted(1)]);
  assert.equal(page.button.getAttribute("aria-label"), roomWords.peopleCount(4));
});

test("what is in the panel already stays below the list", async () => {
  const page = joined(me);
  const link = new FakeElement("div");
  page.panel.append(link);
  page.button.click();
  await until(() => page.panel.children.length > 1);
  assert.equal(page.panel.lastChild, link);
});

test("a panel that is closed while it is loaded stays closed", async () => {
  const page = joined(me);
  page.button.click();
  page.button.click();
  await until(() => page.panel.children.length > 0);
  assert.ok(page.panel.hidden);
  assert.equal(document.activeElement, page.button);
});

test("a name with markup is text, and another name of our own makes another visit", async () => {
  const name = "<img src=x onerror=alert(1)>\u202e";
  const page = joined({ ...ann, name }, me);
  const { list } = await opened(page);
  assert.equal(list.children[1].textContent, "<img src=x onerror=alert(1)>");
  const [, rename, form] = list.children[0].children;
  rename.click();
  form.children[1].value = " Bo ";
  form.dispatchEvent(new Event("submit", { cancelable: true }));
  assert.deepEqual(page.visits, ["Bo"]);
});

test("asked for the name, the list opens with the form for it", async () => {
  const page = joined(me);
  page.tell("nameless", {});
  await until(() => page.panel.children.length > 0);
  const [, , list] = page.panel.children;
  const [, rename, form] = list.children[0].children;
  await until(() => !form.hidden);
  assert.ok(!page.panel.hidden && rename.hidden && document.activeElement === form.children[1]);
});

test("an owner sees who waits and decides, with names as text, and locks the room", async () => {
  const page = joined(me);
  let knocks = 0;
  page.viewer.addEventListener("knock", () => { knocks += 1; });
  const { door } = await opened(page);
  const [list, all, lock, note] = door.children;
  assert.ok(door.hidden, "only owners are told of the door");
  page.tell("_door", { locked: false, members: [{ ...ann, name: "<b>Ann</b>\u202e" }] });
  assert.ok(!door.hidden && all.hidden);
  assert.deepEqual(texts(list), [`<b>Ann</b>${words.entry.admit}${words.entry.refuse}`]);
  assert.equal(page.button.getAttribute("aria-label"), `${roomWords.peopleCount(1)}: ${roomWords.knocking(1)}`);
  assert.equal(page.spoken.textContent, roomWords.knocking(1));
  page.tell("_door", { locked: true, members: [{ ...ann, name: "<b>Ann</b>\u202e" }, { socketId: "b" }, null, 1] });
  assert.equal(knocks, 2);
  assert.deepEqual([lock.textContent, note.textContent, all.hidden], [words.unlock, words.locked, false]);
  assert.deepEqual(page.people.facts.waiting, ["<b>Ann</b>", ""]);
  const [first, second] = list.children;
  for (const button of [first.children[1], second.children[2], all, lock]) button.click();
  page.tell("_door", { locked: false });
  lock.click();
  assert.deepEqual(page.sent, [
    ["__door", "admit", "a"], ["__door", "refuse", "b"], ["__door", "admit", "all"],
    ["__door", "unlock", undefined], ["__door", "lock", undefined],
  ]);
  assert.ok(list.hidden && all.hidden, "a room without a waiting room can be locked");
  assert.equal(knocks, 2);
});

test("a page in a frame doesn't decide who enters", () => {
  const { people, tell, viewer } = joined(me);
  const framed = new People(viewer, false);
  tell("_door", { locked: true, members: [ann] });
  assert.deepEqual([people.facts.locked, people.facts.waiting], [true, ["Ann"]]);
  assert.deepEqual([framed.facts.locked, framed.facts.waiting], [null, []]);
});

test("a user without a name types it in the list, which may not be loaded yet", async () => {
  const page = joined(me);
  page.tell("nameless", {});
  await until(() => page.panel.children.length > 0);
  const form = page.panel.children[2].children[0].children[2];
  await until(() => !form.hidden);
  assert.ok(!page.panel.hidden);
  assert.equal(document.activeElement, form.children[1]);
  document.activeElement = null;
  page.tell("nameless", {});
  await until(() => document.activeElement === form.children[1]);
});

test("the door is that of an owner's visit", async () => {
  const page = joined(me);
  const { door } = await opened(page);
  for (const [type, detail] of [["_turn", { turn: "none" }], ["_peers", {}], ["left", {}]]) {
    page.tell("_door", { locked: true });
    page.tell("_turn", { turn: "owner" });
    assert.ok(!door.hidden && page.people.facts.locked);
    page.tell(type, detail);
    assert.ok(door.hidden && page.people.facts.locked === null, type);
  }
});
