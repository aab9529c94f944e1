// The element for pages of other origins, and the messages of the page in its frame.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";

// The parts of a document that the element uses.
const defined = new Map();
const listeners = new Set();
globalThis.HTMLElement = class extends EventTarget {
  attributes = new Map();
  root = null;

  attachShadow() {
    this.root = { children: [], append: (child) => this.root.children.push(child) };
    return this.root;
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name, value) {
    const before = this.getAttribute(name);
    this.attributes.set(name, value);
    this.attributeChangedCallback(name, before, value);
  }

  removeAttribute(name) {
    const before = this.getAttribute(name);
    this.attributes.delete(name);
    this.attributeChangedCallback(name, before, null);
  }
};
globalThis.CSSStyleSheet = class {
  replaceSync() {}
};
globalThis.customElements = { get: (name) => defined.get(name), define: (name, type) => defined.set(name, type) };
globalThis.document.baseURI = "https://site.example/folder/";
globalThis.document.createElement = (name) => ({ localName: name, contentWindow: {} });
globalThis.addEventListener = (_, listener) => listeners.add(listener);
globalThis.removeEventListener = (_, listener) => listeners.delete(listener);
await import("../../../Sources/Rooms/Viewer/page/embed.js");
const { FrameNews } = await import("../../../Sources/Rooms/Viewer/page/view/framed.js");

const LINK = "https://host.example:8080/?lang=zh#screen,token";

/** Creates an element with this link; its frame, and the events that it has dispatched. */
function embed(link) {
  const made = new (defined.get("screen-relay"))();
  const events = [];
  for (const type of ["state", "playing", "ended"]) {
    made.addEventListener(type, ({ detail }) => events.push([type, detail.state]));
  }
  made.src = link;
  made.connectedCallback();
  const [frame] = made.root.children;
  const tell = (data, { source = frame.contentWindow, origin = "https://host.example:8080" } = {}) => {
    for (const listener of listeners) listener({ data, source, origin });
  };
  return { made, frame, events, tell };
}

test("the element's frame loads the link, and may start playback and be full screen", () => {
  const { made, frame } = embed(LINK);
  assert.equal(made.src, LINK);
  assert.equal(frame.localName, "iframe");
  assert.equal(frame.src, LINK);
  assert.equal(frame.allow, "autoplay; fullscreen");
  assert.equal(frame.title, "Shared screen");
  made.setAttribute("title", "Lecture");
  assert.equal(frame.title, "Lecture");
  made.removeAttribute("title");
  assert.equal(frame.title, "Shared screen");
});

test("without a link, the frame is empty instead of showing the page around it", () => {
  assert.equal(embed("").frame.src, "about:blank");
  const { made, frame } = embed(LINK);
  made.removeAttribute("src");
  assert.equal(frame.src, "about:blank");
  assert.equal(made.src, "");
});

test("setting the same link keeps the state, and another link resets it", () => {
  const { made, frame, events, tell } = embed(LINK);
  tell({ screenRelay: { state: "playing" } });
  made.src = LINK;
  assert.equal(made.status.state, "playing");
  made.src = "https://other.example/#screen,token";
  assert.equal(made.status, null);
  assert.equal(frame.src, "https://other.example/#screen,token");
  tell({ screenRelay: { state: "ended" } });
  assert.equal(made.status, null);
  tell({ screenRelay: { state: "playing" } }, { origin: "https://other.example" });
  assert.deepEqual(events, [
    ["state", "playing"], ["playing", "playing"], ["state", "playing"], ["playing", "playing"],
  ]);
});

test("no link runs a script in the page around the frame", () => {
  const links = ["javascript:alert(1)", " JavaScript:alert(1)", "data:text/html,x", "blob:https://a/b", "http://["];
  for (const link of links) {
    assert.equal(embed(link).frame.src, "about:blank", link);
  }
});

test("the frame's messages become events; playing and ended come only with a change of state", () => {
  const { made, events, tell } = embed(LINK);
  assert.equal(made.status, null);
  for (const state of ["connecting", "playing", "playing", "reconnecting", "playing", "ended"]) {
    tell({ screenRelay: { state, source: "live", width: 640, height: 480 } });
  }
  assert.deepEqual(events, [
    ["state", "connecting"], ["state", "playing"], ["playing", "playing"], ["state", "playing"],
    ["state", "reconnecting"], ["state", "playing"], ["playing", "playing"], ["state", "ended"], ["ended", "ended"],
  ]);
  assert.deepEqual(made.status, { state: "ended", source: "live", width: 640, height: 480 });
});

test("messages from elsewhere are ignored, and all are after the element was removed", () => {
  const { made, events, tell } = embed(LINK);
  const playing = { screenRelay: { state: "playing" } };
  tell(playing, { source: {} });
  tell(playing, { source: null });
  tell(playing, { origin: "https://host.example" });
  for (const data of [null, "playing", {}, { screenRelay: null }, { screenRelay: { state: 1 } }]) tell(data);
  made.disconnectedCallback();
  tell(playing);
  assert.deepEqual(events, []);
});

test("the page sends its parent each state and size once", () => {
  const sent = [];
  const news = new FrameNews({ postMessage: (data, origin) => sent.push([data, origin]) });
  const source = { state: "live" };
  const none = { width: 0, height: 0 };
  news.tell({ phase: "connecting", source }, none);
  news.tell({ phase: "negotiating", source }, none);
  news.tell({ phase: "playing", source }, none);
  news.tell({ phase: "playing", source }, { width: 640, height: 480 });
  news.tell({ phase: "playing", source: { state: "paused" } }, { width: 640, height: 480 });
  assert.deepEqual(sent.map(([{ screenRelay }]) => Object.values(screenRelay).join(" ")), [
    "connecting live 0 0", "playing live 0 0", "playing live 640 480", "playing paused 640 480",
  ]);
});
