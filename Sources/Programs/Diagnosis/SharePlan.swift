import MediaTypes
public import STUN
public import ScreenRelayKit
public import SecureTransport
public import Signalling

/// The requirements of a share with the user's options, as far as they can be checked before.
public struct SharePlan: Sendable {
    /// The program that captures, or nil if it isn't installed beside this one.
    public var captureProgram: String?
    /// The options with which it would capture.
    public var captureArguments: [String] = []
    /// Whether the desktop of a Wayland session would be shared instead of a display.
    public var isDesktop = false
    /// The display that the options name, or nil for the display in the variable DISPLAY.
    public var display: String?
    /// The sound that would be shared, as a value of `screenrelay-sound --source`, or nil for none.
    public var soundSource: String?
    /// The program that captures sound, or nil if it isn't installed beside this one.
    public var soundProgram: String?
    /// How much memory the capture may use.
    public var captureMemory = CaptureMemory.bySize(CaptureMemoryExpectation())
    /// The factors that determine the capture's memory use.
    public var expectation = CaptureMemoryExpectation()
    /// Where HTTP would be served.
    public var listen: [ListenAddress] = []
    /// Where RTSP would be served; nil if it wouldn't be.
    public var rtsp: ListenAddress?
    /// Where publishers over RTMP would be accepted; nil if none would be.
    public var rtmp: ListenAddress?
    /// Where publishers over SRT would be accepted; nil if none would be.
    public var srt: ListenAddress?
    /// The UDP port of all viewers, and its address.
    public var mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: 0)
    /// Whether other machines are to reach it.
    public var isOpenToNetwork = false
    /// The STUN and TURN servers that viewers would receive.
    public var iceServers: [ICEServer] = []
    /// The certificate for HTTPS that was given.
    public var certificate: ServerCertificate?
    /// Whether a certificate would be made otherwise.
    public var makesCertificate = false
    /// Files that only this user may be able to read, if they are there.
    public var secretFiles: [String] = []
    /// Folders in which files of this user are created, if need be with the folders above them.
    public var ownFolders: [String] = []

    /// A plan of which nothing is known yet.
    public init() {}

    /// The problems that keep viewers from hearing anything. Takes up to 8 s.
    public func soundFindings() -> [Finding] { SoundCheck(plan: self).findings() }

    /// The checks of the requirements.
    ///
    /// - Parameter now: the wall clock's time, in seconds since 1970.
    public func checks(now: Int) -> [Check] {
        var checks = [
            Check(of: "the display") { DisplayCheck(plan: self).findings() },
            Check(of: "the sound") { SoundCheck(plan: self).findings() },
            Check(of: "the ports") { portFindings() },
        ]
        checks += iceServers.map { server in
            Check(of: server.url) { ICEServerCheck(server, now: now).findings() }
        }
        checks += [
            Check(of: "the clock") { ClockCheck(plan: self, now: now).findings() },
            Check(of: "the files") { FileCheck(files: secretFiles, folders: ownFolders).findings() },
            Check(of: "the limits") { LimitCheck().findings() },
            Check(of: "the libraries") { LibraryCheck(needsTLS: needsTLS).findings() },
        ]
        return checks
    }

    /// A rule that drops packets to a port, or the datagrams that don't arrive: one of the two findings is enough.
    private func portFindings() -> [Finding] {
        let rules = isOpenToNetwork ? FirewallCheck(plan: self).findings() : []
        let known = rules.map(\.id)
        return PortCheck(plan: self).findings().filter { !known.contains($0.id) } + rules
    }

    private var needsTLS: Bool { certificate != nil || makesCertificate || iceServers.contains { $0.scheme == .turns } }
}
