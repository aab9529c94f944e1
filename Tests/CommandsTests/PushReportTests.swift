import ByteCoding
import OutputLife
import Pushing
import Testing

@testable import Commands

@Suite("The pushes in a host's status")
struct PushReportTests {
    @Test("a reason is cut off, whatever its characters consist of, and for people it ends at a semicolon")
    func lengths() throws {
        let label = PushLabel(name: "desk", track: nil, target: try PushTarget("whip:http://127.0.0.1:9/whip"))
        let accents = "x" + String(repeating: "\u{301}", count: 5000)
        let report = PushReport(number: 1, label: label, state: .error, reason: accents)
        #expect(report.object.text.unicodeScalars.count < 400)
        #expect(report.line.unicodeScalars.count < 400)
        let short = PushReport(number: 2, label: label, state: .autoReconnecting, reason: "no answer; again soon")
        #expect(short.line.hasSuffix(": tries again: no answer"))
        #expect(short.object.text.contains("no answer; again soon"))
    }

    @Test("the track is named, and so is that it is waited for")
    func track() throws {
        for (text, name) in [("file:a.mp4,track=film", "film"), ("file:a.mp4,track=x,track=hall/film", "hall/film")] {
            let (url, track) = TrackPlace.split(text)
            let place = try #require(TrackPlace((track ?? "")[...]))
            #expect(url.hasPrefix("file:a.mp4") && place.description == name)
            let label = PushLabel(name: nil, track: place, target: try PushTarget("file:a.mp4"))
            let report = PushReport(number: 3, label: label, state: .waiting, reason: nil)
            #expect(report.line == "push 3 of \(name) to file:a.mp4: waiting for its track")
            #expect(report.object.text.contains(#""track":"\#(name)""#))
        }
        let plain = TrackPlace.split("rtmp://a/b?track=c")
        #expect(plain.url == "rtmp://a/b?track=c" && plain.track == nil)
        for mistake in ["", "/", "a/", "/a", "a/b/c", ".a", "a b"] { #expect(TrackPlace(mistake[...]) == nil) }
    }
}
