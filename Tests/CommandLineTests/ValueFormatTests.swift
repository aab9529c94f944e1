import CommandLine
import MediaTypes
import TestSupport
import Testing
import Threading

@Suite("values of options")
struct ValueFormatTests {
    private func read<Value>(_ text: String, _ format: ValueFormat<Value>) -> Value? {
        try? format.read(text, option: "--x")
    }

    private func complaint<Value>(_ option: String, _ text: String, _ format: ValueFormat<Value>) -> String? {
        do {
            _ = try format.read(text, option: option)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(
        "a bit rate is digits, perhaps a fraction, perhaps k, M or G",
        arguments: [
            ("4M", 4_000_000), ("600k", 600_000), ("600K", 600_000), ("2.5M", 2_500_000), ("2500000", 2_500_000),
            ("0.000000001G", nil), ("1G", 1_000_000_000), ("10k", 10_000),
            ("1.123456789G", nil), ("0.123456789G", 123_456_789),
        ] as [(String, Int?)])
    func bitRates(text: String, bits: Int?) {
        #expect(read(text, .bitRate)?.bitsPerSecond == bits)
    }

    @Test(
        "a size is digits, perhaps a fraction, perhaps a unit of a thousand",
        arguments: [
            ("200M", 200_000_000), ("1.5G", 1_500_000_000), ("50000k", 50_000_000), ("1T", 1_000_000_000_000),
            ("1000000", 1_000_000), ("999k", nil), ("1.1T", nil), ("", nil), ("M", nil), ("-5M", nil), ("200MB", nil),
            ("none", nil),
        ] as [(String, UInt64?)])
    func sizes(text: String, bytes: UInt64?) {
        #expect(read(text, .byteCount) == bytes)
    }

    @Test(
        "what is no bit rate is refused",
        arguments: [
            "", "4X", "M", "-4M", "+4M", "4 M", "4.M", ".5M", "4.5.6M", "1e6", "nan", "0x10", "٤M", "0", "5",
            "99999999999999999999", "9223372036854775807G", "1.0000000000M",
        ])
    func badBitRates(text: String) {
        #expect(read(text, .bitRate) == nil)
    }

    @Test("the error names the option, the value and what would be right")
    func errors() {
        #expect(
            complaint("--bitrate", "4X", .bitRate)
                == "--bitrate 4X: not a bit rate; write it like 4M, 600k or 2500000")
        #expect(complaint("--bitrate", "", .bitRate)?.hasPrefix("--bitrate '': not a bit rate") == true)
        #expect(complaint("--bitrate", "1", .bitRate) == "--bitrate 1: bit rate out of range; it may be from 10k to 1G")
        #expect(
            complaint("--fps", "0", .frameRate)
                == "--fps 0: not a frame rate; write a whole number from 1 to 120")
        #expect(complaint("--x", "a\nb", .port)?.hasPrefix("--x a\\nb: not a port") == true)
    }

    @Test("a frame rate is 1 to 120, a port 0 to 65535")
    func numbers() {
        #expect(read("1", .frameRate) == 1)
        #expect(read("120", .frameRate) == 120)
        #expect(read("121", .frameRate) == nil)
        #expect(read("30.0", .frameRate) == nil)
        #expect(read("0", .port) == 0)
        #expect(read("65535", .port) == 65535)
        #expect(read("65536", .port) == nil)
        #expect(read("-1", .port) == nil)
    }

