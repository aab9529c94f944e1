// Why a page can't take part in a meeting with a camera or microphone.

/**
 * Returns why this page can't use a camera or microphone in a meeting: "noWebRTC", "insecure", "unsupported", or null
 * if it may ask for them.
 */
export function lackOfDevices() {
  if (typeof RTCPeerConnection !== "function") return "noWebRTC";
  if (navigator.mediaDevices?.getUserMedia) return null;
  return window.isSecureContext ? "unsupported" : "insecure";
}

/** Returns why no device was opened: the key of `words.problems` for this error. */
export function reason({ name }) {
  if (name === "NotAllowedError" || name === "SecurityError") return "denied";
  if (name === "NetworkError") return "unloaded";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "busy";
}
