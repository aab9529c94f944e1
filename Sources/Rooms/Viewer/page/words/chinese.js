// 本页面的中文用语。键与 english.js 相同。

const closing = (message) => (message ? `：${message}` : "");
const askForLink = "请向共享屏幕的人索取新的邀请链接。";

// 主机给出的原因是英文；其中已知的在此译出，其余的不显示。
const hostWords = new Map([
  ["The sharer has paused.", "共享者已暂停共享。"],
  ["The screen is locked.", "屏幕已锁定。"],
  ["What is shared is not on the screen just now.", "所共享的窗口目前不在屏幕上。"],
  ["the room is full", "房间已满"],
  ["the host has too little memory for another viewer", "主机内存不足"],
  ["the host is too busy for another viewer", "主机负载过高"],
  ["the publisher has left", "发布者已离开"],
  ["the host is ending", "主机正在退出"],
  ["capture has ended", "屏幕采集已结束"],
]);
// 其中含有人名的：名字可能是任何文字。
const hostSentences = new Map([
  [/^(.+) has stopped sharing$/s, (who) => `${who}已停止共享`],
  [/^(.+) has ended sharing in the browser$/s, (who) => `${who}已在浏览器中结束共享`],
  [/^(.+) has closed the page$/s, (who) => `${who}已关闭页面`],
  [/^the browser of (.+) has ended unexpectedly$/s, (who) => `${who}的浏览器意外退出`],
  [/^the connection to (.+) was lost$/s, (who) => `与${who}的连接已断开`],
  [/^(.+) was removed by the sharer$/s, (who) => `${who}已被移出`],
  [/^the turn of (.+) is over$/s, (who) => `${who}的演示已结束`],
]);

/** 主机给出的原因的中文；不认识的不显示。 */
function translated(text) {
  if (hostWords.has(text)) return hostWords.get(text);
  for (const [pattern, sentence] of hostSentences) {
    const who = pattern.exec(text)?.[1];
    if (who) return sentence(who === "the presenter" ? "演示者" : ` ${who} `).trim();
  }
  return "";
}

