// Texts of the meeting, in both languages.

import { language } from "../words/messages.js";

export const en = {
  cannotMeet: {
    noWebRTC: "Camera and microphone need WebRTC",
    insecure: "Camera and microphone need https",
    unsupported: "No camera or microphone in this browser",
  },
  meeting: "Meeting",
  meetOffer: "Everyone in the meeting will see and hear you. Nothing is on until you turn it on.",
  withCamera: "Camera and microphone",
  withMicrophone: "Microphone only",
  opening: "Opening …",
  leave: "Leave the meeting",
  mute: "Turn the microphone off",
  unmute: "Turn the microphone on",
  cameraOff: "Turn the camera off",
  cameraOn: "Turn the camera on",
  change: "Change camera, microphone or speaker",
  ownPicture: "You",
  pictureOf: (name) => `${name}'s camera`,
  muted: "Microphone off",
  connecting: "Connecting",
  lost: "Connection lost, trying again",
  alone: "No one else is in the meeting yet.",
  problems: {
    noWebRTC: "A meeting needs WebRTC, which is disabled or missing in this browser. You can still watch.",
    insecure:
      "Browsers allow camera and microphone only on pages opened with https, or on the machine that shares the " +
      "screen. You can still watch.",
    unsupported: "This browser doesn't support camera and microphone. You can still watch.",
    denied: "Camera and microphone are blocked in this browser's settings. You can still watch.",
    missing: "No camera or microphone was found. You can still watch.",
    busy: "Another program is using the camera or microphone. You can still watch.",
    unloaded: "The host could not be reached. Try again.",
    full: "The meeting is full.",
  },
};

export const zh = {
  cannotMeet: {
    noWebRTC: "摄像头和麦克风需要 WebRTC",
    insecure: "摄像头和麦克风需要 https",
    unsupported: "此浏览器不提供摄像头和麦克风",
  },
  meeting: "会议",
  meetOffer: "会议中的人能看到并听到你。在你开启之前，一切都是关闭的。",
  withCamera: "摄像头和麦克风",
  withMicrophone: "仅麦克风",
  opening: "正在打开…",
  leave: "离开会议",
  mute: "关闭麦克风",
  unmute: "打开麦克风",
  cameraOff: "关闭摄像头",
  cameraOn: "打开摄像头",
  change: "更换摄像头、麦克风或扬声器",
  ownPicture: "你",
  pictureOf: (name) => `${name} 的画面`,
  muted: "麦克风已关闭",
  connecting: "正在连接",
  lost: "连接中断，正在重试",
  alone: "会议中还没有其他人。",
  problems: {
    noWebRTC: "此浏览器没有或已关闭会议所需的 WebRTC。观看不受影响。",
    insecure: "浏览器只允许通过 https 打开的页面，或在共享屏幕的机器上打开的页面，使用摄像头和麦克风。观看不受影响。",
    unsupported: "此浏览器不向页面提供摄像头和麦克风。观看不受影响。",
    denied: "浏览器被设置为不允许使用摄像头或麦克风。观看不受影响。",
    missing: "这里没有摄像头或麦克风。观看不受影响。",
    busy: "摄像头或麦克风正被其他程序使用。观看不受影响。",
    unloaded: "无法连接到主机，请重试。",
    full: "会议人数已满。",
  },
};

/** Like `words` of messages.js. */
export const words = { en, zh }[language];
