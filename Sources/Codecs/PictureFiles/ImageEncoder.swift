import CLibAV
import LibAVMessages
import MediaTypes

/// One run of a libavcodec encoder that produces a whole image file from one frame.
struct ImageEncoder {
    let codec: AVCodecID
    /// The format's name in error messages.
    let name: String
    let size: PictureSize
    let format: AVPixelFormat
    /// A fixed quantizer, for encoders that support one.
    var qp: Int32?

    /// Encodes a frame into which `fill` writes the picture's samples; `fill` returns false if it can't.
    func encode(_ fill: (UnsafeMutablePointer<AVFrame>) -> Bool) throws(ImageFileError) -> [UInt8] {
        guard let encoder = avcodec_find_encoder(codec) else {
            throw .encoderFailed(format: name, reason: "this libavcodec was built without it")
        }
        var context = avcodec_alloc_context3(encoder)
        defer { avcodec_free_context(&context) }
        var frame = av_frame_alloc()
        defer { av_frame_free(&frame) }
        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        guard let context, let frame, let packet else { throw .outOfMemory }
        configure(context)
        try check(avcodec_open2(context, encoder, nil))
        frame.pointee.width = context.pointee.width
        frame.pointee.height = context.pointee.height
        frame.pointee.format = format.rawValue
        frame.pointee.color_range = AVCOL_RANGE_JPEG
        frame.pointee.quality = context.pointee.global_quality
        try check(av_frame_get_buffer(frame, 0))
        guard fill(frame) else { throw .encoderFailed(format: name, reason: "its colours can't be converted") }
        try check(avcodec_send_frame(context, frame))
        try check(avcodec_receive_packet(context, packet))
        return Array(UnsafeBufferPointer(start: packet.pointee.data, count: max(0, Int(packet.pointee.size))))
    }

    private func configure(_ context: UnsafeMutablePointer<AVCodecContext>) {
        context.pointee.width = Int32(clamping: size.width)
        context.pointee.height = Int32(clamping: size.height)
        context.pointee.pix_fmt = format
        context.pointee.color_range = AVCOL_RANGE_JPEG
        context.pointee.time_base = AVRational(num: 1, den: 1)
        context.pointee.thread_count = 1
        if let qp {
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = qp * FF_QP2LAMBDA
            context.pointee.qmin = 1
        }
    }

    private func check(_ code: Int32) throws(ImageFileError) {
        if code >= 0 { return }
        if code == shim_AVERROR_ENOMEM { throw .outOfMemory }
        throw .encoderFailed(format: name, reason: LibAVMessage.meaning(of: code))
    }
}
