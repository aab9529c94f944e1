// A browser that plays pictures over the WebSocket by WebCodecs, and a picture for it.

// The parameter sets of a picture of 64x48, and the beginning of that.
export const KEY = Uint8Array.from([
  0, 0, 0, 1, 103, 66, 192, 10, 217, 4, 123, 1, 16, 0, 0, 3, 0, 16, 0, 0, 3, 0, 32, 241, 34, 100, 128,
  0, 0, 0, 1, 104, 203, 131, 203, 32, 0, 0, 0, 1, 101, 136, 132,
]);

/** The message with the key picture that has this number. */
export function message(number) {
  const bytes = new Uint8Array(16 + KEY.length);
  bytes.set([1, 1, 0, 0, 0, 0, number >> 8, number & 255]);
  bytes.set(KEY, 16);
  return bytes.buffer;
}

/** Sets globals for the time of a test. */
export function withGlobals(context, globals) {
  const before = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  context.after(() => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else delete globalThis[name];
    }
  });
  Object.assign(globalThis, globals);
}
