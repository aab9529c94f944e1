import Clocks
import Glibc
public import MediaTypes
import Processes
import SecureTransport

/// Whether a browser can play a share's media. A page that it opens from this machine reports its capabilities.
public struct BrowserCheck {
    private let program: String?
    private let timeout: Interval

    /// A check of the browser that `program` opens links in. If that is nil, the user has to open the link in a
    /// browser.
    ///
    /// - Parameter timeout: how long to wait for the page's report.
    public init(program: String?, timeout: Interval) {
        self.program = program
        self.timeout = timeout
    }

    /// Waits for the report. `show` is given the page's link.
    public func findings(show: (String) -> Void) -> [Finding] {
        // Only who has the link can report, and not a page that another site opened.
        let key = SecureRandom.bytes(16).hexadecimal()
        guard let server = PageServer(path: "/\(key)", page: Self.page) else {
            return [Finding("browser", "no port for the page: \(String(cString: strerror(errno)))", todo: "")]
        }
        let link = "http://127.0.0.1:\(server.port)/\(key)"
        show(link)
        var launch = Launch(program ?? "", [link])
        launch.standardOutput = .null
        launch.standardError = .null
        do throws(ProcessError) {
            if program != nil {
                // It may be the browser itself, which its user closes: a released child would be killed.
                _ = Unmanaged.passRetained(try ChildProcess(launch))
            }
            return server.report(until: .now() + timeout).map(Self.findings) ?? [Self.silence(timeout)]
        } catch {
            return [
                Finding(
                    "browser", "no browser was opened: \(error)",
                    todo: "open the page yourself with --browser=none, or name a browser with --browser=PROGRAM")
            ]
        }
    }

    private static func silence(_ timeout: Interval) -> Finding {
        Finding(
            "browser",
            "no browser reported its abilities within \(timeout.nanoseconds / 1_000_000_000) s",
            todo:
                "open the printed address in it, and look whether it runs scripts and reaches 127.0.0.1 without a proxy"
        )
    }

    /// The capabilities that a report lacks: words such as `webrtc h264`.
    static func findings(in report: String) -> [Finding] {
        let abilities = Set(report.split(separator: " "))
        let framework = "use a recent Chromium, Firefox or Safari"
        guard abilities.contains("webrtc") else {
            let other = abilities.contains("webcodecs") ? "; its pages get pictures over their WebSocket" : ""
            return [
                Finding(
                    "browser-webrtc", "the browser has no WebRTC, or an extension turned it off\(other)",
                    todo: "\(framework), or allow WebRTC (Firefox: media.peerconnection.enabled)")
            ]
        }
        guard abilities.contains("h264") else {
            let decoder = abilities.contains("webcodecs") ? "; its WebCodecs could decode it" : ""
            return [
                Finding(
                    "browser-h264", "the browser can't receive H.264 over WebRTC\(decoder)",
                    todo: "\(framework); in Firefox wait until its OpenH264 plugin is installed (about:addons), and "
                        + "with a distribution's Chromium install its codecs")
            ]
        }
        return []
    }

    private static let page = """
        <!doctype html><html lang="en"><meta charset="utf-8"><title>ScreenRelay: browser check</title>
        <body style="font: 1rem sans-serif; margin: 2rem"><h1>Browser check</h1><p id="result">One moment.</p>
        <script>
        (async () => {
            const abilities = [];
            if (window.RTCPeerConnection) abilities.push("webrtc");
            const receiver = window.RTCRtpReceiver;
            const video = receiver && receiver.getCapabilities ? receiver.getCapabilities("video") : null;
            if (video && video.codecs.some(codec => /^video\\/h264$/i.test(codec.mimeType))) abilities.push("h264");
            try {
                const support = await window.VideoDecoder.isConfigSupported({ codec: "avc1.42e01f" });
                if (support.supported) abilities.push("webcodecs");
            } catch {}
            if (window.isSecureContext) abilities.push("secure");
            const result = document.getElementById("result");
            try {
                await fetch(location.pathname, { method: "POST", body: abilities.join(" ") });
                result.textContent = "Reported: " + abilities.join(", ") + ". You can close this page.";
            } catch {
                result.textContent = "The check has ended already.";
            }
        })();
        </script></body></html>

        """
}
