/// What the page does with sound, apart from playing it.
extension EndToEndInBrowser.PageLogicTests {
    static let sound = [
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
            "where the browser wants a click, pictures go on without sound, and the button is there again",
            "sound/sound",
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
