import OutputLife
import OutputSettings
import Signalling
import Testing

@testable import WebRTCPushing

@Suite("Addresses to view")
struct ViewingAddressTests {
    @Test("an invite link leads to the room's WHEP endpoint, and the secrets after # aren't part of its URL")
    func link() throws {
        let server = try WebRTCServer(viewing: "http://127.0.0.1:8080/#my%20desk,Sesam,open%20it", track: "left")
        #expect(server.url == "http://127.0.0.1:8080/whep/my%20desk?track=left")
        #expect(server.token == "Sesam" && server.service == .whep(password: "open it"))
        #expect(server.host == "127.0.0.1" && server.description == "http://127.0.0.1:8080")
        for link in ["https://[::1]:8443/#screen", "https://[::1]:8443/", "https://[::1]:8443"] {
            let open = try WebRTCServer(viewing: link)
            #expect(open.url == "https://[::1]:8443/whep/screen" && open.host == "::1")
            #expect(open.token == nil && open.service == .whep(password: nil))
        }
    }

    @Test("the address of another endpoint has the token before the host", arguments: ["", "whep:"])
    func endpoint(prefix: String) throws {
        let server = try WebRTCServer(viewing: prefix + "https://Se%2Fsam@media.example/live/desk?x=y")
        #expect(server.url == "https://media.example/live/desk?x=y" && server.token == "Se/sam")
        #expect(server.description == "https://media.example/...")
    }

    @Test(
        "an error about an unusable address doesn't contain its secrets",
        arguments: [
            "", "Sesam", "ftp://media.example/live", "http:///#screen,Sesam", "whep:https://media.example",
            "http://a:Sesam@media.example/live", "http://media.example:0/#screen,Sesam",
            "http://a@media.example/#screen,Sesam",
        ])
    func mistakes(text: String) {
        let error = #expect(throws: OutputSettingsError.self) { try WebRTCServer(viewing: text) }
        #expect(error?.description.contains("Sesam") == false)
    }

    @Test("a presenters' link leads to the WHIP endpoint of a track, and a password follows the token")
    func publishing() throws {
        let link = try #require(RoomLink("https://[::1]:8443/#my%20desk,Sesam,open%20it"))
        let server = WebRTCServer(publishing: "left.2", in: link)
        #expect(server.url == "https://[::1]:8443/whip/my%20desk/left.2" && server.service == .whip)
        #expect(server.token == "Sesam,open%20it" && server.host == "::1")
        #expect(server.description == "https://[::1]:8443")
        let open = WebRTCServer(publishing: "left", in: try #require(RoomLink("http://127.0.0.1:8080/")))
        #expect(open.url == "http://127.0.0.1:8080/whip/screen/left" && open.token == nil)
    }

    @Test("a track can be chosen only with an invite link")
    func track() {
        #expect(throws: OutputSettingsError.self) {
            try WebRTCServer(viewing: "https://media.example/live", track: "left")
        }
    }

    @Test("a refusal is final; other failures may be temporary, and none means that a stream name is in use")
    func statuses() {
        for status: UInt32 in [401, 403] {
            let refusal = WHIPService.viewingFailure(status, retryAfter: nil, hasToken: true)
            #expect(refusal.isFinal && refusal.description == "the server refuses the token (\(status))")
        }
        for status: UInt32 in [404, 405, 409, 422, 423, 429, 503] {
            let failure = WHIPService.viewingFailure(status, retryAfter: nil, hasToken: true)
            #expect(!failure.isFinal && !failure.nameMayBeInUse && failure.description.contains("(\(status))"))
        }
        let locked = WHIPService.viewingFailure(423, retryAfter: "10", hasToken: true)
        #expect(locked.description == "the room is locked, or lets viewers in only on its page (423)")
    }
}
