// Elements as far as the page's views use them, and a document that makes them.

import assert from "node:assert/strict";

import "./browser.mjs";

/** The focus is `document.activeElement`. */
export class FakeElement extends EventTarget {
  hidden = false;
  value = "";
  dataset = {};
  style = {};
  parentElement = null;
  attributes = new Map();
  children = [];

  constructor(localName) {
    super();
    this.localName = localName;
  }

  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }

  set textContent(text) {
    this.children = text === "" ? [] : [text];
  }

  set innerHTML(text) {
    assert.fail(`markup: ${text}`);
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  toggleAttribute(name, isSet) {
    if (isSet) this.attributes.set(name, "");
    else this.attributes.delete(name);
  }

  append(...children) {
    for (const child of children) this.insertBefore(child, null);
  }

  insertBefore(child, next) {
    if (child instanceof FakeElement) {
      child.remove();
      child.parentElement = this;
    }
    this.children.splice(next ? this.children.indexOf(next) : this.children.length, 0, child);
  }

  prepend(...children) {
    const [first = null] = this.children;
    for (const child of children) this.insertBefore(child, first);
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  /** As in a browser, what is removed loses the focus. */
  remove() {
    if (!this.parentElement) return;
    if (this.contains(document.activeElement)) document.activeElement = null;
    this.parentElement.children.splice(this.parentElement.children.indexOf(this), 1);
    this.parentElement = null;
  }

  get lastChild() {
    return this.children.at(-1) ?? null;
  }

  contains(other) {
    return other === this || this.children.some((child) => child instanceof FakeElement && child.contains(other));
  }

  focus() {
    document.activeElement = this;
  }

  select() {}

  click() {
    this.dispatchEvent(new Event("click"));
  }
}

document.activeElement = null;
document.createElement = (name) => new FakeElement(name);
document.createElementNS = (_, name) => new FakeElement(name);
