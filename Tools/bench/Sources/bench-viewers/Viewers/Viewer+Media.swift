import MediaTypes
import PictureTimeline
import RTP
import SecureTransport

/// The packets of the video, which stay encrypted as far as possible, and the host's reports.
extension Viewer {
    func receiveMedia(_ bytes: UnsafeRawBufferPointer, arrival: MonotonicTime, now: MonotonicTime) {
        counters.packets += 1
        counters.bytes += bytes.count
        if surroundings.plan.sendsTransportFeedback, let transportNumberID,
            let number = bytes.rtpTransportNumber(transportNumberID)
        {
            arrivals.note(number, at: arrival)
        }
        guard !isRetransmission[Int(bytes.rtpPayloadType)] else {
            return receiveRetransmission(bytes, arrival: arrival, now: now)
        }
        let number = bytes.rtpSequenceNumber
        if stream?.source != bytes.rtpSource {
            stream = ReceivedStream(source: bytes.rtpSource, first: number)
            statistics = ReceptionStatistics(.video)
            timeline = ViewerTimeline()
            pictures?.beginStream()
        }
        if isSample, decrypt(bytes), pictures != nil,
            let packet = try? RTPPacket(parsing: surroundings.scratch[...])
        {
            pictures?.receive(packet, now: now)
        }
        let header = RTPPacketHeader(
            marker: bytes.rtpMarker, payloadType: PayloadType(bytes.rtpPayloadType),
            sequenceNumber: SequenceNumber(number), timestamp: RTPTimestamp(bytes.rtpTimestamp),
            ssrc: SSRC(bytes.rtpSource))
        statistics.note(header, now: arrival)
        insert(number, of: bytes, arrival: arrival, now: now)
    }

    /// The original number of a retransmission is encrypted (RFC 4588 section 4); its timestamp and marker aren't.
    private func receiveRetransmission(
        _ bytes: UnsafeRawBufferPointer, arrival: MonotonicTime, now: MonotonicTime
    ) {
        guard decrypt(bytes), let packet = try? RTPPacket(parsing: surroundings.scratch[...]) else { return }
        let payload = packet.payload
        guard payload.count >= 2 else {
            counters.paddings += 1
            return
        }
        counters.retransmissions += 1
        guard let source = stream?.source else { return }
        if pictures != nil,
            let original = packet.retransmitted(payloadType: packet.header.payloadType, ssrc: SSRC(source))
        {
            pictures?.receive(original, now: now)
        }
        let number = UInt16(payload[payload.startIndex]) << 8 | UInt16(payload[payload.startIndex + 1])
        insert(number, of: bytes, arrival: arrival, now: now)
    }

    private func insert(
        _ number: UInt16, of bytes: UnsafeRawBufferPointer, arrival: MonotonicTime, now: MonotonicTime
    ) {
        let timestamp = bytes.rtpTimestamp
        let isNew = stream?.receive(
            number, timestamp: timestamp, isMarked: bytes.rtpMarker, arrival: arrival, now: now)
        if isNew == false { counters.duplicates += 1 }
        if !isOdd { timeline.notePacket(of: timestamp, in: surroundings.table) }
        collectPictures()
    }

    /// Notes the pictures that are whole now.
    func collectPictures() {
        guard let count = stream?.whole.count, count > 0 else { return }
        defer { stream?.whole.removeAll(keepingCapacity: true) }
        for index in 0..<count {
            guard let picture = stream?.whole[index] else { return }
            counters.wholePictures += 1
            noteFirstPicture(at: picture.arrival)
            if !isOdd, timeline.noteWhole(picture.timestamp, at: picture.arrival, in: surroundings.table) {
                wholePictures += 1
            }
        }
    }

    // MARK: The host's reports

    func receiveControl(_ bytes: UnsafeRawBufferPointer, arrival: MonotonicTime) {
        guard let protector else { return }
        surroundings.scratch.removeAll(keepingCapacity: true)
        surroundings.scratch.append(contentsOf: bytes)
        guard opens({ (packet: inout [UInt8]) throws(SecureTransportError) in try protector.unprotectRTCP(&packet) }),
            let packets = try? RTCPPacket.parse(surroundings.scratch[...])
        else { return }
        for case .senderReport(let report) in packets where report.ssrc.rawValue == stream?.source {
            statistics.note(report, now: arrival)
        }
    }

    // MARK: SRTP

    /// Decrypts a packet to the scratch array. Returns false without keys, and for a packet that isn't authentic or
    /// was decrypted before.
    private func decrypt(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let protector else { return false }
        surroundings.scratch.removeAll(keepingCapacity: true)
        surroundings.scratch.append(contentsOf: bytes)
        return opens { (packet: inout [UInt8]) throws(SecureTransportError) in try protector.unprotect(&packet) }
    }

    private func opens(_ step: (inout [UInt8]) throws(SecureTransportError) -> Void) -> Bool {
        do throws(SecureTransportError) {
            try step(&surroundings.scratch)
            return true
        } catch {
            if error == .authenticationFailed { counters.forgeries += 1 }
            return false
        }
    }
}
