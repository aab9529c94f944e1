// The pointer of the shared screen, drawn over the video while it isn't drawn into the pictures themselves.

/** Whether timestamp `a` is `b` or later, modulo 2^32 (RFC 3550 section 5.1). */
const isReached = (a, b) => ((a - b) | 0) >= 0;

// More changes than can be pending at once.
const MOST_CHANGES = 64;
// The longest side of a pointer that the host may send.
const LONGEST_SIDE = 128;

/**
 * The pointer's position and shape, and who draws it.
 *
 * The host tells from which picture on the pictures contain the pointer. The change takes effect when that picture is
 * on the screen, so there are never two pointers and never none.
 */
export class Pointer {
  #video;
  #layer;
  #canvas;
  #shape = null;
  #place = null;
  #drawn = true;
  #changes = [];
  #presented = null;
  #live = false;
  #frame = null;
  #stream = null;
  #awaited = 0;
  #shapes = 0;
  #scale = 0;
  #written = "";
  #size = "";
  #isExact;

  constructor(video, layer) {
    this.#video = video;
    this.#layer = layer;
    this.#canvas = layer.querySelector("canvas");
    this.#isExact = typeof video.requestVideoFrameCallback === "function";
    video.addEventListener("resize", () => this.#schedule());
    new ResizeObserver(() => this.#schedule()).observe(video);
  }

  /** Whether the browser identifies each picture that it presents. If not, the caller must ask for it now and then. */
  get isExact() {
    return this.#isExact && !document.hidden;
  }

  /** A read-only view for tests and the console. */
  get state() {
    return Object.freeze({
      x: this.#place?.x ?? null,
      y: this.#place?.y ?? null,
      visible: this.#place?.visible ?? false,
      drawn: this.#drawn,
      shown: !this.#canvas.hidden,
      shapes: this.#shapes,
      changes: this.#changes.length,
      rtp: this.#presented,
    });
  }

  /** Handles `_pointer_shape`: straight RGBA in base64, and the pixel that points. */
  shape({ width, height, hotX, hotY, pixels }) {
    const sides = [width, height].every((side) => Number.isInteger(side) && side >= 0 && side <= LONGEST_SIDE);
    if (!sides || !Number.isFinite(hotX) || !Number.isFinite(hotY)) return;
    const bytes = decodeBase64(pixels);
    if (!bytes || bytes.length !== width * height * 4) return;
    this.#shapes += 1;
    this.#shape = width > 0 && height > 0 ? { width, height, hotX, hotY } : null;
    if (this.#shape) {
      this.#canvas.width = width;
      this.#canvas.height = height;
      this.#canvas.getContext("2d").putImageData(new ImageData(bytes, width, height), 0, 0);
    }
    this.#schedule();
  }

  /**
   * Handles `_pointer`: the hot spot in pixels of a picture of `width` by `height`, or of the video's own size if they
   * are missing.
   */
  place({ x, y, visible, width, height }) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const known = width > 0 && height > 0;
    this.#place = { x, y, visible: visible === true, width: known ? width : 0, height: known ? height : 0 };
    this.#schedule();
  }

  /**
   * Handles `_pointer_mode`: whether pictures contain the pointer, at once or from the picture with timestamp `rtp` on.
   *
   * @param {{ drawn: boolean, rtp?: number }} mode
   */
  mode({ drawn, rtp }) {
    if (typeof drawn !== "boolean") return;
    if (!Number.isInteger(rtp)) {
      if (this.#presented === null) this.#draws(drawn);
      return;
    }
    if (this.#changes.length >= MOST_CHANGES) this.#changes.shift();
    this.#changes.push({ drawn, rtp });
    this.#follow();
  }

  /** Sets whether the source's pictures are current; if not, the last one stays on the screen and may be outdated. */
  live(isLive) {
    if (this.#live === isLive) return;
    this.#live = isLive;
    this.#draw();
  }

  /** Starts to watch another session, whose timestamps are unrelated to those of the last. */
  watch(stream) {
    this.#stream = stream;
    this.#size = "";
    this.#presented = null;
    this.#changes = [];
    if (!this.#video.requestVideoFrameCallback) return;
    this.#video.cancelVideoFrameCallback(this.#awaited);
    const look = (_, { rtpTimestamp }) => {
      if (this.#stream !== stream || this.#video.srcObject !== stream) return;
      this.#awaited = this.#video.requestVideoFrameCallback(look);
      this.#isExact = Number.isInteger(rtpTimestamp);
      this.presented(rtpTimestamp);
    };
    this.#awaited = this.#video.requestVideoFrameCallback(look);
  }

  /** Records that the picture with timestamp `rtp` is on the screen. */
  presented(rtp) {
    if (!Number.isInteger(rtp)) return;
    this.#presented = rtp >>> 0;
    if (this.#changes.length > 0) this.#follow();
    const { videoWidth, videoHeight } = this.#video;
    const size = `${videoWidth}x${videoHeight}`;
    if (this.#size === size) return;
    // The first picture, or one of another size. The element's own resize event comes later.
    this.#size = size;
    this.#draw();
  }

  /** Forgets everything on leaving the room. */
  reset() {
    this.#stream = null;
    this.#presented = null;
    this.#changes = [];
    this.#place = null;
    this.#drawn = true;
    this.#draw();
  }

  /** Applies the changes that the picture on the screen has reached. */
  #follow() {
    // Before the first picture, the first change applies at once, because it belongs to that picture.
    if (this.#presented === null) {
      if (this.#changes.length === 1) this.#draws(this.#changes[0].drawn);
      return;
    }
    let last = null;
    while (this.#changes.length > 0 && isReached(this.#presented, this.#changes[0].rtp)) last = this.#changes.shift();
    if (last) this.#draws(last.drawn);
  }

  #draws(drawn) {
    if (this.#drawn === drawn) return;
    this.#drawn = drawn;
    // Draw at once, so that it appears with its picture and not one later.
    this.#draw();
  }

  #schedule() {
    this.#frame ??= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    const { videoWidth, videoHeight } = this.#video;
    const place = this.#place;
    const shown = !this.#drawn && this.#live && place?.visible && this.#shape !== null && videoWidth > 0;
    if (shown) {
      const element = this.#video.getBoundingClientRect();
      const scale = Math.min(element.width / videoWidth, element.height / videoHeight);
      const width = videoWidth * scale;
      const height = videoHeight * scale;
      this.#layOut((element.width - width) / 2, (element.height - height) / 2, width, height);
      const across = place.width > 0 ? width / place.width : scale;
      const down = place.height > 0 ? height / place.height : scale;
      this.#fit(across, down);
      const left = snap((place.x - this.#shape.hotX) * across, across);
      const top = snap((place.y - this.#shape.hotY) * down, down);
      this.#canvas.style.transform = `translate(${left}px, ${top}px)`;
    }
    if (this.#canvas.hidden === Boolean(shown)) this.#canvas.hidden = !shown;
  }

  /** Places the layer on the picture. It clips what extends beyond the edge. */
  #layOut(left, top, width, height) {
    const text = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
    if (this.#written === text) return;
    this.#written = text;
    for (const rule of text.split(";")) {
      const [name, value] = rule.split(":");
      this.#layer.style[name] = value;
    }
  }

  #fit(across, down) {
    const { width, height } = this.#shape;
    const style = this.#canvas.style;
    const wide = `${width * across}px`;
    const high = `${height * down}px`;
    if (style.width !== wide) style.width = wide;
    if (style.height !== high) style.height = high;
    if (this.#scale === across) return;
    this.#scale = across;
    style.imageRendering = isWhole(across) ? "pixelated" : "auto";
  }
}

/** Whether one pixel of the picture covers a whole number of screen pixels. */
function isWhole(scale) {
  const pixels = scale * (window.devicePixelRatio || 1);
  return pixels >= 1 && Math.abs(pixels - Math.round(pixels)) < 0.001;
}

/** Aligns to screen pixels at whole scales: a pointer between two pixels would be blurred. */
function snap(value, scale) {
  const ratio = window.devicePixelRatio || 1;
  return isWhole(scale) ? Math.round(value * ratio) / ratio : value;
}

function decodeBase64(text) {
  if (typeof text !== "string" || text.length > LONGEST_SIDE * LONGEST_SIDE * 6) return null;
  try {
    return Uint8ClampedArray.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
