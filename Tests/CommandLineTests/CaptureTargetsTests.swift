import CommandLine
import MediaTypes
import TestSupport
import Testing

@Suite("Words for what is captured")
struct CaptureTargetsTests {
    @Test(
        "a slip is no value, and is told what would be right",
        arguments: [
            ("window", ["", "  ", "0x", "0x0", "0xg", "0x123456789", "0x-1", "0x+1", "0X 1"]),
            (
                "region",
                [
                    "", "1280x720", "1280x720+0", "1280x720+0+0+0", "+0+0", "x+0+0", "1x+0+0", "0x5+0+0", "9x9-1+0",
                    "1280X720+0+0", "16385x9+0+0", "9x9+16385+0", "99999999999999999999x9+0+0", "9x9+0+0 ",
                ]
            ),
            ("scale", ["", "%", "0%", "101%", "-5%", "50.5%", "x", "1x1", "1920x", "1920", "1920x1080x3", "16385x9"]),
            ("size", ["", "50%", "x", "1x720", "1280x", "1280", "1280x720x1", "16385x9"]),
            ("key-frames", ["", "0", "1", "-1", "100001", "0.4s", "61m", "s", "10 s", "1.5"]),
            ("chroma", ["", "422", "420,444", "444, 420", "yuv420"]),
        ])
    func slips(format: String, texts: [String]) {
        for text in texts {
            let error = #expect(throws: UsageError.self, "\(format) \(text)") {
                switch format {
                case "window": _ = try ValueFormat.window.read(text, option: "--\(format)")
                case "region": _ = try ValueFormat.region.read(text, option: "--\(format)")
                case "size": _ = try ValueFormat.exactSize.read(text, option: "--\(format)")
                case "key-frames": _ = try ValueFormat.keyFrames.read(text, option: "--\(format)")
                case "scale": _ = try ValueFormat.scale.read(text, option: "--\(format)")
                default: _ = try ValueFormat.chroma.read(text, option: "--\(format)")
                }
            }
            #expect(error?.description.hasPrefix("--\(format) ") == true)
            #expect(error?.description.contains("; ") == true)
        }
    }

    @Test("what is meant is read as it is meant")
    func values() throws {
        #expect(try ValueFormat.window.read("0xFFFFFFFF", option: "") == .identifier(.max))
        #expect(try ValueFormat.window.read("0 errors - editor", option: "") == .title("0 errors - editor"))
        #expect(
            try ValueFormat.region.read("16384x2+16384+0", option: "")
                == PixelRectangle(x: 16384, y: 0, width: 16384, height: 2))
        #expect(try ValueFormat.scale.read("1%", option: "") == .percent(1))
        #expect(try ValueFormat.scale.read("100%", option: "") == .percent(100))
        #expect(try ValueFormat.scale.read("1280x720", option: "") == .within(PictureSize(width: 1280, height: 720)))
        #expect(
            try ValueFormat.exactSize.read("2x16384", option: "") == .exactly(PictureSize(width: 2, height: 16384)))
        #expect(try ValueFormat.keyFrames.read("300", option: "") == .frames(300))
        #expect(try ValueFormat.keyFrames.read("1.5m", option: "") == .time(.seconds(90)))
        for preference in ChromaPreference.allCases {
            #expect(try ValueFormat.chroma.read(preference.rawValue, option: "") == preference)
        }
    }

    @Test("whatever is typed, nothing traps")
    func mutations() {
        var random = SeededRandom(seed: 5)
        for text in ["1280x720+0+40", "0x1c00003", "50%", "1920x1080", "444,420"] {
            for _ in 0..<300 {
                let typed = String(decoding: random.mutation(of: Array(text.utf8)), as: UTF8.self)
                _ = try? ValueFormat.window.read(typed, option: "")
                _ = try? ValueFormat.region.read(typed, option: "")
                _ = try? ValueFormat.scale.read(typed, option: "")
                _ = try? ValueFormat.chroma.read(typed, option: "")
            }
        }
    }
}

@Suite("Tables")
struct TextTableTests {
    @Test("columns stand under each other, without spaces at a line's end")
    func columns() {
        var table = TextTable()
        table.add(["--window 0x7", "64x48+0+0", "", "xterm", "a\ttitle\n"])
        table.add(["--window 0x1c00003", "9x9+1+1", "hidden"])
        #expect(
            table.text == """
                  --window 0x7        64x48+0+0          xterm  a\\ttitle\\n
                  --window 0x1c00003  9x9+1+1    hidden

                """)
    }

    @Test("a long cell is cut, and says so")
    func long() {
        var table = TextTable(indent: 0)
        table.add([String(repeating: "w", count: 61), String(repeating: "v", count: 60)])
        #expect(
            table.text == String(repeating: "w", count: 59) + "…  " + String(repeating: "v", count: 60) + "\n")
    }
}
