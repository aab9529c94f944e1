import Glibc
import MediaTypes
import STUN
import ScreenRelayKit
import SecureTransport
import Signalling
import TestSupport
import Testing

@testable import Diagnosis

/// What can be checked on this machine alone.
@Suite("Checks of this machine")
struct LocalCheckTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    @Test("a taken port is named with the program that has it")
    func ports() throws {
        var plan = SharePlan()
        plan.listen = [ListenAddress(address: "127.0.0.1", port: 0)]
        #expect(PortCheck(plan: plan).findings() == [])

        let stream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(stream) }
        let taken = try bindToLoopback(stream)
        #expect(listen(stream, 1) == 0)
        plan.listen = [ListenAddress(address: "127.0.0.1", port: taken)]
        let http = PortCheck(plan: plan).findings()
        #expect(http.map(\.id) == ["http-port"])
        #expect(http.first?.line.contains("(process \(getpid()))") == true)

        plan.listen = []
        plan.mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: taken)
        #expect(PortCheck(plan: plan).findings().map(\.id) == ["tcp-port"])

        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(datagrams) }
        let port = try bindToLoopback(datagrams)
        plan.mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: port)
        let udp = PortCheck(plan: plan).findings()
        #expect(udp.map(\.id) == ["udp-port"])
        #expect(udp.first?.line.contains("(process \(getpid()))") == true)
    }

    @Test(
        "the port of each other server is named if it is taken, or also that of --udp-port",
        arguments: [
            ("rtsp", \.rtsp), ("rtmp", \.rtmp), ("srt", \.srt),
        ] as [(String, any WritableKeyPath<SharePlan, ListenAddress?> & Sendable)])
    func serverPorts(_ option: String, _ address: any WritableKeyPath<SharePlan, ListenAddress?> & Sendable) throws {
        var plan = SharePlan()
        let type = option == "srt" ? SOCK_DGRAM : SOCK_STREAM
        let holder = socket(AF_INET, Int32(type.rawValue), 0)
        defer { close(holder) }
        plan[keyPath: address] = ListenAddress(address: "127.0.0.1", port: try bindToLoopback(holder))
        if option != "srt" { #expect(listen(holder, 1) == 0) }
        let taken = PortCheck(plan: plan).findings()
        #expect(taken.map(\.id) == ["\(option)-port"])
        #expect(taken.first?.line.contains("(process \(getpid()))") == true)

        let free = try freePort()
        plan[keyPath: address] = ListenAddress(address: "127.0.0.1", port: free)
        #expect(PortCheck(plan: plan).findings() == [])
        plan.mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: free)
        let twice = PortCheck(plan: plan).findings()
        #expect(twice.map(\.id) == ["\(option)-port"])
        #expect(twice.first?.line.contains("is also that of --udp-port") == true)
    }

    @Test("a port that the options give twice is named")
    func portsTogether() throws {
        let free = try freePort()
        var plan = SharePlan()
        plan.listen = [ListenAddress(address: "127.0.0.1", port: free)]
        plan.rtsp = ListenAddress(address: "127.0.0.1", port: free)
        let twice = PortCheck(plan: plan).findings()
        #expect(twice.map(\.id) == ["rtsp-port"] && twice.first?.line.contains("also that of --listen") == true)

        plan.listen = []
        plan.rtmp = plan.rtsp
        let both = PortCheck(plan: plan).findings()
        #expect(both.map(\.id) == ["rtmp-port"] && both.first?.line.contains("also that of --rtsp") == true)
    }

    @Test("a file with a secret must be its user's alone; one that isn't there is made later")
    func files() throws {
        let file = try folder.write("token", Array("x".utf8))
        func ids(_ files: [String], _ folders: [String] = []) -> [String] {
            FileCheck(files: files, folders: folders).findings().map(\.id)
        }
        #expect(ids([file, folder.file("none")]) == [])
        chmod(file, 0o640)
        let open = FileCheck(files: [file], folders: []).findings()
        #expect(open.map(\.id) == ["file-mode"])
        #expect(open.first?.line.contains("0640") == true && open.first?.todo.contains("chmod 600 \(file)") == true)
        #expect(ids([folder.path]) == ["file"])

        #expect(ids([], [folder.path, folder.file("a/b")]) == [])
        chmod(folder.path, 0o777)
        #expect(ids([], [folder.path]) == ["folder-mode"])
        chmod(folder.path, 0o700)
        #expect(ids([], [file]) == ["folder"])
    }

    @Test("a file or a folder of another user is named with its owner", .enabled(if: geteuid() == 0))
    func owners() throws {
        let file = try folder.write("token", Array("x".utf8))
        #expect(chown(file, 4747, 4747) == 0 && chown(folder.path, 4747, 4747) == 0)
        let found = FileCheck(files: [file], folders: [folder.path]).findings()
        #expect(found.map(\.id) == ["file-owner", "folder-owner"])
        #expect(found.allSatisfy { $0.what.contains("belongs to user 4747") && $0.todo.contains("chown") })
    }

    @Test("a limit below what pictures of the screen's size take is named, with one that does")
    func memory() throws {
        let size = PictureSize(width: 1920, height: 1080)
        let own = try folder.write("own", Array("0::/user/service\n".utf8))
        let information = try folder.write("meminfo", Array("MemTotal: 9 kB\nMemAvailable:    8000000 kB\n".utf8))
        func findings(_ plan: SharePlan, _ information: String) -> [Finding] {
            MemoryCheck(plan: plan, size: size, groups: (folder.path, own), information: information).findings()
        }
        var plan = SharePlan()
        #expect(findings(plan, information) == [])
        plan.captureMemory = .bytes(1_000_000)
        let low = findings(plan, information)
        #expect(low.map(\.id) == ["capture-memory"])
        #expect(low.first?.line.contains("--capture-memory is 1M") == true)
        plan.captureMemory = .bytes(200_000_000)
        #expect(findings(plan, information) == [])

        mkdir(folder.file("user"), 0o700)
        try folder.write("user/memory.max", Array("max\n".utf8))
        #expect(findings(plan, information) == [])
        try folder.write("user/memory.max", Array("50000000\n".utf8))
        let group = findings(plan, information)
        #expect(group.map(\.id) == ["memory"])
        #expect(group.first?.line.contains("control group /user ") == true)
        try folder.write("user/memory.max", Array("500000000\n".utf8))
        let full = try folder.write("full", Array("MemAvailable: 9000 kB\n".utf8))
        #expect(findings(plan, full).map(\.id) == ["memory"])
    }

    @Test("limits of the process that are too low are named")
    func limits() {
        #expect(LimitCheck(files: 8448, addresses: .max).findings() == [])
        let few = LimitCheck(files: 1024, addresses: .max).findings()
        #expect(few.map(\.id) == ["open-files"])
        #expect(few.first?.line.contains("only 1024 files open, enough for 384 viewers") == true)
        #expect(few.first?.todo.contains("for 4096 viewers, raise the hard limit to 8448") == true)
        #expect(LimitCheck(files: 64, addresses: .max).findings().first?.what.hasSuffix("for 0 viewers") == true)
        #expect(LimitCheck(files: .max, addresses: 1 << 28).findings().map(\.id) == ["address-space"])
    }

    @Test(
        "a clock that is an hour off shows by the hardware clock or by files, unless the kernel says that it is right")
    func clock() throws {
        let file = try folder.write("token", Array("x".utf8))
        var plan = SharePlan()
        plan.secretFiles = [file]
        let now = Int(time(nil))
        let hardware = try folder.write("rtc", Array("\(now)\n".utf8))
        let kind = try folder.write("adjtime", Array("0.0 0 0\n0\nUTC\n".utf8))
        func findings(_ offset: Int, isSynchronized: Bool = false, hardware: String) -> [Finding] {
            ClockCheck(
                plan: plan, now: now + offset, isSynchronized: isSynchronized, hardware: (hardware, kind), touched: []
            ).findings()
        }
        #expect(findings(0, hardware: hardware) == [])
        #expect(findings(600, hardware: hardware) == [])
        let ahead = findings(3600, hardware: hardware)
        #expect(ahead.map(\.id) == ["clock"])
        #expect(ahead.first?.what.contains("60 minutes ahead of its hardware clock") == true)
        #expect(findings(3600, isSynchronized: true, hardware: hardware) == [])
        let behind = findings(-3600, hardware: folder.file("none"))
        #expect(behind.map(\.id) == ["clock"])
        #expect(behind.first?.what.hasPrefix("\(file) was changed") == true)
        try folder.write("adjtime", Array("0.0 0 0\n0\nLOCAL\n".utf8))
        #expect(findings(7200, hardware: hardware) == [])
    }

    @Test("a certificate that has expired is named, and one that isn't valid yet as a wrong clock")
    func certificates() throws {
        let key = try folder.write("key", Array(DatedCertificates.key.utf8))
        func ids(_ text: String, isSynchronized: Bool) throws -> [String] {
            let file = try folder.write("certificate", Array(text.utf8))
            var plan = SharePlan()
            plan.certificate = try ServerCertificate(certificateFile: file, keyFile: key)
            let check = ClockCheck(
                plan: plan, now: Int(time(nil)), isSynchronized: isSynchronized,
                hardware: (folder.file("none"), folder.file("none")), touched: [])
            return check.findings().map(\.id)
        }
        for isSynchronized in [false, true] {
            #expect(try ids(DatedCertificates.expired, isSynchronized: isSynchronized) == ["certificate"])
            #expect(try ids(DatedCertificates.early, isSynchronized: isSynchronized) == ["clock"])
        }
    }

    @Test("a library of a version with a known fault is named with the version that has it no more")
    func libraries() {
        func lines(_ version: [Int]) -> [String] {
            LibraryCheck(needsTLS: false, versions: ["OpenSSL": version]).findings().map(\.line)
        }
        #expect(lines([3, 0, 7]) == [] && lines([1, 1, 1]) == [] && lines([3, 3, 0]) == [])
        #expect(lines([3, 0, 2]).first?.contains("3.0.7 or later") == true)
        #expect(LibraryCheck(needsTLS: true, versions: [:], hasTLS: false).findings().map(\.id) == ["library"])
        #expect(LibraryCheck(needsTLS: true).findings() == [])
    }

    @Test("a report of a display says what the display lacks")
    func display() {
        let check = DisplayCheck(plan: SharePlan())
        #expect(check.findings(in: "size 640 480\n") == [])
        #expect(
            check.findings(in: "size 640 480\nlacks DAMAGE\nlacks MIT-SHM\n").map(\.id) == [
                "display-damage", "display-mit-shm",
            ])
        #expect(
            check.findings(in: "size 640 480\nlacks XFIXES\nlacks RANDR\nlacks XInputExtension\n").map(\.id) == [
                "display-xfixes", "display-randr", "display-xinputextension",
            ])
        #expect(check.findings(in: "size 640 480\nremote\n").map(\.id) == ["display-remote"])
        let locks = check.findings(in: "size 640 480\nunnoticed session\n")
        #expect(locks.map(\.id) == ["display-lock"])
        #expect(
            locks.first?.what
                == "--pause-when-locked notices screen lockers with their own windows and the X server's "
                + "screen saver, but not what a desktop such as GNOME tells logind, which knows no login session of the "
                + "display")
        #expect(check.findings(in: "size 640 480\nunnoticed session\nunnoticed saver\n").map(\.id) == ["display-lock"])
        #expect(check.findings(in: "").map(\.id) == ["capture-program"])
    }

    @Test("a report of a Wayland desktop says whether PipeWire is there")
    func desktop() {
        let check = DisplayCheck(plan: SharePlan())
        #expect(check.desktopFindings(in: "sources monitor, window\n") == [])
        for part in ["PipeWire", "WirePlumber"] {
            #expect(check.desktopFindings(in: "sources monitor\nlacks \(part)\n").map(\.id) == ["pipewire"])
        }
        #expect(check.desktopFindings(in: "size 640 480\n").map(\.id) == ["capture-program"])
    }

    @Test("a report of a sound server says which devices are missing, and nothing is asked if none is wanted")
    func sound() {
        var plan = SharePlan()
        #expect(SoundCheck(plan: plan).findings() == [])
        plan.soundSource = "both"
        let check = SoundCheck(plan: plan)
        #expect(check.findings().map(\.id) == ["sound-program"])
        #expect(check.findings(in: "has sink\nhas microphone\n") == [])
        #expect(
            check.findings(in: "lacks sink\nlacks microphone\n").map(\.id) == ["sound-sink", "sound-microphone"])
        let other = check.findings(in: "has sink\nother microphone mic 1\n")
        #expect(other.map(\.id) == ["sound-microphone"])
        #expect(other.first?.todo.contains("pactl set-default-source mic 1") == true)
        #expect(check.findings(in: "").map(\.id) == ["sound-program"])
    }

    @Test("a report of a browser says what the browser lacks")
    func browser() {
        #expect(BrowserCheck.findings(in: "webrtc h264 webcodecs secure") == [])
        #expect(BrowserCheck.findings(in: "webrtc webcodecs").map(\.id) == ["browser-h264"])
        #expect(BrowserCheck.findings(in: "").map(\.id) == ["browser-webrtc"])
    }

    @Test("a browser that can't be opened is named, as is one that doesn't report")
    func silentBrowser() {
        var link = ""
        let missing = BrowserCheck(program: folder.file("none"), timeout: .seconds(30)).findings { link = $0 }
        #expect(missing.map(\.id) == ["browser"])
        #expect(link.hasPrefix("http://127.0.0.1:"))
        // Nobody opens the page.
        let silent = BrowserCheck(program: nil, timeout: .zero).findings { _ in }
        #expect(silent.map(\.id) == ["browser"])
    }

    @Test("checks run side by side, and one that doesn't end is a finding")
    func checks() throws {
        let (reading, writing) = try makePipe()
        defer { close(reading) }
        let stuck = Check(of: "the pipe") {
            var byte: UInt8 = 0
            _ = read(reading, &byte, 1)
            return []
        }
        let other = Check(of: "the other") { [Finding("other", "it is wrong", todo: "mend it")] }
        let found = Check.run([stuck, other], within: .seconds(3))
        #expect(found.map(\.id) == ["unfinished", "other"])
        #expect(found.first?.line.contains("the pipe") == true)
        #expect(
            found.suffix(1).map { $0 }.json(with: ViewerCapacity(processors: 2, files: 1024))
                == "{\"findings\":[{\"id\":\"other\",\"what\":\"it is wrong\",\"todo\":\"mend it\"}],"
                + "\"capacity\":{\"processors\":2,\"sessions\":384,"
                + "\"viewersOfText\":384,\"viewersInMotion\":270}}")
        // Let the check end before the descriptor is closed.
        close(writing)
    }
}
