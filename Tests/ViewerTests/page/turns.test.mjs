// Whose turn it is to present, as the page knows and shows it.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "./fakes/fakeelement.mjs";
import { actionsOn, Turns } from "../../../Sources/Rooms/Viewer/page/present/turns.js";
import { presentWords } from "../../../Sources/Rooms/Viewer/page/present/presentwords.js";
import { TurnView } from "../../../Sources/Rooms/Viewer/page/present/turnview.js";

/** The turns of a page to which the host has sent these messages. */
function told(...messages) {
  const viewer = new EventTarget();
  const turns = new Turns(viewer);
  for (const [type, detail] of messages) viewer.dispatchEvent(new CustomEvent(type, { detail }));
  return turns;
}

const buttons = ({ children }) => children.filter(({ localName }) => localName === "button");

/** The view's list for `turns`, and what the user has done there. */
function shown(turns, isSharing = false) {
  const acts = [];
  const view = new TurnView((...act) => acts.push(act));
  const panel = new FakeElement("section");
  panel.append(...view.parts);
  view.draw(turns, isSharing);
  const [state, own, list] = view.parts;
  return { acts, state, own, list, view, panel };
}

const ann = { socketId: "a", name: "Ann", turn: "asked" };
const ben = { socketId: "b", turn: "granted" };

test("our own turn is what the host has sent last, and a new visit begins without a list", () => {
  assert.equal(told(["_peers", {}]).own, null);
  assert.equal(told(["_peers", { turn: 1 }]).own, null);
  const turns = told(["_peers", { turn: "none" }], ["_turn", { turn: "granted" }], ["_turns", { members: [ann] }]);
  assert.ok(turns.mayPresent && turns.requests === 1);
  assert.deepEqual(turns.members, [{ id: "a", name: "Ann", turn: "asked" }]);
  const over = told(["_peers", { turn: "owner" }], ["_turns", { members: [ann] }], ["_turn", { turn: "none" }]);
  assert.ok(!over.mayPresent && over.members.length === 0);
  assert.deepEqual(told(["_peers", { turn: "owner" }], ["_turns", { members: [ann] }], ["_peers", {}]).members, []);
  for (const own of ["none", "asked"]) assert.ok(!told(["_peers", { turn: own }]).mayPresent);
});

test("a list that isn't one is empty, and a long one is cut", () => {
  for (const members of [undefined, "x", [null], [{ name: "Ann" }], [1]]) {
    assert.deepEqual(told(["_turns", { members }]).members, []);
  }
  assert.equal(told(["_turns", { members: Array(1000).fill(ann) }]).members.length, 50);
});

test("an owner decides about everybody, and another presenter only hands over", () => {
  assert.deepEqual(actionsOn("asked", "owner", false), ["allow", "decline"]);
  assert.deepEqual(actionsOn("asked", "owner", true), ["pass", "allow", "decline"]);
  assert.deepEqual(actionsOn("granted", "owner", false), ["end"]);
  assert.deepEqual(actionsOn("asked", "granted", true), ["pass"]);
  assert.deepEqual(actionsOn("granted", "granted", true), []);
});

test("one button asks, withdraws the request or gives the turn back, and an owner has none", () => {
  for (const [own, action] of [["none", "ask"], ["asked", "leave"], ["granted", "leave"]]) {
    const { acts, own: button } = shown(told(["_peers", { turn: own }]));
    assert.equal(button.textContent, presentWords.en.ownTurn[own]);
    button.dispatchEvent(new Event("click"));
    assert.deepEqual(acts, [[action]]);
  }
  assert.ok(shown(told(["_peers", { turn: "owner" }])).own.hidden);
});

test("a button of the list acts on its member", () => {
  const { acts, list, view } = shown(told(["_peers", { turn: "owner" }], ["_turns", { members: [ann, ben] }]));
  const [first, second] = list.children;
  assert.equal(first.children[0].textContent, "Ann asks to present");
  assert.equal(second.children[0].textContent, "Guest b may present");
  for (const button of [...buttons(first), ...buttons(second)]) button.dispatchEvent(new Event("click"));
  assert.deepEqual(acts, [["allow", "a"], ["decline", "a"], ["end", "b"]]);
  assert.equal(buttons(first)[0].getAttribute("aria-label"), "Allow: Ann");
  view.draw(told(["_peers", { turn: "owner" }], ["_turns", { members: [ann, ben] }]), false);
  assert.equal(list.children[0], first);
  view.draw(told(["_peers", { turn: "owner" }]), false);
  assert.ok(list.hidden && list.children.length === 0);
});

test("a name with markup is text, without what would hide other text", () => {
  const name = "<img src=x onerror=alert(1)>\u202e";
  const { list } = shown(told(["_peers", { turn: "owner" }], ["_turns", { members: [{ ...ann, name }] }]));
  assert.deepEqual(list.children[0].children[0].children, ["<img src=x onerror=alert(1)> asks to present"]);
});

