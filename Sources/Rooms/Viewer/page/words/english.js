// The page's words in English. Every key is in chinese.js too.

const closing = (message) => (message ? `: ${message}` : "");
const askForLink = "Ask the person sharing for a new link.";

export const english = {
  // Texts on the card or in the notice: a title and a detail.
  opening: "Opening the shared screen …",
  hostIsThere: "Connected to the host. Waiting for the first picture.",
  retryIn: (seconds) => `Trying again in ${seconds} s.`,
  retryNow: "Trying again now.",
  aWhile: "a while",
  noLink: ["This link is not complete.", "Open the whole link that ScreenRelay printed. It ends in #ROOM,TOKEN."],
  wrongLink: ["This link does not work.", `It may have expired, or a newer one has replaced it. ${askForLink}`],
  sentAway: ["You have been removed.", "The person sharing has ended your visit. Ask them if you want to come back."],
  expired: ["This link has expired.", askForLink],
  refused: "The host has refused the connection.",
  passwordWanted: ["Password required."],
  full: "The host cannot take another viewer now.",
  noH264: "This browser cannot play H.264.",
  noH264InFirefox:
    "Firefox takes it from FFmpeg's libavcodec, if that is installed, or from its OpenH264 plug-in, which it downloads " +
    "after the first start: look at Add-ons, Plugins, OpenH264, then try again.",
  otherBrowser: "Open the link in a browser that can: Chrome, Chromium, Edge, Firefox or Safari.",
  hostAway: ["The host does not answer.", "ScreenRelay may have stopped there, or the network may be down."],
  foreignPage: (origin) => [
    "The host refuses pages of this address.",
    `It is behind a reverse proxy: whoever shares the screen has to add --allow-origin ${origin}.`,
  ],
  hostLeft: ["Sharing has ended.", "If it starts again, it will appear here."],
  offline: ["This device is offline.", "The picture comes back when the network does."],
  lostConnection: ["The connection was lost."],
  noPicture: ["The host is connected, but no picture has arrived."],
  undecodable: ["Pictures arrive, but this browser cannot decode them."],
  noAnswer: ["The host has not answered the request for the picture."],
  unusableAnswer: "This browser cannot use the host's answer.",
  firefoxLoopback: [
    "Firefox does not accept WebRTC from the machine that it runs on.",
    "It ignores loopback addresses. Start ScreenRelay with --lan and open the link with this machine's address, or open " +
      "this link in Chromium.",
  ],
  noPath: (port, isLoopback) => [
    "The host answers, but its picture does not get through.",
    `Something between this device and the host blocks UDP. Allow ${port ? `UDP port ${port}` : "ScreenRelay's UDP port"} in ` +
      `the host's firewall${isLoopback ? "." : ", or use a network that allows it."}`,
  ],
  playBlocked: "The browser plays only after a click.",
  sourceWaiting: ["No screen is shared here yet.", "It will appear as soon as sharing starts."],
  sourceAbsent: "The shared screen is not available yet.",
  sourceGone: (seconds, message) => `The shared screen went away${seconds < 1 ? "" : ` ${seconds} s ago`}${closing(message)}`,
  silent: (seconds) => [`No picture for ${seconds} s.`, "The shared screen may have stopped responding."],
  sourcePaused: (message) => [message || "The sharer has paused.", "The picture will come back by itself."],
  oldPicture: (title) => `${title} This is the last picture.`,
  // The host's reasons, which are in English; and the end of a sentence.
  hostSays: (text) => text,
  stop: ".",

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
  showCharts: (figures) => `Measured: ${figures}. Show charts (S)`,
  chartsTitle: "The last minute",
  delay: "Delay",
  delayNote: "from the shared screen to this page",
  roundTripNote: "over the network and back; this browser cannot measure the whole delay",
  roundTrip: "Round trip",
  frameRate: "Frame rate",
  bitRate: "Bit rate",
  loss: "Loss",
  sound: "Sound",
  soundNote: "how much later than the picture it is heard; below zero, earlier",
  resolution: "Resolution",
  nothingMoves: "nothing moves",
  lost: (percent) => `${percent} % lost`,
  measuring: "measuring",
  notMeasured: "not measured",
  range: (least, most) => `${least} to ${most}`,
  secondsAgo: (seconds, value) => (seconds < 1 ? `now: ${value}` : `${Math.round(seconds)} s ago: ${value}`),
  chartHint: "The left and right arrow keys read it second by second.",

  // Keys.
  keysTitle: "Keyboard shortcuts",
  keys: {
    fit: "fit to the window",
    fill: "fill the window and cut off the rest",
    actual: "actual size, pixel for pixel",
    zoomIn: "zoom in",
    zoomOut: "zoom out",
    zoomReset: "undo the zoom",
    pan: "move over the picture",
    fullScreen: "full screen",
    inset: "picture in picture (without the shared pointer)",
    charts: "charts of what is measured",
    help: "this list",
    close: "close what is open",
  },
  keyNames: { arrows: "arrow keys", escape: "Esc" },
  wheel: "Ctrl + wheel",
  pointerUse: "zoom at the pointer; drag to move",

  // Gestures, on a device that has only a touch screen.
  gesturesTitle: "Gestures",
  gestures: [
    { name: "Tap", text: "show or hide the buttons" },
    { name: "Double tap", text: "zoom in, and back" },
    { name: "Pinch", text: "zoom" },
    { name: "Drag", text: "move over the picture" },
  ],
};
