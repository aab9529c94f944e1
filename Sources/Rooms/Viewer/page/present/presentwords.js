// Texts about sharing from the page, in both languages.

import { language } from "../words/messages.js";

export const presentWords = {
  en: {
    present: "Share into the room",
    ask: "Ask to present",
    asking: (count) => (count === 1 ? "1 person asks to present" : `${count} people ask to present`),
    presenting: "You are sharing into the room",
    offer: "Everyone in the room will see and hear what you share.",
    start: { screen: "Share my screen", camera: "Share my camera" },
    stop: { screen: "Stop sharing my screen", camera: "Stop sharing my camera" },
    turn: {
      none: "A presenter can let you present.", asked: "You have asked to present.",
      granted: "You may present now.", owner: "",
    },
    ended: { asked: "Your request has ended.", granted: "Your turn has ended.", owner: "Your turn has ended." },
    left: (minutes) => `${minutes} min left.`,
    again: (seconds) => `You can ask again in ${seconds} s.`,
    ownTurn: { none: "Ask to present", asked: "Withdraw the request", granted: "Give the turn back", owner: "" },
    turns: "Requests and presenters",
    asks: (name) => `${name} asks to present`,
    presents: (name) => `${name} may present`,
    acts: { allow: "Allow", decline: "Decline", pass: "Hand over", end: "End" },
    motion: "Video or animation: smooth motion instead of sharp text",
    states: { opening: "Waiting for your choice …", connecting: "Connecting …", live: "You are live." },
    problems: {
      noWebRTC: "Sharing needs WebRTC, which is disabled or missing in this browser.",
      insecure: "Browsers allow sharing only on pages opened with https, or on the machine of the host.",
      unsupported: "This browser cannot share it.",
      denied: "Sharing is blocked in this browser's settings.",
      missing: "Nothing to share was found.",
      busy: "The browser could not start it. Another program may be using it.",
      refused: "The host refused it.",
    },
  },
  zh: {
    present: "向房间共享",
    ask: "申请演示",
    asking: (count) => `${count} 人申请演示`,
    presenting: "你正在向房间共享",
    offer: "房间里的所有人都能看到并听到你共享的内容。",
    start: { screen: "共享我的屏幕", camera: "共享我的摄像头" },
    stop: { screen: "停止共享屏幕", camera: "停止共享摄像头" },
    turn: {
      none: "经演示者同意后，你也可以演示。", asked: "你已申请演示。", granted: "现在你可以演示。", owner: "",
    },
    ended: { asked: "你的申请已结束。", granted: "你的演示权已结束。", owner: "你的演示权已结束。" },
    left: (minutes) => `还剩 ${minutes} 分钟。`,
    again: (seconds) => `${seconds} 秒后可再次申请。`,
    ownTurn: { none: "申请演示", asked: "撤回申请", granted: "交还演示权", owner: "" },
    turns: "申请人和演示者",
    asks: (name) => `${name} 申请演示`,
    presents: (name) => `${name} 可以演示`,
    acts: { allow: "同意", decline: "拒绝", pass: "移交", end: "结束" },
    motion: "视频或动画：画面流畅优先于文字清晰",
    states: { opening: "等待你选择…", connecting: "正在连接…", live: "正在共享。" },
    problems: {
      noWebRTC: "此浏览器没有或已关闭共享所需的 WebRTC。",
      insecure: "浏览器只允许通过 https 打开的页面，或在主机上打开的页面，进行共享。",
      unsupported: "此浏览器不能共享它。",
      denied: "浏览器被设置为不允许共享。",
      missing: "没有找到可共享的内容。",
      busy: "浏览器无法开始共享，可能正被其他程序使用。",
      refused: "主机拒绝了共享。",
    },
  },
};

/** Like `words` of messages.js. */
export const words = presentWords[language];
