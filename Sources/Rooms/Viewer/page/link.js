// The page's link is http://HOST:PORT/#ROOM,TOKEN: what stands behind # never leaves the browser with a request.

/** The room of the link as the signalling wants it ("ROOM,TOKEN"), its name alone, and where the host is. */
export function readLink(location) {
  let room = location.hash.replace(/^#/, "");
  try {
    room = decodeURIComponent(room);
  } catch {
    // A stray % is part of the name then.
  }
  room = room.trim();
  const host = location.hostname.replace(/^\[|\]$/g, "");
  return {
    room,
    name: room.split(",", 1)[0],
    socket: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`,
    isLoopback: host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d+){3}$/.test(host),
  };
}

/** What this browser is and lacks. */
export function readBrowser() {
  const hasWebRTC = typeof RTCPeerConnection === "function" && typeof WebSocket === "function";
  const codecs = hasWebRTC ? globalThis.RTCRtpReceiver?.getCapabilities?.("video")?.codecs : null;
  return {
    isFirefox: /\bFirefox\//.test(navigator.userAgent),
    hasWebRTC,
    // A browser that can't be asked is tried.
    hasH264: !codecs || codecs.some((codec) => codec.mimeType.toLowerCase() === "video/h264"),
  };
}
