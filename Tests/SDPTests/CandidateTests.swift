import MediaTypes
import SDP
import TestSupport
import Testing

struct CandidateTests {
    @Test("a candidate reads the same with and without what stands in front")
    func reading() throws {
        let text = "candidate:1 1 UDP 2130706431 192.0.2.1 8189 typ host generation 0"
        let candidate = try #require(Candidate(parsing: text))
        #expect(candidate.address == "192.0.2.1" && candidate.port == 8189)
        #expect(candidate.transport == "udp" && candidate.type == "host")
        #expect(candidate.text == "candidate:1 1 udp 2130706431 192.0.2.1 8189 typ host")
        #expect(Candidate(parsing: "a=" + text) == candidate)
        #expect(Candidate(parsing: text.dropFirst("candidate:".count)) == candidate)
        #expect(Candidate(parsing: candidate.text) == candidate)
        for count in 0..<text.utf8.count - 20 { #expect(Candidate(parsing: text.prefix(count)) == nil) }
        for bad in ["", "candidate:", "candidate:1 1 udp x 192.0.2.1 8189 typ host", "1 1 udp 1 a 70000 typ host"] {
            #expect(Candidate(parsing: bad) == nil)
        }
    }

    @Test("connections may come to every address, and no peer prefers them to UDP")
    func connections() throws {
        let text = "candidate:9 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active generation 0"
        let candidate = try #require(Candidate(parsing: text))
        #expect(candidate.transport == "tcp" && candidate.tcpType == "active")
        #expect(candidate.text == "candidate:9 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active")
        #expect(Candidate(parsing: candidate.text) == candidate)
        #expect(Candidate(parsing: "candidate:9 1 tcp 1 192.0.2.1 9 typ host tcptype")?.tcpType == nil)

        var local = AnswerTests.local
        local.takesConnections = true
        let fragment = RestartFragment(local: local, kind: .video, mid: "0", payloadType: 106).text
        let lines = fragment.split(separator: "\r\n").filter { $0.hasPrefix("a=candidate:") }
        // RFC 6544 section 4.2: 90 << 24 | (4 << 13 | 8191 - index) << 8 | 255
        #expect(
            lines == [
                "a=candidate:1 1 udp 2130706431 192.0.2.1 8189 typ host",
                "a=candidate:2 1 udp 2130706175 2001:db8::1 8189 typ host",
                "a=candidate:3 1 tcp 1520435199 192.0.2.1 8189 typ host tcptype passive",
                "a=candidate:4 1 tcp 1520434943 2001:db8::1 8189 typ host tcptype passive",
            ])
    }

    static let fragment = """
        a=ice-ufrag:EsAw\r
        a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
        m=video 9 RTP/AVP 0\r
        a=mid:0\r
        a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw\r
        a=candidate:3471623853 1 udp 2122194687 198.51.100.2 61765 typ host generation 0 ufrag EsAw\r
        a=end-of-candidates\r

        """

    @Test("all candidates of a fragment or of a single line are read, up to a limit")
    func all() {
        let found = Candidate.all(in: Self.fragment, limit: 16)
        #expect(found.map(\.address) == ["192.0.2.1", "198.51.100.2"])
        #expect(found.map(\.port) == [61764, 61765])
        #expect(Candidate.all(in: Self.fragment, limit: 1).map(\.address) == ["192.0.2.1"])
        let line = "candidate:1 1 udp 5 192.0.2.1 8189 typ host"
        for text in [line, "a=" + line, line + "\r\n", "\n" + line + "\n"] {
            #expect(Candidate.all(in: text, limit: 16).map(\.port) == [8189])
        }
        #expect(Candidate.all(in: "", limit: 16).isEmpty)
        let long = String(repeating: line + "\n", count: 2000)
        #expect(Candidate.all(in: long, limit: 16).isEmpty, "no longer than a description")
    }

    @Test("a fragment with other credentials than the offer's is about another generation")
    func trickle() throws {
        func read(_ text: String) throws -> TrickleFragment { try TrickleFragment(parsing: Array(text.utf8)) }
        let fragment = try read(Self.fragment)
        #expect(fragment.iceUfrags == ["EsAw"])
        #expect(fragment.icePasswords == ["P2uYro0UCOQ4zxjKXaWCBui1"])
        let offer = try read("v=0\r\na=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\n")
        #expect(fragment.isTrickle(for: offer))
        #expect(try read("").isTrickle(for: offer))
        #expect(try read("a=mid:0\na=candidate:1").isTrickle(for: offer))
        #expect(try !read(Self.fragment.replacing("EsAw", with: "Qm3+")).isTrickle(for: offer))
        #expect(try !read(Self.fragment.replacing("P2uY", with: "Qm3+")).isTrickle(for: offer))
        #expect(throws: SDPError.malformed(line: 2, "not a letter and \"=\"")) { try read("a=mid:0\nhello") }
    }

