import BrowserDriver

/// Watches a viewer's page until it has shown enough pictures and they have moved.
struct ViewerCheck {
    private let page: Page
    private let wantedFrames: Int
    private var seen = Seen()

    /// What the page last showed.
    private struct Seen {
        var frames = 0
        var width = 0
        var height = 0
        var hasVideo = false
        var hasChanged = false
        var phase: String?
        var error: String?
    }

    /// How long the page may show an error; one that stays this long won't go away any more.
    private static let timeout = Duration.seconds(5)

    init(page: Page, wantedFrames: Int) {
        self.page = page
        self.wantedFrames = wantedFrames
    }

    /// A summary of two lines, for people and scripts.
    var summary: String {
        let size = seen.width > 0 ? "\(seen.width)x\(seen.height)" : "none"
        return "frames decoded: \(seen.frames)\npicture: \(size), \(seen.hasChanged ? "changed" : "did not change")\n"
    }

    /// Checks the page until all is well or `deadline` has passed; returns a description of the problem, or nil if
    /// there is none.
    mutating func run(until deadline: ContinuousClock.Instant) throws(BrowserError) -> String? {
        var errorSince: ContinuousClock.Instant?
        while true {
            try look()
            if seen.frames >= wantedFrames, seen.hasChanged {
                // Messages that the page has written by now are still on their way.
                try page.settle(for: .milliseconds(200))
                return consoleProblem
            }
            let now = ContinuousClock.now
            errorSince = seen.error == nil ? nil : errorSince ?? now
            if now >= deadline { return problem }
            if let errorSince, now - errorSince > Self.timeout { return problem }
            try page.settle(for: .milliseconds(100))
        }
    }

    private var problem: String {
        if let error = seen.error { return "the page says: \(error)" }
        if let consoleProblem { return consoleProblem }
        let phase = seen.phase.map { " (the page's phase is \"\($0)\")" } ?? ""
        if !seen.hasVideo { return "the page has no video\(phase)" }
        if seen.frames == 0 { return "no picture was decoded\(phase)" }
        if seen.frames < wantedFrames { return "\(seen.frames) of \(wantedFrames) pictures were decoded\(phase)" }
        return "the picture did not change\(phase)"
    }

    private var consoleProblem: String? {
        page.consoleErrors.first.map { "the page's console has an error: \($0.text) \($0.url)" }
    }

    private mutating func look() throws(BrowserError) {
        let state = try page.evaluate(Self.probe, within: .seconds(10))
        seen.frames = max(seen.frames, state["frames"].int ?? 0)
        seen.width = state["width"].int ?? 0
        seen.height = state["height"].int ?? 0
        seen.hasVideo = state["hasVideo"].isTruthy
        // Coding alone may make a few dots flicker.
        if (state["changedDots"].int ?? 0) >= 4 { seen.hasChanged = true }
        seen.phase = state["phase"].string
        seen.error = state["error"].string
    }

    /// Collects what the page reports about itself, the browser's frame count, and how many of 160x90 dots of the video
    /// differ clearly from the first picture that was examined.
    private static let probe = """
        (() => {
            const told = window.screenRelay ?? {};
            const video = document.querySelector('video');
            const counted = video?.getVideoPlaybackQuality?.().totalVideoFrames ?? 0;
            let changedDots = 0;
            if (video && video.videoWidth > 0 && video.readyState >= 2) {
                const canvas = new OffscreenCanvas(160, 90);
                const context = canvas.getContext('2d', { willReadFrequently: true });
                context.drawImage(video, 0, 0, 160, 90);
                const dots = context.getImageData(0, 0, 160, 90).data;
                const first = globalThis.screenRelayFirstPicture ??= dots;
                for (let i = 0; i < dots.length; i += 4) {
                    const difference = Math.abs(dots[i] - first[i]) + Math.abs(dots[i + 1] - first[i + 1])
                        + Math.abs(dots[i + 2] - first[i + 2]);
                    if (difference > 48) changedDots += 1;
                }
            }
            const error = told.error;
            return {
                frames: Math.max(counted, Number(told.framesDecoded) || 0),
                width: video?.videoWidth ?? 0,
                height: video?.videoHeight ?? 0,
                hasVideo: video !== null,
                changedDots,
                phase: told.phase == null ? null : String(told.phase),
                error: error ? String(error.message ?? error) : null,
            };
        })()
        """
}
