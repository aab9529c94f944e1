/// What the page does with sound, apart from playing it.
extension EndToEndInBrowser.PageLogicTests {
    static let sound = [
        (
            "an offer asks for stereo where it has Opus, and once", "picture/peer",
            """
            const opus = 'm=audio 9 UDP/TLS/RTP/SAVPF 111 63\\r\\na=rtpmap:111 opus/48000/2\\r\\n'
              + 'a=fmtp:111 minptime=10;useinbandfec=1\\r\\na=fmtp:63 111/111\\r\\n';
            const stereo = opus.replace('useinbandfec=1', 'useinbandfec=1;stereo=1');
            const other = 'm=audio 9 UDP/TLS/RTP/SAVPF 0\\r\\na=rtpmap:0 PCMU/8000\\r\\n';
            return it.withStereo(opus) === stereo && it.withStereo(stereo) === stereo && it.withStereo(other) === other;
            """
        ),
        (
            "what a track sounds like is remembered for when it is shown", "join/trackmemory",
            """
            const memory = new it.TrackMemory();
            memory.keep('_sound', { sound: 'live' }, 'a');
            memory.keep('_sound', { sound: 'muted' }, 'a');
            return JSON.stringify(memory.of('a')) === '[["_sound",{"sound":"muted"}]]' && memory.of('b').length === 0;
            """
        ),
        (
            "a line through negative values has zero in its middle", "figures/series",
            """
            const series = new it.Series(3);
            for (const value of [-10, 0, 10]) series.push(value);
            return series.path(100, 10, 10, -10) === 'M0.0 10.0h0L50.0 5.0L100.0 0.0';
            """
        ),
        (
            "a lag has its sign", "figures/figures",
            """
            return [12.4, -12.4, 0.2, -0.2, null].map(it.lagText).join() === '+12 ms,−12 ms,0 ms,0 ms,';
            """
        ),
        (
            "the lag of the sound is measured while sound arrives", "figures/measurements",
            """
            const viewer = Object.assign(new EventTarget(),
              { phase: 'playing', source: { state: 'live' }, silence: null, sound: 'live' });
            const meter = { isKnown: true, take: () => null };
            const measured = new it.Measurements(viewer, { pictureSize: { width: 0, height: 0 } }, meter);
            for (let time = 0; time < 8000; time += 1000) {
              const counted = { time, packets: time, lost: 0, framesDecoded: time, bytes: time, roundTrip: 1,
                soundPackets: Math.min(time, 5000), soundLag: -7 };
              viewer.reception = { counted };
              measured.sample();
            }
            const isThere = measured.hasSound;
            viewer.sound = 'none';
            return isThere && !measured.hasSound && measured.soundLag.length === 5
              && measured.soundLag.last().join() === '-7,-7,-7';
            """
        ),
        (
            "pictures are held back by what sound is late, while it flows and is heard", "sound/together",
            """
            const together = new it.Together();
            let soundPackets = 0;
            let framesDecoded = 0;
            const said = [];
            const look = (times, soundLag, isHeard, isFlowing = true, isMoving = true) => {
              for (let count = 0; count < times; count++) {
                if (isFlowing) soundPackets += 25;
                if (isMoving) framesDecoded += 1;
                if (together.look({ soundPackets, framesDecoded, soundLag }, isHeard)) said.push(together.delay);
              }
            };
            look(20, 56, false);
            look(4, 56, true);
            look(20, 56, true, true, false);
            look(1, 900, true);
            look(8, -14, true);
            look(4, -24, true);
            look(5, 0, true, false);
            look(2, 0, true);
            look(10, 0, true, false);
            look(8, 1000, true);
            look(1, 0, false);
            return said.join() === '70,60,0,200,0';
            """
        ),
        (
            "sound is off until it is turned on, by button or key, and follows the track that is shown", "sound/sound",
            """
            \(rig)
            const there = () => !$('speaker').parentElement.hidden;
            const nothing = !there() && keys.get('a')() === false && peer.isPlayed === false && video.muted;
            tell('live');
            const offered = there() && peer.isPlayed && video.muted && isOffered() && note() === '';
            $('listen').focus();
            $('listen').click();
            const heard = !video.muted && !isOffered() && $('speaker').getAttribute('aria-pressed') === 'true'
              && document.activeElement === $('speaker');
            keys.get(',')();
            keys.get('<')();
            const quieter = Math.abs(video.volume - 0.9) < 0.01 && $('volume').value === '0.9';
            tell('muted');
            const told = note().startsWith('The sharer') && !video.muted;
            tell('none');
            const gone = !there() && video.muted && !peer.isPlayed;
            tell('live');
            const back = !video.muted && note() === '';
            keys.get('a')();
            const off = video.muted && !isOffered() && $('volume').value === '0';
            keys.get('.')();
            const same = !video.muted && Math.abs(video.volume - 0.9) < 0.01;
            for (let count = 0; count < 25; count += 1) keys.get(',')();
            const kept = localStorage.getItem('screenrelay.sound');
            const zero = video.muted && kept === '{"isWanted":false,"volume":0.05}';
            end();
            return nothing && offered && heard && quieter && told && gone && back && off && same && zero;
            });
            """
        ),
        (
            "where the browser wants a click, pictures go on without sound, and the button is there again", "sound/sound",
            """
            \(rig)
            end();
            localStorage.setItem('screenrelay.sound', '{"isWanted":true,"volume":0.3}');
            start();
            stage.play = () => { video.muted = true; };
            viewer.phase = 'negotiating';
            tell('live');
            const early = video.muted && !isOffered();
            viewer.phase = 'playing';
            tell('live');
            const refused = video.muted && isOffered();
            stage.play = () => {};
            $('listen').click();
            const heard = !video.muted && Math.abs(video.volume - 0.3) < 0.01;
            end();
            return early && refused && heard;
            });
            """
        ),
    ]

    /// Sound for a viewer, a video and a stage that are not the page's own. What follows it has to end the function.
    private static let rig = """
        return import('/element.js').then((tools) => {
        const $ = (id) => document.getElementById(id);
        const peer = { playSound(isPlayed) { this.isPlayed = isPlayed; }, soundFigures: async () => ({}) };
        const stage = { play() {} };
        let viewer, video, keys;
        const start = () => {
          viewer = Object.assign(new EventTarget(), { sound: 'none', phase: 'playing', reception: { peer } });
          video = document.createElement('video');
          video.muted = true;
          keys = new Map();
          const add = (list, _, action) => [list].flat().forEach((key) => keys.set(key, action));
          new it.Sound({ viewer, stage, video, keys: { add }, language: 'en', ...tools });
        };
        const end = () => {
          localStorage.removeItem('screenrelay.sound');
          for (const one of document.querySelectorAll('.sound, .sound-offer, .sound-note')) one.remove();
        };
        const tell = (sound) => {
          viewer.sound = sound;
          viewer.dispatchEvent(new Event('change'));
        };
        const isOffered = () => !$('listen').parentElement.hidden;
        const note = () => document.querySelector('.sound-note').textContent;
        localStorage.removeItem('screenrelay.sound');
        start();
        """
}
