import ByteCoding
import CaptureLink
import FoundationEssentials
import Ingest
import MediaTypes
import ScreenRelayKit
import Signalling
import TrackHub

/// The status for programs.
extension StatusReport {
    /// The most tracks in the JSON object.
    private static let trackLimit = 16
    /// The most links in it.
    private static let linkLimit = 8

    /// The status as one JSON object (RFC 8259) without line feeds.
    var json: String {
        var object = JSONObject()
        object.add("process", process)
        object.add("state", state.word)
        object.add("what", beginning(of: what))
        object.add("room", room)
        object.add("viewers", viewers)
        object.add("muted", isMuted)
        object.add("microphoneMuted", isMicrophoneMuted)
        object.add("pointing", allowsPointing)
        object.add("chat", allowsChat)
        object.add("narrowViewers", lowLayerViewers.count)
        object.add("tcpViewers", metrics.tcpViewers)
        object.add("mediaLagNanoseconds", metrics.mediaLag.nanoseconds)
        object.add("overloaded", metrics.isOverloaded)
        object.add("links", Array(links.links.prefix(Self.linkLimit)))
        object.add("expires", links.expires?.formatted(.iso8601))
        object.add("fingerprint", links.fingerprint)
        if let administration {
            object.add(
                "api",
                JSONObject {
                    $0.add("url", administration.url)
                    $0.add("tokenFile", administration.tokenFile.map(beginning(of:)))
                })
        }
        object.add("maxPicturesPerSecond", limits.frameRate.map { $0.millihertz / 1000 })
        object.add("maxBitsPerSecond", limits.bitRate?.bitsPerSecond)
        object.add("roundTripNanoseconds", timing?.roundTrip.nanoseconds)
        object.add("clockOffsetNanoseconds", timing?.clockOffset.nanoseconds)
        object.add("recording", tracks.first?.recording.map(jsonObject(of:)))
        addDoors(to: &object)
        let list = tracks.prefix(Self.trackLimit).map { track in
            JSONObject {
                $0.add("room", track.room)
                $0.add("name", track.name)
                $0.add("state", track.state.word)
                $0.add("viewers", track.viewers)
                $0.add("sound", track.soundWord)
                $0.add("listeners", track.listeners)
                $0.add("recording", track.recording.map(jsonObject(of:)))
                guard let publication = track.publication else { return }
                $0.add("publishedOver", publication.transport.rawValue)
                $0.add("reencoded", publication.isReencoded)
            }
        }
        object.add("tracks", list)
        if let joins { object.add("joins", Array(joins.objects.prefix(Self.joinLimit))) }
        if !pushes.isEmpty { object.add("pushes", pushes.map(\.object)) }
        let stages = JSONObject { object in
            for (stage, times) in metrics.namedStages where times.count > 0 {
                object.add(
                    stage,
                    JSONObject {
                        $0.add("pictures", times.count)
                        $0.add("medianNanoseconds", times.quantile(0.5)?.nanoseconds)
                        $0.add("p95Nanoseconds", times.quantile(0.95)?.nanoseconds)
                    })
            }
        }
        object.add("stages", stages)
        object.add("capture", capture?.object)
        return object.text
    }

    /// The beginning of a text, so that the answer stays within its limit however long a window's title is.
    func beginning(of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(256)))
    }
}
