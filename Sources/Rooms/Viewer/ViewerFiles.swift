/// A file of the viewer page.
public struct ViewerFile: Sendable {
    public let bytes: [UInt8]
    /// `bytes` compressed (gzip, RFC 1952), for browsers that accept that; nil if it isn't worth it.
    public let compressed: [UInt8]?
    /// The value of Content-Type.
    public let contentType: String
    /// The value of ETag, including its quotes. It changes whenever the bytes do, and is weak (RFC 9110 section 8.8.1),
    /// because it stands for the file in both forms.
    public let entityTag: String

    fileprivate init(_ bytes: [UInt8], _ contentType: String, compressed: [UInt8]? = nil) {
        self.bytes = bytes
        self.compressed = compressed
        self.contentType = contentType
        // FNV-1a suffices: different builds of the page must differ, but nobody gains from making two equal on purpose.
        let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        entityTag = "W/\"" + String(hash, radix: 16) + "\""
    }
}

/// The page that shows a shared screen: one document, with its style and its script in it, embedded in the program.
///
/// It loads its icon, and later what the first picture doesn't need: the meeting and, when they are needed, the
/// controls for sound, the charts, and what plays pictures over the WebSocket, each in one piece.
/// `contentSecurityPolicy` allows the scripts and the style by their hashes, and no others. The files that the page is
/// made of are there as well, each by itself.
public enum ViewerFiles {
    /// The value of Content-Security-Policy for every file.
    public static let contentSecurityPolicy = page.policy

    /// The value of Permissions-Policy for every file: what the page may ask its user for, and what it must never use.
    public static let permissionsPolicy =
        "camera=(self), microphone=(self), fullscreen=(self), picture-in-picture=(self), screen-wake-lock=(self), "
        + "display-capture=(), geolocation=(), midi=(), payment=(), usb=(), serial=(), hid=()"

    /// Identifies this build of the page. The page itself has it in `document.documentElement.dataset.version`.
    public static let version = page.version

    /// Returns the file at `path`, the path of a request (`/`, `/viewer.js`); nil if there is none.
    public static func file(path: String) -> ViewerFile? {
        if path == "/" || path == "/index.html" { return page.file }
        return page.later[path.dropFirst()] ?? files[path.dropFirst()]
    }

