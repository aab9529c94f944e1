import Foundation
import TestSupport
import Testing

@Suite("The ids of findings")
struct DocumentedFindingsTests {
    /// The ids that the source puts together, and what they can become.
    private static let composed = [
        "display-\\(feature.lowercased())": [
            "display-damage", "display-mit-shm", "display-xfixes", "display-randr", "display-xinputextension",
        ],
        "\\(kind)-unreachable": ["stun-unreachable", "turn-unreachable"],
        // Only TURN is asked over TLS.
        "\\(kind)-certificate": ["turn-certificate"],
        "\\(transport.rawValue)-blocked": ["udp-blocked", "tcp-blocked"],
        "\\(option)-port": ["rtsp-port", "rtmp-port", "srt-port"],
    ]

    /// The ids that the source of `doctor` gives its findings.
    private static func given() throws -> Set<String> {
        var ids: Set<String> = []
        for folder in ["Diagnosis", "Commands/Setup"] {
            let path = packageRoot + "/Sources/Programs/" + folder
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) where name.hasSuffix(".swift") {
                let source = String(decoding: try fileBytes(path + "/" + name), as: UTF8.self)
                for call in source.components(separatedBy: "Finding(").dropFirst() {
                    let argument = call.drop { $0.isWhitespace }
                    guard argument.first == "\"" else { continue }
                    let id = String(argument.dropFirst().prefix { $0 != "\"" })
                    ids.formUnion(composed[id] ?? [id])
                }
            }
        }
        return ids
    }

    /// The ids in the first column of the table in control.md.
    private static func documented() throws -> Set<String> {
        let document = String(decoding: try fileBytes(packageRoot + "/Protocol/control.md"), as: UTF8.self)
        let lines = document.components(separatedBy: "\n")
        let rows = lines.drop { $0 != "## What doctor finds" }.dropFirst().prefix { !$0.hasPrefix("## ") }.filter {
            $0.hasPrefix("| `") && !$0.hasPrefix("| `id` |")
        }
        return Set(
            rows.flatMap { row in
                // Every second piece is between backquotes.
                let pieces = row.components(separatedBy: "|")[1].components(separatedBy: "`")
                return stride(from: 1, to: pieces.count, by: 2).map { pieces[$0] }
            })
    }

    @Test("the table in control.md has the ids that doctor can print, and no others")
    func table() throws {
        let (given, documented) = (try Self.given(), try Self.documented())
        #expect(documented.contains("display") && documented.contains("turn-certificate"))
        #expect(given.subtracting(documented).sorted() == [], "not in the table")
        #expect(documented.subtracting(given).sorted() == [], "only in the table")
    }
}
