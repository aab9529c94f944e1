// Every sentence that the page says when it has no picture, or an old one.
// A message has a title, a detail (may be empty), and a tone: "wait" while the page goes on trying, "error" when it has stopped.

const wait = (title, detail = "") => ({ title, detail, tone: "wait" });
const error = (title, detail = "") => ({ title, detail, tone: "error" });

/** The host's reasons as sentences. */
const sentence = (text) =>
  text === "" ? "" : text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

export const messages = {
  connecting: () => wait("Opening the shared screen …"),

  negotiating: () => wait("Opening the shared screen …", "The host is there. Waiting for the first picture."),

  retrying: (reason, seconds) =>
    wait(reason.title, [reason.detail, seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again now."]
      .filter(Boolean).join(" ")),

  noLink: () =>
    error("This address names no room.", "Open the whole link that ScreenRelay printed. It ends in #ROOM,TOKEN."),

  wrongLink: () => error("This link does not open a room here. Ask for a new one."),

  refused: (reason) => error("The host refused.", sentence(reason)),

  full: (reason) => wait("The host has no room for another viewer now.", reason),

  noWebRTC: () =>
    error("This browser has no WebRTC.", "Open the link in a current Chromium, Chrome, Edge, Firefox or Safari."),

  noH264: (isFirefox) =>
    error(
      "This browser plays no H.264 over WebRTC.",
      isFirefox
        ? "Firefox downloads its H.264 plug-in after the first start: look at Add-ons, Plugins, OpenH264, then try again."
        : "Open the link in a browser that does: Chrome, Chromium, Edge, Firefox or Safari."),

  hostAway: () => wait("The host does not answer.", "ScreenRelay may have ended there, or the network is down."),

  hostLeft: () => wait("Sharing has ended.", "If it starts again, it shows here."),

  lostConnection: () => wait("The connection was lost."),

  noPicture: () => wait("The host is connected, but no picture has come."),

  undecodable: () => wait("Pictures arrive, but this browser can't decode them."),

  noAnswer: () => wait("The host has not answered the offer."),

  unusableAnswer: (reason) => wait("The host's answer can't be used.", reason),

  // ICE failed although the WebSocket is there.
  noPath: ({ isFirefox, isLoopback, port }) => {
    if (isFirefox && isLoopback) {
      return wait(
        "Firefox takes no WebRTC from this same machine.",
        "It ignores loopback addresses. Start ScreenRelay with --lan and open the link with this machine's address, " +
          "or open this link in Chromium.");
    }
    const where = port ? `UDP port ${port}` : "ScreenRelay's UDP port";
    return wait(
      "The host is there, but no picture comes through.",
      `Something between here and the host blocks UDP. Let ${where} through the host's firewall` +
        (isLoopback ? "." : ", or use a network that allows it."));
  },

  playBlocked: () => ({ title: "The browser waits for a click.", detail: "", tone: "play" }),

  // Notices over a picture that is no longer new.
  sourceGone: (message, seconds) => {
    if (seconds === null) return message || "The shared screen is not there yet.";
    return `The shared screen has not answered for ${seconds} s${message ? `: ${message}` : ""}`;
  },

  sourceWaiting: () => "No screen is shared here yet. It appears as soon as capture starts.",

  // In place of the picture, while the sharer shows none.
  sourcePaused: (message) => ({
    title: message || "The sharer has paused.",
    detail: "The picture comes back by itself.",
  }),

  oldPicture: (reason) => `${reason.title} This is the last picture.`,
};
