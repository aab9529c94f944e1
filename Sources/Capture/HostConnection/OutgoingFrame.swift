public import ByteCoding
public import CaptureLink
import LinkTransport
public import MediaTypes

/// A frame that is about to be sent. The caller owns the memory of its units, and keeps it during the call.
public struct OutgoingFrame {
    /// The units, without their start codes.
    public let units: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>
    /// When the frame was captured.
    public let captureTime: MonotonicTime

    /// A frame of these units.
    public init(units: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>, captureTime: MonotonicTime) {
        self.units = units
        self.captureTime = captureTime
    }
}

/// Why a frame could not be sent.
enum SendingError: Error {
    /// The host is gone.
    case link(SocketError)
    /// A unit has a length that the protocol doesn't allow.
    case message(LinkError)
}

extension MessageEncoder {
    /// Appends what precedes a unit of `frame`: the message's header and the start code.
    ///
    /// - Throws: ``LinkError`` if no receiver would accept a unit of this length; its offset is 0.
    public func appendStart(
        of index: Int, in frame: OutgoingFrame, to writer: inout ByteWriter
    ) throws(LinkError) {
        try appendUnitHeader(
            payloadCount: MessageHeader.unitMark.count + frame.units[index].count, captureTime: frame.captureTime,
            endsFrame: index == frame.units.count - 1, to: &writer)
        writer.append(MessageHeader.unitMark)
    }
}
