import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// One Chromium presents in the room, another one watches.
    @Suite("Presenting from the page", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserPresentingTests {
        /// Waits for the presenter's picture to be the large one, and to move.
        private func expectMotion(_ viewer: ViewerPage) throws {
            var steps: Set<Int> = []
            try eventually("motion in the presenter's picture") {
                guard let seen = try viewer.published(), seen.hasBars else { return false }
                steps.insert(seen.step)
                return steps.count >= 4
            }
        }

        /// Waits until the viewer has lost the picture, and returns what it is told.
        private func reason(at viewer: ViewerPage, within limit: Duration = .seconds(30)) throws -> String {
            try viewer.page.waitUntil("screenRelay.source === 'gone'", within: limit)
            try viewer.page.waitUntil("!document.getElementById('notice').hidden")
            return try viewer.page.evaluate("document.getElementById('notice').textContent").string ?? ""
        }

        @Test(
            "a screen is seen and heard on a page, by a WHEP player and by an RTSP player, and can be recorded",
            .enabled(if: FFmpeg.isAvailable && PythonClient.isAvailable), .timeLimit(.minutes(5)))
        func screen() throws {
            let room = try PublishedRoom(["--rtsp", "0"])
            let viewer = try ViewerPage(room.link, in: Browser.launch())
            let presenter = try PresentingPage(room)
            let track = try presenter.share("screen")
            try viewer.waitUntilPlaying()
            try expectMotion(viewer)
            let address = "\(try room.host.printed("Players of RTSP: "))/\(track)"
            // A host records its first track, which isn't a page's.
            let recorder = try PublishedRoom(["--source", address], isRecorded: true)
            try recorder.host.waitForLog("sends H.264 of 320x240")
            let heard = room.folder.file("player.pcm")
            let endpoint = "\(room.address)/whep/screen?track=\(track)"
            let player = try PythonClient(
                "whep_player", in: .rtc, [endpoint, "--token", room.token, "--sound", heard])
            try player.event("frame") { $0["width"] as? Int == 320 && $0["number"] as? Int ?? 0 > 10 }
            try room.waitForTone(in: heard)
            try viewer.waitForTone()
            try room.expectPlayed(address, over: "tcp")
            try recorder.expectRecorded()
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
            #expect(presenter.page.consoleErrors.isEmpty, "\(presenter.page.consoleErrors)")
        }

        @Test(
            "viewers are told who has ended a share in the browser or the page, and a reload keeps the share's name",
            .timeLimit(.minutes(5)))
        func ends() throws {
            let room = try PublishedRoom()
            let viewer = try ViewerPage(room.link, in: Browser.launch())
            let presenter = try PresentingPage(room)
            let track = try presenter.share("screen")
            #expect(try presenter.note() == "You are live.")
            try expectMotion(viewer)
            let title = "document.querySelector('.track[aria-pressed=true] .name').textContent"
            #expect(try viewer.page.evaluate(title).string == "Ann: screen")
            let hint = "shared.getVideoTracks()[0].contentHint"
            #expect(try presenter.page.evaluate(hint).string == "text")
            try presenter.page.evaluate("document.getElementById('present-motion').click()")
            #expect(try presenter.page.evaluate(hint).string == "motion")

            // As the browser's bar does. A track that a script stops has no such event.
            try presenter.page.evaluate(
                "(([video]) => { video.stop(); video.dispatchEvent(new Event('ended')); })(shared.getVideoTracks())")
            #expect(try reason(at: viewer).contains("Ann has ended sharing in the browser"))
            #expect(try presenter.note() == "")
            try presenter.share("screen")
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            try expectMotion(viewer)
            try presenter.page.evaluate("document.getElementById('present-screen').click()")
            #expect(try reason(at: viewer).contains("Ann has stopped sharing"))

            try presenter.share("screen")
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            try presenter.page.evaluate("window.isOld = true; location.reload()")
            #expect(try reason(at: viewer).contains("Ann has closed the page"))
            try presenter.page.waitUntil("!window.isOld && document.getElementById('present')?.hidden === false")
            #expect(try presenter.share("screen") == track)
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
            #expect(presenter.page.consoleErrors.isEmpty, "\(presenter.page.consoleErrors)")

            let process = ["--pid", "\(room.host.child.processID)"]
            let listed = try CommandLineRun(["screenrelay", "rooms"] + process)
            #expect(listed.output.contains("\(track) live"), "\(listed.output)")
            let removal = try CommandLineRun(["screenrelay", "remove", "publisher"] + process)
            #expect(removal.status == .exited(0), "\(removal.errorOutput)")
            #expect(try reason(at: viewer).contains("Ann was removed by the sharer"))
        }

        @Test(
            "a viewer asks and gets the turn by a hand-over, an owner ends it by command, and names are text",
            .timeLimit(.minutes(5)))
        func turns() throws {
            let room = try PublishedRoom()
            let ann = try PresentingPage(room)
            let first = try ann.share("screen")
            let bob = try PresentingPage(room, as: "<b>Bob</b>", link: room.link)
            try bob.page.waitUntil("document.getElementById('present')?.hidden === false")
            #expect(try bob.page.evaluate("document.getElementById('present').title").string == "Ask to present")
            try bob.page.evaluate("document.getElementById('present').click()")
            try bob.page.evaluate("document.getElementById('turn').click()")
            try bob.page.waitUntil("screenRelay.presenting.turn === 'asked'")
            try ann.page.waitUntil("screenRelay.presenting.turns.includes('<b>Bob</b> asked')")
            #expect(try ann.page.evaluate("document.querySelector('#presenting b') === null") == true)
            #expect(try ann.page.evaluate("document.querySelector('#present .count').textContent").string == "1")
            // An owner, and only an owner, reads that the page's link is one for presenters.
            for (page, isOwner) in [(ann.page, true), (bob.page, false)] {
                try page.waitUntil("document.querySelector('.inviting .note') !== null")
                let note = try page.evaluate("document.querySelector('.inviting .note').textContent").string ?? ""
                #expect(note.contains("others can share") == isOwner, "\(note)")
            }

            // Ann's share ends, Bob's begins, and Ann gets its picture.
            try ann.page.evaluate("document.querySelector('#presenting [data-action=pass]').click()")
            try bob.page.waitUntil("screenRelay.presenting.turn === 'granted'")
            try ann.page.waitUntil("screenRelay.presenting.screen === undefined")
            try bob.share("screen")
            try ann.page.waitUntil(
                """
                screenRelay.tracks.some(({ name, source }) =>
                  name.startsWith('screen-') && name !== '\(first)' && source === 'live')
                """)
            try expectMotion(ann.viewer)

            let process = ["--pid", "\(room.host.child.processID)"]
            let rooms = try CommandLineRun(["screenrelay", "rooms"] + process)
            #expect(rooms.output.contains("viewer (granted)") && rooms.output.contains("viewer (owner)"))
            let run = try CommandLineRun(["screenrelay", "present", "end", "<b>Bob"] + process)
            #expect(run.status == .exited(0) && run.output == "viewer <b>Bob</b> (127.0.0.1) no longer presents\n")
            try bob.page.waitUntil(
                "screenRelay.presenting.turn === 'none' && screenRelay.presenting.screen === undefined")
            #expect(try reason(at: ann.viewer).contains("the turn of <b>Bob</b> is over"))

            // Another name is another visit, which has to ask again.
            try bob.page.evaluate("document.getElementById('turn').click()")
            try ann.page.waitUntil("screenRelay.presenting.turns.includes('<b>Bob</b> asked')")
            try bob.page.evaluate("document.getElementById('people-button').click()")
            try bob.page.waitUntil("document.getElementById('own-name') !== null")
            try bob.page.evaluate("document.getElementById('own-name').value = 'Bo'")
            try bob.page.evaluate("document.querySelector('#people form').requestSubmit()")
            try ann.page.waitUntil("screenRelay.presenting.turns.length === 0")
            try bob.page.waitUntil("screenRelay.presenting.turn === 'none'")
            #expect(ann.page.consoleErrors.isEmpty, "\(ann.page.consoleErrors)")
            #expect(bob.page.consoleErrors.isEmpty, "\(bob.page.consoleErrors)")
        }

        enum Ending: CaseIterable {
            case closedTab, leftPage, crashedTab, killedBrowser
        }

        @Test(
            "viewers are told within 3 s who is gone: by a closed or crashed tab, another page or a killed browser",
            .timeLimit(.minutes(5)), arguments: Ending.allCases)
        func endings(ending: Ending) throws {
            let room = try PublishedRoom()
            let browser = try Browser.launch()
            let viewer = try ViewerPage(room.link, in: browser)
            let presenter = try PresentingPage(room, replacesScreen: false)
            try presenter.share("screen")
            try viewer.page.waitUntil("screenRelay.phase === 'playing' && screenRelay.framesDecoded > 10")
            switch ending {
            case .closedTab: presenter.page.close()
            case .leftPage: try presenter.page.navigate("about:blank")
            // There is no answer from a tab that has crashed.
            case .crashedTab: _ = try? presenter.page.send("Page.crash", within: .milliseconds(100))
            case .killedBrowser: presenter.browser.kill()
            }
            let reason = try reason(at: viewer, within: .seconds(3))
            let isClosed = ending == .closedTab || ending == .leftPage
            let text = isClosed ? "Ann has closed the page" : "the browser of Ann has ended unexpectedly"
            #expect(reason.contains(text), "\(reason)")
            withExtendedLifetime(presenter) {}
        }

        @Test(
            "what is presented becomes the large picture unless another is pinned, and a viewer has no way to present",
            .timeLimit(.minutes(5)))
        func stage() throws {
            let room = try PublishedRoom()
            let browser = try Browser.launch()
            let viewer = try ViewerPage(room.link, in: browser)
            let presenter = try PresentingPage(room)
            let camera = try presenter.share("camera")
            try viewer.page.waitUntil("screenRelay.tracks.find(({ shown }) => shown)?.name === '\(camera)'")
            // A click pins it.
            try viewer.page.evaluate("document.querySelector('.track[aria-pressed=true]').click()")
            try viewer.page.waitUntil("document.querySelector('.track[data-pinned]') !== null")
            let screen = try presenter.share("screen")
            try viewer.page.waitUntil(
                "screenRelay.tracks.some(({ name, source }) => name === '\(screen)' && source === 'live')")
            #expect(
                try viewer.page.evaluate("screenRelay.tracks.find(({ shown }) => shown).name").string == camera)
            try viewer.page.evaluate("document.querySelector('.track[data-pinned]').click()")
            try viewer.page.evaluate("document.querySelectorAll('.track')[2].click()")
            try expectMotion(viewer)
            // A second click unpins it, and the latest share becomes large again.
            try viewer.page.evaluate("document.querySelectorAll('.track')[2].click()")
            try presenter.page.evaluate("document.getElementById('present-camera').click()")
            try viewer.page.waitUntil("screenRelay.tracks.find(({ name }) => name === '\(camera)')?.source === 'gone'")
            try presenter.share("camera")
            try viewer.page.waitUntil("screenRelay.tracks.find(({ shown }) => shown)?.name === '\(camera)'")
            // The presenter sees its own shares without the host.
            #expect(try presenter.page.evaluate("screenRelay.tracks[0].shown") == true)

            try viewer.page.waitUntil("document.getElementById('present')?.hidden === false")
            try viewer.page.evaluate("document.getElementById('present').click()")
            #expect(try viewer.page.evaluate("screenRelay.presenting.turn").string == "none")
            #expect(try viewer.page.evaluate("document.getElementById('turn').checkVisibility()") == true)
            #expect(try viewer.page.evaluate("document.getElementById('present-screen').checkVisibility()") == false)
            let status = """
                fetch('/whip/screen/evil', {
                  method: 'POST', body: 'v=0',
                  headers: {
                    'Content-Type': 'application/sdp', Authorization: 'Bearer ' + location.hash.split(',')[1],
                  },
                }).then((answer) => answer.status)
                """
            #expect(try viewer.page.evaluate(status).int == 403)

            let limited = try presenter.browser.newPage("about:blank")
            try limited.runBeforeLoad("navigator.mediaDevices.getDisplayMedia = undefined")
            try limited.navigate(room.host.printed("Presenters: "))
            try limited.waitUntil("document.getElementById('present-screen')?.disabled === true")
            let why = try limited.evaluate("document.querySelector('#presenting .note').textContent").string
            #expect(why == "This browser cannot share it.")
        }
    }
}
