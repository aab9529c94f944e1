import CommandLine
import ScreenRelayKit
import Signalling

/// `--track-text [ROOM/]NAME=TEXT` and `--track-data [ROOM/]NAME=JSON`: what viewers and `/api` learn of a track.
struct TagOption {
    static let options = [
        Option(
            long: "track-text", value: .required("[ROOM/]NAME=TEXT"),
            help:
                "a short text for viewers about a track, up to 200 characters, for example 'screen=Slides'; the first "
                + "track is called screen, and with share, NAME can only be screen; may be repeated", repeats: true),
        Option(
            long: "track-data", value: .required("[ROOM/]NAME=JSON"),
            help:
                "data for programs about a track: a JSON value of up to 1024 bytes, for example 'screen={\"seat\":4}'; "
                + "with share, NAME can only be screen; may be repeated", repeats: true),
    ].under(.source)

    private var tags: [(room: String, track: String, tag: TrackTag, label: String)] = []

    /// - Parameter room: the room of tracks for which none is named.
    init(_ options: ParsedOptions, room: String) throws(UsageError) {
        var texts: [String: String] = [:]
        var values: [String: JSONValue] = [:]
        for text in options.values("track-text") {
            let (place, value) = try Self.split(text, "--track-text", room)
            texts[place] = value
        }
        for text in options.values("track-data") {
            let (place, json) = try Self.split(text, "--track-data", room)
            guard let value = JSONValue(parsing: json) else {
                throw UsageError("--track-data \(text): not JSON; write it like screen={\"seat\":4}")
            }
            values[place] = value
        }
        for place in Set(texts.keys).union(values.keys).sorted() {
            let words = place.split(separator: "/", maxSplits: 1).map(String.init)
            let label = texts[place] == nil ? "--track-data \(place)" : "--track-text \(place)"
            do throws(TrackTagError) {
                let tag = try TrackTag(text: texts[place], data: values[place])
                tags.append((words[0], words[1], tag, label))
            } catch {
                throw UsageError("\(label): \(error)")
            }
        }
    }

    /// Gives the tracks of `host` their tags. Returns what is wrong with the first one that isn't there.
    func apply(to host: ScreenRelayHost) -> String? {
        for (room, name, tag, label) in tags {
            guard let track = host.track(name, in: room) else { return "\(label): there is no such track" }
            track.setTag(tag)
        }
        return nil
    }

    /// `desk2=TEXT` or `attic/desk2=TEXT`
    private static func split(
        _ text: String, _ label: String, _ room: String
    ) throws(UsageError) -> (place: String, value: String) {
        guard let end = text.firstIndex(of: "="), end > text.startIndex else {
            throw UsageError("\(label) \(text): names no track; write it like screen=... or ROOM/NAME=...")
        }
        let words = text[..<end].split(separator: "/", omittingEmptySubsequences: false)
        guard words.count <= 2, !words.contains("") else {
            throw UsageError("\(label) \(text): names no track; write it like screen=... or ROOM/NAME=...")
        }
        let place = words.count == 2 ? String(text[..<end]) : "\(room)/\(words[0])"
        return (place, String(text[text.index(after: end)...]))
    }
}
