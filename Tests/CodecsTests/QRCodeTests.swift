import Glibc
import Processes
import QRCodes
import TestSupport
import Testing

@Suite("QR codes")
struct QRCodeTests {
    private static let link = "http://192.168.1.7:8080/#screen,abcdefghijklmnopqrstuv"

    /// The modules of a code as a picture (PGM), four pixels each, with the quiet zone; and what zbarimg reads there.
    private func read(_ isDark: (Int, Int) -> Bool, side: Int) throws -> String {
        let scale = 4
        let range = -QRCode.quietZone..<side + QRCode.quietZone
        var pixels: [UInt8] = []
        for y in range {
            let row = range.flatMap { [UInt8](repeating: isDark($0, y) ? 0 : 255, count: scale) }
            for _ in 0..<scale { pixels += row }
        }
        let size = range.count * scale
        let folder = try TemporaryFolder()
        let path = try folder.write("code.pgm", Array("P5 \(size) \(size) 255\n".utf8) + pixels)
        var launch = Launch("/usr/bin/zbarimg", ["-q", "--raw", path])
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        return try ChildProcess.run(launch, within: .seconds(90)).output
    }

    @Test("what another program reads in them is the text", .enabled(if: hasReader))
    func reading() throws {
        for text in [Self.link, "x", String(repeating: "/#", count: 400)] {
            let code = try #require(QRCode(text))
            #expect(try read(code.isDark, side: code.side) == text + "\n")
        }
    }

    @Test("what stands in the terminal is read as well, by the half blocks alone", .enabled(if: hasReader))
    func terminal() throws {
        let code = try #require(QRCode(Self.link))
        let lines = code.terminalText(isColored: false).split(separator: "\n").map(Array.init)
        #expect(lines.count == (code.side + 2 * QRCode.quietZone + 1) / 2)
        #expect(lines.allSatisfy { $0.count == code.columns })
        func isDark(_ x: Int, _ y: Int) -> Bool {
            let (column, row) = (x + QRCode.quietZone, y + QRCode.quietZone)
            let block = lines[row / 2][column]
            return row % 2 == 0 ? block == " " || block == "▄" : block == " " || block == "▀"
        }
        #expect(try read(isDark, side: code.side) == Self.link + "\n")
        // The margin is light, all around.
        // There is an odd number of rows: below the last one is nothing.
        #expect(lines[0].allSatisfy { $0 == "█" } && lines.last?.allSatisfy { $0 == "▀" } == true)
        #expect(lines.dropLast().allSatisfy { $0[0] == "█" && $0[code.columns - 1] == "█" })
    }

    @Test("colours are set for each line and taken back at its end")
    func colours() throws {
        let code = try #require(QRCode(Self.link))
        let plain = code.terminalText(isColored: false).split(separator: "\n")
        let colored = code.terminalText(isColored: true).split(separator: "\n")
        #expect(colored == plain.map { "\u{1B}[38;5;231;48;5;16m\($0)\u{1B}[0m" })
    }

    @Test("what no code can hold has none")
    func limits() {
        #expect(QRCode("") == nil && QRCode("a\u{0}b") == nil)
        #expect(QRCode(String(repeating: "a", count: 2331))?.side == 177)
        #expect(QRCode(String(repeating: "a", count: 2332)) == nil)
    }
}

private let hasReader = access("/usr/bin/zbarimg", X_OK) == 0
