// The page's link is http://HOST:PORT/#ROOM,TOKEN. The browser never sends the part after # in a request; the page
// sends its room's name in one, and the token only in a message.

/** Returns the room of the link as signalling expects it ("ROOM,TOKEN"), its name alone, and the host's address. */
export function readLink(location) {
  let room = location.hash.replace(/^#/, "");
  try {
    room = decodeURIComponent(room);
  } catch {
    // A stray % is then part of the name.
  }
  room = room.trim();
  const name = room.split(",", 1)[0];
  // The comma of a link that a program has encoded twice is still encoded; the token behind it isn't sent either.
  const sent = encodeURIComponent(name.split(/%2c/i, 1)[0]);
  const host = location.hostname.replace(/^\[|\]$/g, "");
  return {
    room,
    name,
    // The name is for a proxy in front of several hosts. The first script of index.html opens the same address.
    socket: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws?room=${sent}`,
    isLoopback: host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d+){3}$/.test(host),
  };
}

/** Returns the browser's kind, and whether it plays H.264 over WebRTC: some have none of it, or it is turned off. */
export function readBrowser() {
  const hasWebRTC = typeof RTCPeerConnection === "function";
  const codecs = globalThis.RTCRtpReceiver?.getCapabilities?.("video")?.codecs;
  return {
    isFirefox: /\bFirefox\//.test(navigator.userAgent),
    // If the browser can't be asked, assume that it has H.264.
    hasH264: hasWebRTC && (!codecs || codecs.some((codec) => codec.mimeType.toLowerCase() === "video/h264")),
  };
}
