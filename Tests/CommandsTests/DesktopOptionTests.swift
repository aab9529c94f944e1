import CommandLine
import DesktopIntegration
import Testing

@testable import Commands

@Suite("The options for the sharer's desktop")
struct DesktopOptionTests {
    private func read(_ words: [String]) throws -> DesktopOption {
        let options = try ShareCommand.command.parse(words, program: "screenrelay")
        return try DesktopOption(options, CaptureOptions(options))
    }

    @Test("a key is on the display or the Wayland desktop that is shared")
    func key() throws {
        let words = ["--pause-key", "Ctrl+Alt+P"]
        let settings = try read(["--display", ":4711"] + words).settings
        #expect(settings.pauseKey == KeyChord("Ctrl+Alt+P") && settings.keyPlace == .display(":4711"))
        #expect(!settings.notifies)
        let wayland = try read(["--source", "wayland", "--notify"] + words).settings
        #expect(wayland.pauseKey == KeyChord("Ctrl+Alt+P") && wayland.keyPlace == .portal)
        #expect(wayland.notifies)
        #expect(try read([]).settings.pauseKey == nil)
    }
}
