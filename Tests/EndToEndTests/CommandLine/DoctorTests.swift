import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Each test plants one fault in a machine that is sound otherwise.
    @Suite("Doctor", .enabled(if: EndToEnd.isPossible))
    struct DoctorTests {
        static let size = PictureSize(width: 640, height: 480)
        let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        /// Runs `screenrelay doctor` with changes to its environment; `prefix` is a command that runs it elsewhere.
        /// `viewers` are the lines about viewers, which it always prints last, and `lines` all others.
        func doctor(
            _ options: [String], on display: String?, prefix: [String] = [], environment: [String: String] = [:]
        ) throws -> (status: ProcessStatus?, lines: [String], viewers: [String], errors: String) {
            let words = prefix + [try #require(builtProgram("screenrelay")), "doctor"] + options
            var launch = Launch(words[0], Array(words.dropFirst()))
            launch.environment = RunningProgram.environment
            launch.environment["DISPLAY"] = .some(display)
            for (name, value) in environment { launch.environment[name] = .some(value) }
            launch.standardOutput = .text(limit: 1 << 20)
            launch.standardError = .text(limit: 1 << 20)
            let run = try ChildProcess.run(launch, within: .seconds(120))
            let lines = run.output.split(separator: "\n").map(String.init)
            let count = lines.firstIndex { $0.hasPrefix("Viewers: ") } ?? lines.count
            return (run.status, Array(lines[..<count]), Array(lines[count...]), run.errorOutput)
        }

        /// Expects one line about one fault, which says all of `words`. Returns the lines about viewers.
        @discardableResult
        func expectFault(
            _ options: [String], on display: String?, prefix: [String] = [], environment: [String: String] = [:],
            says words: String...
        ) throws -> [String] {
            let run = try doctor(options, on: display, prefix: prefix, environment: environment)
            #expect(run.status == .exited(69))
            #expect(run.errors.isEmpty, "\(run.errors)")
            #expect(run.lines.count == 1, "\(run.lines)")
            #expect(run.viewers.count == 4, "\(run.viewers)")
            for word in words { #expect(run.lines.first?.contains(word) == true, "\(word) in \(run.lines)") }
            return run.viewers
        }

        /// The ids of all findings, as programs get them.
        func ids(
            _ options: [String], on display: String?, prefix: [String] = [], environment: [String: String] = [:]
        ) throws -> Set<String> {
            let run = try doctor(options + ["--json"], on: display, prefix: prefix, environment: environment)
            #expect(run.errors.isEmpty && run.lines.count == 1, "\(run.errors) \(run.lines)")
            let objects = run.lines.joined().split(separator: "{\"id\":\"").dropFirst()
            return Set(objects.map { object in String(object.prefix { $0 != "\"" }) })
        }

        @Test("nothing is wrong on a sound machine, and nothing is left behind")
        func sound() throws {
            let screen = try VirtualScreen(Self.size)
            let run = try doctor(RunningProgram.anyPorts, on: screen.name)
            #expect(run.lines == ["Nothing is wrong."] && run.errors.isEmpty)
            #expect(run.status == .exited(0))
            let subjects = ["one host here can serve ", "for 10, one host (", "for 1000, ", "for 100000, HLS "]
            #expect(run.viewers.count == subjects.count, "\(run.viewers)")
            for (line, subject) in zip(run.viewers, subjects) {
                #expect(line.hasPrefix("Viewers: " + subject), "\(line)")
            }
            let file = folder.file("token")
            let json = try doctor(RunningProgram.anyPorts + ["--json", "--token-file", file], on: screen.name)
            let beginning = "{\"findings\":[],\"capacity\":{\"processors\":"
            #expect(json.lines.count == 1 && json.lines.first?.hasPrefix(beginning) == true, "\(json.lines)")
            #expect(json.status == .exited(0))
            #expect(access(file, F_OK) != 0)
        }

        @Test("a display that isn't there or isn't named is one line, and so is a window that isn't there")
        func display() throws {
            try expectFault(RunningProgram.anyPorts, on: nil, says: "DISPLAY is not set", "--display")
            try expectFault(RunningProgram.anyPorts, on: ":4747", says: "there is no X server", "':4747'")
            let screen = try VirtualScreen(Self.size)
            try expectFault(
                RunningProgram.anyPorts + ["--window", "Nobody's"], on: screen.name, says: "there is no window")
        }

        @Test("a display without DAMAGE is named with what that costs")
        func damage() throws {
            let screen = try VirtualScreen(Self.size, options: ["-extension", "DAMAGE"])
            try expectFault(RunningProgram.anyPorts, on: screen.name, says: "has no DAMAGE", "compared")
        }

        @Test("a display without shared memory is, too")
        func sharedMemory() throws {
            let screen = try VirtualScreen(Self.size, options: ["-extension", "MIT-SHM"])
            try expectFault(RunningProgram.anyPorts, on: screen.name, says: "has no MIT-SHM")
        }

        @Test("an X display of a Wayland session is named, because viewers would see only a part of the desktop")
        func wayland() throws {
            let screen = try VirtualScreen(Self.size)
            let environment = ["WAYLAND_DISPLAY": "wayland-0", "DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""]
            #expect(try ids(RunningProgram.anyPorts, on: screen.name, environment: environment) == ["wayland"])
        }

        @Test("a Wayland desktop whose bus isn't there is one line")
        func bus() throws {
            let environment = [
                "WAYLAND_DISPLAY": "wayland-0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + folder.file("none"),
            ]
            try expectFault(
                RunningProgram.anyPorts, on: nil, environment: environment, says: "--source wayland",
                "DBUS_SESSION_BUS_ADDRESS")
        }

        @Test("a memory limit that no capture of the screen keeps is named")
        func memory() throws {
            let screen = try VirtualScreen(Self.size)
            try expectFault(
                RunningProgram.anyPorts + ["--capture-memory", "1M"], on: screen.name, says: "--capture-memory is 1M",
                "640x480")
        }

        @Test("a limit of open files that a host can't raise enough is named with the viewers that it allows")
        func openFiles() throws {
            let screen = try VirtualScreen(Self.size)
            func prefix(_ limit: String) -> [String] { ["sh", "-c", "ulimit \(limit); exec \"$@\"", "sh"] }
            let few = try expectFault(
                RunningProgram.anyPorts, on: screen.name, prefix: prefix("-n 1024"), says: "only 1024 files open",
                "for 384 viewers", "LimitNOFILE=")
            #expect(few.first?.contains(" 384 of scrolling text") == true, "\(few)")
            let sound = try doctor(RunningProgram.anyPorts, on: screen.name, prefix: prefix("-S -n 300"))
            #expect(sound.lines == ["Nothing is wrong."])
        }

        @Test("the ports of a running host are taken, by a process with its number")
        func ports() throws {
            let screen = try VirtualScreen(Self.size)
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            let room = try #require(RoomLink(try host.printedLink()))
            try expectFault(
                ["--listen", "127.0.0.1:\(room.port)", "--udp-port", "0"], on: screen.name, says: "--listen",
                "port \(room.port)", "screenrelay (process \(host.child.processID))")
        }

        @Test("the ports of publishers are checked if the settings file sets them")
        func publisherPorts() throws {
            let screen = try VirtualScreen(Self.size)
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"), ["--rtmp", "0"])
            let place = try host.printed("Publishers over RTMP: rtmp://").prefix { $0 != "/" }
            let port = try #require(place.split(separator: ":").last)
            let settings = try folder.write("config", Array("[share]\nlisten=0\nudp-port=0\nrtmp=\(port)\n".utf8))
            try expectFault(
                ["--config", settings], on: screen.name, says: "--rtmp: TCP port \(port)",
                "screenrelay (process \(host.child.processID))")
        }

        @Test(
            "a TURN server that can't be reached, has another secret or another time is named",
            .enabled(if: TURNServer.isAvailable))
        func relay() throws {
            let screen = try VirtualScreen(Self.size)
            let right = try folder.write("right", Array("north\n".utf8))
            let wrong = try folder.write("wrong", Array("south\n".utf8))
            func options(_ port: UInt16, _ file: String) -> [String] {
                RunningProgram.anyPorts + ["--ice-server", "turn:127.0.0.1:\(port)", "--ice-secret-file", file]
            }
            let server = try TURNServer(["--secret", "north"])
            #expect(try doctor(options(server.port, right), on: screen.name).lines == ["Nothing is wrong."])
            try expectFault(
                options(server.port, wrong), on: screen.name, says: "turn:127.0.0.1:\(server.port)", "401", "secret")
            let free = try freePort()
            try expectFault(
                options(free, right), on: screen.name, says: "turn:127.0.0.1:\(free) can't be reached")
            let late = try TURNServer(["--secret", "north", "--clock", "-3600"])
            try expectFault(options(late.port, right), on: screen.name, says: "clock", "ahead")
        }

        @Test(
            "UDP that a firewall blocks is named with the port and the chain",
            .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
        func firewall() throws {
            let screen = try VirtualScreen(Self.size)
            let options = ["--lan", "--open", "--listen", "8080", "--udp-port", "8189"]
            let network = try LossyNetwork(rules: [
                "add chain inet loss in '{ type filter hook input priority 0; policy accept; }'",
                "add rule inet loss in udp dport 8189 drop",
            ])
            try expectFault(
                options, on: screen.name, prefix: network.prefix, says: "inet loss in drops", "UDP port 8189",
                "ufw allow 8189/udp")
            #expect(try ids(options, on: screen.name, prefix: network.prefix) == ["udp-blocked"])
            let stream = try LossyNetwork(rules: [
                "add chain inet loss in '{ type filter hook input priority 0; policy accept; }'",
                "add rule inet loss in tcp dport 8080 drop",
            ])
            #expect(try ids(options, on: screen.name, prefix: stream.prefix) == ["tcp-blocked"])
            let other = try LossyNetwork(losingFrom: 9)
            let sound = try doctor(options, on: screen.name, prefix: other.prefix)
            #expect(sound.lines == ["Nothing is wrong."])
        }

        @Test(
            "a machine on no network is named if the share is for others",
            .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
        func network() throws {
            let screen = try VirtualScreen(Self.size)
            let options = ["--lan", "--open", "--listen", "8080", "--udp-port", "8189"]
            let prefix = ["unshare"] + (geteuid() == 0 ? ["-n"] : ["-n", "-U", "-r"])
            #expect(try ids(options, on: screen.name, prefix: prefix) == ["network"])
        }

        @Test("a mistake in the options is the error that it is for share, and settings are share's")
        func options() throws {
            let screen = try VirtualScreen(Self.size)
            #expect(try doctor(["--listen", "nowhere"], on: screen.name).status == .exited(64))
            #expect(try doctor(["--push", "rtmp://live.example/app/key", "--list"], on: nil).status == .exited(64))
            let settings = try folder.write("config", Array("[share]\ncapture-memory=1M\nlisten=0\nudp-port=0\n".utf8))
            try expectFault(["--config", settings], on: screen.name, says: "--capture-memory is 1M")
        }
    }
}
