import BrowserDriver
import Foundation
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Two captures of two screens, two tracks, one room; and another room with a track of its own.
    @Suite("Several tracks in a browser", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserTracksTests {
        @Test(
            "a viewer is told both tracks and plays each, and one goes on when the other's capture ends",
            .timeLimit(.minutes(5)))
        func twoScreens() throws {
            let folder = try TemporaryFolder()
            let links = ["a", "b", "c"].map { "unix:" + folder.file($0) }
            let host = try RunningProgram.host(
                links[0], ["--track", "desk2=\(links[1])", "--track", "attic/cam=\(links[2])", "--log", "debug"])
            defer { host.stop() }
            let link = try host.printedLink()
            let lines = host.output.split(separator: "\n")
            #expect(lines.contains("The track desk2 of the room screen: waiting on \(links[1])"))
            let attic = try #require(lines.first { $0.hasPrefix("The room attic: http://") })
            let keys = [link, String(attic)].map { $0.split(separator: "#").last.map(String.init) ?? "" }
            #expect(keys[0].hasPrefix("screen,") && keys[1].hasPrefix("attic,"))
            #expect(keys[0].split(separator: ",").last != keys[1].split(separator: ",").last)

            let sizes = [PictureSize(width: 640, height: 480), PictureSize(width: 800, height: 600)]
            let screens = try sizes.map { try VirtualScreen($0) }
            let scenes = try screens.map {
                try RunningProgram("screenrelay-scene", ["--display", $0.name, "--scene", "patches"])
            }
            let captures = try zip(screens, links).map {
                try RunningProgram("screenrelay", ["capture", "--link", $1, "--display", $0.name])
            }
            defer {
                for program in captures + scenes { program.stop() }
                for screen in screens { screen.close() }
            }

            let browser = try Browser.shared()
            let page = try watch(link, key: keys[0], in: browser)
            try page.waitUntil("watched.names?.join() === 'screen,desk2'", within: .seconds(10))
            for (name, size) in zip(["screen", "desk2"], sizes) {
                try page.waitUntil("watched.plays('\(name)', \(size.width), \(size.height), 10)", within: .seconds(90))
            }

            let status = try RunningProgram("screenrelay", ["status", "--json", "--pid", "\(host.child.processID)"])
            try eventually("the status") { status.child.poll() != nil ? () : nil }
            status.child.output?.waitForEnd(within: .seconds(1))
            let report = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
            let tracks = try #require(report?["tracks"] as? [[String: Any]])
            #expect(tracks.map { $0["name"] as? String } == ["screen", "desk2", "cam"])
            #expect(tracks.map { $0["room"] as? String } == ["screen", "screen", "attic"])
            #expect(tracks.map { $0["state"] as? String } == ["live", "live", "waiting"])
            #expect(tracks.map { $0["viewers"] as? Int } == [1, 1, 0])

            captures[1].stop()
            try page.waitUntil("watched.sources.desk2 === 'gone'", within: .seconds(10))
            let before = try #require(try page.evaluate("watched.frames('screen')").int)
            try page.waitUntil("watched.frames('screen') > \(before + 10)", within: .seconds(10))
            #expect(try page.evaluate("watched.sources.screen").string == "live")
            // If a document names no icon, the browser looks for one.
            let errors = page.consoleErrors.map(\.description).filter { !$0.contains("favicon") }
            #expect(errors.isEmpty, "\(errors)")
        }

        /// A page of the host's own origin that speaks the protocol by itself, and watches every track that it is told
        /// of.
        private func watch(_ link: String, key: String, in browser: Browser) throws -> Page {
            let origin = String(link.prefix { $0 != "#" })
            let page = try browser.newPage("about:blank")
            // This document has no script of its own.
            try page.navigate(origin + "style/base.css")
            _ = try page.evaluate("(\(Self.client))('\(key)')")
            return page
        }

        private static let client = """
            (room) => {
              const connections = {}, videos = {};
              const watched = window.watched = {
                names: null,
                sources: {},
                frames: (name) => videos[name]?.getVideoPlaybackQuality().totalVideoFrames ?? 0,
                plays: (name, width, height, frames) => videos[name]?.videoWidth === width
                  && videos[name].videoHeight === height && watched.frames(name) >= frames,
              };
              const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws');
              const send = (eventName, data) => socket.send(JSON.stringify({ eventName, data }));
              async function open(track, socketId) {
                const connection = connections[track] = new RTCPeerConnection();
                const video = videos[track] = document.body.appendChild(document.createElement('video'));
                video.muted = video.autoplay = true;
                connection.addTransceiver('video', { direction: 'recvonly' });
                connection.ontrack = (event) => { video.srcObject = new MediaStream([event.track]); };
                await connection.setLocalDescription();
                send('__offer', { sdp: connection.localDescription, socketId, track });
              }
              const handlers = {
                _peers: (data) => {
                  watched.names = data.tracks.map((track) => track.name);
                  for (const name of watched.names) open(name, data.host);
                },
                _state: (data) => { watched.sources[data.track] = data.source; },
                _answer: (data) => connections[data.track].setRemoteDescription(data.sdp),
              };
              socket.onopen = () => send('__join', { room, role: 'viewer', name: 'Ann' });
              socket.onmessage = (event) => {
                const { eventName, data } = JSON.parse(event.data);
                handlers[eventName]?.(data);
              };
            }
            """
    }
}
