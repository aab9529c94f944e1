// What modules of the page ask of a browser, where node lacks it. Imported before them.

import { webcrypto } from "node:crypto";

globalThis.window ??= globalThis;
globalThis.location ??= { search: "" };
globalThis.addEventListener ??= () => {};
globalThis.document ??= { readyState: "complete" };
globalThis.navigator ??= { language: "en", languages: ["en"] };
globalThis.crypto ??= webcrypto;
globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail = null } = {}) {
    super(type);
    this.detail = detail;
  }
};