    @Test("an address to listen on has a numeric host or none, and a port")
    func listenAddresses() {
        #expect(read("127.0.0.1:8080", .listenAddress) == ListenArgument(host: "127.0.0.1", port: 8080))
        #expect(read("[::1]:8080", .listenAddress) == ListenArgument(host: "::1", port: 8080))
        #expect(read(":8080", .listenAddress) == ListenArgument(host: nil, port: 8080))
        #expect(read("8080", .listenAddress) == ListenArgument(host: nil, port: 8080))
        #expect(read("localhost:0", .listenAddress) == ListenArgument(host: "127.0.0.1", port: 0))
        #expect(read("[::1]:8080", .listenAddress)?.description == "[::1]:8080")
        #expect(read("[::1]:8080", .listenAddress)?.isLoopback == true)
        #expect(read("0.0.0.0:1", .listenAddress)?.isLoopback == false)
        for text in [
            "", ":", "127.0.0.1", "127.0.0.1:", "::1:8080", "[::1]", "256.0.0.1:1", "example.org:80", "[a]:1",
            "1.2.3.4:x",
        ] {
            #expect(read(text, .listenAddress) == nil, "\(text)")
        }
        let words = "not an address to listen on; write it like"
        #expect(
            complaint("--listen", "x", .listenAddress)
                == "--listen x: \(words) 127.0.0.1:8080, [::1]:8080 or 8080")
        #expect(
            complaint("--rtsp", "x", .listenAddress(example: 554))
                == "--rtsp x: \(words) 127.0.0.1:554, [::1]:554 or 554")
    }

    @Test("a room's name has up to 64 letters, digits, '-', '_' and '.'")
    func roomNames() {
        #expect(read("Demo-1_a.b", .roomName) == "Demo-1_a.b")
        #expect(read(String(repeating: "a", count: 64), .roomName) != nil)
        for text in ["", "a b", "a,b", "a/b", "ä", "..", String(repeating: "a", count: 65)] {
            #expect(read(text, .roomName) == nil, "\(text)")
        }
    }

    @Test("how long something is good is read with its unit, from a second to a year")
    func lifetimes() {
        #expect(read("30m", .lifetime) == .seconds(1800))
        #expect(read("2h", .lifetime) == .seconds(7200))
        #expect(read("1d", .lifetime) == .seconds(86400))
        #expect(read("1.5d", .lifetime) == .seconds(129_600))
        #expect(read("90s", .lifetime) == .seconds(90))
        #expect(read("365d", .lifetime) == .seconds(31_536_000))
        for text in ["", "d", "0", "0.5s", "366d", "-1h", "1w", "1 h", "99999999999999999999d"] {
            #expect(read(text, .lifetime) == nil)
        }
    }

    @Test("a number without a unit is no lifetime: the complaint says what would be right")
    func lifetimeWithoutUnit() {
        #expect(
            complaint("--expires", "30", .lifetime)
                == "--expires 30: the unit is missing; write 30s, 30m, 30h or 30d")
        #expect(complaint("--expires", "1.5", .lifetime)?.contains("1.5h") == true)
    }

    @Test("a length of time has a unit or is in seconds")
    func durations() {
        #expect(read("500ms", .duration)?.nanoseconds == 500_000_000)
        #expect(read("2s", .duration)?.nanoseconds == 2_000_000_000)
        #expect(read("2", .duration)?.nanoseconds == 2_000_000_000)
        #expect(read("1.5s", .duration)?.nanoseconds == 1_500_000_000)
        #expect(read("0.000000001h", .duration)?.nanoseconds == 3_600)
        #expect(read("24h", .duration)?.nanoseconds == 86_400_000_000_000)
        for text in ["", "s", "25h", "1d", "-1s", "1..5s", "999999999999999999h"] {
            #expect(read(text, .duration) == nil, "\(text)")
        }
    }

    @Test("a choice is one of the enum's words")
    func choices() {
        #expect(read("debug", ValueFormat<EventLog.Level>.choice) == .debug)
        #expect(
            complaint("--log", "all", ValueFormat<EventLog.Level>.choice)
                == "--log all: choose one of error, warning, info, debug")
    }

    @Test("no text brings a format down")
    func mutations() {
        var random = SeededRandom(seed: 7)
        for seed in ["4M", "1.5s", "[::1]:8080", "127.0.0.1:80", "room-1"] {
            for _ in 0..<300 {
                let text = String(decoding: random.mutation(of: Array(seed.utf8)), as: UTF8.self)
                _ = (read(text, .bitRate), read(text, .duration), read(text, .listenAddress), read(text, .roomName))
            }
        }
    }
}
