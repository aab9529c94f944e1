import TestSupport
import Testing

@testable import SDP

@Suite("Negotiation of transport-wide feedback and REMB")
struct CongestionFeedbackTests {
    private static let uri = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

    /// Our description if we act on the feedback.
    private static let taking: LocalDescription = {
        var local = AnswerTests.local
        local.takesCongestionFeedback = true
        return local
    }()

    private func answer(to offer: String, local: LocalDescription = Self.taking) throws -> Answer {
        try Answer(to: SessionDescription(parsing: offer), local: local)
    }

    private func hasTraces(_ text: String) -> Bool {
        ["transport-cc", "goog-remb", Self.uri].contains { text.contains($0) }
    }

    @Test("Chromium's feedback and extension are accepted, with its number and for each payload type")
    func chromium() throws {
        let answer = try answer(to: Offers.chromiumWith444)
        #expect(answer.video.extensions.transportNumber == 4)
        #expect(answer.video.formats.count == 2)
        for format in answer.video.formats {
            #expect(format.feedback == [.nack, .pli, .fir, .transportWide, .estimatedBitRate])
        }
        let video = try #require(SessionDescription(parsing: answer.text).media.first)
        #expect(video.extensions.map(\.id) == [9, 12, 5, 4])
        #expect(video.extensions.last?.uri == Self.uri)
        for codec in video.codecs where codec.name == "H264" {
            #expect(codec.feedback == ["nack", "nack pli", "ccm fir", "transport-cc", "goog-remb"])
        }
    }

    @Test("nothing of it is offered or accepted unless we act on it")
    func off() throws {
        for offer in [Offers.chromium, Offers.chromiumWith444, Offers.firefox] {
            let answer = try answer(to: offer, local: AnswerTests.local)
            #expect(!hasTraces(answer.text))
            #expect(answer.video.extensions.transportNumber == nil)
            #expect(answer.video.formats.allSatisfy { $0.feedback.isDisjoint(with: .congestion) })
        }
        let offer = Offer(local: AnswerTests.local, including444: true)
        #expect(!hasTraces(offer.text))
        let eager = Answers.chromium.replacing(
            "a=recvonly", with: "a=extmap:4 \(Self.uri)\r\na=rtcp-fb:* transport-cc\r\na=recvonly")
        let video = try offer.negotiated(with: SessionDescription(parsing: eager)).sections[0]
        #expect(video.extensions.transportNumber == nil)
        #expect(video.formats.allSatisfy { $0.feedback == [.nack, .pli, .fir] })
    }

    @Test("Firefox, which offers REMB alone, is promised REMB alone")
    func firefox() throws {
        let answer = try answer(to: Offers.firefox)
        #expect(answer.video.extensions.transportNumber == nil)
        #expect(answer.video.formats[0].feedback == [.nack, .pli, .fir, .estimatedBitRate])
        #expect(!answer.text.contains("transport-cc"))
    }

    @Test("a peer that offers neither gets the same answer as before", arguments: [false, true])
    func neither(isLite: Bool) throws {
        let offer = isLite ? Offers.player : Offers.firefox.replacing("a=rtcp-fb:126 goog-remb\r\n", with: "")
        #expect(try answer(to: offer) == answer(to: offer, local: AnswerTests.local))
    }

    @Test("feedback that the peer promises for all payload types counts")
    func allPayloadTypes() throws {
        let offer = Offers.player.replacing(
            "a=rtcp-mux", with: "a=extmap:3/recvonly \(Self.uri)\na=rtcp-fb:* transport-cc\na=rtcp-mux")
        let answer = try answer(to: offer)
        #expect(answer.video.extensions.transportNumber == 3)
        #expect(answer.video.formats[0].feedback == [.pli, .transportWide])
        #expect(answer.text.contains("a=extmap:3/sendonly \(Self.uri)\r\n"))
        #expect(answer.text.contains("a=rtcp-fb:96 transport-cc\r\n"))
    }

