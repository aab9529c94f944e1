// What modules of the page ask of a browser as soon as they are loaded, where node lacks it. Imported before them.

globalThis.window ??= globalThis;
globalThis.location ??= { search: "" };
globalThis.addEventListener ??= () => {};
globalThis.document ??= { readyState: "complete" };
globalThis.navigator ??= { language: "en", languages: ["en"] };
globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail = null } = {}) {
    super(type);
    this.detail = detail;
  }
};
