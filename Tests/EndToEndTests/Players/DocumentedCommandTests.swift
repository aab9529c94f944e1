import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    @Suite(
        "Commands as the guides have them",
        .enabled(if: EndToEnd.isPossible && EndToEnd.hasBrowser && FFmpeg.isAvailable && PythonClient.isAvailable),
        .enabled(if: PulseServer.isAvailable))
    struct DocumentedCommands {
        @Test(
            "each shows a picture of a moving screen, or does what it says",
            arguments: [
                "README", "sharing", "sound", "separate-machines", "recordings", "watching", "publishing", "pushing",
                "operating",
            ])
        func shown(_ guide: String) throws {
            let program = try #require(builtProgram("screenrelay"))
            let folder = String(program.dropLast("/screenrelay".count))
            // `Tools/doccheck` tries a still screen, and sound, too.
            var launch = Launch("\(packageRoot)/Tools/doccheck", ["--brief", "--programs", folder, guide])
            launch.environment = RunningProgram.environment
            launch.standardOutput = .text(limit: 1 << 20)
            launch.standardError = .text(limit: 1 << 20)
            let run = try ChildProcess.run(launch, within: .seconds(300))
            #expect(run.status == .exited(0), "\(run.output)\(run.errorOutput)")
            // The table has something in it.
            #expect(run.output.contains("| \(guide).md:"))
        }
    }
}
