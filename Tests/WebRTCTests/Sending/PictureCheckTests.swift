import MediaTypes
import RTP
import Synchronization
import TestSupport
import Testing
import TrackHub

@testable import WebRTC

@Suite("Frames with samples for a viewer that checks its pictures")
struct PictureCheckTests {
    private func samples(_ shade: UInt8, at index: UInt16 = 0) -> PictureSamples {
        PictureSamples(
            of: I420Picture(
                size: PictureSize(width: 2, height: 2), bytes: Array(repeating: shade, count: 6), isFullRange: false,
                matrix: .bt601, captureTime: nil), at: SampleIndex(rawValue: index))
    }

    private func publish(_ check: PictureCheck?, on rig: Rig, seed: UInt64, isIDR: Bool = false) {
        rig.publish { captured in
            var unit =
                isIDR
                ? Pictures.idr(20_000, seed: seed, captured: captured)
                : Pictures.delta(900, seed: seed, captured: captured)
            unit.check = check
            return unit
        }
    }

    @Test("the viewer that checks waits for the samples, and nobody else does")
    func waiting() throws {
        let rig = try Rig()
        let checking = try rig.join(checksPictures: true)
        let other = try rig.join()
        let check = PictureCheck()
        publish(check, on: rig, seed: 1, isIDR: true)
        rig.run(for: .milliseconds(40))
        #expect(other.viewer.pictures.count == 1)
        #expect(checking.viewer.pictures.isEmpty)
        check.set(samples(9))
        rig.run(for: .milliseconds(20))
        #expect(checking.viewer.pictures.count == 1)
    }

    @Test("samples that don't come hold a frame back for a tenth of a second at most")
    func late() throws {
        let rig = try Rig()
        let peer = try rig.join(checksPictures: true)
        publish(nil, on: rig, seed: 1, isIDR: true)
        rig.run(for: .milliseconds(50))
        #expect(peer.viewer.pictures.count == 1)
        publish(PictureCheck(), on: rig, seed: 2)
        rig.run(for: .milliseconds(90))
        #expect(peer.viewer.pictures.count == 1)
        rig.run(for: .milliseconds(40))
        #expect(peer.viewer.pictures.count == 2)
        publish(nil, on: rig, seed: 3)
        rig.run(for: .milliseconds(20))
        #expect(peer.viewer.pictures.count == 3)
    }

    @Test("samples whose place follows from earlier ones are sent once these have arrived")
    func relative() throws {
        let rig = try Rig()
        let peer = try rig.join(hasTransportNumbers: true, checksPictures: true)
        var arrivals = ArrivalFeedback(of: peer.viewer, now: rig.now)
        func hasSamples(at index: UInt16, isIDR: Bool = false) -> Bool {
            let before = peer.mediaPackets.count
            publish(PictureCheck(samples(9, at: index)), on: rig, seed: UInt64(index), isIDR: isIDR)
            rig.run(for: .milliseconds(60))
            return peer.mediaPackets.dropFirst(before).contains { $0.rtp.extensionData(14) != nil }
        }
        #expect(hasSamples(at: 128, isIDR: true))
        #expect(!hasSamples(at: 141))
        #expect(hasSamples(at: 256))
        peer.viewer.send(.transportFeedback(try #require(try arrivals.take())))
        rig.run(for: .milliseconds(10))
        #expect(hasSamples(at: 269))
    }

    @Test("the source's host is told while some viewer checks its pictures")
    func told() throws {
        let rig = try Rig()
        let observer = CheckObserver()
        rig.hub.connect(observer)
        let peer = try rig.join(checksPictures: true)
        _ = try rig.join()
        #expect(observer.told.withLock { $0 } == [true])
        peer.session.watched?.leave()
        #expect(observer.told.withLock { $0 } == [true, false])
    }
}

/// Remembers whether pictures are to be checked.
private final class CheckObserver: TrackObserver {
    let told = Mutex<[Bool]>([])

    func perform(_ action: TrackAction) {
        if case .checkPictures(let areChecked) = action { told.withLock { $0.append(areChecked) } }
    }
}
