// The people in the room: their number, and the list of them.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "./fakeelement.mjs";
import { en as roomWords } from "../../../Sources/Rooms/Viewer/page/meeting/meetingwords.js";
import { People } from "../../../Sources/Rooms/Viewer/page/meeting/people.js";
import { en as words } from "../../../Sources/Rooms/Viewer/page/meeting/peoplewords.js";

/** A page whose viewer has joined the room as "me", with `members` in it. */
function joined(...members) {
  const places = new Map(["people", "meeting-controls"].map((id) => [id, new FakeElement("section")]));
  const news = new EventTarget();
  Object.assign(document, {
    getElementById: (id) => places.get(id),
    addEventListener: news.addEventListener.bind(news),
    dispatchEvent: news.dispatchEvent.bind(news),
  });
  const panel = places.get("people");
  panel.hidden = true;
  const visits = [];
  const viewer = Object.assign(new EventTarget(), {
    introduction: {}, tracks: { all: [] }, visit: "secret", start: () => visits.push(viewer.introduction.name),
  });
  const tell = (type, detail) => viewer.dispatchEvent(new CustomEvent(type, { detail }));
  const people = new People(viewer);
  const [button] = places.get("meeting-controls").children;
  tell("joined", { you: "me" });
  tell("_people", { count: members.length, members });
  return { panel, people, button, tell, viewer, visits };
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
  const [header, list, screens] = panel.children;
  return { title: header.children[0], list, screens };
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