    /// The page, made of its files when it is first needed.
    private static let page = make(String(decoding: PackageResources.index_html, as: UTF8.self)) { name in
        files[name[...]].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Makes the page of these files. If they can't be joined, which the tests would find, it loads them one by one.
    static func make(
        _ index: String, file: @escaping (String) -> String?
    ) -> (file: ViewerFile, policy: String, version: String, later: [Substring: ViewerFile]) {
        let bundle = (try? PageBundle(index, file: file)) ?? PageBundle(separate: index)
        let version = String(Digest.hexadecimal(of: bundle.html).prefix(16))
        let bytes = Array(
            bundle.html.replacing("<html ", with: "<html data-version=\"\(version)\" ", maxReplacements: 1).utf8)
        let sources = bundle.scripts.map { " 'sha256-\(Digest.base64(of: $0))'" }.joined()
        let policy =
            "default-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            + "object-src 'none'; "
            + "require-trusted-types-for 'script'; trusted-types 'none'; script-src 'self'\(sources); "
            + "style-src 'self' 'sha256-\(Digest.base64(of: bundle.style))'"
        let later = bundle.later.map { name, script in
            let bytes = Array(script.utf8)
            return (name[...], ViewerFile(bytes, javaScript, compressed: Compression.gzip(bytes)))
        }
        return (
            ViewerFile(bytes, html, compressed: Compression.gzip(bytes)), policy, version,
            Dictionary(later) { first, _ in first }
        )
    }

    private static let html = "text/html; charset=utf-8"
    private static let css = "text/css; charset=utf-8"
    private static let javaScript = "text/javascript; charset=utf-8"
    private static let svg = "image/svg+xml"

    /// By name.
    private static let files: [Substring: ViewerFile] = [
        "favicon.svg": ViewerFile(PackageResources.favicon_svg, svg),
        "annexb.js": ViewerFile(PackageResources.annexb_js, javaScript),
        "bar.css": ViewerFile(PackageResources.bar_css, css),
        "bar.js": ViewerFile(PackageResources.bar_js, javaScript),
        "base.css": ViewerFile(PackageResources.base_css, css),
        "card.css": ViewerFile(PackageResources.card_css, css),
        "chartlist.js": ViewerFile(PackageResources.chartlist_js, javaScript),
        "charts.css": ViewerFile(PackageResources.charts_css, css),
        "charts.js": ViewerFile(PackageResources.charts_js, javaScript),
        "chinese.js": ViewerFile(PackageResources.chinese_js, javaScript),
        "clock.js": ViewerFile(PackageResources.clock_js, javaScript),
        "controls.js": ViewerFile(PackageResources.controls_js, javaScript),
        "decoderplayer.js": ViewerFile(PackageResources.decoderplayer_js, javaScript),
        "decodersound.js": ViewerFile(PackageResources.decodersound_js, javaScript),
        "delay.js": ViewerFile(PackageResources.delay_js, javaScript),
        "devices.js": ViewerFile(PackageResources.devices_js, javaScript),
        "element.js": ViewerFile(PackageResources.element_js, javaScript),
        "english.js": ViewerFile(PackageResources.english_js, javaScript),
        "face.js": ViewerFile(PackageResources.face_js, javaScript),
        "fallback.js": ViewerFile(PackageResources.fallback_js, javaScript),
        "figures.js": ViewerFile(PackageResources.figures_js, javaScript),
        "frames.js": ViewerFile(PackageResources.frames_js, javaScript),
        "framesound.js": ViewerFile(PackageResources.framesound_js, javaScript),
        "gestures.js": ViewerFile(PackageResources.gestures_js, javaScript),
        "jitter.js": ViewerFile(PackageResources.jitter_js, javaScript),
        "keys.js": ViewerFile(PackageResources.keys_js, javaScript),
        "language.js": ViewerFile(PackageResources.language_js, javaScript),
        "link.js": ViewerFile(PackageResources.link_js, javaScript),
        "loaded.js": ViewerFile(PackageResources.loaded_js, javaScript),
        "measurements.js": ViewerFile(PackageResources.measurements_js, javaScript),
        "meet.css": ViewerFile(PackageResources.meet_css, css),
        "meeting.js": ViewerFile(PackageResources.meeting_js, javaScript),
        "meetingview.js": ViewerFile(PackageResources.meetingview_js, javaScript),
        "meetingwords.js": ViewerFile(PackageResources.meetingwords_js, javaScript),
        "meshpeer.js": ViewerFile(PackageResources.meshpeer_js, javaScript),
        "messages.js": ViewerFile(PackageResources.messages_js, javaScript),
        "mp4.js": ViewerFile(PackageResources.mp4_js, javaScript),
        "opus.js": ViewerFile(PackageResources.opus_js, javaScript),
        "pace.js": ViewerFile(PackageResources.pace_js, javaScript),
        "page.js": ViewerFile(PackageResources.page_js, javaScript),
        "panels.css": ViewerFile(PackageResources.panels_css, css),
        "pathlist.js": ViewerFile(PackageResources.pathlist_js, javaScript),
        "paths.js": ViewerFile(PackageResources.paths_js, javaScript),
        "pathwords.js": ViewerFile(PackageResources.pathwords_js, javaScript),
        "peer.js": ViewerFile(PackageResources.peer_js, javaScript),
        "people.css": ViewerFile(PackageResources.people_css, css),
        "people.js": ViewerFile(PackageResources.people_js, javaScript),
        "pictures.js": ViewerFile(PackageResources.pictures_js, javaScript),
        "pointer.js": ViewerFile(PackageResources.pointer_js, javaScript),
        "prompt.js": ViewerFile(PackageResources.prompt_js, javaScript),
        "reach.js": ViewerFile(PackageResources.reach_js, javaScript),
        "reception.js": ViewerFile(PackageResources.reception_js, javaScript),
        "retry.js": ViewerFile(PackageResources.retry_js, javaScript),
        "series.js": ViewerFile(PackageResources.series_js, javaScript),
        "shown.js": ViewerFile(PackageResources.shown_js, javaScript),
        "signalling.js": ViewerFile(PackageResources.signalling_js, javaScript),
        "silence.js": ViewerFile(PackageResources.silence_js, javaScript),
        "sound.css": ViewerFile(PackageResources.sound_css, css),
        "sound.js": ViewerFile(PackageResources.sound_js, javaScript),
        "soundview.js": ViewerFile(PackageResources.soundview_js, javaScript),
        "soundwords.js": ViewerFile(PackageResources.soundwords_js, javaScript),
        "source.js": ViewerFile(PackageResources.source_js, javaScript),
        "sourceplayer.js": ViewerFile(PackageResources.sourceplayer_js, javaScript),
        "sourcesound.js": ViewerFile(PackageResources.sourcesound_js, javaScript),
        "speaker.js": ViewerFile(PackageResources.speaker_js, javaScript),
        "stage.css": ViewerFile(PackageResources.stage_css, css),
        "stage.js": ViewerFile(PackageResources.stage_js, javaScript),
        "together.js": ViewerFile(PackageResources.together_js, javaScript),
        "tracklist.js": ViewerFile(PackageResources.tracklist_js, javaScript),
        "trackmemory.js": ViewerFile(PackageResources.trackmemory_js, javaScript),
        "tracks.js": ViewerFile(PackageResources.tracks_js, javaScript),
        "view.js": ViewerFile(PackageResources.view_js, javaScript),
        "viewer.js": ViewerFile(PackageResources.viewer_js, javaScript),
        "visit.js": ViewerFile(PackageResources.visit_js, javaScript),
        "zoom.js": ViewerFile(PackageResources.zoom_js, javaScript),
    ]
}
