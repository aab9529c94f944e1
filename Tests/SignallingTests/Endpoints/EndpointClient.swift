import Testing

/// What WHEP's players and WHIP's publishers do alike.
enum EndpointClient {
    static let offer =
        "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=ice-ufrag:abcd\r\na=ice-pwd:efghijklmnop\r\n"

    /// The URL of the session that `answer` says has been made, the media side's first, which is one that can't be
    /// guessed.
    static func location(in answer: RawResponse, below path: String) throws -> String {
        #expect(answer.status == 201)
        #expect(answer.text == FakeMedia.answer)
        #expect(answer.headers["content-type"] == "application/sdp")
        #expect(answer.headers["etag"] == "\"tag1\"")
        #expect(answer.headers["accept-patch"] == "application/trickle-ice-sdpfrag")
        let location = try #require(answer.headers["location"])
        #expect(location.hasPrefix(path))
        #expect(location.count == path.count + 36)
        return location
    }
}
