import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("What a user typed wrong", .enabled(if: EndToEnd.isPossible))
    struct CommandLineMistakes {
        private static let anyPorts = "--listen 127.0.0.1:0 --udp-port 0"
        private static let longName = String(repeating: "n", count: 108)

        static let mistakes = [
            Mistake("screenrelay shar", 64, says: "'shar'", "did you mean share?"),
            Mistake("screenrelay view --no-window --display :7 a.srr", 64, says: "--display :7", "--no-window"),
            Mistake("screenrelay view --display :9999 a.srr", 66, says: "'a.srr' does not exist"),
            Mistake("screenrelay view --display :9999 http:///#screen,t", 64, says: "LINK", "http://HOST:PORT"),
            Mistake("screenrelay view --display :9999 rtsp:///screen", 64, says: "LINK", "rtsp://HOST"),
            Mistake("screenrelay view --no-window ftp://a/b", 64, says: "ftp", "rtsp"),
            Mistake("screenrelay view --no-window rtsps://a/b", 64, says: "rtsps", "certificate"),
            Mistake("screenrelay view --no-window --track t a.srr", 64, says: "track", "invite link"),
            Mistake(
                "screenrelay view --no-window --ice-server stun:stun.example a.srr", 64,
                says: "--ice-server stun:stun.example", "turn:USER:PASSWORD@"),
            Mistake(
                "screenrelay view --no-window --ice-server turn:a:b@c?transport=udp a.srr", 64,
                says: "--ice-server ...@c", "over TCP or TLS"),
            Mistake(
                "screenrelay view --no-window --ice-server turn:a:b@c a.srr", 64,
                says: "--ice-server", "recordings use no TURN server", "leave it out"),
            Mistake(
                "screenrelay view --no-window --ice-server turns:a:b@c rtsp://d/e", 64,
                says: "--ice-server", "RTSP URLs", "leave it out"),
            Mistake("screenrelay frob", 64, says: "'frob'", "share", "snapshot"),
            Mistake("screenrelay share --frob", 64, says: "--frob", "screenrelay share --help"),
            Mistake("screenrelay share --bitrat=4M --frames 3", 64, says: "--frames", "screenrelay share --help"),
            Mistake("screenrelay share -x", 64, says: "-x", "--help"),
            Mistake("screenrelay share --port 9000", 64, says: "--port", "did you mean --listen=ADDR:PORT?"),
            Mistake("screenrelay host --port=9000", 64, says: "--port", "did you mean --listen=ADDR:PORT?"),
            Mistake("screenrelay share --bitrte 4M", 64, says: "--bitrte", "did you mean --bitrate?"),
            Mistake(
                "screenrelay --lan share", 64,
                says: "--lan: the command comes first, for example 'screenrelay share --lan'"),
            Mistake("screenrelay --room=a host", 64, says: "'screenrelay host --room'"),
            Mistake("screenrelay -f 30", 64, says: "-f: the command comes first, for example 'screenrelay share -f'"),
            Mistake("screenrelay --frob", 64, says: "unknown option --frob", "'screenrelay --help'"),
            Mistake("screenrelay share now", 64, says: "'now'"),
            Mistake("screenrelay share --room", 64, says: "--room", "--room=NAME"),
            Mistake("screenrelay share --lan=yes", 64, says: "--lan", "no value"),
            Mistake("screenrelay share --bitrate 4X", 64, says: "--bitrate 4X", "4M", "600k"),
            Mistake("screenrelay share --bitrate 1", 64, says: "--bitrate 1", "10k", "1G"),
            Mistake("screenrelay share --pause-key P", 64, says: "--pause-key P", "Ctrl+Alt+P"),
            Mistake("screenrelay share --hotkey F9", 64, says: "--hotkey", "did you mean --pause-key=KEY?"),
            Mistake("screenrelay share --fps 0", 64, says: "--fps 0", "1 to 120"),
            Mistake("screenrelay share --fps 121", 64, says: "--fps 121", "1 to 120"),
            Mistake("screenrelay share --room a,b", 64, says: "--room a,b", "letters, digits"),
            Mistake("screenrelay host --udp-port 70000", 64, says: "--udp-port 70000", "65535"),
            Mistake(
                "screenrelay host --listen 127.0.0.1:70000", 64, says: "--listen 127.0.0.1:70000", "127.0.0.1:8080"),
            Mistake("screenrelay host --listen 192.0.2.7:0", 64, says: "--listen 192.0.2.7:0", "--lan"),
            Mistake("screenrelay host --lan --listen 192.0.2.7:0 --udp-port 0", 64, says: "--listen", "192.0.2.7:0"),
            Mistake("screenrelay share --advertise a.b.", 64, says: "--advertise a.b.", "203.0.113.7"),
            Mistake("screenrelay host --advertise 1.2.3", 64, says: "--advertise 1.2.3", "203.0.113.7"),
            Mistake("screenrelay host --advertise no.invalid", 69, says: "--advertise no.invalid", "no address"),
            Mistake("screenrelay host --track-text screen", 64, says: "--track-text screen", "screen=..."),
            Mistake("screenrelay host --track-data screen={", 64, says: "--track-data screen={", "not JSON"),
            Mistake("screenrelay share --track-text desk=a \(anyPorts)", 64, says: "--track-text", "no such track"),
            Mistake("screenrelay host --track-text desk=a \(anyPorts)", 64, says: "--track-text", "no such track"),
            Mistake("screenrelay host --allow-origin example.org", 64, says: "--allow-origin", "https://example.org"),
            Mistake("screenrelay host --camera 1280x720", 64, says: "--camera 1280x720", "1280x720@30"),
            Mistake("screenrelay share --camera 8000x720@30", 64, says: "--camera 8000x720@30", "4096"),
            Mistake("screenrelay host --embed-in https://*.example.org", 64, says: "--embed-in", "https://example.org"),
            Mistake(
                "screenrelay host --ice-server example.org", 64, says: "--ice-server example.org",
                "stun:stun.example.org"),
            Mistake("screenrelay share --ice-server turn:a:b@c:0", 64, says: "--ice-server ...@c:0", "turn:"),
            Mistake(
                "screenrelay host --ice-server turn:turn.example.org", 64, says: "--ice-server turn:turn.example.org",
                "--ice-secret-file"),
            Mistake("screenrelay host --ice-secret-file no", 66, says: "--ice-secret-file no", "No such file"),
            Mistake("screenrelay host --ice-secret-file /dev/null", 64, says: "--ice-secret-file", "not a file"),
            Mistake("screenrelay host --rtmp 192.0.2.7:1935", 64, says: "--rtmp 192.0.2.7:1935", "--lan"),
            Mistake("screenrelay host --srt 192.0.2.7:9000", 64, says: "--srt 192.0.2.7:9000", "--lan"),
            Mistake("screenrelay doctor --srt 192.0.2.7:9000", 64, says: "--srt 192.0.2.7:9000", "--lan"),
            Mistake(
                "screenrelay host --srt 9000 --srt-passphrase-file /nowhere/p", 66,
                says: "--srt-passphrase-file /nowhere/p", "No such"),
            Mistake("screenrelay host --log loud", 64, says: "--log loud", "debug"),
            Mistake("screenrelay host --link s.sock", 64, says: "--link s.sock", "unix:PATH"),
            Mistake("screenrelay host --link fd:99 \(anyPorts)", 64, says: "--link", "99"),
            // One of the program's own descriptors would soon have this number.
            Mistake("screenrelay host --link fd:5 \(anyPorts)", 64, says: "--link fd:5", "not open"),
            Mistake("screenrelay capture --link fd:4 --display :9999", 64, says: "--link fd:4", "not open"),
            Mistake(
                "screenrelay host --link unix:/nowhere/s.sock \(anyPorts)", 69, says: "--link", "'/nowhere'", "make it"),
            Mistake(
                "screenrelay host --link unix:q.sock --track a=unix:q.sock", 64, says: "--track a: --link has that"),
            Mistake(
                "screenrelay host --track b/a=unix:q.sock --track c=unix:q.sock", 64,
                says: "--track c: --track b/a has that"),
            Mistake(
                "screenrelay host --link unix:a.sock --track x=tcp:0.0.0.0:0 \(anyPorts)", 64, says: "--track x: ",
                "--capture-key FILE"),
            Mistake("screenrelay host --link unix:/tmp/\(longName)", 64, says: "--link", "113 bytes", "107"),
            Mistake("screenrelay capture --display :0 --link unix:/nowhere/s.sock", 69, says: "--link", "'/nowhere'"),
            Mistake("screenrelay capture --link unix:/tmp/\(longName)", 64, says: "--link", "113 bytes", "107"),
            Mistake("screenrelay host --record-limit 1G", 64, says: "--record-limit 1G", "--record FILE"),
            Mistake("screenrelay share --record r.srr --record-limit 5", 64, says: "--record-limit 5", "1M"),
            Mistake("screenrelay capture --record r.srr --record-limit much", 64, says: "--record-limit much", "200M"),
            Mistake(
                "screenrelay host --link unix:s.sock --legacy-from 192.0.2.0/24", 64,
                says: "--legacy-from 192.0.2.0/24", "--capture-key"),
            Mistake(
                "screenrelay host --link unix:s.sock --capture-key f", 64,
                says: "--capture-key f: only a capture link over TCP has a key"),
            Mistake("screenrelay host --link unix:s.sock --link-token f", 64, says: "--capture-key f: only a capture"),
            Mistake(
                "screenrelay host --legacy-from 192.0.2.0/33", 64, says: "--legacy-from 192.0.2.0/33", "2001:db8::/32"),
            Mistake("screenrelay capture --bitrate 4X", 64, says: "--bitrate 4X", "4M"),
            Mistake("screenrelay capture --display :9999", 69, says: "--display :9999", "no X server"),
            Mistake("screenrelay capture --display screen", 64, says: "--display screen", ":0"),
            Mistake("screenrelay capture", 64, says: "--display", "DISPLAY", ":0"),
            Mistake("screenrelay share --list --display :9999", 69, says: "--display :9999", "no X server"),
            Mistake(
                "screenrelay share --monitor DP-1 --window 0x7", 64, says: "--monitor and --window", "give one of"),
            Mistake(
                "screenrelay-capture --region 9x9+0+0 --window w --monitor m", 64, says: "--region", "give one of"),
            Mistake("screenrelay share --region 1280x720", 64, says: "--region 1280x720", "1280x720+0+40"),
            Mistake("screenrelay capture --region 0x720+0+0", 64, says: "--region 0x720+0+0", "from 2 to 16384"),
            Mistake("screenrelay share --window 0xWINDOW", 64, says: "--window 0xWINDOW", "0x1c00003", "--list"),
            Mistake("screenrelay share --hide 0x0", 64, says: "--hide 0x0", "0x1c00003", "--list"),
            Mistake("screenrelay share --hide", 64, says: "--hide", "--hide=WINDOW"),
            Mistake("screenrelay share --scale 0%", 64, says: "--scale 0%", "1% to 100%"),
            Mistake("screenrelay share --scale 101%", 64, says: "--scale 101%", "1% to 100%"),
            Mistake("screenrelay capture --scale half", 64, says: "--scale half", "1920x1080", "50%"),
            Mistake("screenrelay capture --scale 1x1", 64, says: "--scale 1x1", "from 2 to 16384"),
            Mistake("screenrelay share --chroma 422", 64, says: "--chroma 422", "420, 444", "444,420"),
            Mistake("screenrelay share --constant-qp 52", 64, says: "--constant-qp 52", "0 to 51"),
            Mistake("screenrelay share --no-refinement=1", 64, says: "--no-refinement", "no value"),
            Mistake("screenrelay share --sound loud", 64, says: "--sound loud", "none, desktop, microphone, both"),
            Mistake("screenrelay share --capture-memory lots", 64, says: "--capture-memory lots", "200M"),
            Mistake("screenrelay share --capture-memory 999k", 64, says: "--capture-memory 999k", "1M"),
            Mistake("screenrelay host --token-file x --open", 64, says: "--token-file", "--open"),
            Mistake("screenrelay share --new-token --open", 64, says: "--new-token", "--open"),
            Mistake("screenrelay host --token-file /nowhere/token", 73, says: "--token-file", "'/nowhere'", "make it"),
            Mistake(
                "screenrelay host --token-file /dev/null/token", 73, says: "--token-file",
                "'/dev/null' is not a folder"),
            Mistake("screenrelay host --admin-token-file no/t", 73, says: "--admin-token-file no/t", "'no'", "make it"),
            Mistake("screenrelay host --token-file /dev/null", 64, says: "--token-file /dev/null", "not a file"),
            Mistake("screenrelay host --tls self-signed --tls-cert c.pem", 64, says: "--tls self-signed", "--tls-cert"),
            Mistake("screenrelay share --tls self-signed --tls-key k.pem", 64, says: "--tls self-signed", "--tls-key"),
            Mistake("screenrelay host --tls always", 64, says: "--tls", "always", "self-signed"),
            Mistake("screenrelay host --tls-cert c.pem", 64, says: "--tls-cert c.pem", "--tls-key"),
            Mistake("screenrelay share --tls-key k.pem", 64, says: "--tls-key k.pem", "--tls-cert"),
            Mistake(
                "screenrelay host --tls-cert c.pem --tls-key k.pem", 66, says: "--tls-cert", "c.pem", "No such file"),
            Mistake("screenrelay host --expires soon", 64, says: "--expires soon", "30m"),
            Mistake("screenrelay host --expires 30", 64, says: "--expires 30:", "30s, 30m, 30h or 30d"),
            Mistake("screenrelay host --expires 366d", 64, says: "--expires 366d", "365d"),
            Mistake("screenrelay host --password=secret", 64, says: "--password", "no value"),
            Mistake("screenrelay host --password-file p --password", 64, says: "--password-file p", "one of them"),
            Mistake("screenrelay host --password-file /nowhere/p", 66, says: "--password-file /nowhere/p", "No such"),
            Mistake("screenrelay host --password", 65, says: "--password", "empty"),
            Mistake(
                "screenrelay host --open --present-token-file /nowhere/p", 73, says: "--present-token-file", "make it"),
            Mistake("screenrelay capture --log loud", 64, says: "--log loud", "debug", "rate"),
            Mistake("screenrelay host --log rate", 64, says: "--log rate", "debug"),
            Mistake("screenrelay pause --pid me", 64, says: "--pid me", "process number"),
            Mistake("screenrelay pause --pid 0", 64, says: "--pid 0", "process number"),
            Mistake("screenrelay stop now", 64, says: "'now'"),
            Mistake("screenrelay share --qr --no-qr", 64, says: "--qr and --no-qr", "leave one out"),
            Mistake("screenrelay host --qr --json", 64, says: "--qr and --json", "leave one out"),
            Mistake("screenrelay host --api-lan", 64, says: "--api-lan", "--lan"),
            Mistake(
                "screenrelay host --api-lan --lan --listen 0 --udp-port 0", 64, says: "--api-lan", "--admin-token-file"),
            Mistake(
                "screenrelay host --admin-token-file /dev/null", 64, says: "--admin-token-file /dev/null", "not a file"),
            Mistake("screenrelay share --config none", 66, says: "--config none", "no such file"),
            Mistake("screenrelay share --config .", 64, says: "--config .", "can't be read"),
            Mistake("screenrelay capture --config none", 66, says: "--config none", "no such file"),
            Mistake("screenrelay share --config none --no-config", 64, says: "--config none", "--no-config"),
            Mistake("screenrelay stop --config none", 64, says: "--config", "screenrelay stop --help"),
            Mistake("screenrelay remove", 64, says: "WHO", "screenrelay remove --help"),
            Mistake("screenrelay kick", 64, says: "WHO", "screenrelay remove --help"),
            Mistake("screenrelay present", 64, says: "ACTION", "screenrelay present --help"),
            Mistake("screenrelay present allow", 64, says: "present", "allow WHO"),
            Mistake("screenrelay present end Ann --for 5m", 64, says: "--for", "allow WHO"),
            Mistake("screenrelay present allow Ann --for 5", 64, says: "--for", "5m"),
            Mistake("screenrelay pointing", 64, says: "STATE", "screenrelay pointing --help"),
            Mistake("screenrelay pointing maybe", 64, says: "pointing", "'on' or 'off'"),
            Mistake("screenrelay chat", 64, says: "STATE", "screenrelay chat --help"),
            Mistake("screenrelay chat hello", 64, says: "chat", "'on' or 'off'"),
            Mistake("screenrelay admit", 64, says: "WHO", "screenrelay admit --help"),
            Mistake("screenrelay refuse Ann Ben", 64, says: "'Ben'"),
            Mistake("screenrelay lock desk attic", 64, says: "'attic'"),
            Mistake("screenrelay rooms all", 64, says: "'all'"),
            Mistake("screenrelay config shar", 64, says: "'shar'", "did you mean share?"),
            Mistake("screenrelay config stop", 64, says: "'stop'", "no settings file"),
            Mistake("screenrelay man shar", 64, says: "'shar'", "did you mean share?"),
            Mistake("screenrelay man -o /nowhere", 73, says: "--output /nowhere", "'/nowhere'", "make it"),
            Mistake("screenrelay man -o /sys", 77, says: "--output /sys"),
            Mistake("screenrelay man share -o .", 64, says: "--output", "'share'"),
            Mistake("screenrelay completion", 64, says: "SHELL", "screenrelay completion --help"),
            Mistake("screenrelay completion tcsh", 64, says: "completion tcsh", "bash, zsh, fish"),
            Mistake("screenrelay paus", 64, says: "'paus'", "did you mean pause?"),
            Mistake("screenrelay share --display :9999 \(anyPorts)", 69, says: "--display :9999", "no X server"),
            Mistake("screenrelay share \(anyPorts)", 64, says: "--display", "DISPLAY", ":0"),
            Mistake("screenrelay snapshot", 64, says: "LINK", "screenrelay snapshot --help"),
            Mistake("screenrelay snapshot http://127.0.0.1:1/#screen,t", 64, says: "--output", "FILE"),
            Mistake("screenrelay snapshot screen -o s.png", 64, says: "'screen'", "http://"),
            Mistake("screenrelay snapshot http://127.0.0.1:1/#screen,t -o s.gif", 64, says: "--output s.gif", ".png"),
            Mistake("screenrelay snapshot http://127.0.0.1:1/#screen,t -o s.png", 69, says: "127.0.0.1:1", "refused"),
            Mistake("screenrelay snapshot http://nowhere.invalid/#screen,t -o s.png", 69, says: "nowhere.invalid"),
            Mistake(
                "screenrelay snapshot http://127.0.0.1:1/#s,t -o /nowhere/s.png", 73, says: "--output", "'/nowhere'"),
        ]

        @Test(
            "is answered by one line that names it and what would be right, and by its exit code", arguments: mistakes)
        func line(_ mistake: Mistake) throws {
            let folder = try TemporaryFolder()
            let run = try CommandLineRun(mistake.words, folder: folder.path)
            #expect(run.status == .exited(mistake.exitCode))
            let line = try #require(run.errorLine, "one line, not: \(run.errorOutput)")
            #expect(line.hasPrefix("screenrelay"))
            for words in mistake.says { #expect(line.contains(words), "\(words) in: \(line)") }
            // A script that reads the link must not get one that leads nowhere.
            #expect(run.output.isEmpty)
        }

        @Test("a port that is taken is named with its option, whichever of the two it is")
        func takenPorts() throws {
            for program in ["share", "host"] {
                let tcp = try RawSocket.occupying(.tcp)
                let listen = "127.0.0.1:\(tcp.port)"
                var run = try CommandLineRun(["screenrelay", program, "--listen", listen, "--udp-port", "0"])
                #expect(run.status == .exited(69))
                #expect(run.errorLine?.contains("--listen: can't listen on \(listen)") == true)
                #expect(run.errorLine?.contains("choose another port") == true)

                let udp = try RawSocket.occupying(.udp)
                run = try CommandLineRun([
                    "screenrelay", program, "--listen", "127.0.0.1:0", "--udp-port", "\(udp.port)",
                ])
                #expect(run.status == .exited(69))
                #expect(run.errorLine?.contains("--udp-port \(udp.port): the port is taken") == true)
                #expect(run.output.isEmpty)
            }
        }

        @Test("a second share says that one is running already, which it is, and what to write for both")
        func secondShare() throws {
            let folder = try TemporaryFolder()
            let environment = ["XDG_RUNTIME_DIR": folder.path]
            let prefix = ["env", "XDG_RUNTIME_DIR=\(folder.path)"]
            let screen = try VirtualScreen(PictureSize(width: 64, height: 48))
            let first = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name] + LinkSocket.hostOptions, prefix: prefix)
            let port = try #require(first.printedLink().split(separator: "/")[1].split(separator: ":").last)
            let words = ["screenrelay", "share", "--display", screen.name, "--listen", String(port), "--udp-port", "0"]
            let run = try CommandLineRun(words, environment: environment)
            #expect(run.status == .exited(69))
            let line = try #require(run.errorLine, "one line, not: \(run.errorOutput)")
            let running = "running already: process \(first.child.processID) "
            #expect(line.contains(running + "('screenrelay link' prints its invite link); for another"), "\(line)")
            #expect(line.contains("add --listen 0, or") && line.contains("'screenrelay stop'"))
            // On a terminal, which no journal keeps, the link itself is printed.
            let program = try #require(builtProgram(words[0]))
            var launch = Launch(
                "script", ["-qec", ([program] + words.dropFirst()).joined(separator: " "), "/dev/null"])
            launch.environment = RunningProgram.environment.merging(["XDG_RUNTIME_DIR": folder.path]) { $1 }
            launch.standardOutput = .text(limit: 1 << 20)
            let shown = try ChildProcess.run(launch, within: .seconds(120))
            #expect(shown.output.contains(running + "(\(try first.printedLink()));"), "\(shown.output)")
            let both = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name, "--listen", "0"],
                prefix: prefix)
            #expect(try both.printedLink().hasPrefix("http://127.0.0.1:"))
        }

        @Test("a snapshot that is refused, or has nowhere to go, leaves no file")
        func snapshots() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            let link = try host.printedLink()

            var run = try CommandLineRun(["screenrelay", "snapshot", link + "x", "-o", folder.file("s.png")])
            #expect(run.status == .exited(77))
            #expect(run.errorLine?.contains("doesn't accept this invite link") == true)

            // Nothing has been captured yet.
            run = try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("s.png")])
            #expect(run.status == .exited(69))
            #expect(run.errorLine?.contains("no picture") == true)
            run = try CommandLineRun(["screenrelay", "snapshot", link, "-t", "nope", "-o", folder.file("s.png")])
            #expect(run.status == .exited(69))
            #expect(run.errorLine == "screenrelay: --track nope: the room has no such track")
            #expect(access(folder.file("s.png"), F_OK) != 0)
        }
    }
}
