import CommandLine
import Glibc
import Pulling
import ScreenRelayKit
import Threading

/// `--source URL[,track=NAME]`: a server or a file whose pictures and sound are a track.
struct SourceOption {
    static let option = Option(
        long: "source", value: .required("URL"),
        help:
            "read a track's video and sound from rtsp://HOST/PATH, rtsps://, rtmp://, rtmps://, srt://HOST:PORT or "
            + "file:NAME instead of a capture: H.264 and Opus unchanged, other codecs re-encoded; ',track=NAME' at the "
            + "end adds a track of that name, without it the first track is used; the URL is shown without its user "
            + "and path; may be repeated",
        repeats: true, alsoSoughtAs: ["camera", "input", "pull", "ingest"], isSecret: true)

    static let anyCertificate = Option(
        long: "insecure-source",
        help:
            "read rtsps sources without verifying their certificates; an attacker on the path can read and modify the "
            + "stream")

    private let acceptsAnyCertificate: Bool
    private let sources: [(address: PullAddress, track: String?)]

    /// What the first track shows; nil if a capture is its source.
    var first: PullAddress? { sources.first { $0.track == nil }?.address }

    /// Reads the options, and hides passwords from users who list processes.
    init(_ options: ParsedOptions) throws(UsageError) {
        let wanted = options.values("source")
        SecretArguments.hide(wanted)
        let label = options.place(of: "source") ?? "--source"
        acceptsAnyCertificate = options.has("insecure-source")
        var sources: [(address: PullAddress, track: String?)] = []
        for text in wanted {
            let (url, name) = Self.split(text)
            let track = try name.map { (name) throws(UsageError) in
                try ValueFormat<String>.roomName.read(name, option: "--source: track=")
            }
            guard !sources.contains(where: { $0.track == track }) else {
                throw UsageError(
                    "\(label): two sources are for \(track.map { "the track \($0)" } ?? "the first track")")
            }
            let address: PullAddress
            do throws(PullError) {
                address = try PullAddress(url)
            } catch {
                throw UsageError("\(label): \(error)")
            }
            guard acceptsAnyCertificate || !address.takesAnyCertificate else {
                throw UsageError(
                    "\(label): an rtsps server's certificate can't be verified; add --insecure-source to read from it "
                        + "anyway")
            }
            guard options.has("lan") || !address.listensToOthers else {
                throw UsageError(
                    "\(label): other machines can reach the address that it waits at; write "
                        + "srt://127.0.0.1:PORT?mode=listener, or add --lan if they may")
            }
            sources.append((address, track))
        }
        // A mistake in the words comes first.
        for (url, _) in wanted.map(Self.split) where url.lowercased().hasPrefix("file:") {
            if access(String(url.dropFirst(5)), R_OK) == 0 { continue }
            let failure = errno
            throw UsageError(
                "\(label) \(url): \(String(cString: strerror(failure)))",
                exitCode: failure == EACCES ? .permission : .windowGone)
        }
        self.sources = sources
    }

    private static func split(_ text: String) -> (url: String, track: String?) {
        let mark = ",track="
        var index = text.endIndex
        while index > text.startIndex {
            index = text.index(before: index)
            if text[index...].hasPrefix(mark) {
                return (String(text[..<index]), String(text[index...].dropFirst(mark.count)))
            }
        }
        return (text, nil)
    }

    /// Begins to read all of them; they end when they are released. A file that is of no use ends the host.
    func start(_ host: ScreenRelayHost, _ end: EndSignals, log: EventLog) throws(HostError) -> [Pull] {
        var pulls: [Pull] = []
        for (address, name) in sources {
            let track =
                if let name, name != host.firstTrack.name { try host.addTrack(name, to: host.room) } else {
                    host.firstTrack
                }
            do throws(PullError) {
                let isOfUse = Flag()
                var settings = Pull.Settings()
                settings.acceptsAnyCertificate = acceptsAnyCertificate
                let pull = try Pull(address, into: track, settings: settings, log: log) { event in
                    switch event {
                    case .connected: isOfUse.set()
                    case .failed(let reason) where address.isFile && !isOfUse.isSet:
                        end.end(with: Program.fail("--source \(address) \(reason)", .badData))
                    case .ended, .failed: break
                    }
                }
                pulls.append(pull)
            } catch {
                throw .system("--source \(address): \(error)")
            }
        }
        return pulls
    }
}
