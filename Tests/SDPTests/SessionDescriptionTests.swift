import TestSupport
import Testing

@testable import SDP

struct SessionDescriptionTests {
    @Test("what Chromium offers is read to the last line")
    func chromium() throws {
        let session = try SessionDescription(parsing: Offers.chromiumWithAudioAndData)
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["0", "1", "2"])])
        let video = session.media[1]
        #expect(video.isBundleOnly && !video.isRejected)
        #expect(video.direction == .sendrecv)
        #expect(video.codecs.count == 25)
        #expect(video.codecs.map { String($0.payloadType) } == video.formats)
        #expect(video.extensions.count == 9)
        #expect(video.candidates.first?.address == "6f2c7f4e-9f4a-4d9c-bbf6-0d6a5d2f0d11.local")
        #expect(session.media[0].codecs.map(\.name) == ["opus", "red"])
        #expect(session.media[2].formats == ["webrtc-datachannel"])
    }

    @Test("lines may end in LF alone, and read the same")
    func lineEnds() throws {
        let crlf = try SessionDescription(parsing: Offers.firefox)
        #expect(try SessionDescription(parsing: Offers.firefox.replacing("\r\n", with: "\n")) == crlf)
    }

    @Test("limits hold: size, media sections, control characters, a mid used twice")
    func limits() {
        let head = "v=0\r\ns=-\r\n"
        let section = "m=video 9 RTP/AVP 96\r\n"
        #expect(throws: SDPError.tooLong(SessionDescription.maxLength + 1)) {
            try SessionDescription(
                parsing: Array(head.utf8)
                    + [UInt8](repeating: 97, count: SessionDescription.maxLength + 1 - head.utf8.count))
        }
        #expect(throws: Never.self) { try SessionDescription(parsing: head + String(repeating: section, count: 32)) }
        #expect(throws: SDPError.tooManyMediaSections) {
            try SessionDescription(parsing: head + String(repeating: section, count: 33))
        }
        #expect(throws: SDPError.duplicateMid("0")) {
            try SessionDescription(parsing: head + section + "a=mid:0\r\n" + section + "a=mid:0\r\n")
        }
        #expect(throws: SDPError.malformed(line: 4, "bytes that are no text")) {
            try SessionDescription(parsing: head + section + "a=mid:0\ra=x\r\n")
        }
        #expect(throws: SDPError.notSDP) { try SessionDescription(parsing: "") }
        #expect(throws: SDPError.notSDP) { try SessionDescription(parsing: "s=-\r\nv=0\r\n") }
    }

    @Test(
        "a malformed line is an error that names it",
        arguments: [
            "m=video", "m=video x RTP/AVP 96", "m=video 70000 RTP/AVP 96", "novalue", "ab=c", "a=group:", "a=setup:x",
            "a=fingerprint:sha-256", "a=fingerprint:sha-256 GG:00", "a=rtpmap:128 H264/90000", "a=rtpmap:96 H264",
            "a=rtpmap:x H264/90000", "a=fmtp:x a=b", "a=rtcp-fb:", "a=extmap:0 urn:x", "a=extmap:1", "a=mid:",
            "a=extmap:1/up urn:x",
        ])
    func malformed(line: String) {
        let error = #expect(throws: SDPError.self) {
            try SessionDescription(
                parsing: "v=0\r\n\(line.hasPrefix("a=group") ? "" : "m=video 9 RTP/AVP 96\r\n")\(line)\r\n")
        }
        guard case .malformed(let number, _)? = error else {
            Issue.record("\(line): \(String(describing: error))")
            return
        }
        #expect(number == (line.hasPrefix("a=group") ? 2 : 3))
    }

    @Test("a combining mark does not hide a separator, and characters of many bytes are no trap")
    func combiningMarks() throws {
        let session = try SessionDescription(
            parsing: "v=0\r\ns=é\u{301}\r\nm=video 9 RTP/AVP 96\r\na=fmtp:96 a=\u{301}b;\u{301}c=d\r\n")
        #expect(session.media.count == 1)
        #expect(throws: SDPError.self) {
            try SessionDescription(parsing: "v=0\r\nm=\u{1F600} 9 RTP/AVP 96\r\n")
        }
    }

    @Test("every prefix reads or is an error, and so does every random change; an answer that is made reads again")
    func prefixesAndMutations() {
        func exercise(_ bytes: [UInt8]) {
            do {
                let session = try SessionDescription(parsing: bytes)
                let answer = try Answer(to: session, local: AnswerTests.local)
                let again = try? SessionDescription(parsing: answer.text)
                #expect(again?.media.count == session.media.count)
                #expect(again?.media.filter { !$0.isRejected }.count == 1)
            } catch {
                #expect(!"\(error)".isEmpty)
            }
        }
        for offer in [Offers.player, Offers.firefox] {
            for count in 0...offer.utf8.count { exercise(Array(offer.utf8.prefix(count))) }
        }
        var random = SeededRandom(seed: 8866)
        for offer in [Offers.player, Offers.firefox, Offers.chromiumWithAudioAndData] {
            for _ in 0..<300 { exercise(random.mutation(of: Array(offer.utf8))) }
        }
    }
}
