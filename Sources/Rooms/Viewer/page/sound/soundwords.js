// Texts about sound, in both languages.

export const soundWords = {
  en: {
    offer: "Sound is off – click to listen",
    decline: "Watch without sound",
    turnOn: "Turn the sound on (A)",
    turnOff: "Turn the sound off (A)",
    volume: "Volume",
    device: "Choose the speaker",
    muted: "The sharer has muted the sound.",
    toggle: "sound on or off",
    louder: "louder",
    quieter: "quieter",
  },
  zh: {
    offer: "声音已关闭，点击收听",
    decline: "不听声音，继续观看",
    turnOn: "打开声音 (A)",
    turnOff: "关闭声音 (A)",
    volume: "音量",
    device: "选择扬声器",
    muted: "共享者已将声音静音。",
    toggle: "打开或关闭声音",
    louder: "调高音量",
    quieter: "调低音量",
  },
};