export const chinese = {
  opening: "正在打开共享屏幕…",
  hostIsThere: "主机已连接，正在等待第一帧画面。",
  retryIn: (seconds) => `${seconds} 秒后重试。`,
  retryNow: "正在重试。",
  aWhile: "一段时间",
  noLink: ["此邀请链接不完整。", "请打开 ScreenRelay 给出的完整链接，其结尾为 #房间,令牌。"],
  wrongLink: ["此邀请链接无效。", `它可能已过期，或已被新的链接取代。${askForLink}`],
  removed: ["你已被移出。", "共享屏幕的人结束了你的观看。如果想再次观看，请与其联系。"],
  expired: ["此邀请链接已过期。", askForLink],
  refused: "主机拒绝了连接。",
  passwordWanted: ["需要密码。"],
  full: "主机目前无法接纳更多观看者。",
  roomLocked: ["房间已锁定。"],
  toBeLetIn: ["你正在等待进入。", "获准后会自动继续。"],
  turnedAway: ["你未获准进入。", "如果想加入，请与共享屏幕的人联系。"],
  noH264: "此浏览器无法播放 H.264。",
  noH264InFirefox:
    "Firefox 使用系统中的 FFmpeg 库 libavcodec（如已安装），或首次启动后下载的 OpenH264 插件：" +
    "请查看“扩展和主题”→“插件”→“OpenH264”，然后重试。",
  otherBrowser: "请改用支持它的浏览器：Chrome、Chromium、Edge、Firefox 或 Safari。",
  hostAway: ["主机没有响应。", "那边的 ScreenRelay 可能已退出，或者网络已断开。"],
  foreignPage: (origin) => ["主机拒绝来自此地址的页面。", `主机位于反向代理之后：共享者需要加上 --allow-origin ${origin}。`],
  hostLeft: ["共享已结束。", "如果重新开始，会在这里显示。"],
  offline: ["本设备已离线。", "网络恢复后画面会自动回来。"],
  lostConnection: ["连接已断开。"],
  noPicture: ["主机已连接，但没有收到画面。"],
  undecodable: ["收到了画面，但此浏览器无法解码。"],
  noAnswer: ["主机没有回应连接请求。"],
  unusableAnswer: "主机的应答无法使用。",
  firefoxLoopback: [
    "Firefox 不接受来自本机的 WebRTC。",
    "它会忽略回环地址。请用 --lan 启动 ScreenRelay 并以本机地址打开链接，或者用 Chromium 打开此链接。",
  ],
  noPath: (port, isLoopback) => [
    "主机在线，但画面传不过来。",
    `这里与主机之间有设备阻断了 UDP。请在主机的防火墙上放行${port ? ` UDP 端口 ${port}` : " ScreenRelay 的 UDP 端口"}` +
      (isLoopback ? "。" : "，或换用允许它的网络。"),
  ],
  playBlocked: "浏览器要求点击后才能播放。",
  sourceWaiting: ["这里还没有共享屏幕。", "开始采集后会自动显示，无需任何操作。"],
  sourceAbsent: "共享屏幕尚未就绪。",
  sourceGone: (seconds, message) => `共享屏幕已断开${seconds < 1 ? "" : ` ${seconds} 秒`}${closing(message)}`,
  silent: (seconds) => [`已有 ${seconds} 秒没有收到画面。`, "共享屏幕可能已停止响应。"],
  sourcePaused: (message) => [message || "共享已暂停。", "画面会自动恢复。"],
  oldPicture: (title) => `${title}这是最后一帧画面。`,
  hostSays: translated,
  stop: "。",

  tryAgain: "重试",
  play: "播放",
  close: "关闭",

  connecting: "正在连接",
  connectingAgain: "正在重新连接",
  live: "直播中",
  stale: "不是最新画面",
  waiting: "等待中",
  paused: "已暂停",
  stopped: "已停止",
  ended: "已结束",
  clickToPlay: "点击播放",
  locked: "已锁定",

  screen: "共享屏幕",
  controls: "控制栏",
  showFit: "适应窗口 (W)",
  showFill: "填满窗口 (C)",
  showActual: "实际大小 (1)",
  fullScreen: "全屏 (F)",
  leaveFullScreen: "退出全屏 (F)",
  inset: "画中画 (P)",
  leaveInset: "退出画中画 (P)",
  help: "快捷键 (?)",

  showCharts: (figures) => `测量值：${figures}。显示图表 (S)`,
  chartsTitle: "最近一分钟",
  delay: "延迟",
  delayNote: "从共享屏幕到本页面",
  roundTripNote: "网络往返时间；此浏览器无法得知完整延迟",
  roundTrip: "往返",
  frameRate: "帧率",
  bitRate: "码率",
  loss: "丢包",
  sound: "声音",
  soundNote: "声音比画面晚多少；负值表示更早",
  resolution: "分辨率",
  nothingMoves: "画面静止",
  lost: (percent) => `丢包 ${percent}%`,
  measuring: "正在测量",
  notMeasured: "未测量",
  range: (least, most) => `${least} 至 ${most}`,
  secondsAgo: (seconds, value) => (seconds < 1 ? `现在：${value}` : `${Math.round(seconds)} 秒前：${value}`),
  chartHint: "用左右方向键逐秒读取。",

  keysTitle: "快捷键",
  keys: {
    fit: "适应窗口",
    fill: "填满窗口，裁掉其余部分",
    actual: "实际大小，逐像素显示",
    zoomIn: "放大",
    zoomOut: "缩小",
    zoomReset: "取消缩放",
    pan: "在画面上移动",
    fullScreen: "全屏",
    inset: "画中画（不显示对方的鼠标指针）",
    charts: "测量值图表",
    help: "本列表",
    close: "关闭已打开的内容",
  },
  keyNames: { arrows: "方向键", escape: "Esc" },
  wheel: "Ctrl + 滚轮",
  pointerUse: "在指针处缩放；拖动以移动",

  gesturesTitle: "手势",
  gestures: [
    { name: "轻点", text: "显示或隐藏按钮" },
    { name: "双击", text: "放大，再次双击还原" },
    { name: "双指捏合", text: "缩放" },
    { name: "拖动", text: "在画面上移动" },
  ],
};
