// Texts about the paths to the host, in both languages.

export const pathWords = {
  en: {
    title: "Connection",
    used: { udp: "UDP (direct)", tcp: "TCP (direct)", webSocket: "WebSocket", none: "none yet" },
    relay: (host, protocol) => `relay at ${host} (${protocol})`,
    ends: (local, remote) => `This device: ${local}. The host: ${remote}.`,
    types: {
      host: "own address",
      srflx: "public address (seen by a STUN server)",
      prflx: "address as the peer sees it",
      relay: "relay's address",
    },
    kinds: { udp: "UDP", tcp: "TCP", relay: "Relay" },
    other: (kind, reason) => `${kind}: ${reason}.`,
    reasons: {
      trying: "being tried",
      noAnswer: "no answer within 3 s",
      notOffered: "not offered by the host",
      notAllowed: "not allowed by this browser",
      refused: "refused",
      notChosen: "works, but the browser chose another path",
      notConfigured: "not configured",
    },
    error: (code, text) => `error ${[code, text].filter(Boolean).join(", ")}`,
    noH264: "This browser can't play H.264 over WebRTC, so only the WebSocket path works.",
  },
  zh: {
    title: "连接",
    used: { udp: "UDP 直连", tcp: "TCP 直连", webSocket: "WebSocket", none: "尚未建立" },
    relay: (host, protocol) => `经中继 ${host}（${protocol}）`,
    ends: (local, remote) => `本设备：${local}。主机：${remote}。`,
    types: {
      host: "自身地址",
      srflx: "STUN 服务器看到的地址",
      prflx: "对方看到的地址",
      relay: "中继的地址",
    },
    kinds: { udp: "UDP", tcp: "TCP", relay: "中继" },
    other: (kind, reason) => `${kind}：${reason}。`,
    reasons: {
      trying: "正在尝试",
      noAnswer: "3 秒内没有回应",
      notOffered: "主机未提供",
      notAllowed: "此浏览器不允许",
      refused: "被拒绝",
      notChosen: "可用，但浏览器选择了另一条路径",
      notConfigured: "未配置",
    },
    error: (code, text) => `错误 ${[code, text].filter(Boolean).join("，")}`,
    noH264: "此浏览器无法通过 WebRTC 播放 H.264，因此无法使用其他路径。",
  },
};
