import BrowserDriver
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// A page with several cameras meets others.
    @Suite("The choice of devices in a meeting", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserMeetingDeviceTests {
        /// The labels of the cameras that the others are sent, one for each of them.
        private static let sent = """
            connections.filter(({ connectionState }) => connectionState === 'connected')
              .flatMap((one) => one.getSenders()).map(({ track }) => track)
              .filter((track) => track?.kind === 'video' && track.readyState === 'live').map(({ label }) => label).join()
            """

        /// The labels of the cameras that are open.
        private static let open = """
            opened.filter(({ kind, readyState }) => kind === 'video' && readyState === 'live')
              .map(({ label }) => label).join()
            """

        /// What another page shows of Ann.
        private static let video = """
            [...document.querySelectorAll('#meeting .tile:not(.own)')]
              .find((tile) => tile.querySelector('.name').textContent === 'Ann').querySelector('video')
            """

        /// What has been negotiated with others: a description's `o=` has a number for each version of it.
        private static let negotiated = """
            connections.filter((one) => one.getSenders().some(({ track }) => track))
              .map(({ currentRemoteDescription }) => /^o=.*/m.exec(currentRemoteDescription?.sdp ?? '')?.[0]).join()
            """

        /// Waits until `page` has shown 15 more pictures of Ann.
        private func expectPictures(at page: Page) throws {
            let shown = "(\(Self.video)).getVideoPlaybackQuality().totalVideoFrames"
            let before = try page.evaluate(shown).int ?? 0
            try page.waitUntil("\(shown) > \(before + 15)")
        }

        /// Chooses this camera during the meeting, and waits until it is sent to so many others, and no other is open.
        private func change(to camera: String, on ann: MeetingPage, others: Int) throws {
            try ann.page.evaluate("document.querySelector('#meeting .own .change').click()")
            try ann.choice.choose(camera)
            try ann.page.waitUntil("(\(Self.sent)) === Array(\(others)).fill('\(camera)').join()")
            try ann.page.waitUntil("(\(Self.open)) === '\(camera)'")
            try ann.choice.press("cancel")
            #expect(try ann.page.evaluate("document.getElementById('invitation').hidden") == true)
        }

        @Test(
            "all others see another camera over the same connection, one that is lost gives way, and the choice lasts",
            .timeLimit(.minutes(5)))
        func mesh() throws {
            let room = try PublishedRoom(["--camera", "640x480@15"])
            let ann = try MeetingPage(room.host.printed("Presenters: "), as: "Ann", cameras: 4)
            let others = try (0..<2).map { _ in try MeetingPage(room.link) }
            try ann.press()
            try ann.choice.expectShown(ChoicePanel.first)
            try ann.page.waitUntil("\(ann.choice.part("level")).value > 0")
            #expect(try ann.page.evaluate("screenRelay.meeting.state").string == "choosing")
            for other in others { try other.join() }
            for other in others { try other.waitForOthers(1) }
            // The others don't know of a page that hasn't started.
            try ann.choice.start()
            for page in [ann] + others { try page.waitForOthers(2) }
            for other in others {
                try expectPictures(at: other.page)
                let kept = "window.received = (\(Self.video)).srcObject.getVideoTracks()[0]"
                try other.page.evaluate("\(kept); window.negotiated = \(Self.negotiated); 0")
                #expect(try other.page.evaluate("(\(Self.video)).videoHeight <= 360") == true)
            }

            for camera in [ChoicePanel.other, ChoicePanel.first, ChoicePanel.other] {
                try change(to: camera, on: ann, others: 2)
                for other in others { try expectPictures(at: other.page) }
            }
            // What a browser does when a camera is unplugged.
            try ann.page.evaluate(
                """
                opened.filter(({ kind, readyState }) => kind === 'video' && readyState === 'live').forEach((track) => {
                  track.stop();
                  track.dispatchEvent(new Event('ended'));
                })
                """)
            try ann.page.waitUntil(
                """
                document.querySelector('#meeting .problem')?.innerText
                  === 'The camera was disconnected. Another one is used.'
                """)
            try ann.page.waitUntil("(\(Self.sent)) === '\(ChoicePanel.first),\(ChoicePanel.first)'")
            for other in others {
                try expectPictures(at: other.page)
                let isSame = "(\(Self.video)).srcObject.getVideoTracks()[0] === received && !received.muted"
                #expect(try other.page.evaluate("\(isSame) && (\(Self.negotiated)) === negotiated") == true)
                #expect(other.page.consoleErrors.isEmpty, "\(other.page.consoleErrors)")
            }

            // The next meeting begins with the choice, and so does a share.
            try ann.page.evaluate("window.isOld = true; location.reload()")
            try ann.page.waitUntil("!window.isOld && document.getElementById('meet')?.hidden === false")
            try ann.press()
            try ann.choice.expectShown(ChoicePanel.other)
            try ann.choice.press("cancel")
            try ann.page.waitUntil("screenRelay.meeting.state === 'off' && (\(Self.open)) === ''")
            try ann.page.waitUntil("document.getElementById('present')?.hidden === false")
            try ann.page.evaluate("document.getElementById('present').click()")
            try ann.page.evaluate("document.getElementById('present-camera').click()")
            try ChoicePanel(page: ann.page, id: "choice").expectShown(ChoicePanel.other)
            #expect(ann.page.consoleErrors.isEmpty, "\(ann.page.consoleErrors)")
        }

        @Test(
            "a plain SkyRTC client, alone with the page, gets the pictures of another camera without another offer",
            .enabled(if: PythonClient.isAvailable), .timeLimit(.minutes(5)))
        func pair() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"], options: ["--camera", "640x480@15"])
            let client = try desktop.skyRTCClient()
            try client.event("joined")
            let page = try MeetingPage(desktop.link, cameras: 4)
            try page.viewer.waitUntilPlaying()
            try page.join()
            let you = try client.event("new_peer")["peer"] as? String
            let isOurs = { (event: [String: Any]) in event["peer"] as? String == you }
            let first = try client.event("video") { isOurs($0) && ($0["frames"] as? Int ?? 0) >= 5 }
            #expect((first["height"] as? Int ?? .max) <= 360)
            for camera in [ChoicePanel.other, ChoicePanel.first] {
                try change(to: camera, on: page, others: 1)
                let frames = client.events.filter(isOurs).compactMap { $0["frames"] as? Int }.max() ?? 0
                try client.event("video") { isOurs($0) && ($0["frames"] as? Int ?? 0) > frames + 20 }
            }
            #expect(client.events.count { isOurs($0) && $0["event"] as? String == "offer" } == 1)
            #expect(client.events.allSatisfy { $0["event"] as? String != "video_ended" })
            #expect(page.page.consoleErrors.isEmpty, "\(page.page.consoleErrors)")
        }
    }
}
