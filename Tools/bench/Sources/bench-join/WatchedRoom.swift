import BrowserDriver
import Glibc

/// A browser with viewers of the room, and one more viewer who comes and goes.
final class WatchedRoom {
    /// The number of viewers who watch all the time.
    var viewers: Int { pages.count }
    private let browser: Browser
    private let link: String
    private var pages: [Page] = []

    /// The times of one join, in milliseconds after the navigation began.
    struct Join {
        /// When the WebSocket was open.
        let open: Double
        /// When the first picture was ready to be shown.
        let picture: Double
    }

    private static let script = """
        window.bench = {};
        window.WebSocket = class extends window.WebSocket {
          constructor(...values) {
            super(...values);
            this.addEventListener('open', () => { bench.open ??= performance.now(); });
          }
        };
        document.addEventListener('DOMContentLoaded', () => {
          document.querySelector('video').requestVideoFrameCallback(() => { bench.picture ??= performance.now(); });
        });
        """

    /// Opens the pages of `viewers`, and waits until all of them play.
    init(_ desktop: StillDesktop, viewers: Int) throws {
        browser = try Browser.launch()
        link = desktop.link
        for _ in 0..<viewers {
            pages.append(try browser.newPage(link))
        }
        for page in pages { try page.waitUntil("window.screenRelay.phase === 'playing'") }
    }

    /// Joins with a new page, and leaves.
    func join() throws -> Join {
        // Capture is asked for at most one key frame in 500 ms. A viewer who comes back alone before that has to wait
        // for the rest of the time, which would be another measurement.
        if pages.isEmpty { poll(nil, 0, 600) }
        let page = try browser.newPage()
        defer { page.close() }
        try page.runBeforeLoad(Self.script)
        try page.navigate(link)
        let times = try page.waitUntil("window.bench.open && window.bench.picture && window.bench")
        guard let open = times["open"].number, let picture = times["picture"].number else {
            throw BrowserError.unexpectedAnswer("no times")
        }
        return Join(open: open, picture: picture)
    }
}
