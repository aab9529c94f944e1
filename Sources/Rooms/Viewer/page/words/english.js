// The page's words in English. Every key is in chinese.js too.

const closing = (message) => (message ? `: ${message}` : "");
const askForLink = "Ask the person sharing for a new invite link.";

export const english = {
  // Texts on the card or in the notice: a title and a detail.
  opening: "Opening the shared screen …",
  hostIsThere: "Connected to the host. Waiting for video.",
  retryIn: (seconds) => `Trying again in ${seconds} s.`,
  retryNow: "Trying again now.",
  aWhile: "a while",
  noLink: ["This invite link is incomplete.", "Open the whole link that ScreenRelay printed. It ends in #ROOM,TOKEN."],
  wrongLink: ["This invite link does not work.", `It may have expired, or a newer one has replaced it. ${askForLink}`],
  removed: ["You were removed by the person sharing.", "Ask them if you want to rejoin."],
  expired: ["This invite link has expired.", askForLink],
  refused: "The host refused the connection.",
  passwordWanted: ["Password required."],
  full: "The host cannot accept another viewer now.",
  roomLocked: ["The room is locked."],
  toBeLetIn: ["You are waiting to be let in.", "This page continues by itself."],
  turnedAway: ["You were not let in.", "Ask the person sharing if you want to join."],
  noH264: "This browser cannot play H.264.",
  noH264InFirefox:
    "Firefox uses FFmpeg's libavcodec, if that is installed, or its OpenH264 plug-in, which it downloads " +
    "after the first start: check Add-ons, Plugins, OpenH264, then try again.",
  otherBrowser: "Open the invite link in Chrome, Chromium, Edge, Firefox or Safari.",
  hostAway: ["The host is not reachable.", "ScreenRelay may have stopped there, or the network may be down."],
  foreignPage: (origin) => [
    "The host refuses pages from this address.",
    `It is behind a reverse proxy: the person sharing must add --allow-origin ${origin}.`,
  ],
  hostLeft: ["Sharing has ended.", "If it starts again, it will appear here."],
  offline: ["This device is offline.", "Video continues when the network is back."],
  lostConnection: ["The connection was lost."],
  noPicture: ["Connected to the host, but no video has arrived."],
  undecodable: ["Video arrives, but this browser cannot decode it."],
  noAnswer: ["The host is not responding."],
  unusableAnswer: "This browser cannot use the host's answer.",
  firefoxLoopback: [
    "Firefox ignores WebRTC on loopback addresses.",
    "Start ScreenRelay with --lan and open the invite link with this machine's address, or open " +
      "this one in Chromium.",
  ],
  noPath: (port, isLoopback) => [
    "Connected to the host, but video is blocked.",
    `Something between this device and the host blocks UDP. Allow ${port ? `UDP port ${port}` : "ScreenRelay's UDP port"} in ` +
      `the host's firewall${isLoopback ? "." : ", or use a network that allows it."}`,
  ],
  playBlocked: "Click to start playback.",
  sourceWaiting: ["No screen is shared here yet.", "It will appear as soon as sharing starts."],
  sourceAbsent: "The shared screen is not available yet.",
  sourceGone: (seconds, message) =>
    `The shared screen disconnected${seconds < 1 ? "" : ` ${seconds} s ago`}${closing(message)}`,
  silent: (seconds) => [`No video for ${seconds} s.`, "The shared screen may have stopped responding."],
  sourcePaused: (message) => [message || "The sharer has paused.", "Video will continue automatically."],
  oldPicture: (title) => `${title} This is the last frame.`,
  // The host's reasons, which are in English; and the end of a sentence.
  hostSays: (text) => text,
  stop: ".",

  // On buttons.
  tryAgain: "Try again",
  play: "Play",
  close: "Close",

  // The state, in the bar.
  connecting: "Connecting",
  connectingAgain: "Reconnecting",
  live: "Live",
  stale: "Outdated",
  waiting: "Waiting",
  paused: "Paused",
  stopped: "Stopped",
  ended: "Ended",
  clickToPlay: "Click to play",
  locked: "Locked",

  // Labels of parts of the page, for screen readers.
  screen: "The shared screen",
  controls: "Controls",
  showFit: "Fit to the window (W)",
  showFill: "Fill the window (C)",
  showActual: "Actual size (1)",
  fullScreen: "Full screen (F)",
  leaveFullScreen: "Leave full screen (F)",
  inset: "Picture in picture (P)",
  leaveInset: "Leave picture in picture (P)",
  help: "Keyboard shortcuts (?)",

  // The measurements.
  showCharts: (figures) => `Statistics: ${figures}. Show charts (S)`,
  chartsTitle: "The last minute",
  delay: "Delay",
  delayNote: "from a change on the shared screen until it is displayed here",
  roundTripNote: "over the network and back; this browser cannot measure the total delay",
  roundTrip: "Round trip",
  frameRate: "Frame rate",
  bitRate: "Bit rate",
  loss: "Loss",
  sound: "Sound",
  soundNote: "offset from the video; above zero the sound is late, below zero early",
  resolution: "Resolution",
  nothingMoves: "nothing moves",
  lost: (percent) => `${percent} % lost`,
  measuring: "measuring",
  notMeasured: "not measured",
  range: (least, most) => `${least} to ${most}`,
  secondsAgo: (seconds, value) => (seconds < 1 ? `now: ${value}` : `${Math.round(seconds)} s ago: ${value}`),
  chartHint: "Use ← and → to step through the last minute.",

  // Keys.
  keysTitle: "Keyboard shortcuts",
  keys: {
    fit: "Fit to the window",
    fill: "Fill the window and crop the rest",
    actual: "Actual size, pixel for pixel",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    zoomReset: "Reset zoom",
    pan: "Pan",
    fullScreen: "Full screen",
    inset: "Picture in picture (without the shared pointer)",
    charts: "Statistics",
    help: "This list",
    close: "Close panel",
  },
  keyNames: { arrows: "Arrow keys", escape: "Esc" },
  wheel: "Ctrl + wheel",
  pointerUse: "Zoom at the pointer; drag to pan",

  // Gestures, on a device that has only a touch screen.
  gesturesTitle: "Gestures",
  gestures: [
    { name: "Tap", text: "Show or hide the buttons" },
    { name: "Double tap", text: "Zoom in, or reset zoom" },
    { name: "Pinch", text: "Zoom" },
    { name: "Drag", text: "Pan" },
  ],
};
