import CommandLine
import Glibc
import Pulling

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

    /// A server or a file, and the name of the track that shows it; nil for the first track.
    struct Source: Equatable, Sendable {
        let address: PullAddress
        let track: String?
    }

    let acceptsAnyCertificate: Bool
    let sources: [Source]

    /// Reads the options, and hides passwords from users who list processes.
    init(_ options: ParsedOptions) throws(UsageError) {
        let wanted = options.values("source")
        SecretArguments.hide(wanted)
        let label = options.place(of: "source") ?? "--source"
        acceptsAnyCertificate = options.has("insecure-source")
        var sources: [Source] = []
        for text in wanted {
            let (url, name) = TrackPlace.split(text)
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
            sources.append(Source(address: address, track: track))
        }
        // A mistake in the words comes first.
        for (url, _) in wanted.map(TrackPlace.split) where url.lowercased().hasPrefix("file:") {
            if access(String(url.dropFirst(5)), R_OK) == 0 { continue }
            let failure = errno
            throw UsageError(
                "\(label) \(url): \(String(cString: strerror(failure)))",
                exitCode: failure == EACCES ? .permission : .windowGone)
        }
        self.sources = sources
    }
}
