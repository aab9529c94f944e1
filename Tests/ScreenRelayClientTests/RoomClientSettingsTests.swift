import ScreenRelayClient
import Testing

@Suite("A client's settings")
struct RoomClientSettingsTests {
    @Test(
        "TURN servers that can't be used",
        arguments: ["", "stun:a", "turn:a", "turn:ann:Sesam@a?transport=udp", "turns:a", "http://a"])
    func badServers(server: String) {
        var settings = RoomClient.Settings()
        settings.iceServers = ["turn:ann:Sesam@a", server]
        let error = #expect(throws: RoomClientError.self) { try RoomClient("http://a/#screen,t", settings: settings) }
        #expect(error == .badICEServer && error?.description.contains("Sesam") == false)
        settings.iceServers = ["turn:ann:Sesam@a", "turns:ann:Sesam@a:443", "turn:ann:Sesam@a?transport=tcp"]
        #expect(throws: Never.self) { try RoomClient("http://a/#screen,t", settings: settings) }
    }
}
