import Glibc
import H264
import Ingest
import MediaTypes
import Opus
import RoomConnections
import TestSupport
import Testing
import Threading

@testable import Viewing

/// Each test runs in a process of its own, whose descriptors, threads and memory no other test changes.
@Suite("A viewer's window, opened and closed many times in one process")
struct WindowRoundsTests {
    /// `Tools/soak view` asks for more.
    private static let count =
        getenv("SCREENRELAY_VIEWS").flatMap { Int(String(cString: $0)) }.map { max(6, min($0, 2000)) } ?? 6
    private static let size = PictureSize(width: 176, height: 144)

    /// The folder of the recording and of the sound's server.
    private let folder: TemporaryFolder
    private let recording: String

    init() throws {
        folder = try TemporaryFolder()
        recording = try Self.makeRecording(folder.file("viewed.srr"))
    }

    /// Records two minutes: five pictures per second, each with a packet of silence.
    private static func makeRecording(_ path: String) throws -> String {
        let recorder = try LinkRecorder(path: path, log: EventLog { _, _ in })
        let start = now()
        var recording = ViewRecording(recorder, at: start)
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        // CELT, 20 ms, mono (RFC 6716 section 3.1).
        let silence = try #require(CodedFrame(opus: [0xF8, 0xFF, 0xFE], captureTime: nil))
        for index in 0..<600 {
            let time = start + .milliseconds(200 * Int64(index))
            recording.record(
                ReceivedFrame(coded: pictures[index % pictures.count], codec: .h264, arrival: time))
            recording.record(ReceivedFrame(coded: silence, codec: .opus, arrival: time))
        }
        #expect(recorder.close(within: .seconds(60)))
        return path
    }

    /// A server for the sound, if it and the program that plays are there.
    private func soundServer() throws -> (program: String, server: PulseServer)? {
        guard PulseServer.isAvailable, let program = builtProgram("screenrelay-sound") else { return nil }
        return (program, try PulseServer(in: folder))
    }

    private func report(_ result: ExitTest.Result?) {
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self), terminator: "")
    }

    @Test(
        "on X11 leaves no descriptor, thread, shared memory or other memory behind",
        .enabled(if: VirtualScreen.isAvailable && FFmpeg.isAvailable), .timeLimit(.minutes(60)))
    func onX11() async throws {
        let screen = try VirtualScreen(Self.size)
        defer { screen.close() }
        let sound = try soundServer()
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [
                recording = recording as String, display = screen.name as String, server = screen.processID as Int32,
                program = sound?.program as String?, address = sound?.server.address as String?,
                count = Self.count as Int, width = Self.size.width as Int, height = Self.size.height as Int
            ] in
            let sound = program.flatMap { program in address.map { (program: program, server: $0) } }
            let setting = WindowRounds.Setting(recording: recording, sound: sound, count: count)
            #expect(throws: Never.self) {
                try WindowRounds.onX11(display, server, size: PictureSize(width: width, height: height), setting)
            }
        }
        report(result)
        withExtendedLifetime((sound, folder)) {}
    }

    @Test(
        "on Wayland leaves no descriptor, thread, shared memory or other memory behind",
        .enabled(if: WaylandDesktop.isAvailable && FFmpeg.isAvailable), .timeLimit(.minutes(60)))
    func onWayland() async throws {
        let sound = try soundServer()
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [
                recording = recording as String, program = sound?.program as String?,
                address = sound?.server.address as String?, count = Self.count as Int
            ] in
            let sound = program.flatMap { program in address.map { (program: program, server: $0) } }
            let setting = WindowRounds.Setting(recording: recording, sound: sound, count: count)
            #expect(throws: Never.self) { try WindowRounds.onWayland(setting) }
        }
        report(result)
        withExtendedLifetime((sound, folder)) {}
    }
}
