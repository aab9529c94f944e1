import CaptureEngine
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import X11Capture

@Suite("windows of a hidden program", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct HiddenProgramTests {
    private static let place = PixelRectangle(x: 200, y: 100, width: 60, height: 50)

    private let screen: VirtualScreen
    private let client: DisplayClient
    /// Another connection, of the same program or of another.
    private let other: DisplayClient
    private let main: UInt32

    init() throws {
        screen = try VirtualScreen(TestScreen.size)
        client = try DisplayClient(screen.name)
        other = try DisplayClient(screen.name)
        client.background(0x0000FF)
        main = client.window(PixelRectangle(x: 10, y: 10, width: 50, height: 50), color: 0x00FF00, title: "passwords")
        client.numbers(main, "WM_CLIENT_LEADER", [main])
        client.numbers(main, "_NET_WM_PID", [4711])
        client.text(main, "WM_CLIENT_MACHINE", "here")
    }

    private func capture(_ hidden: WindowSelector = .title("passwords")) throws -> ScreenCapture {
        try ScreenCapture(display: screen.name, hidden: [hidden], drawsPointer: false)
    }

    /// The colour in the middle of `place` in the next picture. With `picture` it is taken at once, so that all that
    /// has happened is news of that moment.
    private func color(_ capture: ScreenCapture, _ picture: GrabbedPicture? = nil) throws -> SceneColor {
        if var picture {
            try picture.update(capture, DamagedArea([TestScreen.all], in: TestScreen.size))
            return picture.color(Self.place.x + 20, Self.place.y + 20)
        }
        _ = try capture.readEvents()
        return try GrabbedPicture(capture).color(Self.place.x + 20, Self.place.y + 20)
    }

    /// How a window tells whose it is.
    enum Tie: CaseIterable {
        case connection, transient, chain, leader, isLeader, leaderIsMain, process, processWithoutMachine, insideMain
        case otherProcess, otherMachine, noProcess, rootTransient

        var isOfProgram: Bool {
            switch self {
            case .otherProcess, .otherMachine, .noProcess, .rootTransient: false
            default: true
            }
        }
    }

    @Test(
        "a menu or dialog of a hidden program is in no picture, not even the first; another program's window is",
        arguments: Tie.allCases, [true, false])
    func menus(tie: Tie, isOverrideRedirect: Bool) throws {
        let owner = tie == .connection ? client : other
        let leader = other.window(PixelRectangle(x: 0, y: 0, width: 1, height: 1), color: 0, isMapped: false)
        if tie == .leader { client.numbers(main, "WM_CLIENT_LEADER", [leader]) }
        let capture = try capture()
        let picture = try GrabbedPicture(capture)
        let window = owner.window(
            Self.place, color: 0xFF0000, isMapped: false, isOverrideRedirect: isOverrideRedirect)
        switch tie {
        case .connection: break
        case .transient: other.numbers(window, "WM_TRANSIENT_FOR", [main])
        case .chain:
            // The dialog between them has never been shown.
            let dialog = other.window(Self.place, color: 0, isMapped: false)
            other.numbers(dialog, "WM_TRANSIENT_FOR", [main])
            other.numbers(window, "WM_TRANSIENT_FOR", [dialog])
        case .insideMain:
            // Deeper than windows are looked through.
            var inner = main
            for _ in 0..<4 {
                inner = client.window(PixelRectangle(x: 0, y: 0, width: 9, height: 9), color: 0, parent: inner)
            }
            other.numbers(window, "WM_TRANSIENT_FOR", [inner])
        case .leader: other.numbers(window, "WM_CLIENT_LEADER", [leader])
        case .isLeader: client.numbers(main, "WM_CLIENT_LEADER", [window])
        case .leaderIsMain: other.numbers(window, "WM_CLIENT_LEADER", [main])
        case .process:
            other.numbers(window, "_NET_WM_PID", [4711])
            other.text(window, "WM_CLIENT_MACHINE", "here")
        case .processWithoutMachine: other.numbers(window, "_NET_WM_PID", [4711])
        case .otherProcess:
            other.numbers(window, "_NET_WM_PID", [4712])
            other.text(window, "WM_CLIENT_MACHINE", "here")
        case .otherMachine:
            other.numbers(window, "_NET_WM_PID", [4711])
            other.text(window, "WM_CLIENT_MACHINE", "there")
        case .noProcess: other.numbers(window, "_NET_WM_PID", [0])
        case .rootTransient:
            other.numbers(window, "WM_TRANSIENT_FOR", [client.root])
            for one in [main, window] { other.numbers(one, "WM_CLIENT_LEADER", [client.root]) }
        }
        owner.map(window)
        if tie.isOfProgram { #expect(try color(capture, picture) != TestScreen.red) }
        #expect(try color(capture) == (tie.isOfProgram ? TestScreen.black : TestScreen.red))
        // A capture that begins now sees the same.
        #expect(try color(self.capture()) == (tie.isOfProgram ? TestScreen.black : TestScreen.red))
    }

    @Test("a program with any number of dialogs of dialogs stays black, and holds up no other window")
    func manyDialogs() throws {
        let capture = try capture()
        _ = try color(capture)
        let chain = (0..<33).map { _ in other.window(Self.place, color: 0, isMapped: false) }
        for (dialog, main) in zip(chain, chain.dropFirst()) { other.numbers(dialog, "WM_TRANSIENT_FOR", [main]) }
        let area = PixelRectangle(x: 100, y: 30, width: 40, height: 40)
        let many = other.window(area, color: 0xFF0000, isMapped: false)
        for _ in 0..<20 {
            let inner = other.window(PixelRectangle(x: 0, y: 0, width: 1, height: 1), color: 0, parent: many)
            other.numbers(inner, "WM_TRANSIENT_FOR", [chain[0]])
        }
        other.map(many)
        _ = try color(capture)
        let stranger = try DisplayClient(screen.name)
        let dialog = stranger.window(Self.place, color: 0xFF0000, isMapped: false)
        stranger.numbers(dialog, "WM_TRANSIENT_FOR", [chain[32]])
        stranger.map(dialog)
        #expect(try color(capture) == TestScreen.red)
        _ = try capture.readEvents()
        #expect(try GrabbedPicture(capture).color(area.x + 20, area.y + 20) == TestScreen.black)
    }

    @Test("a program's other windows go with the first that is hidden, and show again when all of them are gone")
    func later() throws {
        client.title(main, "a letter")
        let capture = try capture()
        let menu = other.window(Self.place, color: 0xFF0000, isOverrideRedirect: true)
        other.numbers(menu, "WM_TRANSIENT_FOR", [main])
        #expect(try color(capture) == TestScreen.red)
        client.title(main, "my passwords")
        #expect(try color(capture) == TestScreen.black)
        // What was private once stays so, and its program too.
        client.destroy(main)
        other.numbers(menu, "WM_TRANSIENT_FOR", [])
        #expect(try color(capture) == TestScreen.black)
        let next = other.window(Self.place, color: 0xFF0000)
        other.destroy(menu)
        #expect(try color(capture) == TestScreen.black)
        other.destroy(next)
        other.background(0x0000FF)
        #expect(try color(capture) == TestScreen.blue)
        let stranger = other.window(Self.place, color: 0xFF0000)
        #expect(try color(capture) == TestScreen.red)
        other.destroy(stranger)
    }

    @Test("a dialog in a window manager's frame is hidden, and frames of other programs' windows are not")
    func frames() throws {
        let manager = try DisplayClient(screen.name)
        let stranger = try DisplayClient(screen.name)
        @discardableResult
        func frame(_ window: UInt32, _ owner: DisplayClient, _ area: PixelRectangle) -> UInt32 {
            let frame = manager.window(area, color: 0x808080, isMapped: false, isOverrideRedirect: true)
            manager.reparent(window, into: frame)
            manager.numbers(window, "WM_STATE", [1, 0])
            owner.map(window)
            manager.map(frame)
            return frame
        }
        frame(main, client, PixelRectangle(x: 10, y: 10, width: 60, height: 60))
        let capture = try capture(.identifier(main))
        let dialog = other.window(Self.place, color: 0xFF0000, isMapped: false)
        other.numbers(dialog, "WM_TRANSIENT_FOR", [main])
        let around = frame(dialog, other, Self.place)
        #expect(try color(capture) == TestScreen.black)
        other.destroy(dialog)
        manager.destroy(around)
        let letter = stranger.window(Self.place, color: 0xFF0000, isMapped: false)
        frame(letter, stranger, Self.place)
        #expect(try color(capture) == TestScreen.red)
        #expect(try color(self.capture(.title("passwords"))) == TestScreen.red)
    }

    @Test("a window of a hidden program that has no pixels of its own blanks nothing")
    func inputOnly() throws {
        let capture = try capture()
        _ = client.inputWindow(TestScreen.all)
        #expect(try color(capture) == TestScreen.blue)
    }
}
