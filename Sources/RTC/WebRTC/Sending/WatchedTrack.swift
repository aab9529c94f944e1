import MediaTypes
import RTP
import SDP
import SecureTransport
import TrackHub

/// A track of a source as one peer watches it: the parameters of the RTP stream that carries it.
struct WatchedTrack: Sendable {
    var hub: TrackHub
    var formats: StreamFormats
    var extensions: HeaderExtensionFormat
    var ssrc: SSRC
    var retransmissionSSRC: SSRC
}

extension WatchedTrack {
    /// The track of `hub` as it is sent in the media section `section`, in our `stream`.
    init(_ hub: TrackHub, in section: NegotiatedSection, as stream: LocalStream) {
        let numbers = section.extensions
        self.init(
            hub: hub, formats: StreamFormats(formats: section.formats),
            extensions: HeaderExtensionFormat(
                playoutDelayID: numbers.playoutDelay, captureTimeID: numbers.absoluteCaptureTime, midID: numbers.mid,
                mid: section.mid ?? "", transportNumberID: numbers.transportNumber,
                samplesID: numbers.corruptionDetection), ssrc: SSRC(stream.ssrc),
            retransmissionSSRC: SSRC(stream.rtxSSRC))
    }
}

/// The payload types of an RTP stream: one for each format that its track may have.
struct StreamFormats: Sendable {
    /// The formats that the peer decodes; the one that most frames will have comes first.
    var formats: [NegotiatedSection.Format]

    /// The highest chroma format that the peer decodes; it also decodes all lower ones. Sound sets no limit.
    var decodes: ChromaFormat {
        kind == .audio || formats.contains { $0.track.chroma == .yuv444 } ? .yuv444 : .yuv420
    }

    /// What the stream carries.
    var kind: TrackFormat.Kind { formats[0].track.kind }

    /// The rate of the stream's timestamps, which all formats have.
    var clockRate: ClockRate { formats[0].track.clockRate }

    /// The payload type for frames of `format`; nil if the peer doesn't decode them.
    func payloadType(for format: TrackFormat) -> PayloadType? {
        // This is asked for each packet, and a closure would get copies of the formats.
        for index in formats.indices
        where formats[index].track.codec == format.codec && formats[index].track.chroma == format.chroma {
            return PayloadType(formats[index].payloadType)
        }
        return nil
    }

    /// The retransmission payload type for each media payload type. Empty if the peer lacks it for any format that it
    /// decodes; lost packets are then sent again unchanged, which works for every format.
    var retransmissionPayloadTypes: [PayloadType: PayloadType] {
        var types: [PayloadType: PayloadType] = [:]
        for format in formats {
            guard let type = format.rtxPayloadType else { return [:] }
            types[PayloadType(format.payloadType)] = PayloadType(type)
        }
        return types
    }

    /// The form of packets with the frame before as well; nil if the peer doesn't take them.
    var redundancy: REDFormat? {
        for format in formats {
            guard let type = format.redPayloadType else { continue }
            return REDFormat(
                payloadType: PayloadType(type), framePayloadType: PayloadType(format.payloadType))
        }
        return nil
    }
}

extension RTPStream {
    /// Begins a datagram of reports in `buffer` with the sender's own, which says where the track of `hub` is now.
    /// Returns false if nothing was sent yet.
    mutating func writeReport(
        on hub: TrackHub, rate: ClockRate, canonicalName: String, at now: MonotonicTime, into buffer: inout [UInt8]
    ) -> Bool {
        noteClock(hub.mediaTime(at: now, rate: rate), at: now)
        let (ssrc, clock) = (configuration.ssrc, configuration.clock)
        guard let report = statistics.report(ssrc: ssrc, at: now, clock: clock, rate: rate) else { return false }
        buffer.removeAll(keepingCapacity: true)
        report.writeCompound(canonicalName: canonicalName, into: &buffer)
        return true
    }

    /// The stream that carries `track`, with random numbers to begin with.
    init(_ track: WatchedTrack, clock: NTPClock) {
        let types = track.formats.retransmissionPayloadTypes
        let retransmission =
            types.isEmpty
            ? nil
            : RTPStream.Retransmission(
                ssrc: track.retransmissionSSRC,
                firstSequenceNumber: .first(random: UInt16(truncatingIfNeeded: SecureRandom.uint32())),
                payloadTypes: types)
        self.init(
            RTPStream.Configuration(
                ssrc: track.ssrc,
                firstSequenceNumber: .first(random: UInt16(truncatingIfNeeded: SecureRandom.uint32())),
                timestampOffset: SecureRandom.uint32(), extensions: track.extensions, clock: clock,
                retransmission: retransmission, redundancy: track.formats.redundancy))
    }
}
