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

    @Test("a key is on the display that is shared, and on a Wayland desktop a warning names what to do instead")
    func key() throws {
        let words = ["--pause-key", "Ctrl+Alt+P"]
        let option = try read(["--display", ":4711"] + words)
        #expect(option.settings.pauseKey == KeyChord("Ctrl+Alt+P") && option.settings.display == ":4711")
        #expect(option.warning == nil && !option.settings.notifies)
        let wayland = try read(["--source", "wayland", "--notify"] + words)
        #expect(wayland.settings.pauseKey == nil && wayland.settings.notifies)
        let warning = try #require(wayland.warning)
        #expect(warning.hasPrefix("--pause-key Ctrl+Alt+P: ") && warning.contains("'screenrelay pause'"))
        #expect(try read(["--source", "wayland"]).warning == nil)
    }
}
