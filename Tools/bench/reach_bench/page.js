// Runs in the viewer's page beside network_bench's page.js, and keeps what Tools/bench/reach asks for: when the page
// has asked the host for pictures, by which path they come, and what this browser has.
"use strict";
(() => {
  const PANEL_TIMEOUT = 5000;
  const reach = { asked: null };

  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    const { eventName } = typeof data === "string" ? JSON.parse(data) : {};
    if (eventName === "__offer" || eventName === "__frames") reach.asked ??= performance.now();
    send.call(this, data);
  };

  const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const wait = (time) => new Promise((resume) => setTimeout(resume, time));

  // The lines in which the page says which path is in use, and why none of the better ones.
  reach.path = async () => {
    press("s");
    const deadline = performance.now() + PANEL_TIMEOUT;
    let lines = [];
    const isOpen = (line) => line === "none yet" || line.endsWith("being tried.");
    while (performance.now() < deadline && (lines.length === 0 || lines.some(isOpen))) {
      await wait(100);
      lines = [...document.querySelectorAll(".paths > *")].map((line) => (line.lastElementChild ?? line).textContent);
    }
    press("s");
    return lines;
  };

  // How the page plays what comes: by WebRTC, by WebCodecs or by Media Source.
  reach.player = () => {
    if (!window.screenRelay.isByWebSocket) return "WebRTC";
    return document.querySelector("#video").srcObject ? "WebCodecs" : "Media Source";
  };

  // What this browser has of what the host and the page can use, each a list of names.
  reach.features = async () => {
    const made = window.offerToReceive(false);
    const { sdp } = await made.offer;
    made.connection.close();
    const all = (pattern) => [...new Set([...sdp.matchAll(pattern)].map((match) => match[1]))].sort();
    const video = document.querySelector("#video");
    const picture = await new Promise((resume) => video.requestVideoFrameCallback((_, it) => resume(it)));
    const { prototype } = RTCRtpReceiver;
    const receivers = window.networkBench.connections.filter(({ connectionState }) => connectionState === "connected")
      .flatMap((connection) => connection.getReceivers()).filter(({ track }) => track.kind === "video");
    const [source] = receivers.flatMap((receiver) => receiver.getSynchronizationSources());
    const entries = (await Promise.all(receivers.map((receiver) => receiver.getStats())))
      .flatMap((report) => [...report.values()]);
    const interfaces = ["VideoDecoder", "MediaStreamTrackGenerator", "MediaStreamTrackProcessor", "MediaSource"];
    return {
      "header extensions that it offers": all(/^a=extmap:\d+(?:\/\S+)? (\S+)/gm),
      "feedback that it offers": all(/^a=rtcp-fb:\S+ (.+?)\r?$/gm),
      "codecs that it offers": all(/^a=rtpmap:\d+ (\S+)/gm),
      "what it tells of each picture": Object.keys(picture).sort(),
      "what it tells of a track's last packets": source ? Object.keys(source).sort() : [],
      "interfaces": [
        ...interfaces.filter((name) => name in window),
        ...["jitterBufferTarget", "getSynchronizationSources"].filter((name) => name in prototype)
          .map((name) => `RTCRtpReceiver.${name}`),
        ...["setHeaderExtensionsToNegotiate"].filter((name) => name in RTCRtpTransceiver.prototype)
          .map((name) => `RTCRtpTransceiver.${name}`),
      ].sort(),
      "its counters of the video": Object.keys(entries.find(({ type }) => type === "inbound-rtp") ?? {}).sort(),
    };
  };

  window.reachBench = reach;
})();
