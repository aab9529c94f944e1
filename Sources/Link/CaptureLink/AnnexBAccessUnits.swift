import H264
public import MediaTypes

extension AccessUnitAssembler {
    /// The access units of a whole Annex B byte stream, as a file has it; an IDR one begins with its SPS and PPS.
    ///
    /// NAL units that can't be used are left out, as on the link.
    public static func accessUnits(inAnnexB bytes: [UInt8]) -> [AccessUnit] {
        var assembler = AccessUnitAssembler()
        var units: [AccessUnit] = []
        func drain() {
            while let next = assembler.next() { units.append(next.accessUnit) }
        }
        for range in AnnexB.nalUnits(in: bytes) {
            let payload = AnnexB.startCode + bytes[range]
            let header = MessageHeader(
                kindCode: MessageKind.nalUnit.rawValue, flags: [], stream: 0, length: UInt64(payload.count),
                captureTime: nil, epoch: 0)
            assembler.add(
                ReceivedMessage(header: header, form: .legacy40, body: .nalUnit(payload)), at: .zero)
            drain()
        }
        assembler.finish()
        drain()
        return units
    }
}
