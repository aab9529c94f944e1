// Texts about the choice of devices, in both languages.

import { language } from "../words/messages.js";

export const choiceWords = {
  en: {
    title: "Camera and microphone",
    unseen: "No one sees or hears you yet.",
    opening: "Waiting for the browser's permission …",
    own: "Your camera",
    camera: "Camera",
    microphone: "Microphone",
    speaker: "Speaker",
    usual: "Default",
    numbered: (name, number) => `${name} ${number}`,
    back: "Back camera",
    level: "Level of the microphone",
    start: "Start",
    cancel: "Cancel",
    change: "Change camera or microphone",
    close: "Close",
    notes: {
      "missed-video": "The chosen camera is missing. Another one is used.",
      "missed-audio": "The chosen microphone is missing. Another one is used.",
      "lost-video": "The camera was disconnected. Another one is used.",
      "lost-audio": "The microphone was disconnected. Another one is used.",
      "unopened-video": "This camera could not be opened. Another program may be using it.",
      "unopened-audio": "This microphone could not be opened. Another program may be using it.",
      "absent-video": "No camera can be used. No one sees you.",
      "absent-audio": "No microphone can be used. No one hears you.",
      "refused-video": "The browser does not allow the camera. No one sees you.",
      "refused-audio": "The browser does not allow the microphone. No one hears you.",
      refused: "The browser does not allow this device.",
    },
  },
  zh: {
    title: "摄像头和麦克风",
    unseen: "现在还没有人能看到或听到你。",
    opening: "等待浏览器授权…",
    own: "你的画面",
    camera: "摄像头",
    microphone: "麦克风",
    speaker: "扬声器",
    usual: "默认",
    numbered: (name, number) => `${name} ${number}`,
    back: "后置摄像头",
    level: "麦克风音量",
    start: "开始",
    cancel: "取消",
    change: "更换摄像头或麦克风",
    close: "关闭",
    notes: {
      "missed-video": "找不到所选的摄像头，已改用另一个。",
      "missed-audio": "找不到所选的麦克风，已改用另一个。",
      "lost-video": "摄像头已断开，已改用另一个。",
      "lost-audio": "麦克风已断开，已改用另一个。",
      "unopened-video": "无法打开这个摄像头，可能正被其他程序使用。",
      "unopened-audio": "无法打开这个麦克风，可能正被其他程序使用。",
      "absent-video": "没有可用的摄像头，没有人能看到你。",
      "absent-audio": "没有可用的麦克风，没有人能听到你。",
      "refused-video": "浏览器不允许使用摄像头，没有人能看到你。",
      "refused-audio": "浏览器不允许使用麦克风，没有人能听到你。",
      refused: "浏览器不允许使用这个设备。",
    },
  },
};

/** Like `words` of messages.js. */
export const words = choiceWords[language];
