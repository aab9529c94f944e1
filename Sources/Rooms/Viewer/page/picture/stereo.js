// What an offer says of sound.

/** Returns an offer that asks for stereo: without that, Chromium makes what it receives mono. */
export function withStereo(sdp) {
  const type = /^a=rtpmap:(\d+) opus\//im.exec(sdp)?.[1];
  return sdp.replace(new RegExp(`^a=fmtp:${type} (?!.*\\bstereo=).*`, "m"), "$&;stereo=1");
}
