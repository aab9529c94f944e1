/// A file of the viewer page.
public struct ViewerFile: Sendable {
    public let bytes: [UInt8]
    /// The value of Content-Type.
    public let contentType: String
    /// The value of ETag, including its quotes. It changes whenever the bytes do.
    public let entityTag: String

    init(_ bytes: [UInt8], _ contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
        // FNV-1a suffices: different builds of the page must differ, but nobody gains from making two equal on purpose.
        let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        entityTag = "\"" + String(hash, radix: 16) + "\""
    }
}

/// The page that shows a shared screen: HTML, CSS and JavaScript modules, embedded in the program.
///
/// It loads nothing from elsewhere, so it can be served with `contentSecurityPolicy`, which allows its one inline
/// script by the script's hash.
public enum ViewerFiles {
    /// The value of Content-Security-Policy for every file.
    public static let contentSecurityPolicy =
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'; "
        + "script-src 'self' 'sha256-C6WFE0n+oanGLpXOA63VbR4c2IDNy2DLS8L5CWopOmg='"

    /// The value of Permissions-Policy for every file: what the page may ask its user for, and what it must never use.
    public static let permissionsPolicy =
        "camera=(self), microphone=(self), fullscreen=(self), picture-in-picture=(self), screen-wake-lock=(self), "
        + "display-capture=(), geolocation=(), midi=(), payment=(), usb=(), serial=(), hid=()"

    /// Returns the file at `path`, the path of a request (`/`, `/viewer.js`); nil if there is none.
    public static func file(path: String) -> ViewerFile? { files[path] }

    private static let html = "text/html; charset=utf-8"
    private static let css = "text/css; charset=utf-8"
    private static let javaScript = "text/javascript; charset=utf-8"
    private static let svg = "image/svg+xml"

    private static let files: [String: ViewerFile] = {
        let page = ViewerFile(PackageResources.index_html, html)
        return [
            "/": page,
            "/index.html": page,
            "/favicon.svg": ViewerFile(PackageResources.favicon_svg, svg),
            "/bar.css": ViewerFile(PackageResources.bar_css, css),
            "/bar.js": ViewerFile(PackageResources.bar_js, javaScript),
            "/base.css": ViewerFile(PackageResources.base_css, css),
            "/card.css": ViewerFile(PackageResources.card_css, css),
            "/charts.css": ViewerFile(PackageResources.charts_css, css),
            "/charts.js": ViewerFile(PackageResources.charts_js, javaScript),
            "/chinese.js": ViewerFile(PackageResources.chinese_js, javaScript),
            "/clock.js": ViewerFile(PackageResources.clock_js, javaScript),
            "/controls.js": ViewerFile(PackageResources.controls_js, javaScript),
            "/delay.js": ViewerFile(PackageResources.delay_js, javaScript),
            "/devices.js": ViewerFile(PackageResources.devices_js, javaScript),
            "/element.js": ViewerFile(PackageResources.element_js, javaScript),
            "/english.js": ViewerFile(PackageResources.english_js, javaScript),
            "/face.js": ViewerFile(PackageResources.face_js, javaScript),
            "/figures.js": ViewerFile(PackageResources.figures_js, javaScript),
            "/gestures.js": ViewerFile(PackageResources.gestures_js, javaScript),
            "/keys.js": ViewerFile(PackageResources.keys_js, javaScript),
            "/language.js": ViewerFile(PackageResources.language_js, javaScript),
            "/link.js": ViewerFile(PackageResources.link_js, javaScript),
            "/measurements.js": ViewerFile(PackageResources.measurements_js, javaScript),
            "/meet.css": ViewerFile(PackageResources.meet_css, css),
            "/meeting.js": ViewerFile(PackageResources.meeting_js, javaScript),
            "/meetingview.js": ViewerFile(PackageResources.meetingview_js, javaScript),
            "/meetingwords.js": ViewerFile(PackageResources.meetingwords_js, javaScript),
            "/meshpeer.js": ViewerFile(PackageResources.meshpeer_js, javaScript),
            "/messages.js": ViewerFile(PackageResources.messages_js, javaScript),
            "/pace.js": ViewerFile(PackageResources.pace_js, javaScript),
            "/page.js": ViewerFile(PackageResources.page_js, javaScript),
            "/panels.css": ViewerFile(PackageResources.panels_css, css),
            "/peer.js": ViewerFile(PackageResources.peer_js, javaScript),
            "/people.css": ViewerFile(PackageResources.people_css, css),
            "/people.js": ViewerFile(PackageResources.people_js, javaScript),
            "/pointer.js": ViewerFile(PackageResources.pointer_js, javaScript),
            "/prompt.js": ViewerFile(PackageResources.prompt_js, javaScript),
            "/reception.js": ViewerFile(PackageResources.reception_js, javaScript),
            "/retry.js": ViewerFile(PackageResources.retry_js, javaScript),
            "/series.js": ViewerFile(PackageResources.series_js, javaScript),
            "/shown.js": ViewerFile(PackageResources.shown_js, javaScript),
            "/signalling.js": ViewerFile(PackageResources.signalling_js, javaScript),
            "/silence.js": ViewerFile(PackageResources.silence_js, javaScript),
            "/source.js": ViewerFile(PackageResources.source_js, javaScript),
            "/stage.css": ViewerFile(PackageResources.stage_css, css),
            "/stage.js": ViewerFile(PackageResources.stage_js, javaScript),
            "/tracklist.js": ViewerFile(PackageResources.tracklist_js, javaScript),
            "/trackmemory.js": ViewerFile(PackageResources.trackmemory_js, javaScript),
            "/tracks.js": ViewerFile(PackageResources.tracks_js, javaScript),
            "/view.js": ViewerFile(PackageResources.view_js, javaScript),
            "/viewer.js": ViewerFile(PackageResources.viewer_js, javaScript),
            "/zoom.js": ViewerFile(PackageResources.zoom_js, javaScript),
        ]
    }()
}
