import BrowserDriver
import TestSupport

/// A room's page whose sound is on, and that notes what its video shows and what it plays.
struct WitnessPage {
    let viewer: ViewerPage

    /// Notes ten times a second, as `Clients/witness.py` does, a digest of the video's frame and whether the loudest
    /// frequency is that of the tone.
    private static let script = """
        (() => {
          const lines = [];
          const canvas = document.createElement('canvas');
          [canvas.width, canvas.height] = [160, 120];
          const context = canvas.getContext('2d', { willReadFrequently: true });
          const audio = new AudioContext();
          const analyser = new AnalyserNode(audio, { fftSize: 8192, smoothingTimeConstant: 0 });
          const levels = new Float32Array(analyser.frequencyBinCount);
          let stream = null;
          setInterval(() => {
            const video = document.getElementById('video');
            const time = (performance.now() / 1000).toFixed(3);
            if (video.srcObject && video.srcObject !== stream) {
              stream = video.srcObject;
              if (stream.getAudioTracks().length) audio.createMediaStreamSource(stream).connect(analyser);
            }
            if (video.readyState >= 2) {
              context.drawImage(video, 0, 0, canvas.width, canvas.height);
              const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
              lines.push(`v ${time} ${pixels.reduce((hash, pixel) => Math.imul(hash ^ pixel, 16777619) >>> 0, 1)}`);
            }
            analyser.getFloatFrequencyData(levels);
            const peak = levels.reduce((best, level, index) => (level > levels[best] ? index : best), 0);
            const isTone = Math.abs(peak * audio.sampleRate / 8192 - 440) < 6 && levels[peak] > -40;
            lines.push(`a ${time} ${isTone ? 1 : 0}`);
          }, 100);
          window.witnessed = () => lines.join('\\n') + '\\n';
        })()
        """

    /// Opens `link` in a new page of `browser`, turns its sound on, and waits until frames and the tone are there.
    init(_ link: String, in browser: Browser) throws {
        viewer = ViewerPage(try browser.newPage("about:blank"))
        try viewer.page.send("Security.setIgnoreCertificateErrors", ["ignore": true])
        try viewer.page.keepConnections()
        try viewer.page.navigate(link)
        try viewer.waitUntilPlaying()
        try viewer.page.waitUntil("document.getElementById('listen')?.checkVisibility()")
        try viewer.page.evaluate("document.getElementById('listen').click()")
        try viewer.page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.01")
        try viewer.page.evaluate(Self.script)
        try eventually("frames and the tone") {
            let seen = try observation()
            return seen.isMoving && seen.hasTone
        }
    }

    func observation() throws -> Observation {
        Observation(report: try viewer.page.evaluate("window.witnessed()").string ?? "")
    }

    /// The title of what the page shows in place of the video; empty if it shows the video.
    func card() throws -> String {
        try viewer.page.evaluate("document.getElementById('card-title')?.textContent").string ?? ""
    }

    func close() throws { try viewer.page.navigate("about:blank") }
}
