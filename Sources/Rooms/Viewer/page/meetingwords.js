// What the page says of who is here, of the meeting, of several tracks and of the password, in both languages.

import { language } from "./messages.js";

const en = {
  // Several tracks.
  tracks: "Shared screens",
  showTrack: (name) => `Show ${name}`,
  shownTrack: (name) => `${name}, shown now`,
  hideTracks: "Hide the small pictures",
  showTracks: "Show the small pictures",
  trackState: { live: "", waiting: "No picture yet", paused: "Paused", gone: "Not up to date" },
  trackChosen: (name) => `${name} is shown.`,
  nextTrack: "Next shared screen",

  // Who is here.
  people: "Who is here",
  peopleCount: (count) => (count === 1 ? "1 person is here" : `${count} people are here`),
  presenting: (name) => `Shares ${name}`,
  meeting: "Camera or microphone",
  you: "you",
  guest: "Guest",
  unlisted: (count) => (count === 1 ? "and 1 other" : `and ${count} others`),
  watching: (count) => (count === 1 ? "1 person watches" : `${count} people watch`),
  ownName: "Your name here",
  keepName: "Save",
  close: "Close",

  // The meeting.
  meet: "Camera and microphone",
  meetOffer: "Who is in the meeting sees and hears you. Nothing is on before you ask for it.",
  withCamera: "Camera and microphone",
  withMicrophone: "Microphone only",
  opening: "Opening …",
  leave: "Leave the meeting",
  mute: "Turn the microphone off",
  unmute: "Turn the microphone on",
  cameraOff: "Turn the camera off",
  cameraOn: "Turn the camera on",
  ownPicture: "You",
  pictureOf: (name) => `Picture of ${name}`,
  muted: "Microphone off",
  connecting: "Connecting",
  lost: "Connection lost, trying again",
  alone: "Nobody else is in the meeting yet.",
  problems: {
    insecure:
      "Browsers open camera and microphone only for a page that came by https or from this same machine. " +
      "Watching goes on.",
    unsupported: "This browser has no camera and microphone for pages. Watching goes on.",
    denied: "The browser was told not to open camera or microphone. Watching goes on.",
    missing: "There is no camera or microphone here. Watching goes on.",
    busy: "Camera or microphone is in use by another program. Watching goes on.",
    noCamera: "Without camera: others hear you.",
    noMicrophone: "Without microphone: others see you.",
    unplugged: "Camera or microphone is gone.",
    full: "The meeting has no more room.",
  },

  // The password.
  passwordTitle: "This room wants a password",
  passwordWrong: "That password is wrong.",
  password: "Password",
  enter: "Enter",
};

const zh = {
  tracks: "共享的屏幕",
  showTrack: (name) => `显示 ${name}`,
  shownTrack: (name) => `${name}，正在显示`,
  hideTracks: "隐藏小画面",
  showTracks: "显示小画面",
  trackState: { live: "", waiting: "暂无画面", paused: "已暂停", gone: "画面不是最新" },
  trackChosen: (name) => `正在显示 ${name}。`,
  nextTrack: "下一个共享的屏幕",

  people: "在场的人",
  peopleCount: (count) => `${count} 人在场`,
  presenting: (name) => `正在共享 ${name}`,
  meeting: "摄像头或麦克风",
  you: "你",
  guest: "访客",
  unlisted: (count) => `另有 ${count} 人`,
  watching: (count) => `${count} 人在观看`,
  ownName: "你在这里的名字",
  keepName: "保存",
  close: "关闭",

  meet: "摄像头和麦克风",
  meetOffer: "会议中的人能看到并听到你。在你开启之前，一切都是关闭的。",
  withCamera: "摄像头和麦克风",
  withMicrophone: "仅麦克风",
  opening: "正在打开…",
  leave: "离开会议",
  mute: "关闭麦克风",
  unmute: "打开麦克风",
  cameraOff: "关闭摄像头",
  cameraOn: "打开摄像头",
  ownPicture: "你",
  pictureOf: (name) => `${name} 的画面`,
  muted: "麦克风已关闭",
  connecting: "正在连接",
  lost: "连接中断，正在重试",
  alone: "会议中还没有其他人。",
  problems: {
    insecure: "浏览器只为通过 https 打开或来自本机的页面开启摄像头和麦克风。观看不受影响。",
    unsupported: "此浏览器不向页面提供摄像头和麦克风。观看不受影响。",
    denied: "浏览器被设置为不允许使用摄像头或麦克风。观看不受影响。",
    missing: "这里没有摄像头或麦克风。观看不受影响。",
    busy: "摄像头或麦克风正被其他程序使用。观看不受影响。",
    noCamera: "没有摄像头：其他人能听到你。",
    noMicrophone: "没有麦克风：其他人能看到你。",
    unplugged: "摄像头或麦克风已断开。",
    full: "会议人数已满。",
  },

  passwordTitle: "此房间需要密码",
  passwordWrong: "密码不正确。",
  password: "密码",
  enter: "进入",
};

/** As `words` of messages.js. */
export const words = { en, zh }[language];
