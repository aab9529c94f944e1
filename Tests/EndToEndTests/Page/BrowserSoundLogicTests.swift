import BrowserDriver
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// What the page decides about sound, without a host that sends any, on a page that no user has touched.
    @Suite("Decisions about sound in the page", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserSoundLogicTests {
        @Test("holds for mutes, refusals, the meter, other tracks, reconnects and offers", .timeLimit(.minutes(5)))
        func decisions() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            let browser = try Browser.shared()
            let page = try browser.newPage()
            page.actsAsUser = false
            try page.navigate(try host.printedLink())
            for (what, body) in Self.controls + Self.tracks + Self.offers {
                let result = try page.evaluate("(async () => {\n\(body)\n})()", within: .seconds(90))
                #expect(result.bool == true, "\(what)")
            }
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        private static let controls: [(what: String, body: String)] = [
            (
                "while the sharer has muted, there is nothing to listen to",
                """
                \(rig)
                start();
                tell('muted');
                const muted = !isOffered() && !$('speaker').parentElement.hidden;
                tell('live');
                const live = isOffered();
                tell('muted');
                const again = isOffered();
                end();
                return muted && live && !again;
                """
            ),
            (
                "what the browser has refused is tried again only after a click",
                """
                \(rig)
                localStorage.setItem('screenrelay.sound', '{"isWanted":true,"volume":1}');
                let tries = 0;
                stage.play = () => {
                  tries += 1;
                  video.muted = true;
                };
                start();
                tell('live');
                await new Promise((resume) => video.addEventListener('volumechange', resume, { once: true }));
                tell('none');
                tell('live');
                const refused = tries === 1 && video.muted && isOffered();
                stage.play = () => { tries += 1; };
                $('listen').click();
                tell('none');
                tell('live');
                const heard = tries === 3 && !video.muted;
                end();
                return refused && heard;
                """
            ),
            (
                "the meter rests while the bar is hidden, and looks rarely while nothing is heard",
                """
                \(rig)
                let looks = 0;
                peer.soundFigures = async () => ({ level: 0.5, packets: ++looks });
                const wait = (time) => new Promise((resume) => setTimeout(resume, time));
                const until = async (isSo) => {
                  while (!isSo()) await wait(20);
                };
                const level = () => Number(document.querySelector('#speaker .level').style.getPropertyValue('--level'));
                start();
                const from = performance.now();
                tell('live');
                await until(() => looks === 3 && level() > 0);
                const isRare = performance.now() - from > 1500;
                $('listen').click();
                await until(() => looks > 6 && level() > 0.8);
                $('stage').classList.add('idle');
                await until(() => level() === 0);
                const resting = looks;
                await wait(1500);
                const hasRested = looks === resting;
                $('stage').classList.remove('idle');
                await until(() => looks > resting + 1 && level() > 0.8);
                tell('muted');
                await until(() => level() === 0);
                end();
                return isRare && hasRested;
                """
            ),
        ]

        private static let tracks: [(what: String, body: String)] = [
            (
                "each track has its own sound, and one that returns has none until it is told",
                """
                \(rig)
                start();
                join('a', 'b');
                shown.heard('_sound', { track: 'b', sound: 'live' });
                const sounds = [shown.sound];
                for (const name of ['b', 'a', 'b']) {
                  shown.choose(name);
                  sounds.push(shown.sound);
                }
                const list = (...names) => shown.heard('_tracks', { tracks: names.map((name) => ({ name })) });
                for (const names of [['a'], ['a', 'b']]) {
                  list(...names);
                  sounds.push(shown.sound);
                }
                const hasSpeaker = !$('speaker').parentElement.hidden;
                shown.heard('_sound', { track: 'b', sound: 'muted' });
                sounds.push(shown.sound);
                end();
                return sounds.join() === 'none,live,none,live,none,none,muted' && !hasSpeaker;
                """
            ),
            (
                "after a reconnect the sound goes on, in the new stream",
                """
                \(rig)
                start();
                join('a');
                shown.heard('_sound', { track: 'a', sound: 'live' });
                const [first] = streams;
                $('listen').click();
                const heard = !video.muted && first.getAudioTracks().length === 1;
                shown.leave();
                enter('reconnecting');
                const without = video.muted && $('speaker').parentElement.hidden;
                join('a');
                shown.heard('_sound', { track: 'a', sound: 'live' });
                const early = video.muted;
                enter('playing');
                const back = !video.muted && streams.length === 2 && streams[1].getAudioTracks().length === 1;
                end();
                return heard && without && early && back && failures.length === 0;
                """
            ),
        ]

        private static let offers: [(what: String, body: String)] = [
            (
                "a browser that doesn't take a changed offer sets and sends its own",
                """
                const { Peer } = await import('/picture/peer.js');
                const { withStereo } = await import('/picture/stereo.js');
                window.earlyOffer = window.offerToReceive(true);
                const { connection, offer } = window.earlyOffer;
                const { sdp } = await offer;
                const set = connection.setLocalDescription.bind(connection);
                connection.setLocalDescription = async (wanted) => {
                  if (wanted.sdp !== sdp) throw new DOMException('It was changed.', 'InvalidModificationError');
                  await set(wanted);
                };
                let sent = '';
                const onOffer = (description) => { sent = description.sdp; };
                const peer = new Peer({ onStream() {}, onCandidate() {}, onOffer }, true);
                await peer.open();
                peer.close();
                return withStereo(sdp) !== sdp && sent.includes('m=audio') && !sent.includes('stereo=1');
                """
            )
        ]

        /// The shown track and the sound of a viewer, a video and a stage that are not the page's own. `tell` sets the
        /// sound directly, and `join` connects to a host that sends only what the test tells.
        private static let rig = """
            const [{ Sound }, { ShownTrack }, tools] = await Promise.all(
              ['sound/sound', 'picture/shown', 'element'].map((name) => import(`/${name}.js`)));
            const $ = (id) => document.getElementById(id);
            const stage = { play() {}, hold() {} };
            const peer = { playSound() {}, soundFigures: async () => ({}) };
            const video = document.createElement('video');
            video.muted = true;
            const streams = [];
            const failures = [];
            const viewer = Object.assign(new EventTarget(),
              { phase: 'playing', sound: 'none', reception: { peer }, browser: { hasH264: true }, link: {}, isPlayBlocked: false });
            const tell = (sound) => {
              viewer.sound = sound;
              viewer.dispatchEvent(new Event('change'));
            };
            const enter = (phase) => {
              viewer.phase = phase;
              viewer.reception = shown.reception;
              tell(shown.sound);
            };
            const shown = new ShownTrack(viewer, stage, {
              onTold(type, detail) {
                if (type === 'stream') streams.push(detail);
                if (type === 'change') enter(viewer.phase);
              },
              onNegotiation() {},
              onFailure: (reason) => failures.push(reason),
            });
            const join = (...names) => {
              shown.signalling = { host: 'h', send() {}, offer() {}, hold() {}, candidate() {} };
              shown.begin();
              shown.heard('_peers', { tracks: names.map((name) => ({ name })) });
            };
            const isOffered = () => !$('listen').parentElement.hidden;
            const start = () => new Sound({ viewer, stage, video, keys: { add() {} }, language: 'en', ...tools });
            const end = () => {
              shown.leave();
              tell('none');
              localStorage.removeItem('screenrelay.sound');
              for (const one of document.querySelectorAll('.sound, .sound-offer, .sound-note')) one.remove();
            };
            localStorage.removeItem('screenrelay.sound');
            """
    }
}
