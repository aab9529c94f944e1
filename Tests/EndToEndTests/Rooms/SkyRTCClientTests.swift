import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Clients that are written only from SkyRTC's specification.
    @Suite("SkyRTC clients", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct SkyRTCClientTests {
        @Test(
            "one gets pictures, sees a second come and go, and meets it in the mesh; in text and in binary frames",
            .timeLimit(.minutes(5)))
        func two() throws {
            let desktop = try SharedDesktop()
            let first = try desktop.skyRTCClient()
            let joined = try first.event("joined")
            let host = try #require(joined["host"] as? String)
            #expect(joined["connections"] as? [String] == [host])
            try first.event("video") { $0["peer"] as? String == host && ($0["frames"] as? Int ?? 0) >= 5 }
            let video = try first.event("video")
            #expect(video["width"] as? Int == 640)
            #expect(video["height"] as? Int == 480)

            let second = try desktop.skyRTCClient(["--binary"])
            let secondJoined = try second.event("joined")
            let firstName = try #require(joined["you"] as? String)
            let secondName = try #require(secondJoined["you"] as? String)
            // The host comes last, for clients that call only the last one.
            #expect(secondJoined["connections"] as? [String] == [firstName, host])
            #expect(try first.event("new_peer")["peer"] as? String == secondName)

            for (client, peer) in [(first, secondName), (second, firstName), (second, host)] {
                try client.event("video") { $0["peer"] as? String == peer && ($0["frames"] as? Int ?? 0) >= 5 }
            }
            // Descriptions are sent without candidates; these come one by one, through the server.
            try first.event("candidate") { $0["peer"] as? String == secondName }
            try second.event("candidate") { $0["peer"] as? String == firstName }
            #expect(try first.event("message")["text"] as? String == "hello from \(secondName)")
            #expect(try second.event("message")["text"] as? String == "hello from \(firstName)")
            #expect(second.events.allSatisfy { $0["event"] as? String != "binary" }, "the server answers in text")

            // The client goes away without notice: its process is killed.
            second.child.terminate(SIGKILL)
            #expect(try first.event("remove_peer", within: .seconds(5))["peer"] as? String == secondName)
            let seen = first.events.compactMap { $0["peer"] as? String == host ? $0["frames"] as? Int : nil }.max() ?? 0
            try first.event("video") { $0["peer"] as? String == host && ($0["frames"] as? Int ?? 0) > seen }

            // A client that comes back is a newcomer, and nothing is left of the previous one.
            let third = try desktop.skyRTCClient(["--binary"])
            #expect(try third.event("joined")["connections"] as? [String] == [firstName, host])
            try third.tell("quit")
            #expect(third.child.wait(within: .seconds(10)) != nil)
            try eventually("the third one's leaving", within: .seconds(5)) {
                first.events.count { $0["event"] as? String == "remove_peer" } == 2 ? () : nil
            }
        }

        @Test("one that supports no SRTP profile but AES-CM with HMAC-SHA1 gets pictures", .timeLimit(.minutes(5)))
        func counterMode() throws {
            let desktop = try SharedDesktop()
            let client = try desktop.skyRTCClient(["--counter-mode"])
            let host = try #require(try client.event("joined")["host"] as? String)
            try client.event("video") { $0["peer"] as? String == host && ($0["frames"] as? Int ?? 0) >= 5 }
        }

        @Test(
            "one that asks for sound hears the desktop's, and so does a socket.io client", .timeLimit(.minutes(5)),
            .enabled(if: PulseServer.isAvailable))
        func sound() throws {
            let folder = try TemporaryFolder()
            let pulse = try PulseServer(in: folder)
            let desktop = try SharedDesktop(
                options: ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(pulse.address)"])
            let player = try pulse.playTone()
            let parts = desktop.link.split(separator: "#").map(String.init)
            let clients = try [
                PythonClient(
                    "skyrtc_client", in: .rtc, ["ws" + parts[0].dropFirst(4) + "ws", parts[1]],
                    environment: ["WITNESS": folder.file("0")]),
                PythonClient(
                    "socketio_client", in: .socketio5,
                    ["--url", parts[0], "--room", parts[1], "--transport", "websocket"],
                    environment: ["WITNESS": folder.file("1")]),
            ]
            for index in clients.indices {
                try eventually("frames and the tone at client \(index)") {
                    let report = (try? fileBytes(folder.file("\(index)"))) ?? []
                    let seen = Observation(report: String(decoding: report, as: UTF8.self))
                    return seen.isMoving && seen.hasTone
                }
            }
            #expect(player.poll() == nil && desktop.host.stop() == .exited(0))
        }

        @Test("with a wrong token it learns nothing of the room", .timeLimit(.minutes(5)))
        func refused() throws {
            let desktop = try SharedDesktop()
            for room in ["screen,WRONG", "elsewhere,WRONG", "screen"] {
                let client = try desktop.skyRTCClient(room: room)
                #expect(try client.event("closed")["code"] as? Int == 4403)
                #expect(client.events.compactMap { $0["name"] as? String } == ["_refused"])
                #expect((client.events.first?["data"] as? [String: Any])?.isEmpty == true)
            }
        }
    }
}

extension SharedDesktop {
    /// A SkyRTC client in the desktop's room, or in another.
    func skyRTCClient(_ options: [String] = [], room: String? = nil) throws -> PythonClient {
        let parts = link.split(separator: "#")
        let address = "ws" + parts[0].dropFirst(4) + "ws"
        return try PythonClient("skyrtc_client", in: .rtc, [address, room ?? String(parts[1])] + options)
    }
}
