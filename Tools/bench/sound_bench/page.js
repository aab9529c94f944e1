// Runs in the viewer's page before its own scripts, and keeps what the sound bench asks for. Times are milliseconds of
// performance.now().
"use strict";
(() => {
  const RATE = 48_000;
  const CLOCK_EVERY = 100;
  // A flash fills the picture, so that a few points of it suffice.
  const POINTS = 8;

  const bench = {};
  const connections = [];
  let flashes = [];
  let beeps = [];
  let clock = [];
  let counts = [];
  let pieces = [];
  let rate = RATE;
  let problem = null;

  window.RTCPeerConnection = new Proxy(window.RTCPeerConnection, {
    construct(target, values) {
      const made = new target(...values);
      connections.push(made);
      return made;
    },
  });

  const video = () => document.querySelector("#video");
  const soundTrack = () => video().srcObject.getAudioTracks()[0];

  /** Keeps when the picture becomes bright: when it was handed to the browser's compositor, and when it is expected. */
  bench.watchFlashes = () => {
    const context = new OffscreenCanvas(POINTS, POINTS).getContext("2d", { willReadFrequently: true });
    let wasBright = false;
    const look = (now, { presentationTime, expectedDisplayTime }) => {
      video().requestVideoFrameCallback(look);
      context.drawImage(video(), 0, 0, POINTS, POINTS);
      const { data } = context.getImageData(0, 0, POINTS, POINTS);
      let green = 0;
      for (let place = 1; place < data.length; place += 4) green += data[place];
      const isBright = green > POINTS * POINTS * 128;
      if (isBright && !wasBright) flashes.push([presentationTime, expectedDisplayTime]);
      wasBright = isBright;
    };
    video().requestVideoFrameCallback(look);
  };

  /** Plays the sound through `tap`, the text of tap.js, too, which keeps beeps and, if asked, samples. */
  bench.listen = async (tap, keepsSamples) => {
    const context = new AudioContext({ sampleRate: RATE, latencyHint: 0 });
    const address = URL.createObjectURL(new Blob([tap], { type: "text/javascript" }));
    await context.audioWorklet.addModule(address);
    const node = new AudioWorkletNode(context, "tap", { processorOptions: { keepsSamples } });
    node.port.onmessage = ({ data }) => {
      if (data.piece) pieces.push(data.piece);
      else beeps.push(data.frame / RATE);
    };
    // The tap itself is silent, but what leads nowhere isn't asked for samples.
    context.createMediaStreamSource(new MediaStream([soundTrack()])).connect(node).connect(context.destination);
    await context.resume();
    // When the speaker plays which second of the context.
    setInterval(() => {
      const { contextTime, performanceTime } = context.getOutputTimestamp();
      if (contextTime > 0) clock.push([contextTime, performanceTime]);
    }, CLOCK_EVERY);
    // What nobody holds may be collected.
    bench.context = context;
    return { base_latency_ms: 1000 * context.baseLatency, output_latency_ms: 1000 * context.outputLatency };
  };

  /** Keeps all samples of the first channel as WebRTC hands them out, without the buffers of an AudioContext. */
  bench.record = async () => {
    const reader = new MediaStreamTrackProcessor({ track: soundTrack(), maxBufferSize: 1000 }).readable.getReader();
    for (;;) {
      const { value: sound, done } = await reader.read();
      if (done) return;
      const samples = new Float32Array(sound.numberOfFrames);
      sound.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
      rate = sound.sampleRate;
      sound.close();
      pieces.push(samples);
    }
  };
  bench.startRecord = () => {
    bench.record().catch((error) => { problem = String(error); });
  };

  /** The browser's counters of the incoming sound and pictures; null before there are any. */
  bench.count = async () => {
    for (const connection of connections) {
      if (connection.connectionState !== "connected") continue;
      const entry = { time: performance.now() };
      for (const one of (await connection.getStats()).values()) {
        if (one.type === "inbound-rtp") entry[one.kind] = one;
      }
      if (entry.audio && entry.video) return entry;
    }
    return null;
  };

  /** Keeps the counters every so many milliseconds. The browser renews them every 50 ms at most. */
  bench.countEvery = (interval) => {
    setInterval(async () => {
      const entry = await bench.count().catch(() => null);
      if (!entry) return;
      const { audio, video: pictures } = entry;
      counts.push({
        time: entry.time,
        packets: audio.packetsReceived,
        decoded: pictures.framesDecoded,
        // How much later than a picture the sound of the same moment is played, as the browser itself sees it.
        lag: audio.estimatedPlayoutTimestamp && pictures.estimatedPlayoutTimestamp
          ? pictures.estimatedPlayoutTimestamp - audio.estimatedPlayoutTimestamp : null,
      });
    }, interval);
  };

  bench.take = () => {
    const taken = { flashes, beeps, clock, counts };
    flashes = [];
    beeps = [];
    clock = [];
    counts = [];
    return taken;
  };

  bench.takeSamples = async () => {
    if (problem) throw new Error(problem);
    if (pieces.length === 0) return { rate, samples: "" };
    const taken = new Blob(pieces);
    pieces = [];
    const reader = new FileReader();
    return new Promise((resolve, reject) => {
      reader.onload = () => resolve({ rate, samples: reader.result.slice(reader.result.indexOf(",") + 1) });
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(taken);
    });
  };

  window.soundBench = bench;
})();
