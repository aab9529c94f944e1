import BrowserDriver
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The parts of the page that only compute, each imported by itself in a real browser.
    @Suite("The page's reckoning", .enabled(if: EndToEnd.hasBrowser))
    struct PageLogicTests {
        /// Runs each body in a page of a host without a capture, with its module imported as `it`; it has to return
        /// true.
        private func inPage(_ cases: [(what: String, module: String, body: String)]) throws {
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("s.sock")
            let host = try RunningProgram.host(address)
            let browser = try Browser.launch()
            let page = try browser.newPage(try host.printedLink())
            for one in cases {
                let result = try page.evaluate(
                    "import('/\(one.module).js').then((it) => { \(one.body) }).then(JSON.stringify)")
                #expect(result.string == "true", "\(one.module): \(one.what)")
            }
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test("the page comes in one answer, compressed to what two flights of packets carry", .timeLimit(.minutes(1)))
        func onePiece() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            let browser = try Browser.launch()
            let page = try browser.newPage(try host.printedLink())
            let loaded = try page.evaluate(
                "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).join()")
            #expect(["", "/favicon.svg"].contains(loaded.string))
            let size = try page.evaluate("performance.getEntriesByType('navigation')[0].transferSize")
            // RFC 6928 section 2, and twice as much: 30 segments of 1,460 bytes.
            #expect(try #require(size.int) < 43_800)
            #expect(try page.evaluate("typeof window.screenRelay").string == "object")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test("holds for clocks, zoom, series, links, languages, tracks and words", .timeLimit(.minutes(1)))
        func modules() throws {
            try inPage(Self.clock + Self.delay + Self.zoom + Self.series + Self.sound + Self.relays + Self.rest)
        }

        @Test("holds for pictures and sound over the WebSocket, for paths and for visits", .timeLimit(.minutes(1)))
        func pathModules() throws {
            try inPage(Self.frames + Self.frameSound + Self.paths + Self.visit)
        }

        private static let clock = [
            (
                "the answer that was under way for the shortest time says how far the clocks are apart", "picture/clock",
                """
                const clock = new it.HostClock();
                const none = clock.offset === null && clock.error === null;
                // The host is 5000 ms ahead; the ways there and back take 30 and 10, then 2 and 2, then 1 and 90.
                clock.add({ asked: 0, received: 5030, sent: 5031, arrived: 41 });
                clock.add({ asked: 100, received: 5102, sent: 5103, arrived: 105 });
                clock.add({ asked: 200, received: 5201, sent: 5202, arrived: 292 });
                return none && clock.offset === 5000 && clock.error === 2;
                """
            ),
            (
                "answers that can't be are left out, and old ones are worth less", "picture/clock",
                """
                const clock = new it.HostClock();
                clock.add({ asked: 0, received: NaN, sent: 1, arrived: 2 });
                clock.add({ asked: 0, received: 50, sent: 90, arrived: 10 });
                clock.add({ asked: 9, received: 50, sent: 51, arrived: 8 });
                const none = clock.offset === null;
                clock.add({ asked: 0, received: 101, sent: 101, arrived: 2 });
                clock.add({ asked: 3_600_000, received: 3_600_207, sent: 3_600_207, arrived: 3_600_010 });
                return none && Math.abs(clock.offset - 202) < 0.001;
                """
            ),
        ]

        private static let zoom = [
            (
                "a picture is fitted, and fills, by its nearer and farther sides", "view/zoom",
                """
                const [view, picture] = [{ width: 1000, height: 500 }, { width: 400, height: 400 }];
                return it.fitScale(view, picture) === 1.25 && it.fillScale(view, picture) === 2.5;
                """
            ),
            (
                "what lies under the pointer stays there through a zoom", "view/zoom",
                """
                const [view, picture] = [{ width: 1000, height: 500 }, { width: 2000, height: 1000 }];
                const from = it.settle({ scale: 0.5, x: 0, y: 0 }, view, picture);
                const to = it.zoomedAt(from, 1, { x: 250, y: 400 }, view, picture);
                const under = ({ scale, x, y }) => [(250 - x) / scale, (400 - y) / scale].join();
                return under(from) === '500,800' && under(to) === '500,800';
                """
            ),
            (
                "there is no empty space at a side while the picture goes on at the other", "view/zoom",
                """
                const [view, picture] = [{ width: 100, height: 100 }, { width: 200, height: 50 }];
                const far = it.panned({ scale: 1, x: 0, y: 0 }, -1000, 1000, view, picture);
                const near = it.panned(far, 5000, 0, view, picture);
                return far.x === -100 && far.y === 25 && near.x === 0;
                """
            ),
            (
                "the middle stays the middle when the window changes", "view/zoom",
                """
                const picture = { width: 1000, height: 1000 };
                const from = { scale: 2, x: -900, y: -700 };
                const centre = it.centreOf(from, { width: 400, height: 400 }, picture);
                const to = it.centred(2, centre, { width: 800, height: 200 }, picture);
                const now = it.centreOf(to, { width: 800, height: 200 }, picture);
                return Math.abs(centre.x - now.x) < 1e-9 && Math.abs(centre.y - now.y) < 1e-9;
                """
            ),
            (
                "a scale is neither smaller than the window's nor so large that nothing is to be seen", "view/zoom",
                """
                const [view, picture] = [{ width: 500, height: 500 }, { width: 1000, height: 1000 }];
                return it.limitScale(0.01, view, picture, 1) === 0.5 && it.limitScale(99, view, picture, 1) === 8
                  && it.limitScale(99, view, picture, 2) === 4
                  && it.limitScale(0.01, { width: 2000, height: 2000 }, picture, 1) === 1;
                """
            ),
            (
                "a video of half the sides has its source's size, and any other its own", "view/zoom",
                """
                const size = (video, told) => {
                  const { width, height } = it.sourceSize({ width: video[0], height: video[1] }, told && { width: told[0], height: told[1] });
                  return `${width}x${height}`;
                };
                return size([640, 360], [1280, 720]) === '1280x720' && size([684, 384], [1366, 767]) === '1366x767'
                  && size([1280, 720], [1280, 720]) === '1280x720' && size([640, 480], [1280, 720]) === '640x480'
                  && size([640, 360], null) === '640x360';
                """
            ),
        ]

        private static let series = [
            (
                "the last minute is kept, gaps and all", "figures/series",
                """
                const series = new it.Series(3);
                const empty = series.length === 0 && series.range === null && series.ago(0) === null && series.path(100, 10, 10) === '';
                for (const value of [9, 1, null, 5]) series.push(value);
                return empty && series.length === 3 && series.range.join() === '1,5' && series.ago(0) === 5 && series.ago(1) === null
                  && series.ago(2) === 1 && series.ago(3) === null && series.last(2).join() === '5';
                """
            ),
            (
                "a line ends at the right edge, and is broken where nothing was measured", "figures/series",
                """
                const series = new it.Series(5);
                for (const value of [0, 10, NaN, 20]) series.push(value);
                return series.path(100, 10, 10) === 'M25.0 10.0h0L50.0 0.0M100.0 0.0h0';
                """
            ),
            (
                "tops are round, and the middle is the middle", "figures/series",
                """
                return [0, 3, 11, 47, 51, 100].map((value) => it.roundTop(value, 5)).join() === '5,5,20,50,100,100'
                  && it.median([]) === null && it.median([5, 100, 1]) === 5;
                """
            ),
        ]

        private static let rest = [
            (
                "a link's room is read as it was meant", "join/link",
                """
                const read = (hash, hostname = 'desk.example') =>
                  it.readLink({ hash, hostname, host: hostname + ':8080', protocol: 'https:' });
                const chinese = read('#%E6%88%BF%E9%97%B4,secret');
                return chinese.name === '房间' && chinese.room === '房间,secret' && read('').name === ''
                  && read('#100%,x').name === '100%' && chinese.socket === 'wss://desk.example:8080/ws'
                  && !chinese.isLoopback && read('#a', '[::1]').isLoopback && read('#a', '127.0.0.9').isLoopback
                  && !read('#a', '127.example').isLoopback;
                """
            ),
            (
                "the address chooses the language, then the reader's list does", "words/language",
                """
                return it.chooseLanguage('?lang=zh', ['en']) === 'zh' && it.chooseLanguage('', ['zh-TW']) === 'zh'
                  && it.chooseLanguage('?lang=xx', ['de', 'zh_CN', 'en']) === 'zh' && it.chooseLanguage('', []) === 'en'
                  && it.chooseLanguage('', [undefined, 'ZH-Hans']) === 'zh';
                """
            ),
            (
                "the first waits are short, and none is too long", "join/retry",
                """
                const waits = [0, 1, 12, 13, 14, 99].map((attempts) => Math.round(it.waitBefore(attempts, 0.5)));
                return waits.join() === '0,500,500,1000,2000,10000' && it.waitBefore(99, 1) <= 11_500;
                """
            ),
            (
                "the chosen track is shown while it is there", "meeting/tracklist",
                """
                const tracks = new it.TrackList();
                const before = tracks.shown === null && tracks.isShown(undefined) && tracks.isShown('x');
                const first = !tracks.told([{ name: 'a' }, { name: 'b' }, {}]) && tracks.asked === 'a';
                const chosen = tracks.choose('b') && tracks.asked === 'b' && !tracks.isShown('a') && tracks.isShown();
                const alone = tracks.told([{ name: 'a' }]) && tracks.shown === 'a' && tracks.asked === null;
                return before && first && chosen && alone;
                """
            ),
            (
                "figures are as coarse as they are sure", "figures/figures",
                """
                return it.delayText(41.6) === '42 ms' && it.delayText(1234) === '1230 ms' && it.delayText(null) === ''
                  && it.bitRateText(999_400) === '999 kbit/s' && it.bitRateText(1_250_000) === '1.3 Mbit/s'
                  && it.frameRateText(29.6) === '30 fps' && it.lossText(0.52) === '0.5 %';
                """
            ),
            (
                "both languages have the same words", "words/chinese",
                """
                const kinds = (table) => JSON.stringify(Object.keys(table).sort().map((key) => {
                  const value = table[key];
                  const inside = typeof value === 'object' && !Array.isArray(value) ? Object.keys(value).sort() : [];
                  return [key, typeof value, value.length && typeof value === 'function' ? value.length : 0, inside];
                }));
                return Promise.all(['words/english', 'meeting/meetingwords', 'sound/soundwords', 'figures/pathwords'].map((name) => import(`/${name}.js`)))
                  .then(([{ english }, { en, zh }, { soundWords }, { pathWords }]) =>
                    kinds(english) === kinds(it.chinese) && kinds(en) === kinds(zh)
                    && kinds(soundWords.en) === kinds(soundWords.zh) && kinds(pathWords.en) === kinds(pathWords.zh));
                """
            ),
            (
                "no text in Chinese is left in English", "words/chinese",
                """
                const names = /ScreenRelay|WebRTC|Firefox|Chromium|Chrome|Edge|Safari|OpenH264|FFmpeg|libavcodec|H\\.264|UDP|TCP|STUN|WebSocket|Ctrl|Esc|https|--lan|--allow-origin|\\([A-Z?1]\\)/g;
                const texts = (value) => typeof value === 'function' ? texts(value([3], '二')).concat(texts(value([3], '')))
                  : typeof value === 'object' ? Object.values(value).flatMap(texts) : [String(value)];
                const reasons = it.chinese.hostSays('a reason that nobody has translated') === ''
                  && it.chinese.hostSays('The screen is locked.') !== '';
                return Promise.all([import('/meeting/meetingwords.js'), import('/sound/soundwords.js'), import('/figures/pathwords.js')])
                  .then(([{ zh }, { soundWords }, { pathWords }]) => reasons
                    && [it.chinese, zh, soundWords.zh, pathWords.zh].flatMap(texts)
                    .every((text) => !/[a-z]/i.test(text.replace(names, ''))));
                """
            ),
            (
                "one is counted as one", "meeting/meetingwords",
                """
                return it.en.peopleCount(1) === '1 person is watching' && it.en.peopleCount(2) === '2 people are watching'
                  && it.en.unlisted(1) === '1 more person' && it.zh.peopleCount(1) === '1 人在观看';
                """
            ),
        ]
    }
}
