// The page's words in English. Every key is in chinese.js too.

const closing = (message) => (message ? `: ${message}` : "");

export const english = {
  // What stands on the card or in the notice: a title, and a detail.
  opening: "Opening the shared screen …",
  hostIsThere: "The host is there. Waiting for the first picture.",
  retryIn: (seconds) => `Trying again in ${seconds} s.`,
  retryNow: "Trying again now.",
  aWhile: "a while",
  noLink: ["This address names no room.", "Open the whole link that ScreenRelay printed. It ends in #ROOM,TOKEN."],
  wrongLink: ["This link does not open a room here. Ask for a new one.", "Who shares the screen has it."],
  refused: "The host refused.",
  passwordWanted: ["This room wants a password."],
  full: "The host has no room for another viewer now.",
  noWebRTC: ["This browser has no WebRTC.", "Open the link in a current Chromium, Chrome, Edge, Firefox or Safari."],
  noH264: "This browser plays no H.264 over WebRTC.",
  noH264InFirefox:
    "Firefox downloads its H.264 plug-in after the first start: look at Add-ons, Plugins, OpenH264, then try again.",
  otherBrowser: "Open the link in a browser that does: Chrome, Chromium, Edge, Firefox or Safari.",
  hostAway: ["The host does not answer.", "ScreenRelay may have ended there, or the network is down."],
  hostLeft: ["Sharing has ended.", "If it starts again, it shows here."],
  offline: ["This device is offline.", "The picture comes back with the network."],
  lostConnection: ["The connection was lost."],
  noPicture: ["The host is connected, but no picture has come."],
  undecodable: ["Pictures arrive, but this browser can't decode them."],
  noAnswer: ["The host has not answered the offer."],
  unusableAnswer: "The host's answer can't be used.",
  firefoxLoopback: [
    "Firefox takes no WebRTC from this same machine.",
    "It ignores loopback addresses. Start ScreenRelay with --lan and open the link with this machine's address, or open " +
      "this link in Chromium.",
  ],
  noPath: (port, isLoopback) => [
    "The host is there, but no picture comes through.",
    `Something between here and the host blocks UDP. Let ${port ? `UDP port ${port}` : "ScreenRelay's UDP port"} through ` +
      `the host's firewall${isLoopback ? "." : ", or use a network that allows it."}`,
  ],
  playBlocked: "The browser waits for a click.",
  sourceWaiting: ["No screen is shared here yet.", "It appears as soon as capture starts. Nothing is to be done here."],
  sourceAbsent: "The shared screen is not there yet.",
  sourceGone: (seconds, message) => `The shared screen has not answered for ${seconds} s${closing(message)}`,
  sourcePaused: (message) => [message || "The sharer has paused.", "The picture comes back by itself."],
  oldPicture: (title) => `${title} This is the last picture.`,

  // On buttons.
  tryAgain: "Try again",
  play: "Play",
  close: "Close",

  // The state, in the bar.
  connecting: "Connecting",
  connectingAgain: "Connecting again",
  live: "Live",
  stale: "Not up to date",
  waiting: "Waiting",
  paused: "Paused",
  stopped: "Stopped",
  clickToPlay: "Click to play",
  locked: "Locked",

  // What is on the page, for who listens.
  screen: "The shared screen",
  controls: "Controls",
  showFit: "Fit to the window (W)",
  showFill: "Fill the window (C)",
  showActual: "Actual size (1)",
  fullScreen: "Full screen (F)",
  leaveFullScreen: "Leave full screen (F)",
  inset: "Picture in picture (P)",
  leaveInset: "Leave picture in picture (P)",
  help: "Keys (?)",

  // What is measured.
  showCharts: (figures) => `Measured: ${figures}. Show charts (S)`,
  chartsTitle: "The last minute",
  delay: "Delay",
  delayNote: "from the screen there to the screen here",
  roundTripNote: "the network's way there and back; this browser can't tell the whole delay",
  roundTrip: "Round trip",
  frameRate: "Frame rate",
  bitRate: "Bit rate",
  loss: "Loss",
  resolution: "Resolution",
  nothingMoves: "nothing moves",
  lost: (percent) => `${percent} % lost`,
  notMeasured: "not measured",
  range: (least, most) => `${least} to ${most}`,
  secondsAgo: (seconds, value) => (seconds < 1 ? `now: ${value}` : `${Math.round(seconds)} s ago: ${value}`),
  chartHint: "Left and right read it second by second.",

  // Keys.
  keysTitle: "Keys",
  keys: {
    fit: "fit to the window",
    fill: "fill the window, cut off the rest",
    actual: "actual size, pixel for pixel",
    zoomIn: "zoom in",
    zoomOut: "zoom out",
    zoomReset: "undo the zoom",
    pan: "move over the picture",
    fullScreen: "full screen",
    inset: "picture in picture (without the other's pointer)",
    charts: "charts of what is measured",
    help: "this list",
    close: "close what is open",
  },
  keyNames: { arrows: "arrow keys", escape: "Esc" },
  wheel: "Ctrl + wheel",
  pointerUse: "zoom at the pointer; drag to move",
};
