import BrowserDriver
import TestSupport

/// A small WHEP player in a page of another origin (`about:blank`).
struct WHEPPlayer {
    let viewer: ViewerPage
    var page: Page { viewer.page }
    /// `http://HOST:PORT` of the host.
    let host: String
    /// The room's token, from the link.
    let token: String

    private static let script = """
        window.connections = [];
        window.whep = async (url, token, codecs) => {
          const authorization = token ? { Authorization: `Bearer ${token}` } : {};
          const connection = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
          const candidates = [];
          const gathered = new Promise((done) => {
            connection.onicecandidate = ({ candidate }) => {
              if (candidate && candidate.candidate) candidates.push(candidate.candidate);
              else done();
            };
          });
          const transceiver = connection.addTransceiver('video', { direction: 'recvonly' });
          if (codecs) transceiver.setCodecPreferences(
            RTCRtpReceiver.getCapabilities('video').codecs.filter(({ mimeType }) => codecs.includes(mimeType)));
          const video = document.createElement('video');
          video.muted = video.autoplay = true;
          document.body.append(video);
          connection.ontrack = ({ track }) => { video.srcObject = new MediaStream([track]); };
          await connection.setLocalDescription();
          const offer = connection.localDescription.sdp;
          const answer = await fetch(url, {
            method: 'POST', body: offer, headers: { 'Content-Type': 'application/sdp', ...authorization } });
          if (answer.status !== 201) return { status: answer.status, reason: await answer.text() };
          const session = new URL(answer.headers.get('Location'), url).href;
          await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
          connections.push(connection);
          await gathered;
          const line = (name) => new RegExp(`^a=${name}:.*$`, 'm').exec(offer)[0].trim();
          const fragment = [line('ice-ufrag'), line('ice-pwd'), 'm=video 9 UDP/TLS/RTP/SAVPF 0', line('mid'),
            ...candidates.map((candidate) => `a=${candidate}`), ''].join('\\r\\n');
          const patched = await fetch(session, {
            method: 'PATCH', body: fragment, headers: {
              'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': answer.headers.get('ETag'),
              ...authorization } });
          window.leave = async () => {
            const left = await fetch(session, { method: 'DELETE', headers: authorization });
            connection.close();
            return left.status;
          };
          window.restart = async () => {
            connection.restartIce();
            await connection.setLocalDescription();
            const local = connection.localDescription.sdp;
            const own = (name) => new RegExp(`^a=${name}:.*$`, 'm').exec(local)[0].trim();
            const restarted = await fetch(session, {
              method: 'PATCH', headers: {
                'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': '"*"', ...authorization },
              body: [own('ice-ufrag'), own('ice-pwd'), 'm=video 9 UDP/TLS/RTP/SAVPF 0', own('mid'), ''].join('\\r\\n') });
            if (restarted.status !== 200) return { status: restarted.status, reason: await restarted.text() };
            const lines = (await restarted.text()).split('\\r\\n');
            const isICE = (line) => /^a=(ice-ufrag|ice-pwd|candidate|end-of-candidates)/.test(line);
            const sdp = connection.currentRemoteDescription.sdp.split('\\r\\n').filter((line) => line && !isICE(line))
              .concat(lines.filter(isICE), '').join('\\r\\n');
            await connection.setRemoteDescription({ type: 'answer', sdp });
            return { status: 200, tag: restarted.headers.get('ETag'), wasTag: answer.headers.get('ETag'),
              ufrag: own('ice-ufrag').split(':')[1] };
          };
          window.path = async () => {
            const stats = new Map([...await connection.getStats()]);
            const all = [...stats.values()];
            const pair = stats.get(all.find(({ type }) => type === 'transport').selectedCandidatePairId);
            const video = all.find(({ type }) => type === 'inbound-rtp');
            return { ufrag: stats.get(pair.localCandidateId).usernameFragment, state: connection.connectionState,
              frames: video.framesDecoded, lost: video.packetsLost, ssrc: video.ssrc };
          };
          window.look = async () => (await fetch(session, { headers: authorization })).status;
          return { status: answer.status, patched: patched.status, session, offer, candidates: candidates.length,
            answer: connection.remoteDescription.sdp };
        };
        """

    /// Opens an empty page in `browser` that can play what `link` names.
    init(_ link: String, in browser: Browser, checksPictures: Bool = false) throws {
        let parts = link.split(separator: "#", maxSplits: 1)
        host = String(parts[0].dropLast())
        token = parts.count > 1 ? String(parts[1].split(separator: ",", maxSplits: 1).last ?? "") : ""
        viewer = ViewerPage(try browser.newPage())
        if checksPictures { try viewer.page.evaluate(CheckedPictures.script) }
        try viewer.page.evaluate(Self.script)
    }

    /// The endpoint of the room.
    var endpoint: String { host + "/whep/screen" }

    /// Opens a session; `codecs` are the MIME types to offer, or nil for all.
    func open(token: String? = nil, codecs: [String]? = nil) throws -> JSONValue {
        let list = codecs.map { "[" + $0.map { "'\($0)'" }.joined(separator: ",") + "]" } ?? "null"
        return try page.evaluate("window.whep('\(endpoint)', '\(token ?? self.token)', \(list))", within: .seconds(90))
    }
}
