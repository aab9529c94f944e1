import CaptureEngine
import CaptureLink
import Glibc
import MediaTypes
import TestSupport
import Testing
import X11Capture

@Suite("pointer apart", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct PointerTests {
    @Test("motion wakes us once, is followed at 30 looks a second at most, and rest costs nothing but a slow check")
    func motion() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        client.showPointer(at: (10, 10))
        try rest(capture)
        // Nothing wakes us, and the next look is a second away.
        let time = now()
        _ = try capture.lookAtPointer(now: time)
        #expect(capture.nextPointerLook - time == .seconds(1))
        #expect(!isReadable(capture, within: 300))
        #expect(!capture.pointerMayHaveMoved)
        client.moveMouse(to: (20, 30))
        #expect(isReadable(capture, within: 2000))
        _ = try capture.readEvents()
        #expect(capture.pointerMayHaveMoved)
        let later = now()
        #expect(try capture.lookAtPointer(now: later) == PointerPosition(x: 20, y: 30, isVisible: true))
        // The server tells the next place by itself, and a storm of motion wakes us no more than that.
        #expect(capture.nextPointerLook == .distantFuture)
        var (last, wakeUps, looks) = (PointerPosition(x: 20, y: 30, isVisible: true), 0, 0)
        let begin = now()
        let (end, limit) = (begin + .milliseconds(400), begin + .seconds(10))
        var step = 0
        while now() < end || (looks < 3 && now() < limit) {
            step += 1
            client.moveMouse(to: (20 + step % 300, 30))
            guard isReadable(capture, within: 1) else { continue }
            wakeUps += 1
            _ = try capture.readEvents()
            guard capture.nextPointerLook <= now() else { continue }
            if let state = try capture.lookAtPointer(now: now()) { (last, looks) = (state, looks + 1) }
        }
        // One look in 33 ms, and an event that was on its way when events were turned off.
        let most = Int((now() - begin).milliseconds / 33) + 2
        #expect(wakeUps <= most && looks >= 3, "\(wakeUps) wake-ups, \(looks) places")
        client.moveMouse(to: (119, 31))
        try eventually("the last place") {
            _ = try capture.readEvents()
            last = try capture.lookAtPointer(now: now()) ?? last
            return last == PointerPosition(x: 119, y: 31, isVisible: true)
        }
        try rest(capture)
        #expect(!isReadable(capture, within: 100))
        client.moveMouse(to: (5, 5))
        #expect(isReadable(capture, within: 2000))
        _ = try capture.readEvents()
        #expect(try capture.lookAtPointer(now: now()) == PointerPosition(x: 5, y: 5, isVisible: true))
        // The server shows a pointer that is drawn into pictures, or not, without another word.
        #expect(try capture.lookAtPointer(now: now()) == nil)
    }

    @Test("a second in which nothing happens costs at most two wake-ups")
    func idle() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.showPointer(at: (10, 10))
        let capture = try ScreenCapture(display: screen.name)
        try rest(capture)
        let end = now() + .milliseconds(1500)
        var wakeUps = 0
        while now() < end {
            // As the agent sleeps.
            _ = try capture.readEvents()
            if capture.nextPointerLook <= now() { _ = try capture.lookAtPointer(now: now()) }
            #expect(!capture.mayHaveChanged)
            let due = min(capture.nextPointerLook, capture.nextCheck, capture.pollDue(period: .milliseconds(33)), end)
            _ = isReadable(capture, within: Int32(clamping: max(0, (due - now()).milliseconds + 1)))
            wakeUps += 1
        }
        #expect(wakeUps <= 4)
    }

    @Test("no motion is lost between two looks and the return to rest")
    func nothingLost() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        client.showPointer(at: (10, 10))
        try rest(capture)
        for step in 0..<60 {
            let place = (x: 20 + step * 3, y: 20 + step)
            client.moveMouse(to: place)
            // Between none and five looks, so that motion meets every state.
            var time = now()
            var last: PointerPosition?
            for _ in 0..<step % 6 {
                time = time + .milliseconds(17)
                _ = try capture.readEvents()
                last = try capture.lookAtPointer(now: time) ?? last
            }
            client.moveMouse(to: (place.x + 1, place.y))
            try eventually("the last place") {
                _ = try capture.readEvents()
                guard capture.pointerMayHaveMoved else { return false }
                last = try capture.lookAtPointer(now: now()) ?? last
                return last?.x == place.x + 1 && last?.y == place.y
            }
        }
    }

    @Test("a warp, which makes no event, is found by the slow check")
    func warp() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(
            display: screen.name, target: .region(PixelRectangle(x: 100, y: 100, width: 50, height: 50)),
            drawsPointer: false)
        client.showPointer(at: (120, 130))
        try rest(capture)
        client.warp(to: (149, 149))
        let due = capture.nextPointerLook
        #expect(due <= now() + .seconds(1))
        #expect(try capture.lookAtPointer(now: due) == PointerPosition(x: 49, y: 49, isVisible: true))
        try rest(capture)
        client.warp(to: (150, 149))
        #expect(try capture.lookAtPointer(now: capture.nextPointerLook)?.isVisible == false)
    }

    @Test("a shape is given once, and again when it changes")
    func shape() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        client.showPointer(at: (10, 10))
        let first = try eventually("a shape") {
            _ = try capture.readEvents()
            let shape = try capture.takePointerShape(in: capture.size)
            return shape.map { $0.size.width > 0 } == true ? shape : nil
        }
        #expect(first.pixels.count == first.size.width * first.size.height)
        #expect(first.hotX < first.size.width && first.hotY < first.size.height)
        try rest(capture)
        #expect(try capture.takePointerShape(in: capture.size) == nil)
        client.showPointer(at: (10, 10), glyph: 34)
        #expect(isReadable(capture, within: 2000))
        _ = try capture.readEvents()
        #expect(capture.pointerMayHaveMoved)
        let second = try #require(try capture.takePointerShape(in: capture.size))
        #expect(second != first)
        #expect(try capture.takePointerShape(in: capture.size) == nil)
        capture.forgetToldPointer()
        #expect(try capture.takePointerShape(in: capture.size) == second)
    }

    @Test("switching the pointer on or off is a change of the place where it is, once")
    func switching() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.fill(PixelRectangle(x: 0, y: 0, width: 400, height: 300), color: 0x0000FF)
        client.showPointer(at: (100, 100))
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        try rest(capture)
        var picture = try GrabbedPicture(capture)
        let without = picture.bytes
        _ = try capture.readEvents()
        _ = try capture.fetchDamage()
        #expect(!capture.mayHaveChanged)
        capture.drawsPointer = true
        #expect(capture.mayHaveChanged)
        var area = try capture.fetchDamage()
        #expect(!area.isEmpty && area.bounds.width < 50)
        try picture.update(capture, area)
        #expect(picture.bytes != without)
        #expect(!capture.mayHaveChanged)
        // While it is drawn, a look tells that a picture is due.
        client.moveMouse(to: (200, 200))
        #expect(isReadable(capture, within: 2000))
        _ = try capture.readEvents()
        _ = try capture.lookAtPointer(now: now())
        #expect(capture.mayHaveChanged)
        try picture.update(capture, capture.fetchDamage())
        capture.drawsPointer = false
        #expect(capture.mayHaveChanged)
        area = try capture.fetchDamage()
        try picture.update(capture, area)
        #expect(picture.bytes == without)
        #expect(try !capture.mayHaveChanged && capture.fetchDamage().isEmpty)
    }

    @Test("the server's end is noticed at once, also in the middle of motion", arguments: [false, true])
    func serverGone(isMoving: Bool) throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.showPointer(at: (10, 10))
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        try rest(capture)
        if isMoving {
            client.moveMouse(to: (20, 30))
            #expect(isReadable(capture, within: 2000))
            _ = try capture.readEvents()
            _ = try capture.lookAtPointer(now: now())
            #expect(capture.nextPointerLook == .distantFuture)
        }
        screen.close()
        #expect(isReadable(capture, within: 2000))
        #expect(throws: X11CaptureError.displayGone(display: screen.name)) {
            try x11 { for _ in 0..<8 { _ = try capture.readEvents() } }
        }
    }

    @Test("motion while nobody looks wakes us for an event or those on their way, and is seen by the next look")
    func unwatched() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.showPointer(at: (10, 10))
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        try rest(capture)
        // The server is told that more of them need no event; until it has heeded that, some are on their way.
        var (step, wakeUps, unheard) = (0, 0, 0)
        func move() throws {
            step += 1
            client.moveMouse(to: (20 + step % 200, 40))
            guard isReadable(capture, within: 1) else { return unheard += 1 }
            (wakeUps, unheard) = (wakeUps + 1, 0)
            _ = try capture.readEvents()
        }
        try eventually("motion that wakes nobody") {
            try move()
            return wakeUps >= 1 && unheard >= 20
        }
        let wakeUpsBefore = wakeUps
        for _ in 0..<150 { try move() }
        #expect(wakeUps == wakeUpsBefore)
        #expect(capture.nextPointerLook <= now())
        #expect(try capture.lookAtPointer(now: now()) == PointerPosition(x: 20 + step % 200, y: 40, isVisible: true))
    }

    /// Looks when it is due, as the agent would, until the pointer rests.
    func rest(_ capture: ScreenCapture) throws {
        var quiet = 0
        try eventually("the pointer's rest") {
            _ = try capture.readEvents()
            if capture.nextPointerLook <= now(), try capture.lookAtPointer(now: now()) != nil { quiet = 0 }
            _ = try capture.takePointerShape(in: capture.size)
            _ = try capture.fetchDamage()
            quiet = capture.pointerMayHaveMoved || isReadable(capture, within: 0) ? 0 : quiet + 1
            return quiet > 3
        }
    }

    func isReadable(_ capture: ScreenCapture, within milliseconds: Int32) -> Bool {
        var watched = [capture.fileDescriptor, capture.pointerDescriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        return poll(&watched, nfds_t(watched.count), milliseconds) > 0
    }
}