    @Test("sections that are not bundled have credentials of their own, and each may trickle")
    func unbundled() throws {
        let offer = try TrickleFragment(
            parsing: Array("m=audio 9 RTP/AVP 0\na=ice-ufrag:one\nm=video 9 RTP/AVP 96\na=ice-ufrag:two".utf8))
        for name in ["one", "two"] {
            #expect(try TrickleFragment(parsing: Array("a=ice-ufrag:\(name)".utf8)).isTrickle(for: offer))
        }
    }

    @Test("a fragment's credentials are its section's, or session level's, or the only ones")
    func credentials() throws {
        func read(_ text: String) throws -> TrickleFragment { try TrickleFragment(parsing: Array(text.utf8)) }
        func section(_ mid: String, _ letter: String) -> String {
            let password = String(repeating: letter, count: 22)
            return "m=video 9 RTP/AVP 0\na=mid:\(mid)\na=ice-ufrag:\(letter)frag\na=ice-pwd:\(password)\n"
        }
        #expect(try read(Self.fragment).credentials(of: "0").ufrag == "EsAw")
        #expect(try read(Self.fragment).credentials(of: nil).password == "P2uYro0UCOQ4zxjKXaWCBui1")
        let two = try read(section("a", "x") + section("b", "y"))
        #expect(try two.credentials(of: "a").ufrag == "xfrag")
        #expect(try two.credentials(of: "b").password == String(repeating: "y", count: 22))
        #expect(throws: SDPError.noICECredentials) { try two.credentials(of: "c") }
        #expect(throws: SDPError.noICECredentials) { try two.credentials(of: nil) }
        // A bundle's first section speaks for the others.
        #expect(try read(section("a", "x") + "m=video 9 RTP/AVP 0\na=mid:b\n").credentials(of: "b").ufrag == "xfrag")
        #expect(throws: SDPError.noICECredentials) { try read("a=ice-ufrag:EsAw").credentials(of: nil) }
        #expect(throws: SDPError.badICECredentials) {
            try read(Self.fragment.replacing("ufrag:EsAw", with: "ufrag:EsA")).credentials(of: "0")
        }
        #expect(throws: SDPError.badICECredentials) {
            try read(Self.fragment.replacing("P2uYro0UCOQ4zxjKXaWCBui1", with: "short")).credentials(of: "0")
        }
        #expect(throws: SDPError.tooManyMediaSections) {
            try read(String(repeating: "m=video 9 RTP/AVP 0\n", count: 33))
        }
    }

    @Test("our side of a restart has the new credentials, all candidates, and reads again")
    func restartFragment() throws {
        let fragment = RestartFragment(local: AnswerTests.local, kind: .video, mid: "0", payloadType: 106)
        #expect(
            fragment.text == """
                a=ice-lite\r
                a=group:BUNDLE 0\r
                m=video 9 UDP/TLS/RTP/SAVPF 106\r
                a=mid:0\r
                a=ice-ufrag:host\r
                a=ice-pwd:abcdefghijklmnopqrstuv\r
                a=candidate:1 1 udp 2130706431 192.0.2.1 8189 typ host\r
                a=candidate:2 1 udp 2130706175 2001:db8::1 8189 typ host\r
                a=end-of-candidates\r

                """)
        let read = try TrickleFragment(parsing: Array(fragment.text.utf8)).credentials(of: "0")
        #expect(read.ufrag == "host" && read.password == "abcdefghijklmnopqrstuv")
        let nameless = RestartFragment(local: AnswerTests.local, kind: .video, mid: nil, payloadType: 96).text
        #expect(!nameless.contains("mid") && !nameless.contains("BUNDLE"))
        let sound = RestartFragment(local: AnswerTests.local, kind: .audio, mid: "1", payloadType: 111).text
        #expect(sound.contains("m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:1\r\n"))
    }

    @Test("no prefix and no random change of a fragment is a trap")
    func mutations() {
        let bytes = Array(Self.fragment.utf8)
        func exercise(_ bytes: [UInt8]) { _ = try? TrickleFragment(parsing: bytes).credentials(of: "0") }
        for count in 0..<bytes.count { exercise(Array(bytes.prefix(count))) }
        var random = SeededRandom(seed: 8840)
        for _ in 0..<1000 { exercise(random.mutation(of: bytes)) }
    }
}
