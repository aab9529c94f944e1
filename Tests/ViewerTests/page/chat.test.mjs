// The chat: the button with the number of unread messages, the messages, and the form for another one.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "./fakes/fakeelement.mjs";
import { ChatButton } from "../../../Sources/Rooms/Viewer/page/chat/chatbutton.js";
import { en as words } from "../../../Sources/Rooms/Viewer/page/chat/chatwords.js";
import { en as roomWords } from "../../../Sources/Rooms/Viewer/page/meeting/meetingwords.js";

/** A page whose viewer, called `name`, has joined a room with this state of the chat. */
function joined(chat, name = "Me") {
  const places = new Map(["chat", "meeting-controls", "spoken"].map((id) => [id, new FakeElement("section")]));
  const news = new EventTarget();
  Object.assign(document, {
    getElementById: (id) => places.get(id),
    addEventListener: news.addEventListener.bind(news),
    dispatchEvent: news.dispatchEvent.bind(news),
  });
  const root = places.get("chat");
  root.hidden = true;
  const sent = [];
  const viewer = Object.assign(new EventTarget(), {
    introduction: name ? { name } : {}, isOver: false,
    send: (event, data) => sent.push([event, data]),
    tell: (type, detail) => viewer.dispatchEvent(new CustomEvent(type, { detail })),
  });
  const page = new ChatButton(viewer);
  const [button] = places.get("meeting-controls").children;
  viewer.tell("_peers", { chat });
  return { root, button, page, viewer, tell: viewer.tell, sent, spoken: places.get("spoken") };
}

/** Opens the panel, and returns its parts. */
async function opened({ root, button }) {
  button.click();
  const deadline = performance.now() + 10_000;
  while (root.children.length === 0) {
    assert.ok(performance.now() < deadline, "the panel isn't filled within 10 s");
    await new Promise((resume) => setTimeout(resume, 5));
  }
  const [header, empty, log, note, form, addName] = root.children;
  const [, input] = form.children;
  return { title: header.children[0], empty, log, note, form, input, addName };
}

const message = (number, text, name = "Ann") => ({ number, socketId: "a", name, text, time: 1_700_000_000_000 });
const news = (last, ...messages) => ({ last, kept: last, messages });
/** The names and texts in the log. */
const lines = (log) => log.children.map(({ children: [who, text] }) => [who.children[0].textContent, text.textContent]);

function press(input, key, more = {}) {
  const event = Object.assign(new Event("keydown", { cancelable: true }), { key, ...more });
  input.dispatchEvent(event);
  return event.defaultPrevented;
}

test("the button is there while the host allows the chat, and counts what is kept and unread", () => {
  const page = joined(undefined);
  assert.ok(page.button.hidden && page.page.toggle() === false && page.root.hidden);
  page.tell("_chat", { last: 5, kept: 3 });
  assert.ok(!page.button.hidden);
  assert.equal(page.button.children[1].textContent, "3");
  page.tell("_chat", { last: 6, kept: 4, messages: [message(6, "x")] });
  assert.equal(page.button.children[1].textContent, "4");
  assert.equal(page.button.getAttribute("aria-label"), `${roomWords.chat}: ${roomWords.unread(4)}`);
  assert.equal(page.spoken.textContent, `${roomWords.chat}: ${roomWords.unread(4)}`);
  assert.ok(page.root.hidden && page.root.children.length === 0 && page.sent.length === 0, "nothing is loaded yet");
  page.tell("_chat", {});
  assert.ok(page.button.hidden);
  assert.equal(joined({ last: 0, kept: 0 }).button.children[1].textContent, "");
});

test("opened, it asks for all messages, shows them as text in their order, and counts them as read", async () => {
  const page = joined({ last: 2, kept: 2 });
  const { log, empty, input, title } = await opened(page);
  assert.equal(title.textContent, roomWords.chat);
  assert.deepEqual(page.sent, [["__chat", { after: 0 }]]);
  assert.equal(page.button.children[1].textContent, "");
  assert.equal(document.activeElement, input);
  assert.ok(!empty.hidden && log.getAttribute("role") === "log" && log.getAttribute("aria-live") === "polite");
  const markup = "<b>x</b>\n<img src=x onerror=alert(1)>";
  // A new one may come before the earlier ones, and one of them twice.
  page.tell("_chat", news(3, message(3, "three")));
  page.tell("_chat", news(3, message(1, markup, "<i>Eve</i>\u202e"), message(2, "two", "Bo"), message(3, "three")));
  assert.deepEqual(lines(log), [["<i>Eve</i>", markup], ["Bo", "two"], ["Ann", "three"]]);
  assert.ok(empty.hidden);
  assert.equal(page.button.children[1].textContent, "");
  page.button.click();
  assert.ok(page.root.hidden && document.activeElement === page.button);
  page.tell("_chat", news(4, message(4, "four")));
  assert.equal(page.button.children[1].textContent, "1");
  assert.equal(lines(log).length, 4);
});

