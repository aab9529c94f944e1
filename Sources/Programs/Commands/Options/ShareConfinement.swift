import CommandLine
import Glibc
import MediaTypes
import ScreenRelayKit

/// The options of `share` that restrict its capture process, and the confinement that they describe.
struct ShareConfinement {
    static let options = [
        Option(
            long: "capture-memory", value: .required("SIZE|none"),
            help:
                "restart capture if it uses more memory than this, 1M to 1T, for example 200M (default: more than "
                + "twice the usual amount for the screen's size)"),
        Option(
            long: "capture-user", value: .required("NAME"),
            help: "run capture as this user, with a copy of the display's credentials; only root can do this"),
        Option(
            long: "capture-unconfined",
            help:
                "allow the captures of screen and sound to start programs and open files, for crash reports, or for "
                + "PulseAudio with files in unusual places"),
    ].under(.captureProcess)

    /// The confinement that the supervisor starts the capture in.
    private(set) var confinement: CaptureConfinement
    /// The arguments to pass to the capture process.
    private(set) var arguments = ["--supervised"]

    init(_ options: ParsedOptions, _ capture: CaptureOptions) throws(UsageError) {
        let isDesktop = capture.system == .wayland
        confinement = CaptureConfinement(memory: try Self.memory(options, capture), sharesDesktop: isDesktop)
        if options.has("capture-unconfined") { arguments.append("--unconfined") }
        guard let name = try options.value("capture-user", as: .text) else { return }
        guard geteuid() == 0 else {
            throw UsageError(
                "--capture-user \(name): only root can run capture as another user; leave it out",
                exitCode: .permission)
        }
        guard getpwnam(name) != nil else { throw UsageError("--capture-user \(name): there is no such user") }
        if isDesktop {
            throw UsageError(
                "--capture-user \(name): a Wayland desktop shares its screen only with its own user; omit it, or use "
                    + "--source x11")
        }
        confinement.copiesCredentials = true
        arguments += ["--user", name]
    }

    static func memory(
        _ options: ParsedOptions, _ capture: CaptureOptions
    ) throws(UsageError) -> CaptureMemory {
        if options.value("capture-memory") == "none" { return .unlimited }
        if let size = try options.value("capture-memory", as: .byteCount) { return .bytes(size) }
        return .bySize(expectation(of: capture))
    }

    /// The factors that determine the memory use of a capture with these options.
    static func expectation(of capture: CaptureOptions) -> CaptureMemoryExpectation {
        var expectation = CaptureMemoryExpectation()
        expectation.hasFullChroma = capture.chroma != .yuv420
        switch capture.scale {
        case .percent(let percent):
            let share = Double(max(1, percent)) / 100
            expectation.pixelsReadForOneSent = 1 / (share * share)
        // The size of the captured area isn't known here, so allow for a large screen.
        case .within: expectation.minPixels = 3840 * 2160
        case .exactly(let size): expectation.minPixels = max(3840 * 2160, size.width * size.height)
        case nil: break
        }
        return expectation
    }
}
