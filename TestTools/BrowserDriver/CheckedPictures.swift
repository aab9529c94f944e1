/// A browser's own check of the pictures that it decodes, against samples that the host sends with about one frame a
/// second: RTP's extension http://www.webrtc.org/experiments/rtp-hdrext/corruption-detection.
public struct CheckedPictures: Equatable, Sendable {
    /// How many pictures have been checked so far.
    public let count: Int
    /// The sum of the probabilities that a picture is damaged: 0 if each was right, to the last bit of each sample.
    public let damage: Double

    public init(count: Int, damage: Double) {
        self.count = count
        self.damage = damage
    }

    /// What a page evaluates before its own scripts, so that its connections ask for the samples.
    ///
    /// Chromium 156 offers the extension after `setHeaderExtensionsToNegotiate`, but only encrypted (RFC 6904), which
    /// the host doesn't support. It accepts its own offer with the extension unencrypted.
    public static let script = """
        {
          const set = RTCPeerConnection.prototype.setLocalDescription;
          RTCPeerConnection.prototype.setLocalDescription = async function (description) {
            const { type, sdp } = description ?? await this.createOffer();
            let id = 1;
            while (sdp.includes(`a=extmap:${id} `)) id += 1;
            const line = `a=extmap:${id} http://www.webrtc.org/experiments/rtp-hdrext/corruption-detection\\r\\n`;
            const asking = sdp.replace(/(m=video [^]*?)(?=a=sendrecv|a=recvonly)/, `$1${line}`);
            return set.call(this, { type, sdp: asking });
          };
        }
        """
}

extension Page {
    /// Keeps the page's peer connections in `window.connections`. Call it before the page is loaded. Throws the errors
    /// of ``send(_:_:within:)``.
    public func keepConnections() throws(BrowserError) {
        let script = """
            window.connections = [];
            window.RTCPeerConnection = new Proxy(window.RTCPeerConnection, {
              construct(target, values) {
                const made = new target(...values);
                window.connections.push(made);
                return made;
              }
            });
            """
        try runBeforeLoad(script)
    }

    /// Has the page's connections ask for samples of their pictures. Called before the page is loaded. Throws the
    /// errors of ``send(_:_:within:)``.
    public func checkPictures() throws(BrowserError) {
        try runBeforeLoad(CheckedPictures.script)
    }

    /// What the browser found so far of the first incoming video of `connection`, an expression for one; by default the
    /// page's newest. Throws the errors of ``evaluate(_:within:)``.
    public func checkedPictures(
        of connection: String = "window.connections.at(-1)"
    ) throws(BrowserError) -> CheckedPictures {
        let found = try evaluate(
            """
            (async () => {
              const report = [...(await \(connection).getStats()).values()];
              const video = report.find(({ type, kind }) => type === "inbound-rtp" && kind === "video");
              return [video?.corruptionMeasurements ?? 0, video?.totalCorruptionProbability ?? 0];
            })()
            """)
        return CheckedPictures(count: found[0].int ?? 0, damage: found[1].number ?? 0)
    }
}
