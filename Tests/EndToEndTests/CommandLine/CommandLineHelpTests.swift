import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Help and version", .enabled(if: EndToEnd.isPossible))
    struct CommandLineHelp {
        static let commands = [
            ["screenrelay"], ["screenrelay", "share"], ["screenrelay", "host"], ["screenrelay", "capture"],
            ["screenrelay", "snapshot"], ["screenrelay", "pause"], ["screenrelay", "resume"], ["screenrelay", "stop"],
            ["screenrelay", "status"], ["screenrelay", "rate"], ["screenrelay", "sharpen"], ["screenrelay", "inspect"],
            ["screenrelay", "export"], ["screenrelay", "rooms"], ["screenrelay", "remove"], ["screenrelay", "config"],
            ["screenrelay", "man"], ["screenrelay", "completion"], ["screenrelay", "systemd-unit"],
            ["screenrelay-capture"], ["screenrelay", "sound"], ["screenrelay", "mute"], ["screenrelay", "unmute"],
            ["screenrelay-sound"], ["screenrelay", "doctor"], ["screenrelay", "view"],
            ["screenrelay", "present"], ["screenrelay", "pointing"], ["screenrelay", "lock"],
            ["screenrelay", "unlock"], ["screenrelay", "chat"], ["screenrelay", "admit"], ["screenrelay", "refuse"],
        ]

        @Test("--help tells all on standard output, in lines of 80 columns at most", arguments: commands)
        func help(_ command: [String]) throws {
            let run = try CommandLineRun(command + ["--help"])
            #expect(run.status == .exited(0))
            #expect(run.errorOutput.isEmpty)
            #expect(run.output.hasPrefix("Usage: \(command.joined(separator: " ")) "))
            for line in run.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
            for code in ["64", "65", "69", "70", "71", "77"] { #expect(run.output.contains("\n  \(code)  ")) }
        }

        @Test("without arguments, five commands to start with are printed on standard error, one line each, exit 64")
        func usage() throws {
            let run = try CommandLineRun(["screenrelay"])
            #expect(run.status == .exited(64))
            #expect(run.output.isEmpty)
            let lines = run.errorOutput.split(separator: "\n")
            #expect(lines.first == "Usage: screenrelay COMMAND [OPTION]...")
            for line in lines { #expect(line.count <= 80, "\(line)") }
            let examples = lines.filter { $0.hasPrefix("  screenrelay ") }
            #expect(
                examples.map { $0.split(separator: " ")[1] } == ["share", "link", "status", "pause", "doctor"])
            #expect(run.errorOutput.contains("'screenrelay --help'"))
        }

        @Test("the help of commands with many options has them under headings, the most used first")
        func headings() throws {
            func outline(_ command: String) throws -> [String: [String]] {
                var heading = ""
                var options: [String: [String]] = [:]
                for line in try CommandLineRun(["screenrelay", command, "--help"]).output.split(separator: "\n") {
                    if line.hasSuffix(":"), !line.hasPrefix(" ") { heading = String(line.dropLast()) }
                    guard let option = line.firstRange(of: "--"), line.prefix(6).allSatisfy({ !$0.isUppercase }),
                        line.distance(from: line.startIndex, to: option.lowerBound) == 6
                    else { continue }
                    options[heading, default: []].append(
                        String(line[option.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "-" }))
                }
                return options
            }
            let common = ["Access", "Network", "Recording", "Pushing and joining", "Output", "Other options"]
            let share = try outline("share")
            let own = ["What to share", "Quality", "Sound", "Desktop", "Capture process"]
            #expect(Set(share.keys) == Set(own + common))
            #expect(share["What to share"]?.first == "display" && share["Quality"]?.first == "fps")
            #expect(share["Access"]?.first == "lan" && share["Network"]?.first == "listen")
            let host = try outline("host")
            #expect(Set(host.keys) == Set(["Capture link", "What to share"] + common))
            #expect(host["Capture link"]?.first == "link")
            // Every option has its place.
            for options in [share, host] {
                #expect(options["Other options"] == ["config", "no-config", "help", "version"])
            }
        }

        @Test("--version is one line on standard output", arguments: commands)
        func version(_ command: [String]) throws {
            let run = try CommandLineRun(command + ["--version"])
            #expect(run.status == .exited(0))
            #expect(run.errorOutput.isEmpty)
            let words = run.output.dropLast().split(separator: " ")
            #expect(words.count == 2)
            #expect(words.first?.hasPrefix("screenrelay") == true)
            #expect(words.last?.split(separator: ".").count == 3)
        }

        @Test("every option that the documentation promises is there, with its default")
        func options() throws {
            // Without the breaks of its lines.
            let share = try CommandLineRun(["screenrelay", "share", "--help"]).output
                .split { $0 == " " || $0 == "\n" }.joined(separator: " ")
            for option in [
                "--display", "--fps", "--bitrate", "--room", "--listen", "--lan", "--open", "--udp-port",
                "(default: 30)", "without it, 4M, and more", "127.0.0.1:8080)", "--monitor", "--window", "--region",
                "--hide",
                "--scale", "--chroma", "--pause-when-locked", "--list", "(default: 420)", "--capture-memory",
                "--capture-user", "--capture-unconfined",
                "--token-file", "--new-token", "--config", "--no-config", "--qr", "--no-qr", "--json",
                "--admin-token-file", "--api-lan", "--sound", "(default: none)", "--camera", "(default: 1280x720@30)",
                "--notify", "--pause-key",
            ] {
                #expect(share.contains(option), "\(option)")
            }
            let host = try CommandLineRun(["screenrelay", "help", "host"]).output
            for option in [
                "--link", "--room", "--listen", "--lan", "--open", "--udp-port", "--advertise", "--token-file",
                "--new-token",
            ] {
                #expect(host.contains(option), "\(option)")
            }
            let capture = try CommandLineRun(["screenrelay", "capture", "--help"]).output
            for option in [
                "--link", "--display", "--fps", "--bitrate", "--legacy", "--monitor", "--window", "--region", "--hide",
                "--scale", "--chroma", "--pause-when-locked", "--list", "--supervised", "--user", "--unconfined",
                "--config", "--no-config", "\n  screenrelay capture --display :0\n",
            ] {
                #expect(capture.contains(option), "\(option)")
            }
            let sound = try CommandLineRun(["screenrelay", "sound", "--help"]).output
            for option in ["--link", "--source", "--supervised", "--user", "--unconfined", "--config"] {
                #expect(sound.contains(option), "\(option)")
            }
            // Only benchmarks use these.
            for option in ["--constant-qp", "--no-refinement"] { #expect(!capture.contains(option), "\(option)") }
            #expect(try CommandLineRun(["screenrelay", "help", "capture"]).output == capture)
        }
    }
}
