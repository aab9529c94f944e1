import FoundationEssentials
import Glibc
import PageBundling

/// Joins the files of the page and writes them as Swift. The build runs it, by the plugin EmbedPage:
/// `embed-page FOLDER FILE`.
@main
enum Main {
    static func main() throws {
        guard CommandLine.arguments.count == 3 else { fail("usage: embed-page FOLDER FILE", status: 64) }
        let folder = URL(filePath: CommandLine.arguments[1], directoryHint: .isDirectory)
        var texts: [String: String] = [:]
        let served: Set = ["css", "html", "js", "svg"]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: path)
            guard served.contains(file.pathExtension) else { continue }
            texts[path] = try String(contentsOf: file, encoding: .utf8)
        }
        do {
            let bundle = try PageBundle(texts.removeValue(forKey: "index.html") ?? "") { texts[$0] }
            let source = PageSource.text(bundle, files: texts)
            try source.write(to: URL(filePath: CommandLine.arguments[2]), atomically: true, encoding: .utf8)
        } catch let fault as PageError {
            fail("\(folder.path)/\(fault)", status: 65)
        }
    }

    private static func fail(_ line: String, status: Int32) -> Never {
        let bytes = Array((line + "\n").utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
        exit(status)
    }
}
