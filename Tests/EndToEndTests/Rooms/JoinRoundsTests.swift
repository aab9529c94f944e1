import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Many viewers who come and go.
    @Suite("Coming and going", .enabled(if: EndToEnd.hasBrowser))
    struct JoinRoundsTests {
        /// `Tools/soak joins` asks for more.
        private static let count =
            getenv("SCREENRELAY_JOINS").flatMap { Int(String(cString: $0)) }.map { max(20, min($0, 100_000)) } ?? 80
        /// How many begin in a second.
        private static let rate = 10

        /// A viewer's round, by turns over the WebSocket and as a player: connect, decode a picture, leave.
        private static let script = """
            window.rounds = { done: 0, failed: [], under: 0 };
            const connectedBy = async (connection, ms) => {
              const end = performance.now() + ms;
              while (performance.now() < end) {
                if (connection.connectionState === 'connected') return;
                await new Promise((next) => setTimeout(next, 10));
              }
              throw new Error('not connected: ' + connection.connectionState);
            };
            const pictureBy = async (connection, ms) => {
              const end = performance.now() + ms;
              while (performance.now() < end) {
                for (const entry of (await connection.getStats()).values())
                  if (entry.type === 'inbound-rtp' && entry.framesDecoded > 0) return;
                await new Promise((next) => setTimeout(next, 20));
              }
              throw new Error('no picture');
            };
            const asMember = async (connection, origin, key) => {
              const socket = new WebSocket(origin.replace('http', 'ws') + '/ws');
              try {
                const answer = new Promise((done, fail) => {
                  socket.onclose = (event) => fail(new Error('closed with ' + event.code));
                  socket.onmessage = async (event) => {
                    const { eventName, data } = JSON.parse(event.data);
                    if (eventName === '_peers') {
                      await connection.setLocalDescription();
                      const { type, sdp } = connection.localDescription;
                      socket.send(JSON.stringify(
                        { eventName: '__offer', data: { sdp: { type, sdp }, socketId: data.host } }));
                    } else if (eventName === '_answer') done(data.sdp);
                  };
                });
                socket.onopen = () =>
                  socket.send(JSON.stringify({ eventName: '__join', data: { room: key, role: 'viewer' } }));
                await connection.setRemoteDescription(await answer);
                await connectedBy(connection, 10000);
                await pictureBy(connection, 10000);
              } finally {
                socket.onclose = null;
                socket.close();
              }
            };
            const asPlayer = async (connection, origin, key) => {
              const [room, token] = key.split(',');
              const headers = { Authorization: `Bearer ${token}` };
              await connection.setLocalDescription();
              const answer = await fetch(`${origin}/whep/${room}`, {
                method: 'POST', body: connection.localDescription.sdp,
                headers: { ...headers, 'Content-Type': 'application/sdp' } });
              if (answer.status !== 201) throw new Error('status ' + answer.status);
              const session = new URL(answer.headers.get('Location'), origin);
              try {
                await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
                await connectedBy(connection, 10000);
                await pictureBy(connection, 10000);
              } finally {
                await fetch(session, { method: 'DELETE', headers });
              }
            };
            window.round = async (origin, key, index) => {
              rounds.under += 1;
              let connection;
              try {
                connection = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
                connection.addTransceiver('video', { direction: 'recvonly' });
                await (index % 2 ? asPlayer : asMember)(connection, origin, key);
                rounds.done += 1;
              } catch (problem) {
                if (rounds.failed.length < 20) rounds.failed.push(`${index}: ${problem.message}`);
              } finally {
                connection?.close();
                rounds.under -= 1;
              }
            };
            window.run = async (origin, key, from, count, every) => {
              for (let index = from; index < from + count; index += 1) {
                round(origin, key, index);
                await new Promise((next) => setTimeout(next, every));
              }
              while (rounds.under > 0) await new Promise((next) => setTimeout(next, 50));
              return JSON.stringify(rounds);
            };
            """

        @Test(
            "by turns as members and as players leave nothing behind: no memory, no descriptor, no session",
            .timeLimit(.minutes(20)))
        func rounds() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            defer { desktop.stop() }
            let browser = try Browser.shared()
            let parts = desktop.link.split(separator: "#", maxSplits: 1).map(String.init)
            try #require(parts.count == 2)
            let page = try browser.newPage("about:blank")
            let process = desktop.host.child.processID
            // The first tenth fills what is kept for good: pools, caches, and the memory that the allocator holds.
            let warmUp = Self.count / 10
            try run(page, parts, from: 0, count: warmUp)
            let before = try desktop.figuresUnwatched()
            try run(page, parts, from: warmUp, count: Self.count - warmUp)
            let after = try desktop.figuresUnwatched()
            #expect(after.resident - before.resident < 8 * 1024, "\(before), then \(after)")
            // A browser keeps up to six connections to a site for its next requests.
            #expect(after.descriptors <= before.descriptors + 6, "\(before), then \(after)")
            print("joins: \(Self.count); after \(warmUp): \(before); at the end: \(after); process \(process)")
        }

        private func run(_ page: Page, _ link: [String], from: Int, count: Int) throws {
            for start in stride(from: from, to: from + count, by: Self.roundsOfPage) {
                let part = min(Self.roundsOfPage, from + count - start)
                // The page has the host's own origin. It is loaded anew each time, since a browser releases closed
                // connections late, and allows 500 at once.
                try page.navigate("about:blank")
                try page.navigate(link[0] + "favicon.svg")
                try page.evaluate(Self.script)
                let result = try page.evaluate(
                    "run('\(link[0].dropLast())', '\(link[1])', \(start), \(part), \(1000 / Self.rate))",
                    within: .seconds(Double(part) / Double(Self.rate) * 3 + 30))
                #expect(try page.evaluate("rounds.done").int == part, "\(result.string ?? "")")
            }
        }

        private static let roundsOfPage = 150
    }
}
