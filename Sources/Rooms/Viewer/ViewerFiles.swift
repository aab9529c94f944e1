/// A file of the viewer page.
public struct ViewerFile: Sendable {
    /// The file's content.
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
        // FNV-1a suffices: different builds of the page must differ, but an attacker gains nothing by making two equal.
        let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        entityTag = "W/\"" + String(hash, radix: 16) + "\""
    }
}

/// A part of the document, as the build has embedded it.
enum PagePiece {
    case markup(String)
    /// The content of the style element.
    case style(String)
    /// The content of a script element.
    case script(String)

    var text: String {
        switch self {
        case .markup(let text), .style(let text), .script(let text): text
        }
    }

    /// The hash that allows this piece in Content-Security-Policy; nil for markup, which needs none.
    var source: String? {
        if case .markup = self { return nil }
        return " 'sha256-\(Digest.base64(of: text))'"
    }
}

/// The page that shows a shared screen: one document, with its style and its script in it, embedded in the program.
///
/// It loads its icon, and later the parts that the first picture doesn't need: the meeting and, when they are needed,
/// the list of people, the chat, presenting, the choice of devices, pointing, the controls for sound, the charts, and
/// the code that plays pictures over the WebSocket, each in one piece. The choice of devices also has a style sheet.
/// `contentSecurityPolicy` allows the scripts and the style by their hashes, and no others. The files that the page is
/// made of are there as well, each by itself. The plugin EmbedPage makes `EmbeddedPage` of the folder `page`.
public enum ViewerFiles {
    /// The value of Content-Security-Policy for every file, without `frame-ancestors` and `connect-src`, which depend
    /// on the host.
    public static let contentSecurityPolicy = {
        let scripts = EmbeddedPage.document.compactMap { if case .script = $0 { $0.source } else { nil } }
        let styles = EmbeddedPage.document.compactMap { if case .style = $0 { $0.source } else { nil } }
        return
            "default-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; object-src 'none'; "
            + "require-trusted-types-for 'script'; trusted-types 'none'; script-src 'self'\(scripts.joined()); "
            + "style-src 'self'\(styles.joined())"
    }()

    /// The value of Permissions-Policy for every file: the permissions that the page may request from its user, and the
    /// features that it must never use.
    public static let permissionsPolicy =
        "camera=(self), microphone=(self), display-capture=(self), fullscreen=(self), picture-in-picture=(self), "
        + "screen-wake-lock=(self), geolocation=(), midi=(), payment=(), usb=(), serial=(), hid=()"

    /// Identifies this build of the page. The page itself has it in `document.documentElement.dataset.version`.
    public static let version = String(Digest.hexadecimal(of: html).prefix(16))

    /// Returns the file at `path`, the path of a request (`/`, `/join/viewer.js`); nil if there is none.
    public static func file(path: String) -> ViewerFile? {
        path == "/" || path == "/index.html" ? page : files[path.dropFirst()]
    }

    private static let html = EmbeddedPage.document.map(\.text).joined()

    private static let page = {
        let marked = html.replacing("<html ", with: "<html data-version=\"\(version)\" ", maxReplacements: 1)
        let bytes = Array(marked.utf8)
        return ViewerFile(bytes, "text/html; charset=utf-8", compressed: Compression.gzip(bytes))
    }()

    /// By path. A part that the page loads later replaces the module that it is made of.
    private static let files: [Substring: ViewerFile] = {
        var files: [Substring: ViewerFile] = [:]
        for (path, text) in EmbeddedPage.files {
            files[path[...]] = ViewerFile(Array(text.utf8), contentType(of: path))
        }
        for (path, text) in EmbeddedPage.later {
            let bytes = Array(text.utf8)
            files[path[...]] = ViewerFile(bytes, contentType(of: path), compressed: Compression.gzip(bytes))
        }
        return files
    }()

    private static func contentType(of path: String) -> String {
        if path.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        return path.hasSuffix(".css") ? "text/css; charset=utf-8" : "image/svg+xml"
    }
}