    @Test("the extension without the feedback, and the feedback without the extension, are not agreed on")
    func halves() throws {
        let feedbackLess = Offers.chromium.replacing("a=rtcp-fb:106 transport-cc\r\n", with: "")
        let extensionLess = Offers.chromium.replacing("a=extmap:4 \(Self.uri)\r\n", with: "")
        for offer in [feedbackLess, extensionLess] {
            let answer = try answer(to: offer)
            #expect(answer.video.extensions.transportNumber == nil)
            #expect(answer.video.formats[0].feedback == [.nack, .pli, .fir, .estimatedBitRate])
            #expect(!answer.text.contains("transport-cc"))
            #expect(!answer.text.contains(Self.uri))
        }
    }

    @Test(
        "a number that needs two-byte headers is taken for this extension, a reserved or a provisional one is not",
        arguments: [(14, 14), (15, nil), (16, 16), (255, 255), (256, nil), (4096, nil)] as [(Int, UInt8?)])
    func numbers(offered: Int, agreed: UInt8?) throws {
        let offer = Offers.chromium.replacing("a=extmap:4 \(Self.uri)", with: "a=extmap:\(offered) \(Self.uri)")
        let answer = try answer(to: offer)
        #expect(answer.video.extensions.transportNumber == agreed)
        #expect(answer.text.contains("a=extmap:\(offered) \(Self.uri)\r\n") == (agreed != nil))
        #expect(answer.video.extensions.mid == 9)
    }

    @Test("our offer lists both, and the answer decides")
    func ownOffer() throws {
        let offer = Offer(local: Self.taking, including444: true)
        let section = try #require(SessionDescription(parsing: offer.text).media.first)
        #expect(section.extensions.map(\.id) == [1, 2, 3, 4])
        #expect(section.extensions.last?.uri == Self.uri)
        for codec in section.codecs where codec.name == "H264" {
            #expect(codec.feedback == ["nack", "nack pli", "ccm fir", "transport-cc", "goog-remb"])
        }

        let silent = try offer.negotiated(with: SessionDescription(parsing: Answers.chromium)).sections[0]
        #expect(silent.extensions.transportNumber == nil)
        #expect(silent.formats[0].feedback == [.nack, .pli, .fir])
        let text = Answers.chromium.replacing(
            "a=rtcp-fb:106 nack\r\n",
            with: "a=extmap:4 \(Self.uri)\r\na=rtcp-fb:106 transport-cc\r\na=rtcp-fb:106 goog-remb\r\n")
        let agreed = try offer.negotiated(with: SessionDescription(parsing: text)).sections[0]
        #expect(agreed.extensions.transportNumber == 4)
        #expect(agreed.formats[0].feedback == [.pli, .fir, .transportWide, .estimatedBitRate])
    }

    @Test("a publisher who numbers packets gets transport-wide feedback, and no REMB", arguments: ["", "/sendonly"])
    func numberedPublisher(direction: String) throws {
        let lines = "a=extmap:4\(direction) \(Self.uri)\r\na=rtcp-fb:96 transport-cc\r\na=rtcp-fb:96 goog-remb\r\n"
        let text = PublisherOffers.obs.replacing("a=rtcp-fb:96 nack\r\n", with: lines + "a=rtcp-fb:96 nack\r\n")
        let answer = try PublisherAnswer(to: SessionDescription(parsing: text), local: AnswerTests.local)
        #expect(answer.video.feedback == [.nack, .pli, .transportWide])
        #expect(answer.video.extensions.transportNumber == 4)
        let allowed = direction.isEmpty ? "" : "/recvonly"
        #expect(answer.text.contains("a=extmap:4\(allowed) \(Self.uri)\r\n"))
        #expect(answer.text.contains("a=rtcp-fb:96 transport-cc\r\n") && !answer.text.contains("goog-remb"))
    }

    @Test("a publisher is not promised feedback that we don't send")
    func publisher() throws {
        let offer = try SessionDescription(parsing: PublisherOffers.obs)
        let answer = try PublisherAnswer(to: offer, local: Self.taking)
        #expect(!hasTraces(answer.text))
        #expect(answer.video.feedback == [.nack, .pli])
    }
}
