import Ingest
import MediaTypes
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub
import WebRTC

@testable import ScreenRelayKit

/// A source of sound that remembers whether it is muted.
private final class MutedSound: PictureSource {
    let makesKeyFrames = true
    let muted = Mutex(false)
    func setSharerPaused(_ isPaused: Bool) { muted.withLock { $0 = isPaused } }
    var isMuted: Bool { muted.withLock { $0 } }
}

@Suite("The tracks of a host")
struct HostTracksTests {
    @Test("when pause and resume come at once, all tracks do what the later one says, and so do those that come after")
    func racing() throws {
        let media = try MediaServer.onAnyPort()
        defer { media.stop() }
        let isPausing = Mutex(false)
        let mayGoOn = Mutex(false)
        // Whoever pauses first stops between the first track and the second.
        let first = try HostedTrack(
            "screen", room: "desk", media: media, signalling: .unused, log: .silent,
            onSourceChange: { state in
                guard case .paused = state else { return }
                let isFirst = isPausing.withLock { isPausing in
                    defer { isPausing = true }
                    return !isPausing
                }
                if isFirst { try? eventually("word to go on") { mayGoOn.withLock { $0 } } }
            })
        let second = try HostedTrack("second", room: "desk", media: media, signalling: .unused, log: .silent)
        let tracks = HostTracks(first: first)
        #expect(tracks.add(second) {} == nil)
        let sources = [first, second].map { track in
            let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
            #expect(track.publish(source))
            return source
        }
        let pausing = try #require(NamedThread("pausing") { tracks.setPaused(true) })
        try eventually("the first track to pause") { isPausing.withLock { $0 } }
        tracks.setPaused(false)
        #expect(second.sourceState == .live)
        mayGoOn.withLock { $0 = true }
        pausing.join()
        #expect(first.sourceState == .live)
        #expect(second.sourceState == .live)
        let third = try HostedTrack("third", room: "desk", media: media, signalling: .unused, log: .silent)
        #expect(tracks.add(third) {} == nil)
        let last = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(third.publish(last))
        #expect(third.sourceState == .live)
        withExtendedLifetime((sources, last)) {}
    }

    @Test("muting is for the sound of all tracks alone, also of those that come later; a pause mutes too")
    func muting() throws {
        let media = try MediaServer.onAnyPort()
        defer { media.stop() }
        let states = Mutex<[SourceState]>([])
        let first = try HostedTrack(
            "screen", room: "desk", media: media, signalling: .unused, log: .silent,
            onSoundChange: { state in states.withLock { $0.append(state) } })
        let tracks = HostTracks(first: first)
        let pictures = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(first.publish(pictures))
        let sounds = [MutedSound(), MutedSound()]
        #expect(first.sound.attach(sounds[0], now: now()))

        tracks.mute(true)
        #expect(tracks.isMuted && sounds[0].isMuted)
        #expect(first.sound.sourceState == .paused(.sharer) && first.sourceState == .live)
        let second = try HostedTrack("second", room: "desk", media: media, signalling: .unused, log: .silent)
        #expect(tracks.add(second) {} == nil)
        #expect(second.sound.attach(sounds[1], now: now()))
        #expect(second.sound.sourceState == .paused(.sharer) && sounds[1].isMuted)
        // The end of a pause does not end the mute, nor the other way round.
        tracks.setPaused(true)
        tracks.setPaused(false)
        #expect(first.sourceState == .live && sounds.allSatisfy(\.isMuted))
        tracks.mute(false)
        #expect(!tracks.isMuted && !sounds.contains(where: \.isMuted))
        tracks.setPaused(true)
        tracks.mute(true)
        tracks.mute(false)
        #expect(first.sourceState == .paused(.sharer) && sounds.allSatisfy(\.isMuted))
        tracks.setPaused(false)
        #expect([first, second].map(\.sound.sourceState) == [.live, .live] && !sounds.contains(where: \.isMuted))
        #expect(states.withLock { $0 } == [.live, .paused(.sharer), .live, .paused(.sharer), .live])
        pictures.end(reason: "it was a test")
    }

    @Test("when two limits are set at once, all tracks keep the later one, and so do those that come after")
    func racingLimits() throws {
        let media = try MediaServer.onAnyPort()
        defer { media.stop() }
        let tracks = HostTracks(
            first: try HostedTrack("screen", room: "desk", media: media, signalling: .unused, log: .silent))
        let second = try HostedTrack("second", room: "desk", media: media, signalling: .unused, log: .silent)
        #expect(tracks.add(second) {} == nil)
        let earlier = BitRate(bitsPerSecond: 1_000_000)
        let later = BitRate(bitsPerSecond: 2_000_000)
        let isLimiting = Mutex(false)
        let mayGoOn = Mutex(false)
        // Whoever sets the earlier limit stops between the first track and the second.
        let source = CustomVideoTrack(
            feedback: .init(
                keyFrameWanted: {},
                targetBitRateChanged: { rate in
                    guard rate == earlier else { return }
                    isLimiting.withLock { $0 = true }
                    try? eventually("word to go on") { mayGoOn.withLock { $0 } }
                }))
        #expect(tracks.first.publish(source))
        func limits(_ rate: BitRate) -> SourceLimits {
            var limits = SourceLimits()
            limits.bitRate = rate
            return limits
        }
        let earlierLimits = limits(earlier)
        let limiting = try #require(NamedThread("limiting") { tracks.limit(earlierLimits) })
        try eventually("the first track to be limited") { isLimiting.withLock { $0 } }
        tracks.limit(limits(later))
        #expect(second.ingest.hub.sourceLimits.bitRate == later)
        mayGoOn.withLock { $0 = true }
        limiting.join()
        let third = try HostedTrack("third", room: "desk", media: media, signalling: .unused, log: .silent)
        #expect(tracks.add(third) {} == nil)
        #expect(tracks.all.map { $0.ingest.hub.sourceLimits.bitRate } == [later, later, later])
        withExtendedLifetime(source) {}
    }
}
