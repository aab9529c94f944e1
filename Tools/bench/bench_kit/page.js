// Runs in the viewer's page before its own scripts, and keeps what a benchmark asks for with
// `networkBench.take()`: each picture that the video showed, and the browser's statistics twice a second.
"use strict";
(() => {
  const COUNTER_BITS = 16;
  const CELL = 16;
  const LEAST_CONTRAST = 70;
  const STATISTICS_EVERY = 500;

  // If `readsPictures` is false, nothing is kept of pictures, so that it takes no time from the page.
  const bench = { firstShown: null, sampleEvery: 0, readsPictures: true, connections: [] };
  let pictures = [];
  let statistics = [];
  let samples = [];
  let lastSample = 0;
  let lastShown = null;

  window.RTCPeerConnection = new Proxy(window.RTCPeerConnection, {
    construct(target, values) {
      const made = new target(...values);
      bench.connections.push(made);
      return made;
    },
  });

  // Has the browser check about one picture a second against samples that the host sends with it. Chromium accepts the
  // extension in its own offer, but doesn't put it there unencrypted.
  const setLocalDescription = RTCPeerConnection.prototype.setLocalDescription;
  RTCPeerConnection.prototype.setLocalDescription = async function (description) {
    const { type, sdp } = description ?? await this.createOffer();
    let id = 1;
    while (sdp.includes(`a=extmap:${id} `)) id += 1;
    const line = `a=extmap:${id} http://www.webrtc.org/experiments/rtp-hdrext/corruption-detection\r\n`;
    const asking = sdp.replace(/(m=video [^]*?)(?=a=sendrecv|a=recvonly)/, `$1${line}`);
    return setLocalDescription.call(this, { type, sdp: asking });
  };

  // The width of the scene. The host sends half of it where not even a few frames per second fit the path.
  let sceneWidth = 0;

  const cellIn = (width) => {
    sceneWidth = Math.max(sceneWidth, width);
    return width * 3 < sceneWidth * 2 ? CELL / 2 : CELL;
  };

  // The scene's counter: one column of two cells of `side` pixels for each bit, the upper one bright if it is 1. `luma`
  // has two rows of cells, in rows of `stride`.
  function counterIn(luma, stride, side = CELL) {
    let value = 0;
    for (let bit = 0; bit < COUNTER_BITS; bit += 1) {
      let above = 0;
      let below = 0;
      for (let y = side / 4; y < side * 3 / 4; y += 1) {
        for (let x = bit * side + side / 4; x < bit * side + side * 3 / 4; x += 1) {
          above += luma[y * stride + x];
          below += luma[(y + side) * stride + x];
        }
      }
      if (Math.abs(above - below) < LEAST_CONTRAST * (side / 2) ** 2) return null;
      value = value * 2 + (above > below ? 1 : 0);
    }
    return value;
  }

  const canvas = new OffscreenCanvas(256, 32);
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });

  // For pictures that have no luma of their own, such as those of a canvas, and for browsers that can't make a
  // `VideoFrame` of a video.
  function readDrawn(video, entry) {
    if (video.videoWidth < 256 || video.videoHeight < 32) return;
    const cell = cellIn(video.videoWidth);
    context.drawImage(video, 0, 0, cell * COUNTER_BITS, cell * 2, 0, 0, 256, 32);
    const { data } = context.getImageData(0, 0, 256, 32);
    // The counter is black and white, so that green is as good as luma.
    entry.counter = counterIn(data.filter((_, place) => place % 4 === 1), 256);
  }

  async function read(video, entry, isSample) {
    let frame = null;
    try {
      frame = new VideoFrame(video);
    } catch {}
    if (!frame || !/^(I4|NV)/.test(frame.format ?? "")) {
      frame?.close();
      return readDrawn(video, entry);
    }
    try {
      entry.frameTime = frame.timestamp;
      const { width, height } = frame.visibleRect;
      if (width < 256 || height < 32) return;
      const cell = cellIn(width);
      const rect = { x: 0, y: 0, width: isSample ? width : cell * COUNTER_BITS, height: isSample ? height : cell * 2 };
      const bytes = new Uint8Array(frame.allocationSize({ rect }));
      const [{ offset, stride }] = await frame.copyTo(bytes, { rect });
      entry.counter = counterIn(bytes.subarray(offset), stride, cell);
      if (isSample && stride === width && entry.counter !== null) {
        samples.push({ counter: entry.counter, shown: entry.shown, width, height,
          luma: new Blob([bytes.subarray(offset, offset + width * height)]) });
      }
    } finally {
      frame.close();
    }
  }

  function watch(video) {
    video.requestVideoFrameCallback((now, picture) => {
      watch(video);
      bench.firstShown ??= picture.presentationTime;
      if (!bench.readsPictures) return;
      const entry = { shown: picture.presentationTime, received: picture.receiveTime, media: picture.mediaTime,
        rtp: picture.rtpTimestamp, presented: picture.presentedFrames, called: now, counter: null };
      pictures.push(entry);
      lastShown = entry.shown;
      const isSample = bench.sampleEvery > 0 && now >= lastSample + bench.sampleEvery;
      if (isSample) lastSample = now;
      read(video, entry, isSample).catch((problem) => { entry.problem = String(problem); });
    });
  }

  // Plays the room's first track by WHEP, without the room's page: reads the counter of every picture that is decoded,
  // and draws none.
  bench.play = async (address, token) => {
    const connection = new RTCPeerConnection();
    connection.addTransceiver("video", { direction: "recvonly" });
    connection.ontrack = async ({ track }) => {
      const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 8 }).readable.getReader();
      const rect = { x: 0, y: 0, width: 256, height: 32 };
      const bytes = new Uint8Array(rect.width * rect.height * 2);
      for (;;) {
        const { value: frame, done } = await reader.read();
        if (done) return;
        const shown = performance.now();
        const [{ offset, stride }] = await frame.copyTo(bytes, { rect });
        frame.close();
        pictures.push({ shown, counter: counterIn(bytes.subarray(offset), stride) });
        bench.firstShown ??= shown;
      }
    };
    await connection.setLocalDescription();
    const answer = await fetch(address, { method: "POST", body: connection.localDescription.sdp,
      headers: { "Content-Type": "application/sdp", Authorization: `Bearer ${token}` } });
    if (!answer.ok) throw new Error(`WHEP: ${answer.status}`);
    await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  };

  bench.sampleNow = async () => {
    const video = document.querySelector("#video") ?? document.querySelector("video");
    if (!video || lastShown === null) return;
    await read(video, { shown: lastShown }, true).catch(() => {});
  };

  async function count() {
    for (const connection of bench.connections) {
      if (connection.connectionState !== "connected") continue;
      const entry = { time: performance.now() };
      for (const one of (await connection.getStats()).values()) {
        if (one.type === "inbound-rtp" && one.kind === "video") entry.video = one;
        if (one.type === "candidate-pair" && one.nominated) entry.pair = one;
        if (one.type === "remote-outbound-rtp" && one.kind === "video") entry.sender = one;
      }
      if (!entry.video) continue;
      // The delay as the page's bar shows it: "42 ms · 30 fps · …".
      const words = /(\d+) ms/.exec(window.screenRelay?.figures ?? "");
      statistics.push({ ...entry, phase: window.screenRelay?.phase, said: words ? Number(words[1]) : null });
    }
  }

  // The pair of candidates that carries the pictures, and what the browser says of both; null if none does.
  bench.pair = async () => {
    for (const connection of bench.connections) {
      if (connection.connectionState !== "connected") continue;
      const report = await connection.getStats();
      const transport = [...report.values()].find(({ type }) => type === "transport");
      const pair = report.get(transport?.selectedCandidatePairId);
      if (pair) return { local: report.get(pair.localCandidateId), remote: report.get(pair.remoteCandidateId) };
    }
    return null;
  };

  async function base64(blob) {
    const reader = new FileReader();
    return new Promise((resolve, reject) => {
      reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(blob);
    });
  }

  bench.take = async () => {
    const taken = { pictures, statistics, samples };
    pictures = [];
    statistics = [];
    samples = [];
    for (const one of taken.samples) one.luma = await base64(one.luma);
    return taken;
  };

  const seen = new Set();
  function look() {
    const video = document.querySelector("#video") ?? document.querySelector("video");
    if (!video || seen.has(video)) return;
    seen.add(video);
    watch(video);
  }
  document.addEventListener("readystatechange", look);
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  setInterval(() => count().catch(() => {}), STATISTICS_EVERY);
  window.networkBench = bench;
})();
