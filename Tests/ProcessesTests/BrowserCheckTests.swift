import BrowserDriver
import Processes
import TestSupport
import Testing

/// The program that judges viewer pages, judged by pages of which we know what is wrong.
@Suite(
    "The browser check", .enabled(if: Browser.isAvailable && builtProgram("screenrelay-browser-check") != nil),
    .serialized)
struct BrowserCheckTests {
    /// A page whose video comes from a canvas: `eachPicture` draws it, the first time before there is a video.
    private func page(_ eachPicture: String, _ state: String = "") -> String {
        """
        <!doctype html><video autoplay muted></video><script>
        const canvas = document.createElement('canvas');
        canvas.width = 320; canvas.height = 180;
        const context = canvas.getContext('2d');
        let count = 0;
        const draw = () => { count += 1; \(eachPicture) };
        draw();
        setInterval(draw, 33);
        document.querySelector('video').srcObject = canvas.captureStream(30);
        \(state)
        </script>
        """
    }

    private func check(
        _ html: String, frames: Int = 10, seconds: Int
    ) throws -> (status: ProcessStatus?, output: String, errorOutput: String) {
        let folder = try TemporaryFolder()
        let path = try folder.write("page.html", Array(html.utf8))
        let program = try #require(builtProgram("screenrelay-browser-check"))
        let picture = folder.file("page.png")
        var launch = Launch(
            program,
            [
                "--link", "file://\(path)", "--frames", "\(frames)", "--timeout", "\(seconds)",
                "--screenshot", picture,
            ])
        launch.standardOutput = .text(limit: 10_000)
        launch.standardError = .text(limit: 10_000)
        let result = try ChildProcess.run(launch, within: .seconds(90))
        if result.output.contains("screenshot: \(picture)") {
            #expect(try fileBytes(picture).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
        return result
    }

    @Test("a video that plays and moves passes", .timeLimit(.minutes(5)))
    func passes() throws {
        let result = try check(
            page("context.fillStyle = count % 20 < 10 ? 'red' : 'green'; context.fillRect(0, 0, 320, 180);"),
            seconds: 20)
        #expect(result.status == .exited(0), "\(result.output)\(result.errorOutput)")
        #expect(result.output.contains("picture: 320x180, changed"))
        #expect(result.output.contains("screenshot: "))
    }

    @Test("a picture that stands still fails with that reason", .timeLimit(.minutes(5)))
    func still() throws {
        // One frame will do: how many a busy browser decodes in that time says nothing of the check.
        let result = try check(
            page("context.fillStyle = '#336699'; context.fillRect(0, 0, 320, 180);"), frames: 1, seconds: 15)
        #expect(result.status == .exited(69))
        #expect(result.errorOutput.contains("did not change"), "\(result.errorOutput)")
    }

    @Test("a page without a video fails with the page's own error", .timeLimit(.minutes(5)))
    func ownError() throws {
        let result = try check(
            "<script>window.screenRelay = { phase: 'failed', error: 'the token is wrong' };</script>", seconds: 1)
        #expect(result.status == .exited(69))
        #expect(result.errorOutput == "screenrelay-browser-check: the page says: the token is wrong\n")
        #expect(result.output.hasPrefix("frames decoded: 0\n"))
    }

    @Test("an error on the console fails even though the picture moves", .timeLimit(.minutes(5)))
    func consoleError() throws {
        let result = try check(
            page(
                "context.fillStyle = count % 20 < 10 ? 'red' : 'green'; context.fillRect(0, 0, 320, 180);",
                "console.error('went wrong');"), seconds: 20)
        #expect(result.status == .exited(69))
        #expect(result.errorOutput.contains("went wrong"))
    }

    @Test("a link that isn't one is a usage error")
    func usage() throws {
        let program = try #require(builtProgram("screenrelay-browser-check"))
        var launch = Launch(program, ["--link", "room"])
        launch.standardError = .text(limit: 1000)
        let result = try ChildProcess.run(launch, within: .seconds(10))
        #expect(result.status == .exited(64))
        #expect(result.errorOutput.contains("--link room: not a link"))
    }
}
