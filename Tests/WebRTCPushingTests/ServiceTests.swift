import OutputLife
import Signalling
import Testing

@testable import WebRTCPushing

@Suite("What WebRTC servers answer")
struct ServiceTests {
    @Test(
        "a location is resolved, and none leads from TLS to a place without",
        arguments: [
            ("/s/1", "https://a.example/app/whip?x=y", "https://a.example/s/1"),
            ("s/1", "https://a.example/app/whip", "https://a.example/app/s/1"),
            ("https://b.example/s", "http://a.example/whip", "https://b.example/s"),
            ("http://b.example/s", "http://a.example/whip", "http://b.example/s"),
            ("http://a.example/s", "https://a.example/whip", nil), ("file:///etc/passwd", "http://a.example/whip", nil),
            ("http://", "http://a.example/whip", nil),
            (String(repeating: "a", count: 5000), "http://a.example/whip", nil), (nil, "http://a.example/whip", nil),
        ] as [(String?, String, String?)])
    func locations(location: String?, base: String, resolved: String?) {
        #expect(WHIPService.resolve(location, at: base) == resolved)
    }

    @Test("who refuses a token is not asked again; others are")
    func statuses() {
        for (status, words) in [(401, ""), (401, "in use"), (403, "Unauthorized"), (403, "Invalid token")] {
            let refusal = WHIPService.failure(UInt32(status), retryAfter: nil, hasToken: true, words: words)
            #expect(refusal == OutputError("the server refuses the token (\(status))", isFinal: true))
        }
        #expect(WHIPService.failure(401, retryAfter: nil, hasToken: false).description.contains("wants a token"))
        for status: UInt32 in [0, 204, 302, 400, 404, 405, 406, 409, 410, 415, 422, 429, 500, 503, 599, 999] {
            let failure = WHIPService.failure(status, retryAfter: nil, hasToken: true)
            #expect(!failure.isFinal && failure.description.contains("(\(status))"))
            #expect(failure.nameMayBeInUse == (status == 409))
        }
        let busy = WHIPService.failure(503, retryAfter: "30", hasToken: true)
        #expect(busy.description == "the server is busy (503), and asks to wait for 30 s")
        // A date, or what a server could put into a log.
        for value in ["Fri, 31 Dec 1999 23:59:59 GMT", "-1", "1\n2", "99999999999"] {
            let other = WHIPService.failure(503, retryAfter: value, hasToken: true)
            #expect(other.description == "the server is busy (503)")
        }
    }

    @Test("403 is a name in use, a wrong token or either of them by its words, which aren't passed on")
    func forbidden() {
        func failure(_ words: String) -> OutputError {
            WHIPService.failure(403, retryAfter: nil, hasToken: true, words: words)
        }
        for words in ["Endpoint ID already in use", #"{"error":"Stream is Already published"}"#] {
            #expect(failure(words) == OutputError("the stream name is in use (403)", nameMayBeInUse: true))
        }
        for words in ["", "Forbidden", "<html>Sesam</html>"] {
            let either = OutputError(
                "the server refuses the token, or the stream name is in use (403)", isFinal: true,
                nameMayBeInUse: true)
            #expect(failure(words) == either)
        }
    }

    @Test("a request to Janus has what is set, and a room's number is one")
    func request() {
        var request = JanusRequest(janus: "message", body: JanusRequest.Body(request: "join", pin: "12/4"))
        request.body?.room = .number(.max)
        request.transaction = "7"
        request.session = 9_007_199_254_740_991
        request.handle = 2
        #expect(
            request.jsonLine == #"{"body":{"pin":"12/4","request":"join","room":9223372036854775807},"handle_id":2,"#
                + #""janus":"message","session_id":9007199254740991,"transaction":"7"}"#)
        let publish = JanusRequest(
            janus: "message", body: JanusRequest.Body(request: "publish", room: .text("desk")),
            jsep: JanusRequest.Description(sdp: "v=0"))
        #expect(
            publish.jsonLine == #"{"body":{"request":"publish","room":"desk"},"janus":"message","#
                + #""jsep":{"sdp":"v=0","trickle":false,"type":"offer"}}"#)
    }

    @Test("Janus' messages are read, whatever their parts are")
    func messages() throws {
        let made = try #require(JanusMessage(#"{"janus":"success","transaction":"1","data":{"id":9007199254740991}}"#))
        #expect(made.transaction == "1" && made.identifier == 9_007_199_254_740_991 && made.failure == nil)
        let answer = try #require(
            JanusMessage(#"{"janus":"event","transaction":"2","jsep":{"type":"answer","sdp":"v=0"}}"#))
        #expect(answer.answer == "v=0" && answer.failure == nil)
        #expect(JanusMessage(#"{"janus":"ack"}"#)?.isAcknowledgement == true)
        #expect(JanusMessage(#"{"janus":"event","jsep":{"type":"offer","sdp":"v=0"}}"#)?.answer == nil)
        for text in ["", "[]", "1", "{", #"{"janus":"#] { #expect(JanusMessage(text) == nil) }
        for text in [
            "{}", #"{"janus":1,"data":[],"plugindata":3,"jsep":"x","transaction":7}"#,
            #"{"janus":"event","plugindata":{"data":{"videoroom":"event","leaving":77,"unpublished":78}}}"#,
            #"{"janus":"webrtcup"}"#, #"{"janus":"media","type":"video","receiving":true}"#,
        ] {
            let message = try #require(JanusMessage(text))
            #expect(message.failure == nil && message.identifier == nil && message.answer == nil)
        }
    }

    @Test("the end of a Janus session is told in words, without the server's own")
    func ends() throws {
        func failure(_ text: String) -> OutputError? { JanusMessage(text)?.failure }
        func room(_ words: String) -> OutputError? {
            failure(#"{"janus":"event","plugindata":{"data":{\#(words)}}}"#)
        }
        let missing = room(#""error_code":426,"error":"No such room (1234)""#)
        #expect(missing == OutputError("there is no such room (426)"))
        #expect(room(#""error_code":432"#)?.nameMayBeInUse == true)
        #expect(room(#""error_code":433,"error":"Sesam""#)?.isFinal == true)
        #expect(room(#""error_code":"Sesam""#) == OutputError("the room refuses (0)"))
        #expect(room(#""videoroom":"destroyed""#) == OutputError("the room has been closed"))
        #expect(room(#""leaving":"ok","reason":"kicked""#) != nil)
        let refused = failure(#"{"janus":"error","error":{"code":403,"reason":"Sesam"}}"#)
        #expect(refused?.isFinal == true && refused?.description.contains("Sesam") == false)
        #expect(failure(#"{"janus":"error"}"#) == OutputError("the server refuses (0)"))
        for end in ["hangup", "detached", "timeout"] { #expect(failure(#"{"janus":"\#(end)"}"#) != nil) }
    }
}
