/// When the page asks the STUN and TURN servers that the host has told of.
extension EndToEndInBrowser.PageLogicTests {
    static let relays = [
        (
            "who isn't connected directly within 3 s makes a new offer with the servers, once", "picture/shown",
            """
            const made = [];
            const real = window.offerToReceive;
            window.offerToReceive = (hasSound, servers = []) => {
              made.push(servers.length);
              return real(hasSound, servers);
            };
            const peers = [];
            const failures = [];
            // Answers an offer without any candidate, so that there is no path.
            const offer = async (description) => {
              const peer = new RTCPeerConnection();
              peers.push(peer);
              await peer.setRemoteDescription({ type: 'offer', sdp: description.sdp.replace(/^a=candidate.*\\r\\n/gm, '') });
              await peer.setLocalDescription();
              shown.heard('_answer', { sdp: { type: 'answer', sdp: peer.localDescription.sdp } });
            };
            const viewer = Object.assign(new EventTarget(), { browser: { hasH264: true }, link: {}, isPlayBlocked: false });
            const shown = new it.ShownTrack(viewer, { hold() {} }, {
              onTold() {}, onNegotiation() {}, onFailure: (reason) => failures.push(reason),
            });
            shown.signalling = { host: 'h', send() {}, offer, hold() {}, candidate() {} };
            window.earlyOffer = null;
            shown.begin();
            shown.heard('_peers', { tracks: [{ name: 'screen' }], iceServers: [{ urls: ['stun:127.0.0.1:9'] }] });
            const start = performance.now();
            return new Promise((resolve) => {
              const look = setInterval(() => {
                const waited = performance.now() - start;
                if (made.length < 2 && waited < 10_000) return;
                clearInterval(look);
                window.offerToReceive = real;
                for (const peer of peers) peer.close();
                shown.leave();
                resolve(made.join() === '0,1' && waited > 2_900 && failures.length === 0);
              }, 20);
            });
            """
        )
    ]
}
