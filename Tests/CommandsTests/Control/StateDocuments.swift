import CaptureLink
import Foundation
import ScreenRelayKit
import Signalling
import Testing

/// States of hosts as documents for programs, each with a name.
enum StateDocuments {
    static let statuses: [(name: String, document: StatusDocument)] = [
        ("waiting", status { _ in }),
        ("live", live { _ in }),
        ("one-viewer", live { $0.viewers = 1 }),
        ("paused", live { $0.state = "paused" }),
        ("locked-screen", live { $0.state = "locked" }),
        ("hidden-window", live { $0.state = "hidden" }),
        ("gone", live { $0.state = "gone" }),
        ("control-characters", live { $0.what = "sharing window 'a\u{1B}[2J\nb; link: x'" }),
        (
            "source",
            status {
                $0.state = "live"
                $0.what = "showing rtmp://live.example/app/..."
                $0.source = "source"
            }
        ),
        (
            "source-gone",
            status {
                $0.state = "gone"
                $0.source = "source"
            }
        ),
        ("three-tracks", live { $0.addTracks(3) }),
        ("many-tracks", live { $0.addTracks(20) }),
        (
            "published",
            live {
                $0.addTracks(2)
                $0.tracks[1].publishedOver = "RTSP"
                $0.tracks[1].reencoded = true
                $0.tracks[1].publication = "H.264 of 64x48, encoded again"
            }
        ),
        ("sound", live { $0.tracks[0].sound = "live" }),
        ("idle-sound", live { $0.tracks[0].sound = "idle" }),
        (
            "muted",
            live {
                $0.tracks[0].sound = "muted"
                $0.muted = true
                $0.microphoneMuted = true
            }
        ),
        (
            "no-pointing-no-chat",
            live {
                $0.pointing = false
                $0.chat = false
            }
        ),
        ("narrow-viewers", live { $0.addNarrowPaths(2, of: 2) }),
        ("many-narrow-viewers", live { $0.addNarrowPaths(8, of: 9) }),
        (
            "limits",
            live {
                $0.maxPicturesPerSecond = 10
                $0.maxBitsPerSecond = 600_000
            }
        ),
        (
            "ignored-limits",
            live {
                $0.maxPicturesPerSecond = 10
                $0.maxBitsPerSecond = 1_500_000
                $0.ignoredLimits = ["maxPicturesPerSecond", "maxBitsPerSecond"]
            }
        ),
        (
            "over-tcp",
            live {
                $0.tcpViewers = 1
                $0.roundTripNanoseconds = 1_250_000
                $0.clockOffsetNanoseconds = -3_000_000
            }
        ),
        (
            "recordings",
            live {
                $0.addTracks(2)
                $0.addRecording("/srv/talk.srr", to: 0)
                $0.addRecording("/srv/" + String(repeating: "a long name ", count: 20) + "é.srr", to: 1)
                $0.tracks[1].recording?.missingMessages = 3
                $0.tracks[1].recording?.stopped = "the disk is full; make room"
            }
        ),
        ("joins", live { $0.addJoins() }),
        (
            "pushes",
            live {
                $0.pushes = pushes[1].document.pushes + pushes[2].document.pushes
                $0.pushes?[0].reason = "no answer; again soon"
            }
        ),
        (
            "locked-and-waiting",
            live {
                $0.locked = ["screen", "attic"]
                $0.waiting = 10
                $0.waitingClients = (1...8).map {
                    .init(room: "screen", id: "id-\($0)", name: $0 == 1 ? nil : "Ann \($0)", address: "10.0.0.\($0)")
                }
                $0.waitingClients?[1].name = "Eve; link: http://evil/#a\u{1B}[2J\u{202E}"
            }
        ),
        (
            "links",
            live {
                $0.links = ["https://10.0.0.7:8443/#screen,t", "https://relay.example:8443/#screen,t"]
                $0.expires = Date(timeIntervalSince1970: 4_102_444_800)
                $0.fingerprint = "0A:1B:2C"
                $0.api = .init(url: "https://10.0.0.7:8443/api", tokenFile: "/home/ann/api.token")
            }
        ),
        ("expired", live { $0.expires = Date(timeIntervalSince1970: 1_000_000_000) }),
        (
            "overloaded",
            live {
                $0.mediaLagNanoseconds = 120_500_000
                $0.overloaded = true
            }
        ),
        (
            "stages",
            live {
                for (index, name) in ["waiting", "encoding", "link", "sending"].enumerated() {
                    $0.stages[name] = .init(
                        pictures: 7, medianNanoseconds: Int64(index + 1) * 1_100_000, p95Nanoseconds: 9_000_000)
                }
            }
        ),
        ("capture-counts", live { $0.capture = capture(pictures: 1, milliseconds: 8) }),
        ("capture-averages", live { $0.capture = capture(pictures: 30, milliseconds: 1000) }),
        ("capture-at-rest", live { $0.capture = capture(pictures: 0, milliseconds: 2500) }),
    ]