test("the focus stays where it is when others ask, and goes to the panel when its line goes", () => {
  const owner = ["_peers", { turn: "owner" }];
  const { list, view, panel } = shown(told(owner, ["_turns", { members: [ann] }]));
  const [allow] = buttons(list.children[0]);
  allow.focus();
  for (const members of [[ben, ann], [ann, { ...ben, turn: "asked" }], [ben, ann]]) {
    view.draw(told(owner, ["_turns", { members }]), false);
    assert.deepEqual(list.children.map((line) => line.textContent.includes("Ann")), members.map((one) => one === ann));
  }
  assert.equal(document.activeElement, allow);
  view.draw(told(owner, ["_turns", { members: [ben] }]), false);
  assert.equal(document.activeElement, panel);
});

test("screen readers announce how many ask and each change of our turn, but not at first that there is none", () => {
  const { en } = presentWords;
  const { state, view } = shown(told(["_peers", { turn: "none" }]));
  assert.deepEqual([view.spoken.textContent, state.textContent], ["", en.turn.none]);
  for (const [own, text] of [["asked", en.turn.asked], ["none", en.ended.asked], ["granted", en.turn.granted],
    ["none", en.ended.granted]]) {
    view.draw(told(["_peers", { turn: "none" }], ["_turn", { turn: own }]), false);
    assert.deepEqual([view.spoken.textContent, state.textContent], [text, text]);
  }
  view.draw(told(["_peers", { turn: "owner" }], ["_turns", { members: [ann, ben] }]), false);
  assert.equal(view.spoken.textContent, "1 person asks to present");
  assert.ok(!view.parts.includes(view.spoken));
  // Nothing to ask for.
  assert.equal(told(["_peers", { turn: "owner" }], ["_turn", {}]).own, null);
});

/** A clock and a timer that only the test moves on. */
function clockOf(context) {
  let time = 1000;
  let timer = null;
  context.mock.method(performance, "now", () => time);
  context.mock.method(globalThis, "setTimeout", (action, delay) => {
    timer = { action, due: time + delay };
    return timer;
  });
  context.mock.method(globalThis, "clearTimeout", (one) => {
    if (one === timer) timer = null;
  });
  return (seconds) => {
    const end = time + seconds * 1000;
    while (timer && timer.due <= end) {
      const { action, due } = timer;
      [time, timer] = [due, null];
      action();
    }
    time = end;
  };
}

test("the minutes that are left of our turn are shown, and spoken once", (context) => {
  const pass = clockOf(context);
  const { en } = presentWords;
  const turns = told(["_peers", { turn: "none" }], ["_turn", { turn: "granted", turnLeft: 150 }]);
  const { state, view } = shown(turns);
  assert.equal(state.textContent, "You may present now. 3 min left.");
  for (const [seconds, minutes] of [[29, 3], [1, 2], [59, 2], [1, 1], [59, 1]]) {
    pass(seconds);
    assert.equal(state.textContent, `${en.turn.granted} ${en.left(minutes)}`);
    view.draw(turns, true);
  }
  assert.equal(view.spoken.textContent, "You may present now. 3 min left.");
  pass(1);
  assert.equal(state.textContent, en.turn.granted);
  view.draw(told(["_peers", { turn: "granted", turnLeft: 60 }]), true);
  assert.equal(state.textContent, `${en.turn.granted} ${en.left(1)}`);
  view.draw(told(["_peers", { turn: "granted" }]), true);
  assert.deepEqual([state.textContent, view.spoken.textContent], [en.turn.granted, en.turn.granted]);
  assert.match(presentWords.zh.left(3), /3 分钟/);
});

test("who was declined reads how long to wait before asking again, also after asking too soon", (context) => {
  const pass = clockOf(context);
  const { en } = presentWords;
  const turns = told(["_peers", { turn: "asked" }]);
  const { state, own, view, acts } = shown(turns);
  const declined = told(["_peers", { turn: "none" }], ["_turn", { turn: "none", turnWait: 30 }]);
  view.draw(declined, false);
  assert.equal(state.textContent, "Your request has ended. You can ask again in 30 s.");
  pass(1);
  assert.equal(state.textContent, `${en.ended.asked} ${en.again(29)}`);
  own.dispatchEvent(new Event("click"));
  assert.deepEqual(acts, [["ask"]]);
  view.draw(told(["_peers", { turn: "none" }], ["_turn", { turn: "none", turnWait: 12 }]), false);
  for (const { textContent } of [state, view.spoken]) assert.equal(textContent, `${en.ended.asked} ${en.again(12)}`);
  pass(12);
  assert.equal(state.textContent, en.ended.asked);
  assert.match(presentWords.zh.again(12), /12 秒/);
});
