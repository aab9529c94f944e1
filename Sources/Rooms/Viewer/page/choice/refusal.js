// What a browser means that refuses devices.

const REFUSED = new Set(["NotAllowedError", "SecurityError"]);

/** Whether `problem`, thrown by `getUserMedia` or null, means that the user or the browser has said no. */
export const isRefusal = (problem) => REFUSED.has(problem?.name);

/**
 * Which of both kinds the browser has refused, if the other one may be opened alone: it is allowed, or only the refused
 * one is blocked. Browsers that don't say so are asked once more, for what is enough alone. Else returns null.
 */
export const refusedOne = async (needsCamera) => {
  const [camera, microphone] = await Promise.all(["camera", "microphone"].map(async (name) => {
    const descriptor = /** @type {any} */ ({ name });
    return navigator.permissions?.query(descriptor).then(({ state }) => state, () => undefined);
  }));
  const mayOpen = (one, other) => one === "granted" || (one === "prompt" && other === "denied");
  if (mayOpen(camera, microphone)) return "audio";
  if (needsCamera) return camera === undefined ? "audio" : null;
  return mayOpen(microphone, camera) || camera === undefined ? "video" : null;
};