    static let pushes: [(name: String, document: PushesDocument)] = [
        ("no-pushes", PushesDocument(pushes: [])),
        (
            "failed",
            PushesDocument(pushes: [
                .init(
                    id: 1, name: "desk", to: "rtmp://live.example/app/...", state: "autoReconnecting",
                    reason: "Connection refused")
            ])
        ),
        (
            "connected-and-waiting",
            PushesDocument(pushes: [
                connected, .init(id: 7, track: "hall/film", to: "file:a.mp4", state: "waiting"),
                .init(id: 8, to: "srt://live.example:9", state: "disconnected"),
                .init(id: 9, to: "whip:https://live.example/...", state: "error", reason: "401; not allowed"),
            ])
        ),
    ]

    static let rooms: [(name: String, document: RoomsDocument)] = [
        ("empty-room", room("")),
        ("links", room(#""links":["http://127.0.0.1:8080/#screen,t"],"locked":true"#)),
        (
            "members",
            room(#""waiting":[{"address":"10.0.0.9","id":"c9","name":"Eve\u001b[2J","seconds":3725}]"#, members)
        ),
    ]

    static let links: [(name: String, document: LinksDocument)] = [
        ("one-link", link(#"{"links":["http://127.0.0.1:8080/#screen,t"],"room":"screen","rooms":[]}"#)),
        (
            "all",
            link(
                #"{"expires":"2100-01-01T00:00:00Z","fingerprint":"0A:1B","links":["https://a/#screen,t","https://b/#screen,t"],"room":"screen","#
                    + #""rooms":[{"links":["https://a/#screen,t"],"name":"screen","presenting":{"link":"https://a/#screen,p","token":"p","url":"https://a/whip/screen"}},{"links":["https://a/#attic,t"],"name":"attic"}]}"#
            )
        ),
        (
            "expired",
            link(#"{"expires":"2001-09-09T01:46:40Z","links":["http://a/#screen,t"],"room":"screen","rooms":[]}"#)
        ),
    ]

    private static let members =
        #"{"address":"10.0.0.7","id":"a1","kind":"viewer","meeting":true,"name":"Ann","paths":[{"packets":9,"pictures":3,"retransmittedPackets":0,"rung":"narrow","estimateBitsPerSecond":480000,"track":"screen"}],"seconds":7,"tracks":["screen"],"turn":"asked"},"#
        + #"{"address":"10.0.0.8","id":"b2b2b2","kind":"viewer","meeting":false,"paths":[{"packets":9,"pictures":3,"retransmittedPackets":0,"rung":"full","track":"screen"}],"seconds":727,"tracks":["screen","cam"]},"#
        + #"{"address":"10.0.0.9","id":"c3","kind":"player","meeting":false,"seconds":1e10,"tracks":[]}"#

    private static let connected: PushesDocument.Push = {
        var push = PushesDocument.Push(id: 2, to: "rtmp://live.example/app/...", state: "connected")
        push.picturesPerSecond = 30
        push.soundPerSecond = 47
        push.bitsPerSecond = 2_500_000
        push.queueMilliseconds = 12
        push.queueBytes = 4096
        push.sentPictures = 900
        push.droppedPictures = 12
        push.sentSound = 1400
        push.droppedSound = 3
        return push
    }()

    private static func status(_ change: (inout StatusDocument) -> Void) -> StatusDocument {
        var status = StatusDocument()
        status.process = 4711
        status.what = "hosting unix:/run/s.sock"
        status.room = "screen"
        status.links = ["http://127.0.0.1:8080/#screen,t"]
        status.trackCount = 1
        status.tracks = [.init()]
        status.tracks[0].room = "screen"
        status.tracks[0].name = "screen"
        status.joins = []
        change(&status)
        status.tracks[0].state = status.state
        status.tracks[0].viewers = status.viewers
        status.recording = status.tracks[0].recording
        return status
    }

    private static func live(_ change: (inout StatusDocument) -> Void) -> StatusDocument {
        status {
            $0.state = "live"
            $0.what = "sharing :0"
            $0.viewers = 2
            change(&$0)
        }
    }

    private static func capture(pictures: UInt64, milliseconds: UInt64) -> CaptureStatistics {
        var capture = CaptureStatistics()
        capture.pictures = pictures
        capture.idrPictures = 2
        capture.bytes = 30_000
        capture.damageEvents = 4
        capture.heldBack = pictures == 1 ? 5 : 0
        capture.residentBytes = 41_000_000
        var recent = RecentStatistics()
        recent.duration = milliseconds * 1_000_000
        recent.pictures = pictures
        recent.bytes = 30_000
        recent.processorNanoseconds = 14_000_000
        recent.encodeMedianNanoseconds = 1_500_000
        recent.encodeP95Nanoseconds = 2_500_000
        recent.damagedMillionths = pictures * 10_000
        capture.recent = recent
        return capture
    }

    private static func room(_ fields: String, _ members: String = "") -> RoomsDocument {
        let more = fields.isEmpty ? "" : fields + ","
        let track = #"{"message":"","name":"screen","seconds":3,"state":"live"}"#
        let tracks = members.isEmpty && fields.isEmpty ? "" : track
        let json = #"{"rooms":[{\#(more)"members":[\#(members)],"name":"screen","tracks":[\#(tracks)]}]}"#
        guard let document = try? RoomsDocument(json: json) else { fatalError(json) }
        return document
    }

    private static func link(_ json: String) -> LinksDocument {
        guard let document = LinksDocument(json: json) else { fatalError(json) }
        return document
    }
}

extension StatusDocument {
    fileprivate mutating func addTracks(_ count: Int) {
        trackCount = count
        for number in 1..<min(count, 16) {
            var track = Track()
            track.room = number == 2 ? "attic" : "screen"
            track.name = "cam\(number)"
            track.state = number == 1 ? "gone" : "live"
            track.viewers = number - 1
            tracks.append(track)
        }
    }

    fileprivate mutating func addRecording(_ path: String, to index: Int) {
        var recording = Recording()
        recording.path = path
        recording.messages = 12
        recording.bytes = 3456
        tracks[index].recording = recording
    }

    fileprivate mutating func addNarrowPaths(_ count: Int, of viewers: Int) {
        self.viewers = viewers
        narrowViewers = viewers
        narrowPaths = (1...count).map { number in
            var path = NarrowPath()
            path.address = number == 1 ? nil : "10.0.0.\(number)"
            path.estimateBitsPerSecond = number == 1 ? nil : 480_000
            path.queueNanoseconds = number == 2 ? 120_000_000 : 9_000_000
            return path
        }
    }

    fileprivate mutating func addJoins() {
        for (state, members, excluded, reason) in [
            ("joining", nil, nil, nil), ("joined", 1, nil, nil), ("joined", 2, 1, "shared in 4:4:4; try 4:2:0"),
            ("waiting", nil, nil, "the server closed the connection"), ("waiting", nil, nil, "waiting to be let in"),
            ("full", nil, nil, nil),
        ] as [(String, Int?, Int?, String?)] {
            var join = Join()
            join.to = "skyrtc:wss://rooms.example"
            join.state = state
            join.members = members
            join.excluded = excluded
            join.reason = reason
            join.knocking = reason == "waiting to be let in" ? true : nil
            joins?.append(join)
        }
    }
}
