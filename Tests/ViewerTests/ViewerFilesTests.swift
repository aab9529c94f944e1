import Testing

@testable import Viewer

@Suite("The page as the host serves it")
struct ViewerFilesTests {
    @Test("the page has its version, and its rules allow its own scripts and style")
    func page() throws {
        let file = try #require(ViewerFiles.file(path: "/"))
        let text = String(decoding: file.bytes, as: UTF8.self)
        #expect(text.contains("data-version=\"\(ViewerFiles.version)\""))
        #expect(!text.contains("stylesheet") && !text.contains("src="))
        #expect(ViewerFiles.contentSecurityPolicy.components(of: "'sha256-") == 3)
        #expect(ViewerFiles.file(path: "/index.html")?.entityTag == file.entityTag)
        #expect(ViewerFiles.file(path: "/picture/clock.js")?.contentType.hasPrefix("text/javascript") == true)
        #expect(ViewerFiles.file(path: "/style/base.css")?.contentType.hasPrefix("text/css") == true)
        // Not in the document: the choice of devices loads it.
        #expect(ViewerFiles.file(path: "/style/choice.css")?.contentType.hasPrefix("text/css") == true)
        #expect(!text.contains(".device-choice"))
        #expect(ViewerFiles.file(path: "/favicon.svg")?.contentType == "image/svg+xml")
        #expect(ViewerFiles.file(path: "/nothing.js") == nil && ViewerFiles.file(path: "/jsconfig.json") == nil)
        #expect(try #require(file.compressed).count < file.bytes.count / 3)
    }

    @Test(
        "what the page loads later is there in one piece, by the path that the page imports",
        arguments: [
            "meeting/meeting.js", "meeting/invitelink.js", "meeting/peoplepanel.js", "present/presenting.js",
            "sound/sound.js", "figures/chartlist.js", "fallback/fallback.js", "point/pointing.js",
            "chat/chat.js", "choice/choice.js",
        ])
    func later(path: String) throws {
        let page = String(decoding: try #require(ViewerFiles.file(path: "/")).bytes, as: UTF8.self)
        #expect(page.contains("import(\"./\(path)\")"))
        let file = try #require(ViewerFiles.file(path: "/" + path))
        let text = String(decoding: file.bytes, as: UTF8.self)
        #expect(file.compressed != nil && !text.contains("import") && text.contains("\nexport const {"))
    }
}

extension String {
    /// How often `text` occurs.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
