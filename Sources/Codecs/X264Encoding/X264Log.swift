import CX264
import Glibc

/// Receives libx264's log lines, which would otherwise go to standard error, and keeps the last one for error messages.
final class X264Log {
    private(set) var lastLine = "no reason given"
    private let onWarning: (@Sendable (String) -> Void)?

    init(onWarning: (@Sendable (String) -> Void)?) {
        self.onWarning = onWarning
    }

    /// Makes `parameters` log to this object, which must live as long as the encoder.
    func attach(to parameters: inout x264_param_t) {
        parameters.i_log_level = X264_LOG_WARNING
        parameters.p_log_private = Unmanaged.passUnretained(self).toOpaque()
        parameters.pf_log = { context, _, format, arguments in
            guard let context, let format, let arguments else { return }
            var line = [CChar](repeating: 0, count: 512)
            vsnprintf(&line, line.count, format, arguments)
            let text = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
            Unmanaged<X264Log>.fromOpaque(context).takeUnretainedValue().take(String(decoding: text, as: UTF8.self))
        }
    }

    private func take(_ line: String) {
        lastLine = line
        onWarning?(line)
    }
}