test("what isn't a message is left out, and the oldest of more than 200 go", async () => {
  const page = joined({ last: 0, kept: 0 });
  const { log } = await opened(page);
  page.tell("_chat", news(1, { number: "1", text: "a" }, { number: 1 }, { text: "b" }));
  assert.deepEqual(lines(log), []);
  page.tell("_chat", { last: 250, kept: 200, messages: Array.from({ length: 250 }, (_, i) => message(i + 1, `${i + 1}`)) });
  assert.equal(log.children.length, 200);
  assert.deepEqual(lines(log)[0], ["Ann", "51"]);
});

test("Enter sends, Shift and Enter don't, nor does Enter that ends a composition", async () => {
  const page = joined({ last: 0, kept: 0 });
  const { input, form, note } = await opened(page);
  page.sent.length = 0;
  input.value = "  one\ntwo ";
  assert.ok(!press(input, "Enter", { shiftKey: true }) && !press(input, "Enter", { isComposing: true }));
  assert.ok(!press(input, "a"));
  assert.deepEqual(page.sent, []);
  assert.ok(press(input, "Enter"));
  assert.deepEqual(page.sent, [["__chat", { text: "one\ntwo", number: 1 }]]);
  assert.equal(input.value, "");
  input.value = " \n";
  form.dispatchEvent(new Event("submit", { cancelable: true }));
  assert.equal(page.sent.length, 1);
  input.value = "three";
  form.dispatchEvent(new Event("submit", { cancelable: true }));
  assert.deepEqual(page.sent[1], ["__chat", { text: "three", number: 2 }]);
  // What the host refuses is there again, unless another message has been begun.
  page.tell("_chat_refused", { reason: "rate", number: 2 });
  assert.deepEqual([input.value, note.textContent], ["three", words.refused.rate]);
  page.tell("_chat_refused", { reason: "length", number: 1 });
  assert.deepEqual([input.value, note.textContent], ["three", words.refused.length]);
});

test("a viewer without a name reads, and is asked for the name instead of a message", async () => {
  const page = joined({ last: 0, kept: 0 }, null);
  let wanted = 0;
  page.viewer.addEventListener("nameless", () => { wanted += 1; });
  const { form, addName, title, log } = await opened(page);
  assert.ok(form.hidden && !addName.hidden && document.activeElement === title);
  page.tell("_chat", news(1, message(1, "hello")));
  assert.deepEqual(lines(log), [["Ann", "hello"]]);
  addName.click();
  assert.equal(wanted, 1);
  page.viewer.introduction.name = "Bo";
  page.tell("_peers", { chat: { last: 1, kept: 1 } });
  assert.ok(!form.hidden && addName.hidden);
});

test("a visit that goes on asks for what it has missed, another one for all; switched off, nothing stays", async () => {
  const page = joined({ last: 0, kept: 0 });
  const { log, empty } = await opened(page);
  page.tell("_chat", news(2, message(1, "one"), message(2, "two")));
  page.sent.length = 0;
  page.tell("_peers", { watching: [], chat: { last: 4, kept: 4 } });
  assert.deepEqual(page.sent, [["__chat", { after: 2 }]]);
  assert.equal(lines(log).length, 2);
  page.tell("_peers", { chat: { last: 1, kept: 1 } });
  assert.deepEqual(page.sent[1], ["__chat", { after: 0 }]);
  assert.deepEqual(lines(log), []);
  page.tell("_chat", news(1, message(1, "other")));
  page.tell("_chat", {});
  assert.ok(page.root.hidden && page.button.hidden && !empty.hidden);
  assert.deepEqual(lines(log), []);
  // Allowed again, with the numbers of before.
  page.tell("_chat", { last: 1, kept: 0 });
  assert.ok(!page.button.hidden && page.button.children[1].textContent === "");
});
