import FoundationEssentials
import Testing

@testable import ScreenRelayKit

@Suite("The names of recordings")
struct RecordingNamesTests {
    @Test("the names of further files have room, track and time, differ, and fit into a file system")
    func names() {
        var names = RecordingNames()
        let date = Date(timeIntervalSince1970: 1_795_899_770)
        func path(_ first: String, _ track: String = "cam", at date: Date = date) -> String {
            names.path(of: track, in: "desk", beside: first, at: date)
        }
        #expect(path("/a.b/talk.srr") == "/a.b/talk-desk-cam-20261128T210250Z.srr")
        #expect(path("/a.b/talk.srr") == "/a.b/talk-desk-cam-20261128T210250Z-2.srr")
        #expect(path("/a.b/talk.srr", "cam2") == "/a.b/talk-desk-cam2-20261128T210250Z.srr")
        #expect(path("/a.b/talk.srr", at: date.addingTimeInterval(1)) == "/a.b/talk-desk-cam-20261128T210251Z.srr")
        #expect(path("talk") == "talk-desk-cam-20261128T210250Z")
        #expect(path(".talk") == ".talk-desk-cam-20261128T210250Z")
        for long in [String(repeating: "ä", count: 125) + ".srr", "x." + String(repeating: "y", count: 240)] {
            let name = path("/f/" + long, String(repeating: "t", count: 64))
            #expect(name.utf8.count <= 258 && name.utf8.count > 250 && name.contains("-20261128T210250Z"))
        }
    }
}
