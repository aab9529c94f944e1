// The element <screen-relay>, for pages of other origins that the host allows by --embed-in:
//
//   <script type="module" src="https://HOST:PORT/embed.js"></script>
//   <screen-relay src="https://HOST:PORT/#ROOM,TOKEN"></screen-relay>

const style = new CSSStyleSheet();
style.replaceSync(`
  :host { display: block; aspect-ratio: 16 / 9; }
  :host([hidden]) { display: none; }
  iframe { display: block; width: 100%; height: 100%; border: 0; }
`);

/**
 * Shows the page of the invite link `src` in a frame. Its events are CustomEvents:
 *
 * | type      | detail                                          | when |
 * |-----------|-------------------------------------------------|------|
 * | `state`   | `{state, source, width, height}`                | the state, the source or the size has changed |
 * | `playing` | as of `state`                                   | the video has begun, or continues after a break |
 * | `ended`   | as of `state`                                   | sharing has ended; it may begin again |
 *
 * `Protocol/http.md` explains the details in its section "Embedding".
 */
class ScreenRelay extends HTMLElement {
  static observedAttributes = ["src", "title"];

  #frame = document.createElement("iframe");
  /** The origin of the link; null if it can't be used. */
  #origin = null;
  #status = null;
  #heard = (event) => this.#hear(event);

  constructor() {
    super();
    const root = this.attachShadow({ mode: "closed" });
    root.adoptedStyleSheets = [style];
    this.#frame.allow = "autoplay; fullscreen";
    this.#frame.title = "Shared screen";
    root.append(this.#frame);
  }

  get src() {
    return this.getAttribute("src") ?? "";
  }

  set src(link) {
    this.setAttribute("src", link);
  }

  /** The detail of the last `state`; null before the first. */
  get status() {
    return this.#status;
  }

  connectedCallback() {
    window.addEventListener("message", this.#heard);
  }

  /** The frame is gone with the element, and is loaded again if the element returns. */
  disconnectedCallback() {
    window.removeEventListener("message", this.#heard);
    this.#status = null;
  }

  attributeChangedCallback(name, before, value) {
    // With the same link, the frame isn't loaded again, and sends no further message.
    if (value === before) return;
    if (name === "title") {
      this.#frame.title = value || "Shared screen";
      return;
    }
    const link = parse(value);
    this.#origin = link?.origin ?? null;
    this.#status = null;
    this.#frame.src = link?.href ?? "about:blank";
  }

  #hear({ source, origin, data }) {
    if (source === null || source !== this.#frame.contentWindow || origin !== this.#origin) return;
    const told = data?.screenRelay;
    if (typeof told?.state !== "string") return;
    const before = this.#status?.state;
    this.#status = Object.freeze({ ...told });
    this.#tell("state");
    if (told.state !== before && (told.state === "playing" || told.state === "ended")) this.#tell(told.state);
  }

  #tell(type) {
    this.dispatchEvent(new CustomEvent(type, { detail: this.#status }));
  }
}

/** Returns the address of the page; null unless it is an http or https one. (`javascript:` would run as this page.) */
function parse(link) {
  // An empty link would mean this page.
  if (!link) return null;
  try {
    const address = new URL(link, document.baseURI);
    return address.protocol === "https:" || address.protocol === "http:" ? address : null;
  } catch {
    return null;
  }
}

// Pages may load the element from several hosts.
if (!customElements.get("screen-relay")) customElements.define("screen-relay", ScreenRelay);
