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

    static let fragment = """
        a=ice-ufrag:EsAw\r
        a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
        m=video 9 RTP/AVP 0\r
        a=mid:0\r
        a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw\r
        a=candidate:3471623853 1 udp 2122194687 198.51.100.2 61765 typ host generation 0 ufrag EsAw\r
        a=end-of-candidates\r

        """

    @Test("a trickled fragment gives credentials and candidates")
    func trickle() throws {
        let fragment = try TrickleFragment(parsing: Array(Self.fragment.utf8))
        #expect(fragment.iceUfrag == "EsAw")
        #expect(fragment.icePassword == "P2uYro0UCOQ4zxjKXaWCBui1")
        #expect(fragment.sections.count == 1)
        #expect(fragment.sections[0].mid == "0")
        #expect(fragment.sections[0].candidates.map(\.port) == [61764, 61765])
        #expect(fragment.sections[0].hasEndOfCandidates)
        #expect(try TrickleFragment(parsing: []).sections.isEmpty)
        #expect(throws: SDPError.malformed(line: 1, "not a candidate")) {
            try TrickleFragment(parsing: Array("a=candidate:x".utf8))
        }
    }

    @Test("no prefix and no random change of a fragment is a trap")
    func mutations() {
        let bytes = Array(Self.fragment.utf8)
        for count in 0..<bytes.count { _ = try? TrickleFragment(parsing: Array(bytes.prefix(count))) }
        var random = SeededRandom(seed: 8840)
        for _ in 0..<1000 { _ = try? TrickleFragment(parsing: random.mutation(of: bytes)) }
    }

    @Test("a profile-level-id is six digits, and stands for a profile")
    func profiles() {
        for (text, profile) in [
            ("42e01f", H264Profile.constrainedBaseline), ("42C01F", .constrainedBaseline), ("42001f", .baseline),
            ("42801e", .baseline), ("4d001f", .main), ("4d401f", .main), ("4d801f", .constrainedBaseline),
            ("58001e", .extended), ("64001f", .high), ("640c1f", .constrainedHigh), ("f4001f", .other),
        ] {
            let id = ProfileLevelID(parsing: text)
            #expect(id?.profile == profile, "\(text)")
            #expect(id?.description == text.lowercased())
        }
        for bad in ["", "42e01", "42e01ff", "42e01g", "+2e01f", "-2e01f"] {
            #expect(ProfileLevelID(parsing: bad) == nil)
        }
    }
}
